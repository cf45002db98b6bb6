//! The default embedder: the vector of a text is the normalised sum of fixed token vectors. Fast enough to run inside a
//! save.

use crate::row_sum;
use crate::script;
use crate::vocabulary::Vocabulary;
use crate::wordpiece::{Piece, for_each_piece};
use engine::ports::{Calibration, EmbedError, Embedder};

/// Built into the binary; `model/SHA256SUMS` has its checksum.
static MODEL_FILE: &[u8] = include_bytes!("../model/static.bin");

/// Tokens read per text. Keeps a save of a very long memory within its CPU budget (some 50 ns per token). Beyond a few
/// thousand tokens the direction of the sum hardly changes, and the rest is found by words.
const TOKENS_MAX: usize = 4096;

/// The vocabulary of the default model, which the transformer uses too.
pub(crate) fn load_vocabulary() -> Result<Vocabulary, EmbedError> {
    Vocabulary::open(MODEL_FILE)
}

#[derive(Debug)]
pub(crate) struct StaticEmbedder {
    vocabulary: Vocabulary,
}

impl StaticEmbedder {
    pub(crate) fn open() -> Result<StaticEmbedder, EmbedError> {
        Ok(StaticEmbedder { vocabulary: load_vocabulary()? })
    }

    fn embed_text(&self, text: &str) -> Vec<f32> {
        let mut total = vec![0f32; self.vocabulary.dimensions()];
        let mut tokens_left = TOKENS_MAX;
        for_each_piece(&self.vocabulary, text, |piece| {
            // An unknown word has no vector but counts as read.
            if let Piece::Token(token) = piece {
                let (scale, row) = self.vocabulary.token_vector(token);
                row_sum::add_scaled_row(&mut total, scale, row);
            }
            tokens_left -= 1;
            tokens_left > 0
        });
        crate::scale_to_unit(total)
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &str {
        self.vocabulary.name()
    }

    fn dimensions(&self) -> usize {
        self.vocabulary.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed_text(text)).collect())
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn supports_script(&self, text: &str) -> bool {
        script::is_latin(text)
    }

    fn calibration(&self) -> Calibration {
        self.vocabulary.calibration()
    }
}
