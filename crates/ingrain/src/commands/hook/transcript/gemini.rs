//! Lines of Gemini CLI: a message with an id, written again when a tool has answered; `$set` lines change fields.

use engine::model::vocabulary::TurnRole;
use serde_json::Value;

use super::{Said, Seen, ToolCall, ToolResult, field, text_of};

pub(super) fn parse(line: &Value, seen: &mut Seen) -> Option<Said> {
    let role = match field(line, "type")? {
        "user" => TurnRole::User,
        "gemini" => TurnRole::Assistant,
        _ => return None,
    };
    let is_new = seen.messages.insert(field(line, "id")?.to_owned());
    // What the person typed; `content` also holds what hooks added.
    let content = line.get("displayContent").or_else(|| line.get("content"));
    let text = content.map(text_of).filter(|_| is_new).unwrap_or_default();
    let calls = line.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let results = calls.filter_map(|call| {
        // A call that is not done yet comes again with its answer.
        let status = field(call, "status").filter(|status| matches!(*status, "success" | "error"))?;
        let is_new = field(call, "id").is_none_or(|id| seen.messages.insert(format!("call {id}")));
        if !is_new {
            return None;
        }
        let name = field(call, "name")?;
        let text = call.get("resultDisplay").map(text_of).unwrap_or_default();
        let call = Some(ToolCall::new(name, call.get("args").unwrap_or(&Value::Null)));
        Some(ToolResult { call, text, failed: status == "error" })
    });
    Some(Said { role: Some(role), text, results: results.collect() })
}
