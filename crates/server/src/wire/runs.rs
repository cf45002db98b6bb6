//! Runs.

use engine::{CloseRunReport, CloseRunRequest, Run, RunOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_bounded;
use super::remember::SavedView;
use super::schema_words::RunOutcomeWord;

/// A run to open.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OpenRun")]
pub struct OpenRunBody {
    /// Id of the run, the same as `X-Run-Id` except for admins; default: `X-Run-Id`, else a new one.
    pub id: Option<String>,
    pub goal: Option<String>,
    pub workflow: Option<String>,
}

/// The end of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CloseRun")]
pub struct CloseRunBody {
    #[schemars(with = "RunOutcomeWord")]
    pub outcome: RunOutcome,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub workflow: Option<String>,
}

impl CloseRunBody {
    pub fn into_closing(self, run: String) -> CloseRunRequest {
        CloseRunRequest { run, outcome: self.outcome, summary: self.summary, workflow: self.workflow }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub struct RunView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub run: Run,
}

/// Result of closing a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ClosedRun")]
pub struct ClosedRunView {
    pub run: RunView,
    /// Number of tombstoned working memories.
    pub tombstoned: u64,
    pub episode: SavedView,
    pub procedure: Option<SavedView>,
}

impl From<CloseRunReport> for ClosedRunView {
    fn from(closed: CloseRunReport) -> ClosedRunView {
        ClosedRunView {
            run: RunView { run: closed.run },
            tombstoned: closed.tombstoned,
            episode: SavedView::from_memory(&closed.episode, "created"),
            procedure: closed.procedure.as_ref().map(|memory| SavedView::from_memory(memory, "created")),
        }
    }
}

/// Filter of runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunParams {
    pub open: bool,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}
