//! Lines of Cursor: a role and a message of blocks. Calls have no results there.

use engine::model::vocabulary::TurnRole;
use serde_json::Value;

use super::{Said, field, join_texts};

pub(super) fn parse(line: &Value) -> Option<Said> {
    let role = match field(line, "role")? {
        "user" => TurnRole::User,
        "assistant" => TurnRole::Assistant,
        _ => return None,
    };
    let blocks = line.get("message")?.get("content")?.as_array()?;
    let is_text = |block: &&Value| field(block, "type") == Some("text");
    let texts = blocks.iter().filter(is_text).filter_map(|block| field(block, "text")).map(without_time);
    Some(Said { role: Some(role), text: join_texts(texts), results: Vec::new() })
}

/// Cursor may put the time before the first prompt of a turn.
fn without_time(text: &str) -> &str {
    let rest = text.trim_start().strip_prefix("<timestamp>").and_then(|rest| rest.split_once("</timestamp>"));
    rest.map_or(text, |(_, rest)| rest)
}
