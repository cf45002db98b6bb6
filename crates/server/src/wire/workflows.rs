//! The body of a workflow step.

use engine::StepOutput;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::deserialize::deserialize_optional_moment;
use super::schema_words::Moment;

/// The output of a workflow step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WorkflowStep")]
pub struct WorkflowStepBody {
    #[schemars(length(min = 1))]
    pub step: String,
    #[schemars(length(min = 1))]
    pub output: String,
    /// Default: now.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub completed_at: Option<Timestamp>,
}

impl WorkflowStepBody {
    pub fn into_step_output(self, workflow: String) -> StepOutput {
        StepOutput { workflow, step: self.step, output: self.output, completed_at: self.completed_at }
    }
}
