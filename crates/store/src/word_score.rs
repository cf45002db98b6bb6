//! BM25 scores that choose the candidates of a search, by the engine's own formula; the engine scores the chosen again.

use engine::model::limits::text_weights::TextWeights;
use engine::ports::{CandidateQuery, CorpusStats};
use engine::recall::ranking::text::{bm25_term_score, idf};
use engine::text::words::QueryTerm;

/// Largest term frequency and document length whose saturation is cached per search: nearly all memories are within,
/// and 16 KiB fit into the L1 cache.
const FREQUENCY_CACHED_MAX: usize = 8;
const LEN_CACHED_MAX: usize = 512;

/// Scores the terms of one query against one corpus.
pub(crate) struct Scorer<'a> {
    stats: &'a CorpusStats,
    weights: TextWeights,
    /// A term of weight one, to get the saturation alone; `None` where the query has no terms.
    unit_term: Option<QueryTerm>,
    /// By length and frequency; NaN where not computed yet.
    saturations: Vec<f32>,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(find: &CandidateQuery, stats: &'a CorpusStats) -> Scorer<'a> {
        let unit_term = find.words.terms.first().map(|term| QueryTerm { weight: 1.0, ..*term });
        let saturations = vec![f32::NAN; if unit_term.is_some() { FREQUENCY_CACHED_MAX * LEN_CACHED_MAX } else { 0 }];
        Scorer { stats, weights: TextWeights::default(), unit_term, saturations }
    }

    /// Inverse document frequency of a term that `df` memories hold.
    pub(crate) fn idf(&self, df: u32) -> f32 {
        idf(df, self.stats.docs) as f32
    }

    /// BM25 term saturation for a term frequency and a document length: the score without idf and weight.
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
        let Some(unit) = &self.unit_term else { return 0.0 };
        // The idf cancels out of the score again. That of an unused term (df 0) is above zero in every corpus.
        (bm25_term_score(unit, 0, frequency, len, self.stats, &self.weights) / idf(0, self.stats.docs)) as f32
    }
}
