//! What a tool is: a row of words, schemas and hints over one engine verb.

use std::sync::Arc;

use engine::Engine;
use engine::model::caller::Caller;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::elicitation::Confirmation;
use super::tool_answer::{ToolAnswer, ToolProblem};
use crate::decode_error;
use crate::entrance::Pool;

/// One tool.
pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// When to use it and when not; models read this.
    pub(super) description: &'static str,
    pub(super) effect: ToolEffect,
    pub(super) input: fn() -> Value,
    pub(super) output: fn() -> Value,
    pub(super) run: fn(&ToolCall<'_>, JsonObject) -> ToolAnswer,
}

/// What a call does to what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    Read,
    /// Adds a version; history is kept, and doing it again changes nothing more.
    Write,
    /// Takes something away: a person is asked.
    Delete,
    /// An agent's own files: may take away without asking, as every version is kept.
    Files,
}

impl ToolEffect {
    /// The bound a call counts against: what writes may have to wait for another process that holds the database.
    pub(super) fn pool(self) -> Pool {
        match self {
            ToolEffect::Read => Pool::Calls,
            ToolEffect::Write | ToolEffect::Delete | ToolEffect::Files => Pool::Saves,
        }
    }
}

/// A call with who makes it. Identity comes from the door, never from the arguments.
pub(super) struct ToolCall<'a> {
    pub(super) engine: &'a Engine,
    pub(super) caller: &'a Caller,
    pub(super) confirmation: Confirmation,
}

impl ToolSpec {
    pub(super) fn to_tool(&self) -> Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.effect == ToolEffect::Read)
            .destructive(matches!(self.effect, ToolEffect::Delete | ToolEffect::Files))
            .idempotent(self.effect != ToolEffect::Files)
            .open_world(false);
        Tool::new(self.name, self.description, to_json_object(&(self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(to_json_object(&(self.output)()))
            .with_annotations(hints)
    }

    /// What a person is asked before this is done, if anything.
    pub(super) fn confirmation_question(&self, arguments: Option<&JsonObject>) -> Option<String> {
        let flag = |name: &str| arguments.and_then(|map| map.get(name)) == Some(&Value::Bool(true));
        match self.effect {
            ToolEffect::Delete => Some("An agent wants to forget a memory. Its history is kept. Forget it?".to_owned()),
            ToolEffect::Write if flag("alwaysInject") => {
                Some("An agent wants this preference to be shown in every turn. Keep it as yours?".to_owned())
            }
            _ => None,
        }
    }
}

fn to_json_object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Reads a tool's arguments; what the tool does not know, identities among it, is dropped.
pub(super) fn parse_arguments<T: DeserializeOwned>(map: JsonObject) -> Result<T, ToolProblem> {
    let read = decode_error::from_value(Value::Object(map));
    read.map_err(|misfit| ToolProblem::new("shape.arguments", format!("wrong arguments: {misfit}")))
}
