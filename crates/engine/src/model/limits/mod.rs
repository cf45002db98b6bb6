//! Every tunable number: its unit, its default, and why.

mod bounds;
pub mod text_weights;

use serde::{Deserialize, Serialize};

use crate::model::error::Error;
use crate::model::limits::text_weights::TextWeights;
use crate::model::vocabulary::{Kind, Trust};
pub use bounds::OutOfBounds;

/// Memories or decisions changed in one transaction: enough to share a disk write, few enough that other writers do
/// not wait long. Not configurable.
pub(crate) const COMMIT_BATCH_MAX: usize = 250;

/// Bounds on what may be written and asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest path; the same bound as Anthropic's memory stores, so that paths travel.
    pub path_bytes_max: usize,
    pub path_segments_max: usize,
    pub title_bytes_max: usize,
    pub hint_bytes_max: usize,
    pub tags_max: usize,
    pub tag_bytes_max: usize,
    /// Metadata is for finding and contracts, not for a second body.
    pub metadata_bytes_max: usize,
    pub metadata_depth_max: usize,
    pub evidence_max: usize,
    pub evidence_bytes_max: usize,
    /// Names of users, conversations, agents, systems and runs.
    pub name_bytes_max: usize,
    /// A longer query is cut: nobody types it, and its tail says nothing its head did not.
    pub query_bytes_max: usize,
    /// Hits a search returns when nobody says.
    pub results_default: usize,
    /// The most a caller may ask for.
    pub results_max: usize,
    pub list_default: usize,
    pub list_max: usize,
    pub history_default: usize,
    pub history_max: usize,
    /// Characters of the current text shown in a conflict.
    pub conflict_excerpt_chars: usize,
    /// Candidates fetched per result wanted, so that ranking has a choice.
    pub overfetch: usize,
    /// The least fetched by words and by vectors, whatever was asked for.
    pub pool_min: usize,
    /// The turns beside this many of the best are candidates too.
    pub neighbours_of_best: usize,
    /// How many turns before and after count as beside.
    pub neighbours_reach: u32,
    /// Hint overlap (Jaccard over word tokens) from which two notes are about the same thing.
    pub near_hint: f64,
    /// Content overlap from which notes with near hints agree.
    pub near_content: f64,
    /// Calibrated vector similarity that also counts as agreement.
    pub near_vector: f64,
    /// Lessons returned by one recall unless the pipeline says otherwise.
    pub lesson_recall_max: usize,
    /// Attempts at a write whose guards lose races before the caller hears of it; one of a crowd wins each time.
    pub commit_attempts: usize,
    /// Bytes of a text that is scanned and embedded in well under a millisecond.
    pub light_bytes_max: usize,
    /// Tokens a turn's context may cost, frame included (`MEMORY_CONTEXT_TOKEN_BUDGET`).
    pub context_budget_tokens: usize,
    /// The most a turn may ask for: half of a large model's window.
    pub context_budget_max: usize,
    /// Ranked memories shown in one turn.
    pub context_memories_max: usize,
    /// Trust score from which a memory is shown as trusted.
    pub context_trusted_from: f64,
    /// First part of the two tags around what a model is shown.
    pub context_tag_prefix: String,
    /// A memory is shown cut only when at least this much of it is seen.
    pub context_cut_tokens_min: usize,
    /// Always-inject memories shown in one turn.
    pub always_inject_max: usize,
    /// Always-inject memories get one part in this many of the budget.
    pub always_inject_share: usize,
    /// Days a proposal waits for a decision before it lapses: a quarter, after which nobody remembers why.
    pub review_days_max: u32,
    /// Token overlap (Jaccard) from which a save repeats what its run was told.
    pub echo_overlap: f64,
    /// Latest touches of a run that are looked at for what it was told.
    pub echo_uses: usize,
    /// Days receipts and touches are kept: a year, the longest most audits look back. 0 keeps them for ever.
    pub receipt_days: u32,
    /// Past turns a proposal is held against: enough to see a pattern, few enough to answer at once.
    pub impact_receipts: usize,
    /// Similarity below which four-source recall drops what only its vector found (seed 001).
    pub similarity_min: f64,
    /// What four-source recall answers with (seed 001).
    pub my_results_max: usize,
    /// Newest entries of our own log that four-source recall looks at.
    pub own_events_max: usize,
    /// Memories of each layer that planning is given (seed 003).
    pub layer_context_max: usize,
    pub weights: Weights,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            path_bytes_max: 1_024,
            path_segments_max: 20,
            title_bytes_max: 512,
            hint_bytes_max: 1_024,
            tags_max: 64,
            tag_bytes_max: 128,
            metadata_bytes_max: 16_384,
            metadata_depth_max: 8,
            evidence_max: 32,
            evidence_bytes_max: 4_096,
            name_bytes_max: 256,
            query_bytes_max: 8_192,
            results_default: 6,
            results_max: 200,
            list_default: 50,
            list_max: 1_000,
            history_default: 5,
            history_max: 1_000,
            conflict_excerpt_chars: 200,
            overfetch: 3,
            pool_min: 20,
            neighbours_of_best: 10,
            neighbours_reach: 2,
            near_hint: 0.6,
            near_content: 0.3,
            near_vector: 0.6,
            lesson_recall_max: 5,
            commit_attempts: 64,
            light_bytes_max: 4 * 1024,
            context_budget_tokens: 2_200,
            context_budget_max: 100_000,
            context_memories_max: 6,
            context_trusted_from: 0.85,
            context_tag_prefix: "ingrain".to_owned(),
            context_cut_tokens_min: 150,
            always_inject_max: 25,
            always_inject_share: 3,
            review_days_max: 90,
            echo_overlap: 0.8,
            echo_uses: 2_000,
            receipt_days: 365,
            impact_receipts: 50,
            similarity_min: 0.7,
            my_results_max: 5,
            own_events_max: 500,
            layer_context_max: 3,
            weights: Weights::default(),
        }
    }
}

