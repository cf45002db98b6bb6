//! The five rankers. Each is a weighted sum of signals and has its own rule for which candidates match at all:
//! `operational`, `episodic` and `lesson` use text relevance, `layered` and `hint` count words in chosen fields.
//! Weights are in [`Weights`] (`limits.weights.*`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::spread::RELEVANCE;
use super::text::TextScore;
use super::{Hit, RankingQuery};
use crate::gate;
use crate::model::limits::{Weights, kind_score, trust_score};
use crate::model::memory::Memory;
use crate::model::vocabulary::{Kind, Ranker, State, Trust};
use crate::ports::Candidate;
use crate::text::entities::{self, Entity};
use crate::text::words::{self, IndexedFields, IndexedWords};

type ScoreParts = BTreeMap<&'static str, f64>;

/// Scores the candidates that match the query by the rule of its ranker; the others are left out.
pub(super) fn score_candidates(query: &RankingQuery<'_>, candidates: Vec<Candidate>, texts: &[TextScore]) -> Vec<Hit> {
    let scorer = CandidateScorer::new(query, &candidates);
    let mut hits = Vec::with_capacity(candidates.len());
    for (at, candidate) in candidates.into_iter().enumerate() {
        if let Some((score, mut parts)) = scorer.score_candidate(&candidate, &texts[at], at) {
            add_text_parts(&texts[at], &mut parts);
            hits.push(Hit { memory: candidate.memory, score, parts });
        }
    }
    hits
}

/// The query, with the parts of it that are the same for all candidates.
struct CandidateScorer<'a> {
    query: &'a RankingQuery<'a>,
    /// A query without words matches every candidate.
    matches_all: bool,
    entities: Vec<Entity>,
    /// Recency rank per candidate, from 1 for the newest towards 0; only for the layered ranker.
    positions: Vec<f64>,
}

impl<'a> CandidateScorer<'a> {
    fn new(query: &'a RankingQuery<'a>, candidates: &[Candidate]) -> Self {
        let layered = query.ranker == Ranker::Layered;
        CandidateScorer {
            query,
            matches_all: query.words.terms.is_empty(),
            entities: entities::extract(query.text),
            positions: if layered { recency_positions(candidates) } else { Vec::new() },
        }
    }

    fn score_candidate(&self, candidate: &Candidate, text: &TextScore, at: usize) -> Option<(f64, ScoreParts)> {
        let memory = &candidate.memory;
        let weights = self.query.weights;
        match self.query.ranker {
            Ranker::Operational => {
                let entity = entities::query_coverage(&self.entities, &memory.entities);
                // Operational facts age from their last edit.
                let recency = recency_score(memory.updated_at, self.query.now, weights.half_life_days);
                let is_match = self.matches_all || text.total > 0.0 || entity > 0.0;
                is_match.then(|| operational_score(weights, text.total, memory.trust, entity, memory.kind, recency))
            }
            Ranker::Episodic => {
                // Episodes age from when they were saved: an edit does not make an old event recent.
                let recency = recency_score(memory.created_at, self.query.now, weights.episodic_half_life_days);
                let is_match = self.matches_all || text.total > 0.0;
                is_match.then(|| episodic_score(weights, text.total, recency, memory.importance, RecallSource::Memory))
            }
            Ranker::Lesson => {
                (self.matches_all || text.total > 0.0).then(|| (text.total, ScoreParts::from([("text", text.total)])))
            }
            Ranker::Layered => self.score_layered(memory, text, self.positions[at]),
            Ranker::Hint => self.score_hint(candidate),
        }
    }

    /// Layered: word overlap with summary and metadata, then state and recency. Substring of the summary outweighs all
    /// else.
    fn score_layered(&self, memory: &Memory, text: &TextScore, position: f64) -> Option<(f64, ScoreParts)> {
        let weights = self.query.weights;
        let summary = memory.summary_line().to_lowercase();
        let query_text = self.query.text.trim().to_lowercase();
        let substring = f64::from(u8::from(!query_text.is_empty() && summary.contains(&query_text)));
        let in_summary = self.text_share(memory.summary_line());
        let in_metadata = self.text_share(&metadata_text(memory));
        // No vectors: the scores of this ranker can be recomputed by hand. A candidate matched only in other fields
        // (`text.words`) is kept, with a score from state and recency.
        let is_match = query_text.is_empty() || substring + in_summary + in_metadata + text.words > 0.0;
        let parts = ScoreParts::from([
            ("substring", substring),
            ("summary", in_summary),
            ("metadata", in_metadata),
            ("state", state_score(memory.state)),
            ("recency", position),
        ]);
        let score = weights.layered_substring * substring
            + weights.layered_summary * in_summary
            + weights.layered_metadata * in_metadata
            + state_score(memory.state)
            + weights.layered_recency * position;
        is_match.then_some((score, parts))
    }

    /// Weighted share of the query's words in a text, 0..1, read as in the search index: stems, compounds, identifiers.
    fn text_share(&self, text: &str) -> f64 {
        let index = words::index_fields(&IndexedFields { content: text, ..IndexedFields::default() });
        self.weighted_term_share(|term| index.term_frequency(term) > 0)
    }

