//! Lines of Claude Code: `type` is `user` or `assistant`, and `message` is one of Anthropic's API.

use engine::model::vocabulary::TurnRole;
use serde_json::Value;

use super::{Said, Seen, ToolCall, ToolResult, field, join_texts, text_of};

/// Marks of lines that nobody said here: sub-agents, the client's own notes, summaries, copies of another session.
const SKIPPED_MARKS: &[&str] = &["isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "forkedFrom"];

pub(super) fn parse(line: &Value, seen: &mut Seen) -> Option<Said> {
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    if SKIPPED_MARKS.iter().any(|mark| line.get(*mark).is_some_and(is_set)) {
        return None;
    }
    let role = match field(line, "type")? {
        "user" => TurnRole::User,
        "assistant" => TurnRole::Assistant,
        _ => return None,
    };
    let content = line.get("message")?.get("content")?;
    let Some(blocks) = content.as_array() else {
        let text = content.as_str()?.to_owned();
        return Some(Said { role: Some(role), text, results: Vec::new() });
    };
    let of_type = |wanted: &'static str| blocks.iter().filter(move |block| field(block, "type") == Some(wanted));
    for call in of_type("tool_use") {
        if let (Some(id), Some(name)) = (field(call, "id"), field(call, "name")) {
            seen.calls.insert(id.to_owned(), ToolCall::new(name, call.get("input").unwrap_or(&Value::Null)));
        }
    }
    let result = |block: &Value| ToolResult {
        call: field(block, "tool_use_id").and_then(|id| seen.calls.get(id)).cloned(),
        text: block.get("content").map(text_of).unwrap_or_default(),
        failed: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
    };
    let text = join_texts(of_type("text").filter_map(|block| field(block, "text")));
    Some(Said { role: Some(role), text, results: of_type("tool_result").map(result).collect() })
}
