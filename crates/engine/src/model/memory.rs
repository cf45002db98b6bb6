//! Memories, their versions and evidence, and drafts: a memory as a caller submits it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::error::StoreError;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::lifecycle;
use crate::model::scope::Scope;
use crate::model::store::{AUDIT_LOG, WORKFLOW_STEPS};
use crate::model::trust_flow::{Field, FieldTrust};
use crate::model::vocabulary::{EvidenceKind, Kind, Layer, Operation, State, Trust, TtlClass, TurnRole};
use crate::text::digest::content_sha256;
use crate::text::entities::Entity;

/// One memory, in its current version or in an earlier one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub tenant: TenantId,
    // Place, kind and address.
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
    // Content and what is derived from it.
    /// Stored apart from the JSON snapshot of the other fields, so that redaction can erase it.
    #[serde(skip)]
    pub content: String,
    /// Of the content, in hex.
    pub sha256: String,
    pub size_bytes: u64,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub entities: Vec<Entity>,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    // State and trust, set by the gate and by reviews.
    pub state: State,
    /// Of the content; [`Memory::trust_of`] is that of the other fields.
    pub trust: Trust,
    #[serde(default, skip_serializing_if = "FieldTrust::is_empty")]
    pub field_trust: FieldTrust,
    /// From 0 to 1.
    pub confidence: f64,
    /// From 0 to 1 as saved; [`Memory::decayed_importance`] is the value now.
    pub importance: f64,
    /// Included in every context, whatever the query.
    pub always_inject: bool,
    // Times.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub archived_at: Option<Timestamp>,
    /// After this time the memory counts as a draft until a person confirms it.
    #[serde(default)]
    pub verify_by: Option<Timestamp>,
    /// Not versioned, as is `recall_count`: backends keep both in a table of their own.
    #[serde(default)]
    pub last_recalled_at: Option<Timestamp>,
    #[serde(default)]
    pub recall_count: u64,
    // Links to other memories.
    #[serde(default)]
    pub supersedes: Vec<MemoryId>,
    #[serde(default)]
    pub superseded_by: Option<MemoryId>,
    /// The versions this memory was made from.
    #[serde(default)]
    pub derived_from: Vec<VersionId>,
    // Turns of a conversation only.
    #[serde(default)]
    pub role: Option<TurnRole>,
    #[serde(default)]
    pub session: Option<String>,
    /// Position of a turn in its session.
    #[serde(default)]
    pub turn: Option<u32>,
    /// Name of the speaker of a turn.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Scanner rules that flagged the text without blocking it.
    #[serde(default)]
    pub flags: Vec<String>,
    // Version.
    /// Principal who wrote the content; of a candidate, its proposer.
    pub author: String,
    /// An earlier content was a person's or trusted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_persons: bool,
    pub version: VersionId,
    /// From 1 upwards.
    pub version_number: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Placeholder for redacted evidence text.
const REDACTED_TEXT: &str = "[redacted]";

impl Memory {
    /// The memory after redaction: every field that holds text from the content is emptied, the audit fields stay.
    pub fn without_content(self) -> Memory {
        // The path stays: it is the address of the history.
        let mut emptied = Memory {
            content: String::new(),
            title: None,
            recall_hint: None,
            tags: Vec::new(),
            entities: Vec::new(),
            metadata: Map::new(),
            ..self
        };
        emptied.forget_empty_fields();
        emptied
    }

    /// Whether the text is the one that was saved. A redacted memory has none and is always tombstoned.
    pub fn is_intact(&self) -> bool {
        (self.content.is_empty() && self.state == State::Tombstoned) || content_sha256(&self.content) == self.sha256
    }

    /// Fails with the memory's name where its text is not the one that was saved: it is never shown.
    pub fn ensure_intact(&self) -> Result<(), StoreError> {
        match self.is_intact() {
            true => Ok(()),
            false => Err(StoreError::Altered(self.name_with_id())),
        }
    }

    /// Store, path and id, for messages.
    pub fn name_with_id(&self) -> String {
        let path = self.path.as_deref().map(|path| format!("/{path}")).unwrap_or_default();
        format!("memory {}{path} ({})", self.store, self.id)
    }

