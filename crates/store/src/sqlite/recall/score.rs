//! How well words match, to choose candidates by. The engine scores them again.

use engine::ports::Stats;

/// How soon repeating a term stops counting.
const K1: f32 = 0.9;
/// How much a long memory is held back.
const B: f32 = 0.4;

/// What depends on the collection but not on the memory.
pub(super) struct Scorer {
    average_len: f32,
    docs: f32,
}

impl Scorer {
    pub(super) fn new(stats: &Stats) -> Scorer {
        let docs = stats.docs as f32;
        Scorer { average_len: (stats.total_len as f32 / docs.max(1.0)).max(1.0), docs }
    }

    /// How telling a term is that so many memories hold.
    pub(super) fn idf(&self, df: u32) -> f32 {
        let df = df as f32;
        (1.0 + (self.docs - df + 0.5) / (df + 0.5)).ln()
    }

    pub(super) fn saturated(&self, times: u8, len: u32) -> f32 {
        let times = f32::from(times);
        let length = 1.0 - B + B * len as f32 / self.average_len;
        times * (K1 + 1.0) / (times + K1 * length)
    }
}
