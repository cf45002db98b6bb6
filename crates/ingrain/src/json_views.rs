//! JSON shapes of answers, shared by the commands.

use std::collections::BTreeMap;

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Evidence, Memory, Version};
use engine::model::vocabulary::{Dedup, Operation, Ranker, State, Trust};
use engine::recall::ranking::Hit;
use engine::{HitExplanation, SaveOutcome, SavedMemory, SearchResults};
use jiff::Timestamp;
use serde::Serialize;

/// A memory with its content.
#[derive(Serialize)]
pub struct MemoryView<'a> {
    #[serde(flatten)]
    memory: &'a Memory,
    content: &'a str,
}

impl<'a> From<&'a Memory> for MemoryView<'a> {
    fn from(memory: &'a Memory) -> Self {
        MemoryView { memory, content: &memory.content }
    }
}

/// The answer to a save.
#[derive(Serialize)]
pub struct SavedView<'a> {
    status: SaveOutcome,
    id: MemoryId,
    version: VersionId,
    version_number: u32,
    sha256: &'a str,
    store: &'a str,
    scope: String,
    path: Option<&'a str>,
    trust: Trust,
    state: State,
    /// Whether the save matched an existing memory.
    deduped: bool,
    deduped_by: Option<Dedup>,
    warnings: &'a [String],
    flags: &'a [String],
    near: Option<MemoryId>,
    expires_at: Option<Timestamp>,
    /// How long it is kept, in words; `None` where it does not expire.
    lifetime: Option<String>,
}

impl<'a> From<&'a SavedMemory> for SavedView<'a> {
    fn from(saved: &'a SavedMemory) -> Self {
        let memory = &saved.memory;
        SavedView {
            status: saved.outcome,
            id: memory.id,
            version: memory.version,
            version_number: memory.version_number,
            sha256: &memory.sha256,
            store: &memory.store,
            scope: memory.scope.to_string(),
            path: memory.path.as_deref(),
            trust: memory.trust,
            state: memory.state,
            deduped: saved.deduped_by.is_some(),
            deduped_by: saved.deduped_by,
            warnings: &saved.warnings,
            flags: &memory.flags,
            near: saved.near,
            expires_at: memory.expires_at,
            lifetime: saved.lifetime(),
        }
    }
}

/// Answer of commands that change the state of a memory, not its content.
#[derive(Serialize)]
pub struct StatusView<'a> {
    pub status: &'static str,
    pub id: MemoryId,
    pub version: VersionId,
    pub sha256: &'a str,
    pub store: &'a str,
    pub path: Option<&'a str>,
    pub state: State,
    pub always_inject: bool,
}

impl<'a> StatusView<'a> {
    pub fn new(status: &'static str, memory: &'a Memory) -> StatusView<'a> {
        StatusView {
            status,
            id: memory.id,
            version: memory.version,
            sha256: &memory.sha256,
            store: &memory.store,
            path: memory.path.as_deref(),
            state: memory.state,
            always_inject: memory.always_inject,
        }
    }
}

/// Answer of a patch that became a draft: what was saved, and the review it waits in.
#[derive(Serialize)]
pub struct ProposedPatchView<'a> {
    #[serde(flatten)]
    pub saved: StatusView<'a>,
    pub review: Option<&'a str>,
    pub warnings: &'a [String],
}

#[derive(Serialize)]
pub struct HitView<'a> {
    #[serde(flatten)]
    memory: MemoryView<'a>,
    score: f64,
    parts: &'a BTreeMap<&'static str, f64>,
}

impl<'a> From<&'a Hit> for HitView<'a> {
    fn from(hit: &'a Hit) -> Self {
        HitView { memory: (&hit.memory).into(), score: hit.score, parts: &hit.parts }
    }
}

#[derive(Serialize)]
pub struct AnswerView<'a> {
    hits: Vec<HitView<'a>>,
    ranker: Ranker,
    considered: usize,
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<&'a HitExplanation>,
}

impl<'a> From<&'a SearchResults> for AnswerView<'a> {
    fn from(answer: &'a SearchResults) -> Self {
        AnswerView {
            hits: answer.hits.iter().map(HitView::from).collect(),
            ranker: answer.ranker,
            considered: answer.considered_count,
            warnings: &answer.warnings,
            explain: answer.explanation.as_ref(),
        }
    }
}

#[derive(Serialize)]
pub struct VersionView<'a> {
    id: VersionId,
    number: u32,
    operation: Operation,
    previous: Option<VersionId>,
    actor: &'a str,
    run: Option<&'a str>,
    conversation: Option<&'a str>,
    reason: Option<&'a str>,
    at: Timestamp,
    redacted_at: Option<Timestamp>,
    evidence: &'a [Evidence],
    state: State,
    trust: Trust,
    sha256: &'a str,
    content: &'a str,
    /// All fields of the memory in this version.
    memory: &'a Memory,
}

impl<'a> From<&'a Version> for VersionView<'a> {
    fn from(version: &'a Version) -> Self {
        VersionView {
            id: version.id,
            number: version.number,
            operation: version.operation,
            previous: version.previous,
            actor: &version.actor,
            run: version.run.as_deref(),
            conversation: version.conversation.as_deref(),
            reason: version.reason.as_deref(),
            at: version.at,
            redacted_at: version.redacted_at,
            evidence: &version.evidence,
            state: version.memory.state,
            trust: version.memory.trust,
            sha256: &version.memory.sha256,
            content: &version.memory.content,
            memory: &version.memory,
        }
    }
}
