//! Bodies of saves and patches, and their answers.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::refusal::Refusal;
use engine::model::scope::Scope;
use engine::model::vocabulary::{Dedup, EvidenceKind, Kind, Layer, State, Trust, TtlClass, TurnRole};
use engine::{SaveOutcome, SavedMemory};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_optional_moment;
use super::memories::ScopeShape;
use super::schema_words::{
    EvidenceKindWord, Id, KindWord, LayerWord, Moment, StateWord, TrustWord, TtlWord, TurnRoleWord,
};

/// A memory to save. Its scope follows from the caller; only a system is named here.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Remember")]
pub struct RememberBody {
    /// Slug of the store.
    #[schemars(length(min = 1, max = 64), extend("pattern" = "^[a-z0-9_-]+$"))]
    pub store: String,
    #[schemars(length(min = 1))]
    pub content: String,
    /// System of the memory, in stores whose memories belong to systems.
    #[serde(default)]
    pub system: Option<String>,
    /// Path in the store. Saving to the same path again makes a new version.
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    #[schemars(with = "Option<KindWord>")]
    pub kind: Option<Kind>,
    #[serde(default)]
    #[schemars(with = "Option<LayerWord>")]
    pub layer: Option<Layer>,
    #[serde(default)]
    pub title: Option<String>,
    /// When to recall it, in one line.
    #[serde(default)]
    pub recall_hint: Option<String>,
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
    #[serde(default)]
    pub always_inject: Option<bool>,
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
    /// After this date it counts as a draft until someone confirms it.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub verify_by: Option<Timestamp>,
    #[serde(default)]
    #[schemars(with = "Option<TtlWord>")]
    pub ttl: Option<TtlClass>,
    #[serde(default)]
    #[schemars(with = "Option<TurnRoleWord>")]
    pub role: Option<TurnRole>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub turn: Option<u32>,
    #[serde(default)]
    pub speaker: Option<String>,
    /// Evidence for it.
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
    /// Versions it was derived from.
    #[serde(default)]
    #[schemars(with = "Vec<Id>")]
    pub derived_from: Vec<VersionId>,
    /// Expected sha256 of the current content at the path; any other is a conflict (409).
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("pattern" = "^[0-9a-fA-F]{64}$"))]
    pub expected_sha256: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
}

/// A piece of evidence.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Evidence")]
pub struct EvidenceBody {
    #[schemars(with = "EvidenceKindWord")]
    pub kind: EvidenceKind,
    #[schemars(length(min = 1, max = 4096))]
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

impl From<EvidenceBody> for Evidence {
    fn from(body: EvidenceBody) -> Evidence {
        Evidence {
            kind: body.kind,
            summary: body.summary,
            tool_call: body.tool_call,
            tool: body.tool,
            run: body.run,
            conversation: body.conversation,
            arguments_sha256: body.arguments_sha256,
            result_sha256: body.result_sha256,
        }
    }
}

impl From<Evidence> for EvidenceBody {
    fn from(evidence: Evidence) -> EvidenceBody {
        EvidenceBody {
            kind: evidence.kind,
            summary: evidence.summary,
            tool_call: evidence.tool_call,
            tool: evidence.tool,
            run: evidence.run,
            conversation: evidence.conversation,
            arguments_sha256: evidence.arguments_sha256,
            result_sha256: evidence.result_sha256,
        }
    }
}

impl From<RememberBody> for Draft {
    fn from(body: RememberBody) -> Draft {
        Draft {
            store: body.store,
            system: body.system,
            path: body.path,
            kind: body.kind,
            layer: body.layer,
            title: body.title,
            recall_hint: body.recall_hint,
            content: body.content,
            tags: body.tags,
            metadata: body.metadata,
            confidence: body.confidence,
            importance: body.importance,
            always_inject: body.always_inject,
            expires_at: body.expires_at,
            verify_by: body.verify_by,
            ttl: body.ttl,
            role: body.role,
            session: body.session,
            turn: body.turn,
            speaker: body.speaker,
            evidence: body.evidence.into_iter().map(Evidence::from).collect(),
            derived_from: body.derived_from,
            expected_sha256: body.expected_sha256,
            // Set from the `If-None-Match` header by the handler.
            create_only: false,
            path_is_derived: false,
            reason: body.reason,
        }
    }
}

/// New content for a memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Patch")]
pub struct PatchBody {
    #[schemars(length(min = 1))]
    pub content: String,
    /// Expected sha256 of the current content; any other is a conflict (409). `If-Match` is the same as a header (412).
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("pattern" = "^[0-9a-fA-F]{64}$"))]
    pub expected_sha256: Option<String>,
    /// Summary of the change, in one line.
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
}

/// Result of a save. Holds no content: answers are stored for idempotency keys, and content must not be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Saved")]
pub struct SavedView {
    /// `created`, `updated`, or `unchanged` if the same memory existed.
    pub outcome: String,
    #[schemars(with = "Id")]
    pub id: MemoryId,
    #[schemars(with = "Id")]
    pub version: VersionId,
    pub version_number: u32,
    pub store: String,
    #[schemars(with = "ScopeShape")]
    pub scope: Scope,
    pub path: Option<String>,
    pub sha256: String,
    #[schemars(with = "StateWord")]
    pub state: State,
    #[schemars(with = "TrustWord")]
    pub trust: Trust,
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
    /// How long it is kept, in words; `null` where it does not expire.
    pub lifetime: Option<String>,
    /// Rule by which an existing memory was found: why this is an update or unchanged.
    #[schemars(with = "Option<String>")]
    pub deduped_by: Option<Dedup>,
    /// A memory with a similar hint but other content.
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
        SavedView {
            lifetime: saved.lifetime(),
            deduped_by: saved.deduped_by,
            near: saved.near,
            warnings: saved.warnings.clone(),
            ..view
        }
    }

    /// View of a change to an existing memory.
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
            lifetime: None,
            deduped_by: None,
            near: None,
            warnings: Vec::new(),
        }
    }
}

/// A refused part of a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refused")]
pub struct RefusedView {
    pub code: &'static str,
    pub error: String,
}

impl From<&Refusal> for RefusedView {
    fn from(refusal: &Refusal) -> RefusedView {
        RefusedView { code: refusal.code, error: refusal.message.clone() }
    }
}
