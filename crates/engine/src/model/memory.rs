//! The record itself, its versions and where its claims come from.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::lifecycle;
use crate::model::scope::Scope;
use crate::model::store::{AUDIT_LOG, WORKFLOW_STEPS};
use crate::model::vocabulary::{EvidenceKind, Kind, Layer, Operation, State, Trust, TtlClass, TurnRole};
use crate::text::entities::Entity;

/// One thing remembered, as it stands now or stood at a version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub tenant: TenantId,
    /// Slug of the store it is kept in.
    pub store: String,
    pub scope: Scope,
    pub layer: Layer,
    pub kind: Kind,
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub recall_hint: Option<String>,
    /// Kept apart from the snapshot by stores, so that it can be erased.
    #[serde(skip)]
    pub content: String,
    pub sha256: String,
    pub size_bytes: u64,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub entities: Vec<Entity>,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    pub state: State,
    pub trust: Trust,
    pub confidence: f64,
    pub importance: f64,
    pub always_inject: bool,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub archived_at: Option<Timestamp>,
    /// Past this date the memory counts as a draft until someone confirms it.
    #[serde(default)]
    pub verify_by: Option<Timestamp>,
    /// Counters are not versioned: stores keep them beside the record.
    #[serde(default)]
    pub last_recalled_at: Option<Timestamp>,
    #[serde(default)]
    pub recall_count: u64,
    #[serde(default)]
    pub supersedes: Vec<MemoryId>,
    #[serde(default)]
    pub superseded_by: Option<MemoryId>,
    /// The exact versions this memory was made from.
    #[serde(default)]
    pub derived_from: Vec<VersionId>,
    #[serde(default)]
    pub role: Option<TurnRole>,
    #[serde(default)]
    pub session: Option<String>,
    /// Position of a turn in its session.
    #[serde(default)]
    pub turn: Option<u32>,
    /// Who spoke a turn, by name.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Rules of the scanner that flagged, without blocking, what stands here.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Principal that made the first version.
    pub author: String,
    pub version: VersionId,
    pub version_number: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Stands where words were taken away.
const REDACTED_TEXT: &str = "[redacted]";

impl Memory {
    /// What stays of one that was redacted: who, when, why and where, but nothing it said.
    pub fn without_content(self) -> Memory {
        Memory {
            content: String::new(),
            title: None,
            recall_hint: None,
            tags: Vec::new(),
            entities: Vec::new(),
            metadata: Map::new(),
            ..self
        }
    }

    /// What stands for the memory in one line: its hint, else its title, else its first line.
    pub fn summary_line(&self) -> &str {
        let first_line = || self.content.lines().next().unwrap_or_default();
        self.recall_hint.as_deref().or(self.title.as_deref()).filter(|text| !text.is_empty()).unwrap_or_else(first_line)
    }

    /// The first characters, for conflicts and lists.
    pub fn excerpt(&self, chars: usize) -> String {
        self.content.chars().take(chars).collect()
    }

    /// When it happened: an entry of the audit log or of a workflow says so, all else happens when it is saved.
    pub fn happened_at(&self) -> Timestamp {
        let told = || self.metadata.get(HAPPENED_AT_FIELD)?.as_str()?.parse().ok();
        let tells = matches!(self.store.as_str(), AUDIT_LOG | WORKFLOW_STEPS);
        tells.then(told).flatten().unwrap_or(self.created_at)
    }

    /// Trust as it counts now: past its date of re-verification a memory counts as a draft.
    pub fn trust_at(&self, now: Timestamp) -> Trust {
        match self.verify_by {
            Some(by) if by <= now => Trust::AgentDraft,
            _ => self.trust,
        }
    }

    /// Importance as it counts now: it fades while nobody recalls the memory.
    pub fn decayed_importance(&self, now: Timestamp) -> f64 {
        lifecycle::decayed_importance(self.importance, self.last_recalled_at.unwrap_or(self.created_at), now)
    }

