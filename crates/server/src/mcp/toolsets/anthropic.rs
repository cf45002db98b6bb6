//! Toolset `anthropic`: the six commands of Anthropic's memory tool over one store. The messages are part of that
//! tool's contract and copied word for word.

use engine::model::error::Error;
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::vocabulary::{EvidenceKind, Kind};
use engine::ports::{Filter, SortOrder};
use engine::{ForgetOptions, ForgetOutcome, MemoryReference, Patch, PatchOutcome, Remembered, TransitionOutcome};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::file_view;
use crate::mcp::schema::{enum_schema, flat_object_schema, object_schema, string_schema};
use crate::mcp::tool::{ToolCall, ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, ToolProblem};

const STORE: &str = "agent_files";
const COMMANDS: [&str; 6] = ["view", "create", "str_replace", "insert", "delete", "rename"];
/// Most files in one listing.
const FILES_MAX: usize = 1_000;

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[ToolSpec {
    name: "memory",
    title: "Memory files",
    description: "Your own files under /memories, kept between conversations: view, create, str_replace, insert, \
                  delete, rename. View the folder before a task; note durable progress and lessons. Never secrets.",
    effect: ToolEffect::Files,
    input: || {
        let line = json!({ "type": "integer", "description": "insert: after this line, 0 for the start" });
        let range =
            json!({ "type": "array", "items": { "type": "integer" }, "description": "view: first and last line" });
        object_schema(
            &[
                ("command", enum_schema(&COMMANDS, "what to do")),
                ("path", string_schema("under /memories")),
                ("view_range", range),
                ("file_text", string_schema("create: the whole text")),
                ("old_str", string_schema("str_replace: text that is there once")),
                ("new_str", string_schema("str_replace: what takes its place")),
                ("insert_line", line),
                ("insert_text", string_schema("insert: the new lines")),
                ("old_path", string_schema("rename: from")),
                ("new_path", string_schema("rename: to")),
            ],
            &["command"],
        )
    },
    output: || flat_object_schema(&[("text", 's')], &["text"]),
    run: run_command,
}];

/// The command alone. Its arguments are parsed afterwards, so that an error names the field of that command.
#[derive(Deserialize)]
struct CommandName {
    command: String,
}

#[derive(Deserialize)]
struct ViewArgs {
    path: String,
    view_range: Option<[i64; 2]>,
}

#[derive(Deserialize)]
struct CreateArgs {
    path: String,
    file_text: String,
}

#[derive(Deserialize)]
struct StrReplaceArgs {
    path: String,
    old_str: String,
    #[serde(default)]
    new_str: String,
}

#[derive(Deserialize)]
struct InsertArgs {
    path: String,
    insert_line: i64,
    #[serde(default)]
    insert_text: String,
}

#[derive(Deserialize)]
struct DeleteArgs {
    path: String,
}

#[derive(Deserialize)]
struct RenameArgs {
    old_path: String,
    new_path: String,
}

/// A sentence for the model: what was done, or why not.
type CommandResult = Result<String, CommandError>;

enum CommandError {
    Message(String),
    Failed(ToolProblem),
}

impl<T: Into<ToolProblem>> From<T> for CommandError {
    fn from(problem: T) -> CommandError {
        CommandError::Failed(problem.into())
    }
}

fn fail_with_message<T>(text: impl Into<String>) -> Result<T, CommandError> {
    Err(CommandError::Message(text.into()))
}

fn run_command(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    let CommandName { command } = parse_arguments(map.clone())?;
    let result = match command.as_str() {
        "view" => parse_arguments(map).map(|ViewArgs { path, view_range }| view_path(call, &path, view_range)),
        "create" => parse_arguments(map).map(|CreateArgs { path, file_text }| create_file(call, &path, file_text)),
        "str_replace" => parse_arguments(map)
            .map(|StrReplaceArgs { path, old_str, new_str }| str_replace(call, &path, &old_str, &new_str)),
        "insert" => parse_arguments(map).map(|InsertArgs { path, insert_line, insert_text }| {
            insert_into_file(call, &path, insert_line, &insert_text)
        }),
        "delete" => parse_arguments(map).map(|DeleteArgs { path }| delete_path(call, &path)),
        "rename" => {
            parse_arguments(map).map(|RenameArgs { old_path, new_path }| rename_path(call, &old_path, &new_path))
        }
        unknown => Err(Error::unknown_word("`command`", unknown, &COMMANDS).into()),
    }?;
    match result {
        Ok(text) => Ok(json!({ "text": text, "is_error": false })),
        Err(CommandError::Message(text)) => Ok(json!({ "text": text, "is_error": true })),
        Err(CommandError::Failed(problem)) => Err(problem),
    }
}

