//! What waits for a person, and what the person says.

use engine::model::id::MemoryId;
use engine::model::review::{Action, Review, ReviewState, Risk};
use engine::review::{BulkDecisionReport, Impact};
use engine::{MemoryReference, Promotion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_bounded, deserialize_ids, deserialize_optional_reason, deserialize_reason};
use super::memories::MemoryView;
use super::remember::{EvidenceBody, SavedView};
use super::schema_words::{ActionWord, Id, ReviewStateWord, RiskWord};

/// A memory that should be read by all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Propose")]
pub struct ProposeBody {
    /// The memory.
    #[schemars(with = "Id")]
    pub memory: MemoryId,
    pub target_store: String,
    /// The source's own path, where none is named.
    #[serde(default)]
    pub target_path: Option<String>,
    pub rationale: String,
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
    #[serde(default = "default_risk")]
    #[schemars(with = "RiskWord")]
    pub risk: Risk,
}

/// What shall be forgotten, if a person agrees.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProposeForget")]
pub struct ProposeForgetBody {
    /// The memory.
    #[schemars(with = "Id")]
    pub memory: MemoryId,
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub rationale: String,
}

fn default_risk() -> Risk {
    Risk::Low
}

impl From<ProposeBody> for Promotion {
    fn from(body: ProposeBody) -> Promotion {
        Promotion {
            source: MemoryReference::Id(body.memory),
            target_store: body.target_store,
            target_path: body.target_path,
            rationale: body.rationale,
            evidence: body.evidence.into_iter().map(Into::into).collect(),
            risk: body.risk,
        }
    }
}

/// Something that waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Review")]
pub struct ReviewBrief {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub review: Review,
}

/// A proposal, and whether it is a new one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Proposed")]
pub struct ProposedView {
    pub new: bool,
    pub review: ReviewBrief,
}

/// One review with what a decision needs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewDetail")]
pub struct ReviewDetail {
    pub review: ReviewBrief,
    /// The text that would stand.
    pub proposed: Option<MemoryView>,
    /// What stands at the target now, or what would be replaced.
    pub standing: Vec<MemoryView>,
    pub evidence: Vec<EvidenceBody>,
    /// Why approval would be refused now.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub verdict: Option<engine::model::refusal::Refusal>,
    /// Why the proposal is out of date.
    pub outdated: Option<String>,
    /// Past turns that would have been shown it, and what they would have lost.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub impact: Vec<Impact>,
}

impl ReviewDetail {
    pub fn new(view: engine::review::ReviewView, impact: Vec<Impact>) -> ReviewDetail {
        ReviewDetail {
            review: ReviewBrief { review: view.review },
            proposed: view.proposed.map(MemoryView::with_content),
            standing: view.current_memories.into_iter().map(MemoryView::with_content).collect(),
            evidence: view.evidence.into_iter().map(EvidenceBody::from).collect(),
            verdict: view.refusal,
            outdated: view.outdated,
            impact,
        }
    }
}

/// Which reviews.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewParams {
    #[schemars(with = "Option<ReviewStateWord>")]
    pub state: Option<ReviewState>,
    #[schemars(with = "Option<ActionWord>")]
    pub action: Option<Action>,
    pub store: Option<String>,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// What a reviewer says.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Decide")]
pub struct DecideBody {
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub comment: Option<String>,
}

/// Many decisions at once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DecideAll")]
pub struct DecideAllBody {
    /// Or reject.
    pub approve: bool,
    /// These.
    #[serde(default, deserialize_with = "deserialize_ids")]
    #[schemars(with = "Vec<Id>", length(max = 1000))]
    pub reviews: Vec<uuid::Uuid>,
    /// Everything that waits, narrowed by action and store, instead of those named.
    #[serde(default)]
    pub all: bool,
    #[serde(default)]
    #[schemars(with = "Option<ActionWord>")]
    pub action: Option<Action>,
    #[serde(default)]
    pub store: Option<String>,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub comment: Option<String>,
}

/// What many decisions did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DecidedAll")]
pub struct DecidedAllView {
    pub decided: u64,
    pub not_decided: Vec<NotDecidedView>,
}

/// One that was left, and why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "NotDecided")]
pub struct NotDecidedView {
    #[schemars(with = "Id")]
    pub review: String,
    pub code: String,
    pub detail: String,
}

impl From<BulkDecisionReport> for DecidedAllView {
    fn from(done: BulkDecisionReport) -> DecidedAllView {
        let left = done.not_decided.into_iter();
        let left = left.map(|not| NotDecidedView { review: not.id, code: not.code, detail: not.message });
        DecidedAllView { decided: done.decided, not_decided: left.collect() }
    }
}

/// What must change first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RequestChanges")]
pub struct RequestChangesBody {
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub comment: String,
}

/// What a decision did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Decided")]
pub struct DecidedView {
    pub review: ReviewBrief,
    /// What stands after an approval.
    pub memory: Option<SavedView>,
}