impl Limits {
    pub(crate) fn neighbour_limits(&self) -> Neighbours {
        Neighbours { of_best: self.neighbours_of_best, reach: self.neighbours_reach }
    }
}

/// How many a caller gets: as many as asked for, or else the usual number. The one rule of every listing and search.
pub(crate) fn resolve_limit(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, Error> {
    check_range("limit", asked, most)?;
    Ok(asked.unwrap_or(usual).clamp(1, most))
}

/// Whether what was asked for can be had: what lies outside is told, not bent.
pub(crate) fn check_range(name: &str, asked: Option<usize>, most: usize) -> Result<(), Error> {
    match asked.is_none_or(|asked| (1..=most).contains(&asked)) {
        true => Ok(()),
        false => Err(Error::invalid("shape.out_of_range", format!("`{name}`: a number from 1 to {most} is expected"))),
    }
}

/// Weights of the rankers (SPEC §3); each formula's sum to one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    pub operational_text: f64,
    pub operational_trust: f64,
    pub operational_entity: f64,
    pub operational_kind: f64,
    pub operational_recency: f64,
    /// Days after which recency counts half.
    pub half_life_days: f64,
    pub episodic_similarity: f64,
    pub episodic_recency: f64,
    pub episodic_importance: f64,
    pub episodic_source: f64,
    pub layered_substring: f64,
    pub layered_summary: f64,
    pub layered_metadata: f64,
    pub layered_recency: f64,
    pub hint_hint: f64,
    pub hint_tags: f64,
    pub hint_content: f64,
    /// What makes the one number `text`.
    pub text: TextWeights,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            operational_text: 0.45,
            operational_trust: 0.20,
            operational_entity: 0.15,
            operational_kind: 0.10,
            operational_recency: 0.10,
            half_life_days: 30.0,
            episodic_similarity: 0.5,
            episodic_recency: 0.2,
            episodic_importance: 0.2,
            episodic_source: 0.1,
            layered_substring: 100.0,
            layered_summary: 24.0,
            layered_metadata: 8.0,
            layered_recency: 0.25,
            hint_hint: 3.0,
            hint_tags: 2.0,
            hint_content: 1.0,
            text: TextWeights::default(),
        }
    }
}

/// How far each trust level is believed, in 0..1.
pub const fn trust_score(trust: Trust) -> f64 {
    match trust {
        Trust::AdminApproved => 1.0,
        Trust::SystemSeeded => 0.95,
        Trust::UserAuthored => 0.85,
        Trust::AgentDraft => 0.45,
    }
}

/// How much each kind helps an operator, in 0..1.
pub const fn kind_score(kind: Kind) -> f64 {
    match kind {
        Kind::Runbook => 0.9,
        Kind::VerificationChecklist => 0.85,
        Kind::IncidentLesson => 0.8,
        Kind::WorkspaceConvention => 0.75,
        Kind::ServiceContext => 0.7,
        Kind::ToolUsageLesson => 0.65,
        Kind::UserPreference => 0.5,
        Kind::DreamSummary => 0.4,
        _ => 0.3,
    }
}

/// Which turns count as beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Of how many of the best by words, and as many by vector.
    pub of_best: usize,
    /// Turns before and after, in the same session and place.
    pub reach: u32,
}