/// The path inside the store; empty for the root. A path that leaves `/memories` is refused, also percent-encoded.
fn path_in_store(path: &str) -> Result<String, CommandError> {
    match path.strip_prefix("/memories") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let decoded = file_view::percent_decode(rest);
            // Backslashes too: some systems treat them as separators.
            if [rest, &decoded].iter().any(|text| text.split(['/', '\\']).any(|segment| segment == "..")) {
                return fail_with_message(format!("Path {path} would escape /memories directory"));
            }
            // Decoded for the check only: the store keeps the name as it was given.
            Ok(rest.trim_matches('/').to_owned())
        }
        _ => fail_with_message(format!("Path must start with /memories, got: {path}")),
    }
}

fn find_file(call: &ToolCall<'_>, inner: &str) -> Result<Option<Memory>, CommandError> {
    let reference = MemoryReference::Path { store: Some(STORE.to_owned()), path: inner.to_owned() };
    match call.engine.locate(call.caller, &reference) {
        Ok(memory) => Ok(Some(memory).filter(|memory| memory.state.is_live())),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The files below a folder. A missing store is an empty folder: the first file creates it.
fn list_folder(call: &ToolCall<'_>, folder: &str) -> Result<Vec<Memory>, CommandError> {
    let prefix = if folder.is_empty() { None } else { Some(format!("{folder}/")) };
    let filter = Filter { stores: vec![STORE.to_owned()], path_prefix: prefix, ..Filter::default() };
    match call.engine.list(call.caller, filter, SortOrder::Path, None, Some(FILES_MAX)) {
        Ok(listing) => Ok(listing.memories),
        Err(Error::NotFound { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a path below a file: a path is a file or a folder, never both.
fn check_parent_folders(call: &ToolCall<'_>, inner: &str) -> Result<(), CommandError> {
    for (at, _) in inner.match_indices('/') {
        let parent = &inner[..at];
        if find_file(call, parent)?.is_some() {
            return fail_with_message(format!(
                "The path /memories/{parent} is a file, not a directory: nothing can stand below it"
            ));
        }
    }
    Ok(())
}

fn view_path(call: &ToolCall<'_>, path: &str, range: Option<[i64; 2]>) -> CommandResult {
    let inner = path_in_store(path)?;
    if let Some(memory) = if inner.is_empty() { None } else { find_file(call, &inner)? } {
        // Read again, because `locate` records no read and this command shows the content.
        let memory = call.engine.read(call.caller, &MemoryReference::Id(memory.id))?;
        return Ok(file_view::render_file(path, &memory.content, range));
    }
    let memories = list_folder(call, &inner)?;
    // The root always exists: before the first file it is an empty folder.
    if memories.is_empty() && !inner.is_empty() {
        return fail_with_message(format!("The path {path} does not exist. Please provide a valid path."));
    }
    let sizes: Vec<(String, u64)> =
        memories.into_iter().filter_map(|memory| Some((memory.path?, memory.size_bytes))).collect();
    Ok(file_view::render_folder(path.trim_end_matches('/'), &inner, &sizes))
}

fn create_file(call: &ToolCall<'_>, path: &str, file_text: String) -> CommandResult {
    let inner = path_in_store(path)?;
    if !inner.is_empty() && find_file(call, &inner)?.is_some() {
        return fail_with_message(format!("File {path} already exists"));
    }
    if inner.is_empty() || !list_folder(call, &inner)?.is_empty() {
        return fail_with_message(format!("The path {path} is a directory: a file needs a name of its own"));
    }
    check_parent_folders(call, &inner)?;
    let draft = Draft {
        store: STORE.to_owned(),
        path: Some(inner),
        kind: Some(Kind::Note),
        content: file_text,
        evidence: vec![memory_tool_evidence()],
        ..Draft::default()
    };
    match call.engine.remember(call.caller, draft)? {
        Remembered::Saved(_) => Ok(format!("File created successfully at: {path}")),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

fn memory_tool_evidence() -> Evidence {
    Evidence::new(EvidenceKind::ToolResult, "written through the memory tool")
}

fn require_file(call: &ToolCall<'_>, path: &str) -> Result<Memory, CommandError> {
    let inner = path_in_store(path)?;
    let found = if inner.is_empty() { None } else { find_file(call, &inner)? };
    match found {
        Some(memory) => Ok(memory),
        None if inner.is_empty() || !list_folder(call, &inner)?.is_empty() => {
            fail_with_message(format!("The path {path} is not a file."))
        }
        None => fail_with_message(format!("The path {path} does not exist. Please provide a valid path.")),
    }
}

fn replace_content(call: &ToolCall<'_>, memory: &Memory, content: String) -> Result<(), CommandError> {
    let patch = Patch {
        memory: memory.id,
        // A concurrent edit fails here instead of being overwritten.
        expected_sha256: memory.sha256.clone(),
        content,
        summary: None,
        evidence: vec![memory_tool_evidence()],
    };
    match call.engine.patch(call.caller, patch)? {
        PatchOutcome::Saved(_) => Ok(()),
        PatchOutcome::Proposed(saved) => {
            let review = saved.review.map(|review| format!(" {review}")).unwrap_or_default();
            fail_with_message(format!(
                "The file is not changed: the new text waits as a draft, and a person decides in review{review}"
            ))
        }
        PatchOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

fn str_replace(call: &ToolCall<'_>, path: &str, old: &str, new: &str) -> CommandResult {
    let memory = require_file(call, path)?;
    // An empty text would match everywhere.
    let places: Vec<usize> =
        if old.is_empty() { Vec::new() } else { memory.content.match_indices(old).map(|(at, _)| at).collect() };
    match places.as_slice() {
        [] => fail_with_message(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )),
        [at] => {
            let content = memory.content.replacen(old, new, 1);
            let snippet = file_view::render_snippet(&content, *at, new);
            replace_content(call, &memory, content)?;
            Ok(format!(
                "The memory file has been edited. Here is the snippet showing the change (with line \
                 numbers):\n{snippet}"
            ))
        }
        // The line numbers help the model to pick a unique text.
        many => {
            let lines: Vec<String> =
                many.iter().map(|at| (memory.content[..*at].matches('\n').count() + 1).to_string()).collect();
            let lines = lines.join(", ");
            fail_with_message(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please \
                 ensure it is unique"
            ))
        }
    }
}

fn insert_into_file(call: &ToolCall<'_>, path: &str, line: i64, insert_text: &str) -> CommandResult {
    let memory = require_file(call, path)?;
    match file_view::insert_after_line(&memory.content, line, insert_text) {
        Ok(content) => {
            replace_content(call, &memory, content)?;
            Ok(format!("The file {path} has been edited."))
        }
        Err(len) => fail_with_message(format!(
            "Invalid `insert_line` parameter: {line}. It should be within the range [0, {len}]."
        )),
    }
}

fn delete_path(call: &ToolCall<'_>, path: &str) -> CommandResult {
    let inner = path_in_store(path)?;
    if inner.is_empty() {
        return fail_with_message("Cannot delete the /memories directory itself");
    }
    let deleted = match find_file(call, &inner)? {
        Some(memory) => vec![memory],
        None => list_folder(call, &inner)?,
    };
    if deleted.is_empty() {
        return fail_with_message(format!("The path {path} does not exist"));
    }
    // `may_return`: an agent may write again what it deleted itself, unlike what a person made it forget.
    let reason = Some("deleted through the memory tool".to_owned());
    let options = ForgetOptions { reason, may_return: true, ..ForgetOptions::default() };
    let mut proposed = Vec::new();
    for memory in deleted {
        match call.engine.forget_with_options(call.caller, memory.id, &options)? {
            ForgetOutcome::Done(_) => {}
            ForgetOutcome::Proposed { review, .. } => proposed.push(review.id.to_string()),
            ForgetOutcome::Refused(refusal) => return Err(refusal.into()),
        }
    }
    match proposed.is_empty() {
        true => Ok(format!("Successfully deleted {path}")),
        // A person wrote or trusted it.
        false => fail_with_message(format!(
            "{path} is not deleted: a person decides about it in review {}",
            proposed.join(", ")
        )),
    }
}

fn rename_path(call: &ToolCall<'_>, old: &str, new: &str) -> CommandResult {
    let (from, to) = (path_in_store(old)?, path_in_store(new)?);
    if from.is_empty() {
        return fail_with_message("Cannot rename the /memories directory itself");
    }
    let moved: Vec<(Memory, String)> = match find_file(call, &from)? {
        Some(memory) => vec![(memory, to.clone())],
        None => {
            let renamed = |path: &str| format!("{to}{}", &path[from.len()..]);
            list_folder(call, &from)?
                .into_iter()
                .filter_map(|memory| memory.path.clone().map(|path| (memory, renamed(&path))))
                .collect()
        }
    };
    if moved.is_empty() {
        return fail_with_message(format!("The path {old} does not exist"));
    }
    if to.is_empty() || find_file(call, &to)?.is_some() || !list_folder(call, &to)?.is_empty() {
        return fail_with_message(format!("The destination {new} already exists"));
    }
    check_parent_folders(call, &to)?;
    // File by file: a failure half-way leaves a folder renamed in part.
    for (memory, path) in moved {
        ensure_done(call.engine.rename(call.caller, memory.id, &path)?)?;
    }
    Ok(format!("Successfully renamed {old} to {new}"))
}

fn ensure_done(outcome: TransitionOutcome) -> Result<(), CommandError> {
    match outcome {
        TransitionOutcome::Done(_) => Ok(()),
        TransitionOutcome::Refused(refusal) => Err(refusal.into()),
    }
}
