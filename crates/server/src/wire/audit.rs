//! Audit entries. Workflow steps share their view and list parameters.

use std::collections::BTreeMap;

use engine::AuditEntry;
use engine::model::id::MemoryId;
use engine::model::memory::Memory;
use engine::ports::{ListCursor, SortOrder};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_bounded, deserialize_optional_moment};
use super::schema_words::{Id, Moment};
use crate::problem::Problem;

/// An audit entry reported by an external system.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AuditEntry")]
pub struct AuditBody {
    /// Such as `deploy.finished`.
    #[schemars(length(min = 1))]
    pub action: String,
    #[schemars(length(min = 1))]
    pub message: String,
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// Time of the action; default: now.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub timestamp: Option<Timestamp>,
}

impl From<AuditBody> for AuditEntry {
    fn from(body: AuditBody) -> AuditEntry {
        AuditEntry { action: body.action, message: body.message, meta: body.meta, at: body.timestamp }
    }
}

/// An entry of the audit log or of a workflow, as it was reported.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LogEntry")]
pub struct LogEntryView {
    #[schemars(with = "Id")]
    pub id: MemoryId,
    /// `action`, `at` and `meta` of an audit entry; `workflow`, `step` and `at` of a step.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
    pub text: String,
    /// Principal of the caller that sent the entry.
    pub by: String,
}

impl From<Memory> for LogEntryView {
    fn from(memory: Memory) -> LogEntryView {
        let fields = memory.metadata.into_iter().collect();
        LogEntryView { id: memory.id, fields, text: memory.content, by: memory.author }
    }
}

/// Page of a list of entries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EntryParams {
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl EntryParams {
    /// The entry after which the page begins. Logs are listed newest first.
    pub fn parse_cursor(&self) -> Result<Option<ListCursor>, Problem> {
        Ok(self.cursor.as_deref().map(|token| ListCursor::from_token(SortOrder::Newest, token)).transpose()?)
    }
}
