//! The default: a text is the sum of its tokens' fixed vectors. No model runs, so it may happen inside a save.

use crate::script;
use crate::sum;
use crate::vocabulary::Vocabulary;
use crate::wordpiece::{Piece, pieces};
use engine::ports::{Calibration, EmbedError, Embedder};

/// Inside the binary; `model/SHA256SUMS` says which version.
static TABLE: &[u8] = include_bytes!("../model/static.bin");

/// Tokens read of one text. Keeps a save of a very long memory within its CPU budget (some 50 ns a token);
/// beyond a few thousand tokens the sum hardly turns any more, and words find the tail.
const TOKENS_MAX: usize = 4096;

/// The tokens of the default model, which the transformer shares.
pub(crate) fn vocabulary() -> Result<Vocabulary, EmbedError> {
    Vocabulary::open(TABLE)
}

#[derive(Debug)]
pub(crate) struct Fixed {
    vocabulary: Vocabulary,
}

impl Fixed {
    pub(crate) fn open() -> Result<Fixed, EmbedError> {
        Ok(Fixed { vocabulary: vocabulary()? })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut total = vec![0f32; self.vocabulary.dimensions()];
        let mut tokens_left = TOKENS_MAX;
        pieces(&self.vocabulary, text, |piece| {
            if let Piece::Token(token) = piece {
                let (scale, row) = self.vocabulary.row(token);
                sum::add(&mut total, scale, row);
            }
            tokens_left -= 1;
            tokens_left > 0
        });
        crate::unit(total)
    }
}

impl Embedder for Fixed {
    fn model(&self) -> &str {
        self.vocabulary.name()
    }

    fn dimensions(&self) -> usize {
        self.vocabulary.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn reads(&self, text: &str) -> bool {
        script::is_latin(text)
    }

    fn calibration(&self) -> Calibration {
        self.vocabulary.calibration()
    }
}
