//! Reviews: proposals, and the decisions on them.

use engine::model::id::{MemoryId, VersionId};
use engine::model::review::{Action, Review, ReviewState, Risk};
use engine::review::{BulkDecisionReport, Decision, Impact, ReadReview};
use engine::{MemoryReference, Promotion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{
    deserialize_bounded, deserialize_id, deserialize_list, deserialize_optional_reason, deserialize_reason,
};
use super::memories::MemoryView;
use super::remember::{EvidenceBody, SavedView};
use super::schema_words::{ActionWord, Id, ReviewStateWord, RiskWord};

/// A proposal to promote a memory to a shared store.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Propose")]
pub struct ProposeBody {
    /// Id of the memory.
    #[schemars(with = "Id")]
    pub memory: MemoryId,
    pub target_store: String,
    /// Path in the target store; default: the path of the source.
    #[serde(default)]
    pub target_path: Option<String>,
    pub rationale: String,
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
    #[serde(default = "default_risk")]
    #[schemars(with = "RiskWord")]
    pub risk: Risk,
}

/// A proposal to forget a memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProposeForget")]
pub struct ProposeForgetBody {
    /// Id of the memory.
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

/// A review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Review")]
pub struct ReviewBrief {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub review: Review,
}

/// Result of a proposal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Proposed")]
pub struct ProposedView {
    pub new: bool,
    pub review: ReviewBrief,
}

/// A review with everything needed to decide.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewDetail")]
pub struct ReviewDetail {
    pub review: ReviewBrief,
    /// The memory after an approval.
    pub proposed: Option<MemoryView>,
    /// Current memories at the target, or those that would be replaced.
    pub standing: Vec<MemoryView>,
    pub evidence: Vec<EvidenceBody>,
    /// Refusal that an approval would meet now.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub verdict: Option<engine::model::refusal::Refusal>,
    /// Why the proposal is out of date.
    pub outdated: Option<String>,
    /// Past turns whose context would have changed, and how.
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

/// Filter of reviews.
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

/// A decision.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Decide")]
pub struct DecideBody {
    /// `version` of the review as it was read. Required: without it the answer is 428, for another version 409.
    #[schemars(with = "Id")]
    pub version: Option<VersionId>,
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub comment: Option<String>,
}

impl From<DecideBody> for Decision {
    fn from(body: DecideBody) -> Decision {
        Decision { version: body.version, comment: body.comment }
    }
}

/// A review to decide, as it was read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReadReview")]
pub struct ReadReviewBody {
    #[serde(deserialize_with = "deserialize_id")]
    #[schemars(with = "Id")]
    pub id: uuid::Uuid,
    /// `version` of the review. Required: a review without it is not decided.
    #[serde(default)]
    #[schemars(with = "Option<Id>")]
    pub version: Option<VersionId>,
}

impl From<&ReadReviewBody> for ReadReview {
    fn from(body: &ReadReviewBody) -> ReadReview {
        ReadReview { id: body.id.to_string(), version: body.version }
    }
}

/// One decision for many reviews.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DecideAll")]
pub struct DecideAllBody {
    /// `false` rejects.
    pub approve: bool,
    /// The reviews, each with the version that was read: list them first.
    #[serde(deserialize_with = "deserialize_list")]
    #[schemars(length(max = 1000))]
    pub reviews: Vec<ReadReviewBody>,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub comment: Option<String>,
}

/// Result of deciding many reviews.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DecidedAll")]
pub struct DecidedAllView {
    pub decided: u64,
    pub not_decided: Vec<NotDecidedView>,
}

/// A review that was not decided, and why.
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
        let not_decided = done.not_decided.into_iter();
        let not_decided = not_decided.map(|not| NotDecidedView { review: not.id, code: not.code, detail: not.message });
        DecidedAllView { decided: done.decided, not_decided: not_decided.collect() }
    }
}

/// A request for changes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RequestChanges")]
pub struct RequestChangesBody {
    /// `version` of the review as it was read.
    #[serde(default)]
    #[schemars(with = "Id")]
    pub version: Option<VersionId>,
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub comment: String,
}

/// Result of a decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Decided")]
pub struct DecidedView {
    pub review: ReviewBrief,
    /// The memory after an approval.
    pub memory: Option<SavedView>,
}