    /// One line for lists: the recall hint, else the title, else the first line of the content. Hint and title are
    /// passed over if they are less trusted than the content, whose trust is shown beside the line.
    pub fn summary_line(&self) -> &str {
        let first_line = || self.content.lines().next().unwrap_or_default();
        let hint = self.recall_hint.as_deref().filter(|_| self.reaches(Field::RecallHint, self.trust));
        let title = || self.title.as_deref().filter(|_| self.reaches(Field::Title, self.trust));
        hint.or_else(title).filter(|text| !text.is_empty()).unwrap_or_else(first_line)
    }

    /// The first characters of the content.
    pub fn excerpt(&self, chars: usize) -> String {
        self.content.chars().take(chars).collect()
    }

    /// Time of the event it records: audit entries and workflow steps may state one in metadata, for all other memories
    /// it is the time of creation.
    pub fn happened_at(&self) -> Timestamp {
        let stated = || self.metadata.get(HAPPENED_AT_FIELD)?.as_str()?.parse().ok();
        let may_state = matches!(self.store.as_str(), AUDIT_LOG | WORKFLOW_STEPS);
        may_state.then(stated).flatten().unwrap_or(self.created_at)
    }

    /// Trust that counts now: a draft's, once `verify_by` has passed.
    pub fn trust_at(&self, now: Timestamp) -> Trust {
        match self.verify_by {
            Some(by) if by <= now => Trust::AgentDraft,
            _ => self.trust,
        }
    }

    /// Importance that counts now: it decays while the memory is not recalled.
    pub fn decayed_importance(&self, now: Timestamp) -> f64 {
        lifecycle::decayed_importance(self.importance, self.last_recalled_at.unwrap_or(self.created_at), now)
    }

    /// Whether `verify_by` has passed; confirming sets a later one.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.verify_by.is_some_and(|by| by <= now)
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// Provenance of a version: the statement, tool call or verification that supports it.
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

/// An immutable entry of a memory's history.
#[derive(Clone, PartialEq, Debug)]
pub struct Version {
    pub id: VersionId,
    pub number: u32,
    pub operation: Operation,
    /// All fields of the memory in this version; the content is empty after redaction.
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

/// A memory as the caller submits it, before the gate. `None` means "not stated": an update keeps the old value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Draft {
    pub store: String,
    /// The system, for stores of scope `system` only. A target that grants are checked for, not part of the identity.
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
    /// SHA-256 of the content that the caller expects at the path; another one is a conflict.
    pub expected_sha256: Option<String>,
    /// A memory that already has this path is a conflict instead of getting a new version.
    pub create_only: bool,
    /// The path was made from the text (`text/heading.rs`): another memory there is kept, and the path gets a suffix.
    pub path_is_derived: bool,
    pub reason: Option<String>,
}

impl Draft {
    /// As [`Draft::from_memory`]; fails where the text is not the one that was saved. For every text that is written
    /// again: under a new hash, a change made beside the program could not be told any more.
    pub fn from_intact(memory: &Memory) -> Result<Draft, StoreError> {
        memory.ensure_intact()?;
        Ok(Draft::from_memory(memory))
    }

    /// The draft that would produce this memory. Author, times, trust and state are left out: a draft cannot set them.
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

    /// Whether a memory has this content already, and every text field that the draft states.
    pub(crate) fn states_nothing_new(&self, memory: &Memory) -> bool {
        fn same<T: PartialEq>(stated: Option<&T>, current: Option<&T>) -> bool {
            stated.is_none() || stated == current
        }
        self.content == memory.content
            && same(self.kind.as_ref(), Some(&memory.kind))
            && same(self.title.as_ref(), memory.title.as_ref())
            && same(self.recall_hint.as_ref(), memory.recall_hint.as_ref())
            && same(self.tags.as_ref(), Some(&memory.tags))
            && same(self.metadata.as_ref(), Some(&memory.metadata))
            && same(self.always_inject.as_ref(), Some(&memory.always_inject))
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

    /// The evidence with its summary replaced, because it may quote redacted content.
    pub fn without_text(self) -> Evidence {
        Evidence { summary: REDACTED_TEXT.to_owned(), ..self }
    }

    /// Every free text field, for the scanner and the size checks.
    pub(crate) fn text_fields(&self) -> impl Iterator<Item = &str> {
        [Some(&self.summary), self.tool_call.as_ref(), self.tool.as_ref()].into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn text_fields_mut(&mut self) -> impl Iterator<Item = &mut String> {
        [Some(&mut self.summary), self.tool_call.as_mut(), self.tool.as_mut()].into_iter().flatten()
    }
}

/// Metadata field with the time of an audit entry or workflow step.
pub(crate) const HAPPENED_AT_FIELD: &str = "at";
