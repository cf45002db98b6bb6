//! Tool definitions: name, description, schemas and hints over one engine verb.

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
    /// When to use the tool and when not. Read by models.
    pub(super) description: &'static str,
    pub(super) effect: ToolEffect,
    pub(super) input: fn() -> Value,
    pub(super) output: fn() -> Value,
    pub(super) run: fn(&ToolCall<'_>, JsonObject) -> ToolAnswer,
}

/// What a call does to stored memories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    Read,
    /// Adds a version; the history stays, and the same call again changes nothing more.
    Write,
    /// Removes a memory from use: a person has to confirm.
    Delete,
    /// Changes an agent's own files, which may delete without confirmation because every version is kept.
    Files,
}

impl ToolEffect {
    /// The permits a call takes. Writes may wait for another process that holds the database; reads must not wait with
    /// them.
    pub(super) fn pool(self) -> Pool {
        match self {
            ToolEffect::Read => Pool::Calls,
            ToolEffect::Write | ToolEffect::Delete | ToolEffect::Files => Pool::Saves,
        }
    }
}

/// A call and its caller. Identity comes from the door, never from the arguments.
pub(super) struct ToolCall<'a> {
    pub(super) engine: &'a Engine,
    pub(super) caller: &'a Caller,
    pub(super) confirmation: Confirmation,
}

impl ToolSpec {
    pub(super) fn to_tool(&self) -> Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.effect == ToolEffect::Read)
            // A write only adds a version, so in MCP's terms it destroys nothing.
            .destructive(matches!(self.effect, ToolEffect::Delete | ToolEffect::Files))
            // An insert or rename repeated has another effect; saves of the same content have none.
            .idempotent(self.effect != ToolEffect::Files)
            .open_world(false);
        Tool::new(self.name, self.description, to_json_object(&(self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(to_json_object(&(self.output)()))
            .with_annotations(hints)
    }

    /// The question a person has to confirm before the call, if any.
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

/// Parses a tool's arguments. Unknown ones are ignored, among them any that claim an identity.
pub(super) fn parse_arguments<T: DeserializeOwned>(map: JsonObject) -> Result<T, ToolProblem> {
    let parsed = decode_error::from_value(Value::Object(map));
    parsed.map_err(|reason| ToolProblem::new("shape.arguments", format!("wrong arguments: {reason}")))
}
