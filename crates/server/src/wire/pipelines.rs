//! Opt-ins of pipelines' agents to memory.

use engine::tenant::pipelines::OptIn;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema_words::Moment;

/// An agent's opt-in to memory in a pipeline.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SetOptIn")]
pub struct OptInBody {
    pub enabled: bool,
    /// Most memories in one recall.
    #[serde(default)]
    pub max_recall: Option<u32>,
    /// Most bytes of one lesson.
    #[serde(default)]
    pub max_content_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OptIn")]
pub struct OptInView {
    pub pipeline: String,
    pub agent: String,
    pub enabled: bool,
    pub max_recall: Option<u32>,
    pub max_content_bytes: Option<u64>,
    #[schemars(with = "Moment")]
    pub changed_at: Timestamp,
}

impl From<OptIn> for OptInView {
    fn from(opt_in: OptIn) -> OptInView {
        OptInView {
            pipeline: opt_in.pipeline,
            agent: opt_in.agent,
            enabled: opt_in.enabled,
            max_recall: opt_in.max_recall,
            max_content_bytes: opt_in.max_content_bytes,
            changed_at: opt_in.changed_at,
        }
    }
}

/// Number of erased memories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Erased")]
pub struct ErasedCountView {
    pub erased: u64,
}
