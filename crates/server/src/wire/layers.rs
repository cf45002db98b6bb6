//! Layered memory: proposals of profile facts, groups of similar memories, and the context for planning.

use engine::model::id::MemoryId;
use engine::model::refusal::Refusal;
use engine::recall::ranking::Hit;
use engine::{ConsolidationGroup, ProfileProposal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_reason;
use super::reviews::ReviewBrief;
use super::schema_words::Id;
use super::search::HitView;

/// A proposed fact about a person or a project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProposeProfile")]
pub struct ProfileBody {
    /// Subject of the fact, such as `editor`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// The fact itself, such as `vim`.
    #[schemars(length(min = 1))]
    pub value: String,
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    /// Slug of the store; absent: `layers`.
    #[serde(default)]
    pub store: Option<String>,
}

impl From<ProfileBody> for ProfileProposal {
    fn from(body: ProfileBody) -> ProfileProposal {
        ProfileProposal { store: body.store, key: body.key, value: body.value, reason: body.reason }
    }
}

/// Parameters of a search for groups of similar memories.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Grouping")]
pub struct GroupingBody {
    /// Only this store.
    pub store: Option<String>,
    /// Propose a review for each group; otherwise nothing is written.
    pub create_proposals: bool,
}

/// Groups of similar memories and the reviews proposed for them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Groups")]
pub struct GroupsView {
    pub dry_run: bool,
    pub groups: Vec<GroupView>,
    /// Number of groups for which a review was proposed.
    pub proposed: usize,
}

/// A group of similar memories, and the memory that would replace them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct GroupView {
    /// What the members have in common: a summary, a topic or a workflow.
    pub shared: String,
    /// Ids of the members; the first one is kept.
    #[schemars(with = "Vec<Id>")]
    pub members: Vec<MemoryId>,
    pub content: String,
    pub review: Option<ReviewBrief>,
    /// Why no review could be proposed.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub refused: Option<Refusal>,
}

impl GroupsView {
    pub fn new(groups: Vec<ConsolidationGroup>, create_proposals: bool) -> GroupsView {
        let group = |group: ConsolidationGroup| GroupView {
            shared: group.key,
            members: group.members.iter().map(|memory| memory.id).collect(),
            content: group.content,
            review: group.review.map(|review| ReviewBrief { review: *review }),
            refused: group.refused,
        };
        let groups: Vec<GroupView> = groups.into_iter().map(group).collect();
        let proposed = groups.iter().filter(|group| group.review.is_some()).count();
        GroupsView { dry_run: !create_proposals, groups, proposed }
    }
}

/// Request for the context of a planned task.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Plan")]
pub struct LayerContextBody {
    pub goal: String,
}

/// A few memories of each layer. They inform a plan; they grant no permissions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LayerContext")]
pub struct LayerContextView {
    pub profile: Vec<HitView>,
    pub procedural: Vec<HitView>,
    pub semantic: Vec<HitView>,
}

impl From<engine::LayerContext> for LayerContextView {
    fn from(context: engine::LayerContext) -> LayerContextView {
        let views = |hits: Vec<Hit>| hits.into_iter().map(HitView::from).collect();
        LayerContextView {
            profile: views(context.profile),
            procedural: views(context.procedural),
            semantic: views(context.semantic),
        }
    }
}
