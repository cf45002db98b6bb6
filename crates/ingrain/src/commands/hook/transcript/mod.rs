//! Transcripts of clients, from JSON Lines to turns. A turn has the number of its line: a transcript only grows, so
//! the number tells which turns are kept already.

mod claude_code;
mod codex;
mod cursor;
mod gemini;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use engine::Turn;
use engine::model::vocabulary::{TtlClass, TurnRole};
use serde_json::Value;

use super::clean;
use super::clients::{HookClient, TranscriptFormat};
use crate::config::HookSettings;

/// Lines before the last kept one that are read again: they hold the calls whose results come later.
const LINES_READ_AGAIN: u32 = 200;
/// A longer line holds an image or a whole file, and no turn.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest shown argument list of a tool call.
const ARGUMENT_BYTES_MAX: usize = 200;

/// Code for a path that is no file.
pub const NO_TRANSCRIPT: &str = "hook.no_transcript";

/// Turns of a transcript that are not kept yet.
#[derive(Debug, Default)]
pub struct NewTurns {
    pub turns: Vec<Turn>,
    /// Older ones beyond the most that one hook keeps.
    pub left_out: usize,
}

/// What one line says.
#[derive(Debug, Default, PartialEq)]
struct Said {
    role: Option<TurnRole>,
    text: String,
    results: Vec<ToolResult>,
}

/// What a tool answered.
#[derive(Debug, PartialEq)]
struct ToolResult {
    call: Option<ToolCall>,
    text: String,
    failed: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct ToolCall {
    name: String,
    arguments: String,
}

/// What the lines before tell about a line.
#[derive(Default)]
struct Seen {
    calls: BTreeMap<String, ToolCall>,
    /// Ids of messages whose text was told already; a client may write a message again when it grows.
    messages: BTreeSet<String>,
}

/// The turns after a line; the error is a code for the log.
pub fn read_turns(
    path: &Path,
    client: &HookClient,
    after: u32,
    tag_prefix: &str,
    settings: &HookSettings,
    is_own_folder: &dyn Fn(&Path) -> bool,
) -> Result<NewTurns, &'static str> {
    // A pipe or a device would block or never end.
    if !std::fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return Err(NO_TRANSCRIPT);
    }
    let mut reader = BufReader::new(File::open(path).map_err(|_| "hook.transcript_unreadable")?);
    let (mut number, mut line, mut seen) = (0_u32, Vec::new(), Seen::default());
    let mut said: VecDeque<(u32, Said)> = VecDeque::new();
    let mut left_out = 0;
    let mut own_folders: BTreeMap<String, bool> = BTreeMap::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|_| "hook.transcript_unreadable")?;
        // A last line without its end is still being written: the next hook reads it.
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        number = number.saturating_add(1);
        if number.saturating_add(LINES_READ_AGAIN) <= after || line.len() > LINE_BYTES_MAX {
            continue;
        }
        let Ok(value) = serde_json::from_slice::<Value>(&line) else { continue };
        let Some(what) = parse_line(client.transcript, &value, &mut seen) else { continue };
        // What was said in the folder of another project stays out of this one.
        if let Some(folder) = field(&value, "cwd")
            && !*own_folders.entry(folder.to_owned()).or_insert_with(|| is_own_folder(Path::new(folder)))
        {
            continue;
        }
        if number > after {
            said.push_back((number, what));
        }
        // Bounded, however long the transcript is.
        if said.len() > settings.turns_max {
            said.pop_front();
            left_out += 1;
        }
    }
    let turns = said.into_iter().filter_map(|(number, said)| said.into_turn(number, client, tag_prefix, settings));
    Ok(NewTurns { turns: turns.collect(), left_out })
}

