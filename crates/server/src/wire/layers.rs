//! Layered memory: proposals of profile facts and of merged memories, and the context for planning.

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
    /// Key of the fact, such as `editor`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// Value of the fact.
    #[schemars(length(min = 1))]
    pub value: String,
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    /// Store of the fact; default: `layers`.
    #[serde(default)]
    pub store: Option<String>,
}

impl From<ProfileBody> for ProfileProposal {
    fn from(body: ProfileBody) -> ProfileProposal {
        ProfileProposal { store: body.store, key: body.key, value: body.value, reason: body.reason }
    }
}

/// A search for memories that can be merged.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Grouping")]
pub struct GroupingBody {
    /// Limits the search to this store.
    pub store: Option<String>,
    /// Opens a review for each group; without it nothing is written.
    pub create_proposals: bool,
}

/// Groups of memories that can be merged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Groups")]
pub struct GroupsView {
    pub dry_run: bool,
    pub groups: Vec<GroupView>,
    /// Number of groups with a pending review.
    pub proposed: usize,
}

/// Memories that say the same, and the memory that would replace them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct GroupView {
    /// Shared summary, topic or workflow.
    pub shared: String,
    /// The canonical one comes first.
    #[schemars(with = "Vec<Id>")]
    pub members: Vec<MemoryId>,
    pub content: String,
    pub review: Option<ReviewBrief>,
    /// Why it could not be proposed.
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

/// A goal to plan for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Plan")]
pub struct LayerContextBody {
    pub goal: String,
}

/// A few memories of each layer: starting points, never permissions.
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
