//! Memories, versions and what is needed to write them.

use engine::id::{MemoryId, VersionId};
use engine::memory::{Draft, Evidence, Memory, Version};
use engine::ports::Filter;
use engine::scope::Scope;
use engine::vocabulary::{Dedup, EvidenceKind, Kind, Layer, Operation, ScopeKind, State, Trust, TtlClass, TurnRole};
use engine::{Outcome, Saved};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    EvidenceKindWord, Id, KindWord, LayerWord, Moment, OperationWord, ScopeWord, Sort, StateWord, TrustWord, TtlWord,
    TurnRoleWord, any_reason, bounded,
};

/// What shall be remembered. Who asks decides where it goes; only a system is named here.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Remember")]
pub struct RememberBody {
    /// Slug of the store.
    #[schemars(length(min = 1, max = 64), extend("pattern" = "^[a-z0-9_-]+$"))]
    pub store: String,
    #[schemars(length(min = 1))]
    pub content: String,
    /// Which system, for stores that keep memories by system.
    #[serde(default)]
    pub system: Option<String>,
    /// Where it stands in the store. Writing to a path again makes a new version.
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
    /// When to think of it, in one line.
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
    #[serde(default)]
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
    /// Past this date it counts as a draft until someone confirms it.
    #[serde(default)]
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
    /// What showed it.
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
    /// Exact versions this was made from.
    #[serde(default)]
    #[schemars(with = "Vec<Id>")]
    pub derived_from: Vec<VersionId>,
    /// The sha256 you believe to stand at the path; another is a conflict (409).
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("pattern" = "^[0-9a-fA-F]{64}$"))]
    pub expected_sha256: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
}

/// One piece of provenance.
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
            create_only: false,
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
    /// The sha256 you read; another is a conflict (409). `If-Match` says the same in a header (412).
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("pattern" = "^[0-9a-fA-F]{64}$"))]
    pub expected_sha256: Option<String>,
    /// What changed, in one line.
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
}

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
    pub fn new(saved: &Saved) -> SavedView {
        let outcome = match saved.outcome {
            Outcome::Created => "created",
            Outcome::Updated => "updated",
            Outcome::Unchanged => "unchanged",
        };
        let view = SavedView::changed(&saved.memory, outcome);
        SavedView { deduped_by: saved.deduped_by, near: saved.near, warnings: saved.warnings.clone(), ..view }
    }

    /// A change of a memory that stood there before.
    pub fn changed(memory: &Memory, outcome: &str) -> SavedView {
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
    pub fn whole(mut memory: Memory) -> MemoryView {
        let summary = memory.summary().to_owned();
        MemoryView { content: Some(std::mem::take(&mut memory.content)), summary, memory }
    }

    pub fn brief(mut memory: Memory) -> MemoryView {
        let summary = memory.summary().to_owned();
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
            memory: MemoryView::whole(version.memory),
        }
    }
}

/// Which memories to list, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    pub store: Vec<String>,
    #[schemars(with = "Vec<ScopeWord>")]
    pub scope: Vec<ScopeKind>,
    #[schemars(with = "Vec<LayerWord>")]
    pub layer: Vec<Layer>,
    #[schemars(with = "Vec<KindWord>")]
    pub kind: Vec<Kind>,
    /// All of them, exactly.
    pub tag: Vec<String>,
    /// Active ones only, where none is named.
    #[schemars(with = "Vec<StateWord>")]
    pub state: Vec<State>,
    #[schemars(with = "Option<TrustWord>")]
    pub trust_min: Option<Trust>,
    #[schemars(with = "Option<Moment>")]
    pub updated_after: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    pub updated_before: Option<Timestamp>,
    pub path_prefix: Option<String>,
    pub path: Option<String>,
    pub session: Option<String>,
    pub always_inject: Option<bool>,
    /// The memories as they stood at this time.
    #[schemars(with = "Option<Moment>")]
    pub as_of: Option<Timestamp>,
    pub sort: Sort,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Whether contents are wanted too.
    pub content: bool,
}

impl ListParams {
    pub fn filter(&self) -> Filter {
        Filter {
            stores: self.store.clone(),
            scopes: self.scope.clone(),
            layers: self.layer.clone(),
            kinds: self.kind.clone(),
            tags: self.tag.clone(),
            states: self.state.clone(),
            trust_min: self.trust_min,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            path_prefix: self.path_prefix.clone(),
            path: self.path.clone(),
            session: self.session.clone(),
            always_inject: self.always_inject,
            as_of: self.as_of,
            ..Filter::default()
        }
    }
}

/// Which stretch of a history.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HistoryParams {
    /// Only versions with a number below this.
    #[serde(deserialize_with = "bounded::<_, 1, 4_294_967_295>")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub below: Option<usize>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// Why something is done.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReasonParams {
    #[serde(deserialize_with = "any_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

/// Whether a memory is always part of the context.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pin")]
pub struct PinBody {
    pub always_inject: bool,
}
