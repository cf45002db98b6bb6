//! Runs: one execution of a task, with working memory that ends with it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::row::{RowKind, SideRecord};
use crate::vocabulary;

vocabulary! {
    /// How a run ended.
    RunOutcome ("outcome") {
        Success = "success",
        Failure = "failure",
        Cancelled = "cancelled",
    }
}

/// One execution of a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub goal: Option<String>,
    pub workflow: Option<String>,
    pub opened_by: String,
    pub opened_at: Timestamp,
    pub outcome: Option<RunOutcome>,
    pub closed_at: Option<Timestamp>,
}

impl SideRecord for Run {
    const KIND: RowKind = RowKind::Runs;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.opened_at
    }
    fn row_state(&self) -> String {
        if self.closed_at.is_some() { "closed" } else { "open" }.to_owned()
    }
    fn row_subject(&self) -> String {
        self.workflow.clone().unwrap_or_default()
    }
    fn row_parent(&self) -> String {
        self.opened_by.clone()
    }
}
