//! Projects: what agents work on.

use std::collections::BTreeMap;

use engine::ProjectSummary;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema_words::Moment;

/// A project with the number of its memories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub struct ProjectView {
    pub name: String,
    /// Former names, and projects that were merged into it.
    pub merged: Vec<String>,
    /// Active memories.
    pub memories: u64,
    /// Active memories by store.
    pub stores: BTreeMap<String, u64>,
    #[schemars(with = "Option<Moment>")]
    pub last_saved_at: Option<Timestamp>,
}

impl From<ProjectSummary> for ProjectView {
    fn from(project: ProjectSummary) -> ProjectView {
        let ProjectSummary { name, merged, memories, stores, last_saved_at } = project;
        ProjectView { name, merged, memories, stores, last_saved_at }
    }
}

/// A new name of a project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RenameProject")]
pub struct RenameBody {
    #[schemars(length(min = 1, max = 256))]
    pub to: String,
}

/// The project that another one becomes part of.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MergeProject")]
pub struct MergeBody {
    #[schemars(length(min = 1, max = 256))]
    pub into: String,
}
