//! Tool definitions: name, description, schemas and hints over one engine verb.

use std::sync::Arc;

use engine::model::caller::Caller;
use engine::{ConsentRequest, Engine};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::elicitation::{Confirmation, Reply, Said};
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
    pub(super) reply: Reply,
    pub(super) origin: &'a CallOrigin,
}

/// What the door knows of a call, kept as evidence where the model gives none.
#[derive(Clone, Debug, Default)]
pub(super) struct CallOrigin {
    /// Name and version of the client, as it gives them.
    pub(super) client: Option<String>,
    /// Id of the request.
    pub(super) request: String,
}

impl ToolCall<'_> {
    /// The person's word on this. Where the person is still to be asked, an `Err` carries the question; the call is run
    /// again with the reply.
    pub(super) fn confirm(&self, request: &ConsentRequest<'_>) -> Result<Confirmation, ToolProblem> {
        match &self.reply.said {
            Some(Said::Yes(question)) if self.engine.accepts_answer(self.caller, question, request)? => {
                Ok(Confirmation::Yes(question.clone()))
            }
            Some(Said::No(question)) => {
                self.engine.decline_question(self.caller, question)?;
                Ok(Confirmation::No)
            }
            // A reply to no question of ours, or to one that is over or about another text, is no reply.
            Some(Said::Yes(_)) | None if self.reply.can_ask => match self.engine.ask_person(self.caller, request)? {
                Some(question) => Err(ToolProblem::from_question(question)),
                None => Ok(Confirmation::NotAsked),
            },
            Some(Said::Yes(_)) | None => Ok(Confirmation::NotAsked),
        }
    }
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
}

fn to_json_object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Parses a tool's arguments. Unknown ones are ignored, among them any that claim an identity.
pub(super) fn parse_arguments<T: DeserializeOwned>(map: JsonObject) -> Result<T, ToolProblem> {
    let parsed = decode_error::from_value(Value::Object(map));
    parsed.map_err(|reason| ToolProblem::new("shape.arguments", format!("wrong arguments: {reason}")))
}
