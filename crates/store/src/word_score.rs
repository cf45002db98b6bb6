//! How well words match, to choose candidates by: the engine's own measure, which scores them again.

use engine::model::limits::text_weights::TextWeights;
use engine::ports::{CandidateQuery, CorpusStats};
use engine::recall::ranking::text::{bm25_term_score, idf};
use engine::text::words::QueryTerm;

/// Counts and lengths whose saturation is worked out once a find; nearly all memories are within, and 16 KiB stay in
/// the nearest cache.
const TIMES_CACHED_MAX: usize = 8;
const LEN_CACHED_MAX: usize = 512;

pub(crate) struct Scorer<'a> {
    stats: &'a CorpusStats,
    weights: TextWeights,
    /// A term that counts once; none where the query has no terms.
    unit_term: Option<QueryTerm>,
    saturations: Vec<f32>,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(find: &CandidateQuery, stats: &'a CorpusStats) -> Scorer<'a> {
        let unit_term = find.words.terms.first().map(|term| QueryTerm { weight: 1.0, ..*term });
        let saturations = vec![f32::NAN; if unit_term.is_some() { TIMES_CACHED_MAX * LEN_CACHED_MAX } else { 0 }];
        Scorer { stats, weights: TextWeights::default(), unit_term, saturations }
    }

    /// How telling a term is that so many memories hold.
    pub(crate) fn idf(&self, df: u32) -> f32 {
        idf(df, self.stats.docs) as f32
    }

    /// How fully a term is said that occurs so often in a memory of this length.
    pub(crate) fn term_saturation(&mut self, times: u8, len: u32) -> f32 {
        let slot = len as usize * TIMES_CACHED_MAX + usize::from(times).saturating_sub(1);
        if usize::from(times) > TIMES_CACHED_MAX || slot >= self.saturations.len() {
            return self.compute_saturation(times, len);
        }
        if self.saturations[slot].is_nan() {
            self.saturations[slot] = self.compute_saturation(times, len);
        }
        self.saturations[slot]
    }

    fn compute_saturation(&self, times: u8, len: u32) -> f32 {
        let Some(unit) = &self.unit_term else { return 0.0 };
        // A term nobody holds has an idf above zero, whatever the collection.
        (bm25_term_score(unit, 0, times, len, self.stats, &self.weights) / idf(0, self.stats.docs)) as f32
    }
}
