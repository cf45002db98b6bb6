//! BM25 scores that choose the candidates of a search, by the engine's own formula; the engine scores the chosen again.

use engine::model::limits::text_weights::TextWeights;
use engine::ports::{CandidateQuery, CorpusStats};
use engine::recall::ranking::text::{average_length, rarity, term_saturation};

/// Largest term frequency and document length whose saturation is cached per search: nearly all memories are within,
/// and 16 KiB fit into the L1 cache.
const FREQUENCY_CACHED_MAX: usize = 8;
const LEN_CACHED_MAX: usize = 512;

/// Scores the terms of one query against one corpus.
pub(crate) struct Scorer<'a> {
    stats: &'a CorpusStats,
    weights: &'a TextWeights,
    average_length: f64,
    /// By length and frequency; NaN where not computed yet.
    saturations: Vec<f32>,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(find: &'a CandidateQuery, stats: &'a CorpusStats) -> Scorer<'a> {
        let has_terms = !find.words.terms.is_empty();
        let saturations = vec![f32::NAN; if has_terms { FREQUENCY_CACHED_MAX * LEN_CACHED_MAX } else { 0 }];
        Scorer { stats, weights: &find.weights, average_length: average_length(stats), saturations }
    }

    /// Weight of a term that `df` memories hold.
    pub(crate) fn rarity(&self, df: u32) -> f32 {
        rarity(df, self.stats.docs, self.weights) as f32
    }

    /// BM25 term saturation for a term frequency and a document length: the score without rarity and weight.
    pub(crate) fn term_saturation(&mut self, frequency: u8, len: u32) -> f32 {
        let slot = len as usize * FREQUENCY_CACHED_MAX + usize::from(frequency).saturating_sub(1);
        if usize::from(frequency) > FREQUENCY_CACHED_MAX || slot >= self.saturations.len() {
            return self.compute_saturation(frequency, len);
        }
        if self.saturations[slot].is_nan() {
            self.saturations[slot] = self.compute_saturation(frequency, len);
        }
        self.saturations[slot]
    }

    fn compute_saturation(&self, frequency: u8, len: u32) -> f32 {
        term_saturation(frequency, len, self.average_length, self.weights) as f32
    }
}