fn parse_line(format: TranscriptFormat, value: &Value, seen: &mut Seen) -> Option<Said> {
    let said = match format {
        TranscriptFormat::ClaudeCode => claude_code::parse(value, seen),
        TranscriptFormat::Codex => codex::parse(value, seen),
        TranscriptFormat::Cursor => cursor::parse(value),
        TranscriptFormat::Gemini => gemini::parse(value, seen),
    };
    said.filter(|said| !said.text.trim().is_empty() || !said.results.is_empty())
}

impl Said {
    fn into_turn(self, number: u32, client: &HookClient, tag_prefix: &str, settings: &HookSettings) -> Option<Turn> {
        let mut parts = vec![clean::keepable_text(&self.text, tag_prefix, settings.turn_bytes_max)];
        let told: Vec<&ToolResult> = self.results.iter().filter(|result| !result.is_recalled()).collect();
        let failed = told.iter().any(|result| result.failed);
        parts.extend(told.iter().map(|result| result.render(tag_prefix, settings.result_bytes_max)));
        parts.retain(|part| !part.is_empty());
        let content = parts.join("\n\n");
        let is_result = self.text.trim().is_empty();
        let ttl = match (is_result, failed) {
            (true, true) => TtlClass::Error,
            (true, false) => TtlClass::Routine,
            // Stated: the words "remember this" in a transcript must not make a turn stay for ever.
            (false, _) => TtlClass::TaskCompletion,
        };
        let role = if is_result { Some(TurnRole::ToolResult) } else { self.role };
        let speaker = Some(client.id.to_owned());
        (!content.is_empty()).then(|| Turn {
            content,
            role,
            speaker,
            turn: Some(number),
            ttl: Some(ttl),
            ..Turn::default()
        })
    }
}

impl ToolResult {
    /// Whether it may be recalled memory, which must not be kept as if it were new. So may be the result of a call
    /// that is not known.
    fn is_recalled(&self) -> bool {
        self.call.as_ref().is_none_or(ToolCall::is_of_memory)
    }

    fn render(&self, tag_prefix: &str, bytes_max: usize) -> String {
        let call = self.call.as_ref();
        let name = call.map_or("", |call| call.name.as_str());
        let arguments = call.map_or("", |call| call.arguments.as_str());
        let arguments = clean::keepable_text(arguments, tag_prefix, ARGUMENT_BYTES_MAX);
        let text = clean::keepable_text(&self.text, tag_prefix, bytes_max);
        let failed = if self.failed { " failed" } else { "" };
        format!("tool {name}{failed}: {arguments}\n{text}").trim_end().to_owned()
    }
}

impl ToolCall {
    fn new(name: &str, arguments: &Value) -> ToolCall {
        let arguments = match arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        ToolCall { name: name.to_owned(), arguments }
    }

    /// Whether it reads or writes memory: over MCP, or by our own command in a shell.
    fn is_of_memory(&self) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let calls_us = |text: &str| text.split(|c| !is_word(c)).any(|word| word == "ingrain");
        // `mcp__ingrain__memory_search`, `mcp_ingrain_memory_search` or, under another name of the server, the tool's.
        let name = self.name.to_ascii_lowercase();
        let is_tool = MEMORY_TOOLS.iter().any(|tool| name.ends_with(tool));
        is_tool || name.contains("ingrain") || calls_us(&self.arguments)
    }
}

/// Tools that answer with memories or hold the text of one, in lower case.
const MEMORY_TOOLS: &[&str] = &[
    "memory_search",
    "memory_read",
    "memory_list",
    "memory_history",
    "memory_remember",
    "memory_patch",
    "memory_propose_promotion",
    "memory_forget",
    "recall_memory",
    "save_memory",
    "ai_searchmemory",
    "ai_savememory",
    "ai_deletememory",
    "search_my_memories",
    "search_knowledge",
];

/// Joins the texts of a list of blocks.
fn join_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Text of a value that is a string or a list of blocks with a `text`.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            join_texts(blocks.iter().filter_map(|block| block.get("text").or(Some(block)).and_then(Value::as_str)))
        }
        _ => String::new(),
    }
}

fn field<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