    /// Its date of re-verification has passed and nobody has confirmed it since.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.verify_by.is_some_and(|by| by <= now)
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// One piece of provenance of a version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    pub kind: EvidenceKind,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_sha256: Option<String>,
}

/// An immutable entry of a memory's log.
#[derive(Clone, PartialEq, Debug)]
pub struct Version {
    pub id: VersionId,
    pub number: u32,
    pub operation: Operation,
    /// All fields as they stood; the content is empty when it was redacted.
    pub memory: Memory,
    pub previous: Option<VersionId>,
    pub actor: String,
    pub run: Option<String>,
    pub conversation: Option<String>,
    pub reason: Option<String>,
    pub evidence: Vec<Evidence>,
    pub at: Timestamp,
    pub redacted_at: Option<Timestamp>,
}

/// What somebody wants remembered. `None` means "not said": on an update it keeps the old value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Draft {
    pub store: String,
    /// Only for stores of scope `system`: which one. A target, not an identity.
    pub system: Option<String>,
    pub path: Option<String>,
    pub kind: Option<Kind>,
    pub layer: Option<Layer>,
    pub title: Option<String>,
    pub recall_hint: Option<String>,
    pub content: String,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Map<String, Value>>,
    pub confidence: Option<f64>,
    pub importance: Option<f64>,
    pub always_inject: Option<bool>,
    pub expires_at: Option<Timestamp>,
    pub verify_by: Option<Timestamp>,
    pub ttl: Option<TtlClass>,
    pub role: Option<TurnRole>,
    pub session: Option<String>,
    pub turn: Option<u32>,
    pub speaker: Option<String>,
    pub evidence: Vec<Evidence>,
    pub derived_from: Vec<VersionId>,
    /// The sha256 the caller believes to stand at the path now.
    pub expected_sha256: Option<String>,
    /// Only where nothing stands yet: what does is a conflict, not a new version.
    pub create_only: bool,
    pub reason: Option<String>,
}

impl Draft {
    /// What would have to be said to get this memory. Who, when and standing are not said but given.
    pub fn from_memory(memory: &Memory) -> Draft {
        let system = match &memory.scope {
            Scope::System { system } => Some(system.clone()),
            _ => None,
        };
        Draft {
            store: memory.store.clone(),
            system,
            path: memory.path.clone(),
            kind: Some(memory.kind),
            layer: Some(memory.layer),
            title: memory.title.clone(),
            recall_hint: memory.recall_hint.clone(),
            content: memory.content.clone(),
            tags: Some(memory.tags.clone()),
            metadata: Some(memory.metadata.clone()),
            confidence: Some(memory.confidence),
            importance: Some(memory.importance),
            always_inject: Some(memory.always_inject),
            expires_at: memory.expires_at,
            verify_by: memory.verify_by,
            role: memory.role,
            session: memory.session.clone(),
            turn: memory.turn,
            speaker: memory.speaker.clone(),
            derived_from: memory.derived_from.clone(),
            ..Draft::default()
        }
    }
}

impl Evidence {
    pub fn new(kind: EvidenceKind, summary: impl Into<String>) -> Evidence {
        Evidence {
            kind,
            summary: summary.into(),
            tool_call: None,
            tool: None,
            run: None,
            conversation: None,
            arguments_sha256: None,
            result_sha256: None,
        }
    }

    /// The same without its words: they may quote what was redacted.
    pub fn without_text(self) -> Evidence {
        Evidence { summary: REDACTED_TEXT.to_owned(), ..self }
    }

    /// Every free text in it.
    pub(crate) fn text_fields(&self) -> impl Iterator<Item = &str> {
        [Some(&self.summary), self.tool_call.as_ref(), self.tool.as_ref()].into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn text_fields_mut(&mut self) -> impl Iterator<Item = &mut String> {
        [Some(&mut self.summary), self.tool_call.as_mut(), self.tool.as_mut()].into_iter().flatten()
    }
}

/// The metadata field that says when an entry happened.
pub(crate) const HAPPENED_AT_FIELD: &str = "at";
