//! Memories and versions, and the parameters of lists and reads.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::model::scope::Scope;
use engine::model::trust_flow::FieldTrust;
use engine::model::vocabulary::{Kind, Layer, Operation, ScopeKind, State, Trust};
use engine::ports::{Filter, ListCursor, SortOrder};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_as_of, deserialize_bounded, deserialize_optional_moment};
use super::remember::EvidenceBody;
use super::schema_words::{
    Id, KindWord, LayerWord, Moment, MomentOrDate, OperationWord, ScopeWord, StateWord, TrustWord,
};
use crate::problem::Problem;

/// Scope of a memory: its kind, and the name of the user, agent or other owner.
#[derive(JsonSchema)]
#[schemars(rename = "Scope")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
pub struct ScopeShape {
    #[schemars(with = "ScopeWord")]
    kind: ScopeKind,
    user: Option<String>,
    conversation: Option<String>,
    agent: Option<String>,
    pipeline: Option<String>,
    system: Option<String>,
    run: Option<String>,
}

/// A memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub struct MemoryView {
    /// In lists only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The memory in one line.
    pub summary: String,
    #[serde(flatten)]
    #[schemars(with = "MemoryFields")]
    pub memory: Memory,
}

/// Fields of a memory besides its content.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct MemoryFields {
    #[schemars(with = "Id")]
    id: MemoryId,
    store: String,
    #[schemars(with = "ScopeShape")]
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
    /// Trust of the fields that another author wrote than the content: `path`, `title`, `recall_hint`, `tags`,
    /// `metadata`, `always_inject`, `session`, `speaker`. Left out if all have that of the content.
    #[schemars(with = "Option<std::collections::BTreeMap<String, TrustWord>>")]
    field_trust: Option<FieldTrust>,
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

/// A version of a memory.
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
    /// The memory as of this version.
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

/// Filter, order and page of a list.
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
    /// Tags, all of which a memory must have; exact match.
    pub tag: Vec<String>,
    /// State; default: active memories only.
    #[schemars(with = "Vec<StateWord>")]
    pub state: Vec<State>,
    #[schemars(with = "Option<TrustWord>")]
    pub trust_min: Option<Trust>,
    #[serde(deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_after: Option<Timestamp>,
    #[serde(deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_before: Option<Timestamp>,
    pub path_prefix: Option<String>,
    pub path: Option<String>,
    pub session: Option<String>,
    pub always_inject: Option<bool>,
    /// The memories as they were at this time; a date means the end of that day, in UTC.
    #[serde(deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<MomentOrDate>")]
    pub as_of: Option<Timestamp>,
    pub sort: Sort,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Includes the contents.
    pub content: bool,
}

impl ListParams {
    /// Position after which the page begins.
    pub fn parse_cursor(&self) -> Result<Option<ListCursor>, Problem> {
        Ok(self.cursor.as_deref().map(|token| ListCursor::from_token(self.sort.into(), token)).transpose()?)
    }

    pub fn to_filter(&self) -> Filter {
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

/// Point in time of a read.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadParams {
    /// The memory as it was at this time; a date means the end of that day, in UTC.
    #[serde(deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<MomentOrDate>")]
    pub as_of: Option<Timestamp>,
}

/// Page of a history.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HistoryParams {
    /// Only versions with a number below this.
    #[serde(deserialize_with = "deserialize_bounded::<_, 1, 4_294_967_295>")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub below: Option<usize>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// Order of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Path,
    /// Updated last comes first.
    #[default]
    Newest,
    /// Created first comes first.
    Oldest,
}

impl From<Sort> for SortOrder {
    fn from(sort: Sort) -> SortOrder {
        match sort {
            Sort::Path => SortOrder::Path,
            Sort::Newest => SortOrder::Newest,
            Sort::Oldest => SortOrder::Oldest,
        }
    }
}
