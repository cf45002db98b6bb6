//! Reviews: a proposal that waits for a person, at exact versions.

use crate::model::caller::Caller;
use crate::model::event::{EventBody, EventName};
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Evidence, Memory, Version};
use crate::model::row::{RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::vocabulary;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Where an event of a review keeps for whom and in which conversation it was proposed; shown to deciders only.
pub(crate) const ORIGIN_FIELD: &str = "from";

vocabulary! {
    /// What approval would do.
    Action ("review action") {
        Promote = "promote",
        ProfileUpdate = "profile_update",
        SemanticCompaction = "semantic_compaction",
        ProceduralDedup = "procedural_dedup",
        Draft = "draft",
        Forget = "forget",
        Redact = "redact",
    }
}

vocabulary! {
    /// Where a review stands.
    ReviewState ("review state") {
        Pending = "pending",
        /// Back with the proposer: what it is about must change first.
        ChangesRequested = "changes_requested",
        Approved = "approved",
        Rejected = "rejected",
        /// What it was about has changed, or it has waited too long.
        Superseded = "superseded",
    }
}

impl ReviewState {
    pub const fn is_open(self) -> bool {
        matches!(self, ReviewState::Pending | ReviewState::ChangesRequested)
    }
}

vocabulary! {
    /// What a wrong approval would cost, as the proposer sees it.
    Risk ("risk") {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// A memory at the exact version a proposal was made on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceVersion {
    pub memory: MemoryId,
    pub version: VersionId,
    pub sha256: String,
}

impl SourceVersion {
    pub(crate) fn from_memory(memory: &Memory) -> SourceVersion {
        SourceVersion { memory: memory.id, version: memory.version, sha256: memory.sha256.clone() }
    }

    pub(crate) fn from_version(version: &Version) -> SourceVersion {
        SourceVersion { memory: version.memory.id, version: version.id, sha256: version.memory.sha256.clone() }
    }
}

/// Something that waits for a person.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Review {
    pub id: Uuid,
    pub action: Action,
    pub state: ReviewState,
    pub sources: Vec<SourceVersion>,
    /// The constrained memory that would become active; none for `promote`, `forget` and `redact`, where it is the source.
    pub candidate: Option<MemoryId>,
    pub target_store: String,
    pub target_path: Option<String>,
    /// Where it would stand.
    pub scope: Scope,
    pub rationale: String,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    pub risk: Risk,
    pub proposer: String,
    /// For whom and where the proposer spoke: there a program sees what it proposed, and nowhere else.
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub reviewer: Option<String>,
    /// What the reviewer said.
    #[serde(default)]
    pub comment: Option<String>,
    /// What approval made.
    #[serde(default)]
    pub result: Option<MemoryId>,
    pub created_at: Timestamp,
    #[serde(default)]
    pub decided_at: Option<Timestamp>,
}

impl SideRecord for Review {
    const KIND: RowKind = RowKind::Reviews;
    fn row_id(&self) -> String {
        self.id.to_string()
    }
    fn row_time(&self) -> Timestamp {
        self.created_at
    }
    fn row_state(&self) -> String {
        self.state.to_string()
    }
    /// The record it is about, by which people may name it too.
    fn row_subject(&self) -> String {
        self.candidate
            .or_else(|| self.sources.first().map(|source| source.memory))
            .map(|id| id.to_string())
            .unwrap_or_default()
    }
    fn row_parent(&self) -> String {
        self.target_store.clone()
    }
}

impl Review {
    /// The id of the nth proposal to do this with these versions: two that propose it at once make one review.
    /// The sources that must still be what they were: of a redaction the first, the others are versions of it.
    pub(crate) fn required_sources(&self) -> &[SourceVersion] {
        match self.action {
            Action::Redact => self.sources.get(..1).unwrap_or_default(),
            _ => &self.sources,
        }
    }

    /// The older versions that a redaction is about; none when it is about all of them.
    pub(crate) fn older_versions(&self) -> Option<Vec<VersionId>> {
        let older: Vec<VersionId> = self.sources.iter().skip(1).map(|source| source.version).collect();
        (!older.is_empty()).then_some(older)
    }

    pub(crate) fn id_for(action: Action, sources: &[SourceVersion], store: &str, path: Option<&str>, nth: u32) -> Uuid {
        let mut hash = Sha256::new();
        for part in [action.as_str(), store, path.unwrap_or_default()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        sources.iter().for_each(|source| hash.update(source.version.0.as_bytes()));
        hash.update(nth.to_be_bytes());
        let digest = hash.finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The event of what happened to it. Rationale and comment may quote content and stay out.
    pub(crate) fn to_event(&self, name: EventName, caller: &Caller, at: Timestamp) -> EventBody {
        let mut event = EventBody::new(name, caller, at)
            .with_scope(Some(self.scope.clone()))
            .with_field("review", self.id)
            .with_field("proposer", &self.proposer)
            .with_field(ORIGIN_FIELD, json!({ "user": self.user, "conversation": self.conversation }))
            .with_field("action", self.action)
            .with_field("store", &self.target_store)
            .with_field("path", &self.target_path)
            .with_field("risk", self.risk)
            .with_field("sources", self.sources.iter().map(|source| source.memory).collect::<Vec<_>>());
        event.memory = self.result.or(self.candidate);
        event
    }

    pub(crate) fn with_decision(
        &self,
        state: ReviewState,
        caller: &Caller,
        comment: Option<String>,
        at: Timestamp,
    ) -> Review {
        let (reviewer, decided_at) = (Some(caller.principal.clone()), Some(at));
        Review { state, reviewer, comment, decided_at, ..self.clone() }
    }
}
