//! Memories and versions, as they are shown.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::model::scope::Scope;
use engine::model::vocabulary::{Dedup, Kind, Layer, Operation, ScopeKind, State, Trust};
use engine::{SaveOutcome, SavedMemory};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::remember::EvidenceBody;
use super::{Id, KindWord, LayerWord, Moment, OperationWord, ScopeWord, StateWord, TrustWord};

/// What a save did. Holds no content, so that an answer kept for a repeat holds none either.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Saved")]
pub struct SavedView {
    /// `created`, `updated`, or `unchanged` where it was known already.
    pub outcome: String,
    #[schemars(with = "Id")]
    pub id: MemoryId,
    #[schemars(with = "Id")]
    pub version: VersionId,
    pub version_number: u32,
    pub store: String,
    #[schemars(with = "Place")]
    pub scope: Scope,
    pub path: Option<String>,
    pub sha256: String,
    #[schemars(with = "StateWord")]
    pub state: State,
    #[schemars(with = "TrustWord")]
    pub trust: Trust,
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
    /// Which sameness made this an update or a no-op.
    #[schemars(with = "Option<String>")]
    pub deduped_by: Option<Dedup>,
    /// A memory with a similar hint that says something else.
    #[schemars(with = "Option<Id>")]
    pub near: Option<MemoryId>,
    pub warnings: Vec<String>,
}

impl SavedView {
    pub fn new(saved: &SavedMemory) -> SavedView {
        let outcome = match saved.outcome {
            SaveOutcome::Created => "created",
            SaveOutcome::Updated => "updated",
            SaveOutcome::Unchanged => "unchanged",
        };
        let view = SavedView::from_memory(&saved.memory, outcome);
        SavedView { deduped_by: saved.deduped_by, near: saved.near, warnings: saved.warnings.clone(), ..view }
    }

    /// A change of a memory that stood there before.
    pub fn from_memory(memory: &Memory, outcome: &str) -> SavedView {
        SavedView {
            outcome: outcome.to_owned(),
            id: memory.id,
            version: memory.version,
            version_number: memory.version_number,
            store: memory.store.clone(),
            scope: memory.scope.clone(),
            path: memory.path.clone(),
            sha256: memory.sha256.clone(),
            state: memory.state,
            trust: memory.trust,
            expires_at: memory.expires_at,
            deduped_by: None,
            near: None,
            warnings: Vec::new(),
        }
    }
}

/// Where a memory lives: the kind of place, and its name.
#[derive(JsonSchema)]
#[schemars(rename = "Scope")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
pub struct Place {
    #[schemars(with = "ScopeWord")]
    kind: ScopeKind,
    user: Option<String>,
    conversation: Option<String>,
    agent: Option<String>,
    pipeline: Option<String>,
    system: Option<String>,
    run: Option<String>,
}

/// A memory, whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub struct MemoryView {
    /// Absent in listings unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What stands for the memory in one line.
    pub summary: String,
    #[serde(flatten)]
    #[schemars(with = "MemoryFields")]
    pub memory: Memory,
}

/// The fields every memory has.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct MemoryFields {
    #[schemars(with = "Id")]
    id: MemoryId,
    store: String,
    #[schemars(with = "Place")]
    scope: Scope,
    #[schemars(with = "LayerWord")]
    layer: Layer,
    #[schemars(with = "KindWord")]
    kind: Kind,
    path: Option<String>,
    title: Option<String>,
    recall_hint: Option<String>,
    sha256: String,
    size_bytes: u64,
    tags: Vec<String>,
    metadata: Map<String, Value>,
    #[schemars(with = "StateWord")]
    state: State,
    #[schemars(with = "TrustWord")]
    trust: Trust,
    confidence: f64,
    importance: f64,
    always_inject: bool,
    #[schemars(with = "Option<Moment>")]
    expires_at: Option<Timestamp>,
    recall_count: u64,
    #[schemars(with = "Id")]
    version: VersionId,
    version_number: u32,
    author: String,
    #[schemars(with = "Moment")]
    created_at: Timestamp,
    #[schemars(with = "Moment")]
    updated_at: Timestamp,
}

impl MemoryView {
    pub fn with_content(mut memory: Memory) -> MemoryView {
        let summary = memory.summary_line().to_owned();
        MemoryView { content: Some(std::mem::take(&mut memory.content)), summary, memory }
    }

    pub fn without_content(mut memory: Memory) -> MemoryView {
        let summary = memory.summary_line().to_owned();
        memory.content = String::new();
        MemoryView { content: None, summary, memory }
    }
}

/// An entry of a memory's log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Version")]
pub struct VersionView {
    #[schemars(with = "Id")]
    pub id: VersionId,
    pub number: u32,
    #[schemars(with = "OperationWord")]
    pub operation: Operation,
    #[schemars(with = "Option<Id>")]
    pub previous: Option<VersionId>,
    pub actor: String,
    pub run: Option<String>,
    pub conversation: Option<String>,
    pub reason: Option<String>,
    pub evidence: Vec<EvidenceBody>,
    #[schemars(with = "Moment")]
    pub at: Timestamp,
    #[schemars(with = "Option<Moment>")]
    pub redacted_at: Option<Timestamp>,
    /// The memory as it stood.
    pub memory: MemoryView,
}

impl From<Version> for VersionView {
    fn from(version: Version) -> VersionView {
        VersionView {
            id: version.id,
            number: version.number,
            operation: version.operation,
            previous: version.previous,
            actor: version.actor,
            run: version.run,
            conversation: version.conversation,
            reason: version.reason,
            evidence: version.evidence.into_iter().map(EvidenceBody::from).collect(),
            at: version.at,
            redacted_at: version.redacted_at,
            memory: MemoryView::with_content(version.memory),
        }
    }
}
