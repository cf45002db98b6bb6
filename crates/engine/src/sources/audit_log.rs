//! The audit log and workflow steps: what was done, told by those who did it. Appended to, never changed.

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
use crate::write::remember::{self, Remembered};

/// An entry of the audit log from outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Such as `deploy.finished`.
    pub action: String,
    pub message: String,
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// When it happened; default: now.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// What a step of a workflow came to.
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
    /// Adds to the audit log; the whole tenant can read it.
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

    /// Keeps what a step of a workflow came to; the whole tenant can read it.
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
            tags: Some(vec![workflow_tag(&workflow)]),
            metadata: Some(metadata),
            ..Draft::default()
        };
        append_entry(self, caller, draft, EventName::WorkflowStep, &name)
    }

    /// Entries of the audit log from outside, newest first.
    pub fn audit_entries(
        &self,
        caller: &Caller,
        after: Option<ListCursor>,
        limit: Option<usize>,
    ) -> Result<Listing, Error> {
        let filter = Filter { stores: vec![AUDIT_LOG.to_owned()], ..Filter::default() };
        self.read_list(caller, filter, SortOrder::Newest, after, limit)
    }

    /// What the steps of a workflow came to, newest first; of all workflows where none is named.
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

/// Writes an entry in the caller's name where only this verb may write.
fn append_entry(
    engine: &Engine,
    caller: &Caller,
    draft: Draft,
    name: EventName,
    what: &str,
) -> Result<Remembered, Error> {
    let store = draft.store.clone();
    let evidence = Evidence::new(EvidenceKind::ToolResult, format!("recorded by {}", caller.principal));
    // Trust stays that of a draft: the store has no other.
    let draft = Draft { evidence: vec![evidence], ..draft };
    let answer = remember::remember_as(engine, caller, draft, WriteIntent::AppendToLog, Operation::Create)?;
    if let Remembered::Saved(saved) = &answer {
        let now = engine.clock.now();
        let event = EventBody::new(name, caller, now)
            .with_field("memory", saved.memory.id)
            .with_field("store", store)
            .with_field("what", what)
            .with_scope(Some(Scope::Workspace));
        engine.backend.commit_later(Change::new(caller.tenant, now).with_event(event));
    }
    Ok(answer)
}

fn workflow_tag(workflow: &str) -> String {
    format!("workflow:{}", workflow.trim())
}

fn checked_entry_name(what: &str, text: &str) -> Result<String, Error> {
    let text = text.trim();
    match text.is_empty() || text.chars().any(char::is_control) {
        true => Err(Error::invalid("shape.name", format!("the {what} is empty or holds a control character"))),
        false => Ok(text.to_owned()),
    }
}

fn json_object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