    /// Hint: share of the query's words in the recall hint, the tags and the content, weighted in that order. The hint
    /// was written to be searched, so it counts most.
    fn score_hint(&self, candidate: &Candidate) -> Option<(f64, ScoreParts)> {
        let memory = &candidate.memory;
        let weights = self.query.weights;
        let hint = words::index_fields(&IndexedFields {
            content: memory.recall_hint.as_deref().unwrap_or_default(),
            ..IndexedFields::default()
        });
        let tags = words::index_fields(&IndexedFields { tags: &memory.tags, ..IndexedFields::default() });
        let other_fields = words::index_fields(&fields_except_content(memory));
        let hint = self.weighted_term_share(|term| hint.term_frequency(term) > 0);
        let tags = self.weighted_term_share(|term| tags.term_frequency(term) > 0);
        let content = self.weighted_term_share(|term| is_in_content(&candidate.words, &other_fields, term));
        let score = weights.hint_hint * hint + weights.hint_tags * tags + weights.hint_content * content;
        let parts = ScoreParts::from([("hint", hint), ("tags", tags), ("content", content)]);
        (self.matches_all || score > 0.0).then_some((score, parts))
    }

    /// Weighted share of the query's words that a field contains, 0..1. A derived form matches its word with a lower
    /// weight.
    fn weighted_term_share(&self, is_in_field: impl Fn(words::Term) -> bool) -> f64 {
        let mut groups: BTreeMap<u16, (f64, f64)> = BTreeMap::new();
        for term in &self.query.words.terms {
            let weight = f64::from(term.weight);
            let (all, matched) = groups.entry(term.group).or_default();
            *all = all.max(weight);
            if is_in_field(term.term) {
                *matched = matched.max(weight);
            }
        }
        let (all, matched) =
            groups.values().fold((0.0, 0.0), |(all, matched), group| (all + group.0, matched + group.1));
        if all > 0.0 { matched / all } else { 0.0 }
    }
}

/// Score and signals of the default ranker: text relevance, trust, shared entities, kind and recency.
pub fn operational_score(
    weights: &Weights,
    text: f64,
    trust: Trust,
    entity: f64,
    kind: Kind,
    recency: f64,
) -> (f64, BTreeMap<&'static str, f64>) {
    let (trust, kind) = (trust_score(trust), kind_score(kind));
    let score = weights.operational_text * text
        + weights.operational_trust * trust
        + weights.operational_entity * entity
        + weights.operational_kind * kind
        + weights.operational_recency * recency;
    let parts = [("text", text), ("trust", trust), ("entity", entity), ("kind", kind), ("recency", recency)];
    (score, ScoreParts::from(parts))
}

/// The four sources of `recall`: an agent's episodes, the audit log, workflow steps and the knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallSource {
    Memory,
    Audit,
    Workflow,
    Knowledge,
}

impl RecallSource {
    /// Source signal of the episodic formula: own episodes first, then recorded actions, then documents.
    pub const fn priority(self) -> f64 {
        match self {
            RecallSource::Memory => 1.0,
            RecallSource::Audit => 0.8,
            RecallSource::Workflow => 0.6,
            RecallSource::Knowledge => 0.5,
        }
    }
}

/// Score and signals of the episodic ranker. `recall` merges its four sources by this formula too.
pub fn episodic_score(
    weights: &Weights,
    similarity: f64,
    recency: f64,
    importance: f64,
    source: RecallSource,
) -> (f64, BTreeMap<&'static str, f64>) {
    let source = source.priority();
    let score = weights.episodic_similarity * similarity
        + weights.episodic_recency * recency
        + weights.episodic_importance * importance
        + weights.episodic_source * source;
    let parts = [("similarity", similarity), ("recency", recency), ("importance", importance), ("source", source)];
    (score, ScoreParts::from(parts))
}

/// Exponential decay: 1 now or in the future, 0.5 after one half-life.
pub fn recency_score(at: Timestamp, now: Timestamp, half_life_days: f64) -> f64 {
    const MICROS_PER_DAY: f64 = 86_400e6;
    let age_days = (now.as_microsecond() - at.as_microsecond()).max(0) as f64 / MICROS_PER_DAY;
    0.5_f64.powf(age_days / half_life_days)
}

/// Layered ranker: added to the score as it is, without a weight.
const fn state_score(state: State) -> f64 {
    match state {
        State::Active => 2.0,
        State::Constrained => 1.0,
        State::Superseded => 0.2,
        State::Archived | State::Tombstoned => 0.0,
    }
}

/// Recency rank of each candidate: 1 for the newest, towards 0 for the oldest. Equal times are ordered by id.
fn recency_positions(candidates: &[Candidate]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(candidates[*at].memory.created_at), candidates[*at].memory.id));
    let mut positions = vec![0.0; candidates.len()];
    for (place, at) in order.into_iter().enumerate() {
        positions[at] = 1.0 - place as f64 / candidates.len() as f64;
    }
    positions
}

/// All strings in the metadata, at any depth.
fn metadata_text(memory: &Memory) -> String {
    let mut text = String::new();
    let mut open: Vec<&Value> = memory.metadata.values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(value) => text.extend([value.as_str(), "\n"]),
            Value::Array(values) => open.extend(values),
            Value::Object(values) => open.extend(values.values()),
            _ => {}
        }
    }
    text
}

fn fields_except_content(memory: &Memory) -> IndexedFields<'_> {
    IndexedFields { content: "", ..gate::searched_fields(memory) }
}

/// Whether the content contains a term. The stored index counts all fields together, so a term that occurs more often
/// there than in the `other_fields` must be in the content.
fn is_in_content(all: &IndexedWords, other_fields: &IndexedWords, term: words::Term) -> bool {
    all.term_frequency(term) > other_fields.term_frequency(term)
}

/// Adds the components of text relevance, for `explain` and receipts.
fn add_text_parts(text: &TextScore, parts: &mut ScoreParts) {
    parts.extend([
        (RELEVANCE, text.total),
        ("text.level", text.level),
        ("text.words", text.words),
        ("text.vector", text.vector),
        ("text.context", text.context),
        ("text.speaker", text.speaker),
        ("text.time", text.time),
        ("text.exact", text.exact),
        ("text.user", text.user),
    ]);
}
