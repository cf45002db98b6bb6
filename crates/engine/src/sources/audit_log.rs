//! The audit log and workflow steps: append-only records that callers send of what they did.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::gate::WriteIntent;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::memory::{Draft, Evidence, HAPPENED_AT_FIELD};
use crate::model::scope::Scope;
use crate::model::store::{AUDIT_LOG, WORKFLOW_STEPS};
use crate::model::vocabulary::{EvidenceKind, Kind, Operation};
use crate::ports::change::Change;
use crate::ports::{Filter, ListCursor, SortOrder};
use crate::recall::read::Listing;
use crate::write::Remembered;
use crate::write::remember;

/// An audit log entry sent by a caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Name of the action, such as `deploy.finished`.
    pub action: String,
    pub message: String,
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// Time of the action; default: now.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// The output of a workflow step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepOutput {
    pub workflow: String,
    pub step: String,
    pub output: String,
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
}

impl Engine {
    /// Appends an entry to the audit log, which the whole tenant can read.
    pub fn record_audit(&self, caller: &Caller, entry: AuditEntry) -> Result<Remembered, Error> {
        let (action, at) = (checked_entry_name("action", &entry.action)?, entry.at.unwrap_or_else(|| self.clock.now()));
        let metadata = json_object([
            ("action", json!(action)),
            (HAPPENED_AT_FIELD, json!(at)),
            ("meta", Value::Object(entry.meta)),
        ]);
        let draft = Draft {
            store: AUDIT_LOG.to_owned(),
            kind: Some(Kind::Note),
            title: Some(action.clone()),
            content: entry.message,
            metadata: Some(metadata),
            ..Draft::default()
        };
        append_entry(self, caller, draft, EventName::AuditRecorded, &action)
    }

    /// Saves the output of a workflow step, which the whole tenant can read.
    pub fn record_step(&self, caller: &Caller, step: StepOutput) -> Result<Remembered, Error> {
        let (workflow, name) =
            (checked_entry_name("workflow", &step.workflow)?, checked_entry_name("step", &step.step)?);
        let at = step.completed_at.unwrap_or_else(|| self.clock.now());
        let metadata =
            json_object([("workflow", json!(workflow)), ("step", json!(name)), (HAPPENED_AT_FIELD, json!(at))]);
        let draft = Draft {
            store: WORKFLOW_STEPS.to_owned(),
            kind: Some(Kind::TaskCompletion),
            title: Some(format!("{workflow}: {name}")),
            content: step.output,
            // Tags are indexed, metadata is not.
            tags: Some(vec![workflow_tag(&workflow)]),
            metadata: Some(metadata),
            ..Draft::default()
        };
        append_entry(self, caller, draft, EventName::WorkflowStep, &name)
    }

    /// Audit log entries sent by callers, newest first.
    pub fn audit_entries(
        &self,
        caller: &Caller,
        after: Option<ListCursor>,
        limit: Option<usize>,
    ) -> Result<Listing, Error> {
        let filter = Filter { stores: vec![AUDIT_LOG.to_owned()], ..Filter::default() };
        self.read_list(caller, filter, SortOrder::Newest, after, limit)
    }

    /// Outputs of workflow steps, newest first, of one workflow or of all.
    pub fn workflow_steps(
        &self,
        caller: &Caller,
        workflow: Option<&str>,
        after: Option<ListCursor>,
        limit: Option<usize>,
    ) -> Result<Listing, Error> {
        let tags = workflow.map(workflow_tag).into_iter().collect();
        let filter = Filter { stores: vec![WORKFLOW_STEPS.to_owned()], tags, ..Filter::default() };
        self.read_list(caller, filter, SortOrder::Newest, after, limit)
    }
}

/// Saves an entry in the caller's name. The log stores take no other writes.
fn append_entry(
    engine: &Engine,
    caller: &Caller,
    draft: Draft,
    event_name: EventName,
    entry_name: &str,
) -> Result<Remembered, Error> {
    let store = draft.store.clone();
    let evidence = Evidence::new(EvidenceKind::ToolResult, format!("recorded by {}", caller.principal));
    // The evidence does not raise the trust: entries in these stores are always drafts.
    let draft = Draft { evidence: vec![evidence], ..draft };
    let answer = remember::remember_as(engine, caller, draft, WriteIntent::AppendToLog, Operation::Create)?;
    if let Remembered::Saved(saved) = &answer {
        let now = engine.clock.now();
        let event = EventBody::new(event_name, caller, now)
            .with_field("memory", saved.memory.id)
            .with_field("store", store)
            .with_field("what", entry_name)
            .with_scope(Some(Scope::Workspace));
        // Queued for the next group commit: the caller does not wait for the disk a second time.
        engine.commit_later(Change::new(caller.tenant, now).with_event(event));
    }
    Ok(answer)
}

/// Tag by which the steps of a workflow are listed.
fn workflow_tag(workflow: &str) -> String {
    format!("workflow:{}", workflow.trim())
}

fn checked_entry_name(field: &str, text: &str) -> Result<String, Error> {
    let text = text.trim();
    match text.is_empty() || text.chars().any(char::is_control) {
        true => Err(Error::invalid("shape.name", format!("`{field}` is empty or holds a control character"))),
        false => Ok(text.to_owned()),
    }
}

fn json_object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
