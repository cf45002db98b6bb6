//! What a tool is: a row of words, schemas and hints over one engine verb.

use std::sync::Arc;

use engine::Engine;
use engine::model::caller::Caller;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, Problem};
use super::person::Said;
use crate::misfit;

/// One tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// When to use it and when not; models read this.
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) input: fn() -> Value,
    pub(super) output: fn() -> Value,
    pub(super) run: fn(&Call<'_>, JsonObject) -> Answer,
}

/// What a call does to what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    /// Adds a version; history is kept, and doing it again changes nothing more.
    Write,
    /// Takes something away: a person is asked.
    Delete,
    /// An agent's own files: may take away without asking, as every version is kept.
    Files,
}

/// A call with who makes it. Identity comes from the door, never from the arguments.
pub(super) struct Call<'a> {
    pub(super) engine: &'a Engine,
    pub(super) caller: &'a Caller,
    pub(super) said: Said,
}

impl Spec {
    pub(super) fn describe(&self) -> Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.effect == Effect::Read)
            .destructive(matches!(self.effect, Effect::Delete | Effect::Files))
            .idempotent(self.effect != Effect::Files)
            .open_world(false);
        Tool::new(self.name, self.description, object(&(self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object(&(self.output)()))
            .with_annotations(hints)
    }

    /// What a person is asked before this is done, if anything.
    pub(super) fn question(&self, arguments: Option<&JsonObject>) -> Option<String> {
        let flag = |name: &str| arguments.and_then(|map| map.get(name)) == Some(&Value::Bool(true));
        match self.effect {
            Effect::Delete => Some("An agent wants to forget a memory. Its history is kept. Forget it?".to_owned()),
            Effect::Write if flag("alwaysInject") => {
                Some("An agent wants this preference to be shown in every turn. Keep it as yours?".to_owned())
            }
            _ => None,
        }
    }
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Reads a tool's arguments; what the tool does not know, identities among it, is dropped.
pub(super) fn arguments<T: DeserializeOwned>(map: JsonObject) -> Result<T, Problem> {
    let read = misfit::from_value(Value::Object(map));
    read.map_err(|misfit| Problem::new("shape.arguments", format!("wrong arguments: {misfit}")))
}
