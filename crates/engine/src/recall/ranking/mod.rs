//! Ranking: scores and sorts the candidates a backend found. The same candidates get the same order on every backend.
//!
//! - `mod.rs`: [`rank_candidates`], the hit order (`compare_hits`) and the inputs of text relevance
//! - `formulas.rs`: the five rankers, each a weighted sum of signals
//! - `text.rs`: text relevance (BM25, IDF, vector similarity, boosts)
//! - `sessions.rs`: word matches shared between neighbouring turns
//! - `spread.rs`: text relevance spread over 0..1, the text signal of `operational` and `episodic`
//! - `named_time/`: dates and periods in a query ("last week")

mod formulas;
pub mod named_time;
mod sessions;
mod spread;
pub mod text;

pub use formulas::{RecallSource, episodic_score, operational_score, recency_score};
pub(crate) use spread::{RELEVANCE, spread_relevance, spread_text};

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::model::limits::Weights;
use crate::model::memory::Memory;
use crate::model::scope::Scope;
use crate::model::vector::Vector;
use crate::model::vocabulary::{Ranker, TurnRole};
use crate::ports::{Calibration, Candidate, CandidateSet, CorpusStats};
use crate::text::words::{self, QueryWords};
use text::{QuerySignals, TextInput, TextScore};

/// A parsed query with everything the formulas need.
pub struct RankingQuery<'a> {
    pub text: &'a str,
    pub words: &'a QueryWords,
    pub vector: Option<&'a Vector>,
    pub calibration: Calibration,
    pub ranker: Ranker,
    pub weights: &'a Weights,
    pub now: Timestamp,
}

/// A ranked memory with its score and the score's components.
#[derive(Clone, Debug)]
pub struct Hit {
    pub memory: Memory,
    pub score: f64,
    /// Signals by name, before weighting: `text`, `trust`, `entity` …, and the components of text relevance
    /// (`text.words`, `text.vector` …).
    pub parts: BTreeMap<&'static str, f64>,
}

impl Hit {
    /// A memory included without ranking, such as an always-inject memory.
    pub fn without_score(memory: Memory) -> Hit {
        Hit { memory, score: 0.0, parts: BTreeMap::new() }
    }
}

/// Scores are rounded to six decimals: backends add floats in different orders, and their rounding errors must not
/// decide the order of hits.
const SCORE_STEPS: f64 = 1e6;

/// Scores and sorts the candidates. Candidates that have nothing in common with the query are left out.
pub fn rank_candidates(query: &RankingQuery<'_>, found: CandidateSet) -> Vec<Hit> {
    let texts = text_relevance(query, &found.candidates, &found.stats);
    let mut hits = formulas::score_candidates(query, found.candidates, &texts);
    for hit in &mut hits {
        hit.score = round_score(hit.score);
        hit.parts.values_mut().for_each(|part| *part = round_score(*part));
    }
    spread_text(query.ranker, query.weights, &mut hits);
    hits.sort_by(|one, other| compare_hits(query.ranker, one, other));
    hits
}

/// INVARIANT: a total order, so every backend returns the same list: higher score, then newer, then lower id. The
/// layered ranker sorts inactive memories last.
pub(crate) fn compare_hits(ranker: Ranker, one: &Hit, other: &Hit) -> Ordering {
    let (a, b) = (&one.memory, &other.memory);
    let score = other.score.total_cmp(&one.score);
    match ranker {
        Ranker::Layered => {
            // `true` sorts after `false`: superseded, archived and tombstoned memories come last at any score.
            let inactive = |memory: &Memory| !memory.state.is_changeable();
            inactive(a).cmp(&inactive(b)).then(score).then(b.created_at.cmp(&a.created_at))
        }
        _ => score.then(b.updated_at.cmp(&a.updated_at)),
    }
    .then(a.id.cmp(&b.id))
}

fn round_score(score: f64) -> f64 {
    (score * SCORE_STEPS).round() / SCORE_STEPS
}

/// Text relevance of every candidate, in candidate order.
fn text_relevance(query: &RankingQuery<'_>, candidates: &[Candidate], stats: &CorpusStats) -> Vec<TextScore> {
    // Session names are unique only within a store and scope; a number per session makes the comparison cheap.
    let mut sessions: HashMap<(&str, &Scope, &str), u32> = HashMap::new();
    // Few speakers write many memories: each name is parsed once.
    let mut named: HashMap<&str, bool> = HashMap::new();
    let inputs: Vec<TextInput> = candidates
        .iter()
        .map(|candidate| {
            let memory = &candidate.memory;
            let count = sessions.len() as u32;
            let session = memory
                .session
                .as_deref()
                .map(|session| *sessions.entry((&memory.store, &memory.scope, session)).or_insert(count));
            TextInput {
                tf: query.words.terms.iter().map(|term| candidate.words.term_frequency(term.term)).collect(),
                len: candidate.words.len,
                similarity: vector_similarity(query, candidate.vector.as_ref()),
                session,
                turn: memory.turn,
                named: {
                    let speaker = memory.speaker.as_deref().unwrap_or(&memory.author);
                    *named.entry(speaker).or_insert_with(|| mentions_speaker(query.words, speaker))
                },
                by_user: is_by_user(memory),
                at: memory.happened_at().as_microsecond(),
            }
        })
        .collect();
    let signals =
        QuerySignals { words: query.words, times: named_time::parse_times(query.text, query.now.as_microsecond()) };
    text::score_texts(&signals, stats, &inputs, &query.weights.text)
}

/// Calibrated cosine of query and memory; `None` if either has no vector.
fn vector_similarity(query: &RankingQuery<'_>, vector: Option<&Vector>) -> Option<f64> {
    Some(query.calibration.cosine_to_relevance(query.vector?.cosine(vector?)))
}

/// Whether a turn is a user's: by its role or, where none was given, by a speaker that is the name of that role.
fn is_by_user(memory: &Memory) -> bool {
    let by_speaker =
        || memory.speaker.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(TurnRole::User.as_str()));
    memory.role.map_or_else(by_speaker, |role| role == TurnRole::User)
}

/// Whether the query contains any part of the speaker's name.
fn mentions_speaker(query: &QueryWords, speaker: &str) -> bool {
    // Only the part after the colon is the name: of `agent:triage`, `triage`.
    let name = words::parse_query(speaker.rsplit(':').next().unwrap_or_default());
    // Derived terms weigh less than 1 and would match words that are not the name.
    name.terms
        .iter()
        .filter(|part| part.weight >= 1.0)
        .any(|part| query.terms.iter().any(|term| term.term == part.term))
}

#[cfg(test)]
mod tests;
