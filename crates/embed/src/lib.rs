//! Embedders: text to vectors. [`open_embedder`] makes the [`Embedder`] that the configuration names.

mod calibration;
mod http;
mod no_vectors;
mod row_sum;
mod script;
mod static_vectors;
#[cfg(feature = "transformer")]
mod transformer;
mod vocabulary;
#[cfg(feature = "transformer")]
mod weights;
mod wordpiece;

use engine::ports::{EmbedError, Embedder};
pub use http::HttpConfig;
use std::path::PathBuf;
use std::sync::Arc;

/// Which embedder to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EmbedConfig {
    /// `none`: no vectors, search by words only.
    Off,
    /// `static`: fixed token vectors built into the binary.
    #[default]
    Static,
    /// `minilm`: the transformer, with its weights in this file.
    #[cfg(feature = "transformer")]
    Transformer { weights: PathBuf },
    /// An OpenAI-compatible endpoint.
    Http(HttpConfig),
}

pub fn open_embedder(config: &EmbedConfig) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(match config {
        EmbedConfig::Off => Arc::new(no_vectors::NoVectors),
        EmbedConfig::Static => Arc::new(static_vectors::StaticEmbedder::open()?),
        #[cfg(feature = "transformer")]
        EmbedConfig::Transformer { weights } => Arc::new(transformer::TransformerEmbedder::open(weights)?),
        EmbedConfig::Http(config) => Arc::new(http::HttpEmbedder::open(config)?),
    })
}

/// Token ids of a text in the vocabulary of the model that the default vectors were distilled from, 100 for an unknown
/// word. For checks of the tokenizer against the reference implementation.
pub fn reference_ids(text: &str) -> Result<Vec<u16>, EmbedError> {
    const UNKNOWN: u16 = 100;
    let vocabulary = static_vectors::load_vocabulary()?;
    let mut ids = Vec::new();
    wordpiece::for_each_piece(&vocabulary, text, |piece| {
        ids.push(match piece {
            wordpiece::Piece::Token(token) => vocabulary.reference_id(token),
            wordpiece::Piece::Unknown => UNKNOWN,
        });
        true
    });
    Ok(ids)
}

/// Scales a vector to length one. Empty for a zero vector, which has no direction, and for overflow.
fn scale_to_unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    // A division would give NaN or infinity, which make every later comparison meaningless.
    if !length.is_finite() || length <= f32::EPSILON {
        return Vec::new();
    }
    for x in &mut vector {
        *x /= length;
    }
    vector
}
