//! How well words match, to choose candidates by: the engine's own measure, which scores them again.

use engine::ports::{Find, Stats};
use engine::recall::ranking::text::{TextWeights, bm25, idf};
use engine::text::words::QueryTerm;

/// Counts and lengths whose saturation is worked out once a find; nearly all memories are within, and 16 KiB stay in
/// the nearest cache.
const TIMES_KNOWN: usize = 8;
const LEN_KNOWN: usize = 512;

pub(crate) struct Scorer<'a> {
    stats: &'a Stats,
    weights: TextWeights,
    /// A term that counts once; none where the query has no terms.
    unit: Option<QueryTerm>,
    known: Vec<f32>,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(find: &Find, stats: &'a Stats) -> Scorer<'a> {
        let unit = find.words.terms.first().map(|term| QueryTerm { weight: 1.0, ..*term });
        let known = vec![f32::NAN; if unit.is_some() { TIMES_KNOWN * LEN_KNOWN } else { 0 }];
        Scorer { stats, weights: TextWeights::default(), unit, known }
    }

    /// How telling a term is that so many memories hold.
    pub(crate) fn idf(&self, df: u32) -> f32 {
        idf(df, self.stats.docs) as f32
    }

    /// How fully a term is said that occurs so often in a memory of this length.
    pub(crate) fn saturated(&mut self, times: u8, len: u32) -> f32 {
        let slot = len as usize * TIMES_KNOWN + usize::from(times).saturating_sub(1);
        if usize::from(times) > TIMES_KNOWN || slot >= self.known.len() {
            return self.work_out(times, len);
        }
        if self.known[slot].is_nan() {
            self.known[slot] = self.work_out(times, len);
        }
        self.known[slot]
    }

    fn work_out(&self, times: u8, len: u32) -> f32 {
        let Some(unit) = &self.unit else { return 0.0 };
        // A term nobody holds has an idf above zero, whatever the collection.
        (bm25(unit, 0, times, len, self.stats, &self.weights) / idf(0, self.stats.docs)) as f32
    }
}
