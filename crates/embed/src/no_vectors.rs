//! The embedder that makes no vectors: search uses words only.

use engine::ports::{Calibration, EmbedError, Embedder};

#[derive(Debug)]
pub(crate) struct NoVectors;

impl Embedder for NoVectors {
    fn model(&self) -> &'static str {
        "none"
    }

    fn dimensions(&self) -> usize {
        0
    }

    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Off)
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn calibration(&self) -> Calibration {
        // Never applied, as there are no vectors; the identity keeps a cosine as it is.
        Calibration { unrelated: 0.0, same: 1.0 }
    }
}
