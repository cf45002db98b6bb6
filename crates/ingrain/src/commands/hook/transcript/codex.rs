//! Lines of Codex: `response_item` holds what the model exchanges; the other types repeat it for the screen.

use engine::model::vocabulary::TurnRole;
use serde_json::Value;

use super::{Said, Seen, ToolCall, ToolResult, field, text_of};

/// Begin the texts that Codex itself puts before the first prompt.
const CLIENT_TEXTS: &[&str] = &["<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md"];

pub(super) fn parse(line: &Value, seen: &mut Seen) -> Option<Said> {
    if field(line, "type")? != "response_item" {
        return None;
    }
    let item = line.get("payload")?;
    match field(item, "type")? {
        "message" => {
            let role = match field(item, "role")? {
                "user" => TurnRole::User,
                "assistant" => TurnRole::Assistant,
                // What hooks and the client add comes as `developer`.
                _ => return None,
            };
            let text = text_of(item.get("content")?);
            let is_client = CLIENT_TEXTS.iter().any(|start| text.trim_start().starts_with(start));
            (!is_client).then_some(Said { role: Some(role), text, results: Vec::new() })
        }
        "function_call" | "custom_tool_call" => {
            let name =
                [field(item, "namespace"), field(item, "name")].into_iter().flatten().collect::<Vec<_>>().join("__");
            let arguments = item.get("arguments").or_else(|| item.get("input")).unwrap_or(&Value::Null);
            seen.calls.insert(field(item, "call_id")?.to_owned(), ToolCall::new(&name, arguments));
            None
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.get("output")?;
            let text = match output.get("content") {
                Some(content) => text_of(content),
                None => text_of(output),
            };
            let failed = output.get("success").and_then(Value::as_bool) == Some(false);
            let call = field(item, "call_id").and_then(|id| seen.calls.get(id)).cloned();
            Some(Said { results: vec![ToolResult { call, text, failed }], ..Said::default() })
        }
        _ => None,
    }
}
