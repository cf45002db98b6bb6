//! Toolset `anthropic`: the six commands of Anthropic's memory tool over one store, in its exact words.

use engine::model::error::Error;
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::vocabulary::{EvidenceKind, Kind};
use engine::ports::{Filter, Order};
use engine::{Forgetting, Forgotten, Patch, Patched, Reference, Remembered};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::files;
use crate::mcp::answer::{Answer, Problem};
use crate::mcp::schema::{object, one_of, plain, text};
use crate::mcp::tool::{Call, Effect, Spec, arguments};

const STORE: &str = "agent_files";
const COMMANDS: [&str; 6] = ["view", "create", "str_replace", "insert", "delete", "rename"];
/// More files than this are not listed at once.
const FILES_MAX: usize = 1_000;

pub(in crate::mcp) const TOOLS: &[Spec] = &[Spec {
    name: "memory",
    title: "Memory files",
    description: "Your own files under /memories, kept between conversations: view, create, str_replace, insert, delete, rename. \
                  View the folder before a task; note durable progress and lessons. Never secrets.",
    effect: Effect::Files,
    input: || {
        let line = json!({ "type": "integer" });
        let range = json!({ "type": "array", "items": { "type": "integer" } });
        object(
            &[
                ("command", one_of(&COMMANDS)),
                ("path", text("")),
                ("view_range", range),
                ("file_text", text("")),
                ("old_str", text("")),
                ("new_str", text("")),
                ("insert_line", line),
                ("insert_text", text("")),
                ("old_path", text("")),
                ("new_path", text("")),
            ],
            &["command"],
        )
    },
    output: || plain(&[("text", 's')], &["text"]),
    run,
}];

/// What names the command; the rest is read when it is known, so that what does not fit is named by its field.
#[derive(Deserialize)]
struct Command {
    command: String,
}

#[derive(Deserialize)]
struct View {
    path: String,
    view_range: Option<[i64; 2]>,
}

#[derive(Deserialize)]
struct Create {
    path: String,
    file_text: String,
}

#[derive(Deserialize)]
struct StrReplace {
    path: String,
    old_str: String,
    #[serde(default)]
    new_str: String,
}

#[derive(Deserialize)]
struct Insert {
    path: String,
    insert_line: i64,
    #[serde(default)]
    insert_text: String,
}

#[derive(Deserialize)]
struct Delete {
    path: String,
}

#[derive(Deserialize)]
struct Rename {
    old_path: String,
    new_path: String,
}

/// What the tool says: done, or why not. Both are sentences for the model.
type Spoken = Result<String, Unable>;

enum Unable {
    Says(String),
    Broke(Problem),
}

impl<T: Into<Problem>> From<T> for Unable {
    fn from(problem: T) -> Unable {
        Unable::Broke(problem.into())
    }
}

fn says<T>(text: impl Into<String>) -> Result<T, Unable> {
    Err(Unable::Says(text.into()))
}

fn run(call: &Call<'_>, map: JsonObject) -> Answer {
    let Command { command } = arguments(map.clone())?;
    let spoken = match command.as_str() {
        "view" => arguments(map).map(|View { path, view_range }| view(call, &path, view_range)),
        "create" => arguments(map).map(|Create { path, file_text }| create(call, &path, file_text)),
        "str_replace" => {
            arguments(map).map(|StrReplace { path, old_str, new_str }| str_replace(call, &path, &old_str, &new_str))
        }
        "insert" => arguments(map)
            .map(|Insert { path, insert_line, insert_text }| insert(call, &path, insert_line, &insert_text)),
        "delete" => arguments(map).map(|Delete { path }| delete(call, &path)),
        "rename" => arguments(map).map(|Rename { old_path, new_path }| rename(call, &old_path, &new_path)),
        unknown => Err(Error::unknown_word("`command`", unknown, &COMMANDS).into()),
    }?;
    match spoken {
        Ok(text) => Ok(json!({ "text": text, "is_error": false })),
        Err(Unable::Says(text)) => Ok(json!({ "text": text, "is_error": true })),
        Err(Unable::Broke(problem)) => Err(problem),
    }
}

/// The path inside the store; empty for the root itself.
fn inside(path: &str) -> Result<String, Unable> {
    match path.strip_prefix("/memories") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let decoded = files::percent_decoded(rest);
            if [rest, &decoded].iter().any(|text| text.split(['/', '\\']).any(|segment| segment == "..")) {
                return says(format!("Path {path} would escape /memories directory"));
            }
            Ok(rest.trim_matches('/').to_owned())
        }
        _ => says(format!("Path must start with /memories, got: {path}")),
    }
}

fn file(call: &Call<'_>, inner: &str) -> Result<Option<Memory>, Unable> {
    let reference = Reference::Path { store: Some(STORE.to_owned()), path: inner.to_owned() };
    match call.engine.locate(call.caller, &reference) {
        Ok(memory) => Ok(Some(memory).filter(|memory| memory.state.is_live())),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The files below a folder. The store itself appears with the first file.
fn below(call: &Call<'_>, folder: &str) -> Result<Vec<Memory>, Unable> {
    let prefix = if folder.is_empty() { None } else { Some(format!("{folder}/")) };
    let filter = Filter { stores: vec![STORE.to_owned()], path_prefix: prefix, ..Filter::default() };
    match call.engine.list(call.caller, filter, Order::Path, None, Some(FILES_MAX)) {
        Ok(listing) => Ok(listing.memories),
        Err(Error::NotFound { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// A path is a file or a folder, never both: what stands above this one must not be a file.
fn has_folder(call: &Call<'_>, inner: &str) -> Result<(), Unable> {
    for (at, _) in inner.match_indices('/') {
        let above = &inner[..at];
        if file(call, above)?.is_some() {
            return says(format!("The path /memories/{above} is a file, not a directory: nothing can stand below it"));
        }
    }
    Ok(())
}

fn view(call: &Call<'_>, path: &str, range: Option<[i64; 2]>) -> Spoken {
    let inner = inside(path)?;
    if let Some(memory) = if inner.is_empty() { None } else { file(call, &inner)? } {
        let memory = call.engine.read(call.caller, &Reference::Id(memory.id))?;
        return Ok(files::numbered(path, &memory.content, range));
    }
    let memories = below(call, &inner)?;
    if memories.is_empty() && !inner.is_empty() {
        return says(format!("The path {path} does not exist. Please provide a valid path."));
    }
    let sizes: Vec<(String, u64)> =
        memories.into_iter().filter_map(|memory| Some((memory.path?, memory.size_bytes))).collect();
    Ok(files::folder(path.trim_end_matches('/'), &inner, &sizes))
}

fn create(call: &Call<'_>, path: &str, file_text: String) -> Spoken {
    let inner = inside(path)?;
    if !inner.is_empty() && file(call, &inner)?.is_some() {
        return says(format!("File {path} already exists"));
    }
    if inner.is_empty() || !below(call, &inner)?.is_empty() {
        return says(format!("The path {path} is a directory: a file needs a name of its own"));
    }
    has_folder(call, &inner)?;
    let draft = Draft {
        store: STORE.to_owned(),
        path: Some(inner),
        kind: Some(Kind::Note),
        content: file_text,
        evidence: vec![written()],
        ..Draft::default()
    };
    match call.engine.remember(call.caller, draft)? {
        Remembered::Saved(_) => Ok(format!("File created successfully at: {path}")),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

fn written() -> Evidence {
    Evidence::new(EvidenceKind::ToolResult, "written through the memory tool")
}

fn existing(call: &Call<'_>, path: &str) -> Result<Memory, Unable> {
    let inner = inside(path)?;
    let found = if inner.is_empty() { None } else { file(call, &inner)? };
    match found {
        Some(memory) => Ok(memory),
        None if inner.is_empty() || !below(call, &inner)?.is_empty() => says(format!("The path {path} is not a file.")),
        None => says(format!("The path {path} does not exist. Please provide a valid path.")),
    }
}

fn replace(call: &Call<'_>, memory: &Memory, content: String) -> Result<(), Unable> {
    let patch = Patch {
        memory: memory.id,
        expected_sha256: memory.sha256.clone(),
        content,
        summary: None,
        evidence: vec![written()],
    };
    match call.engine.patch(call.caller, patch)? {
        Patched::Saved(_) => Ok(()),
        Patched::Refused(refusal) => Err(refusal.into()),
    }
}

fn str_replace(call: &Call<'_>, path: &str, old: &str, new: &str) -> Spoken {
    let memory = existing(call, path)?;
    let places: Vec<usize> =
        if old.is_empty() { Vec::new() } else { memory.content.match_indices(old).map(|(at, _)| at).collect() };
    match places.as_slice() {
        [] => says(format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")),
        [at] => {
            let content = memory.content.replacen(old, new, 1);
            let snippet = files::snippet(&content, *at, new);
            replace(call, &memory, content)?;
            Ok(format!(
                "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
            ))
        }
        many => {
            let lines: Vec<String> =
                many.iter().map(|at| (memory.content[..*at].matches('\n').count() + 1).to_string()).collect();
            let lines = lines.join(", ");
            says(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            ))
        }
    }
}

fn insert(call: &Call<'_>, path: &str, line: i64, insert_text: &str) -> Spoken {
    let memory = existing(call, path)?;
    match files::inserted(&memory.content, line, insert_text) {
        Ok(content) => {
            replace(call, &memory, content)?;
            Ok(format!("The file {path} has been edited."))
        }
        Err(len) => says(format!("Invalid `insert_line` parameter: {line}. It should be within the range [0, {len}].")),
    }
}

fn delete(call: &Call<'_>, path: &str) -> Spoken {
    let inner = inside(path)?;
    if inner.is_empty() {
        return says("Cannot delete the /memories directory itself");
    }
    let gone = match file(call, &inner)? {
        Some(memory) => vec![memory],
        None => below(call, &inner)?,
    };
    if gone.is_empty() {
        return says(format!("The path {path} does not exist"));
    }
    // An agent tidies its own files: what it deletes it may write again. What a person forgets it may not.
    let reason = Some("deleted through the memory tool".to_owned());
    let how = Forgetting { reason, may_return: true, ..Forgetting::default() };
    for memory in gone {
        done(call.engine.forget_as(call.caller, memory.id, &how)?)?;
    }
    Ok(format!("Successfully deleted {path}"))
}

fn rename(call: &Call<'_>, old: &str, new: &str) -> Spoken {
    let (from, to) = (inside(old)?, inside(new)?);
    if from.is_empty() {
        return says("Cannot rename the /memories directory itself");
    }
    let moved: Vec<(Memory, String)> = match file(call, &from)? {
        Some(memory) => vec![(memory, to.clone())],
        None => {
            let renamed = |path: &str| format!("{to}{}", &path[from.len()..]);
            below(call, &from)?
                .into_iter()
                .filter_map(|memory| memory.path.clone().map(|path| (memory, renamed(&path))))
                .collect()
        }
    };
    if moved.is_empty() {
        return says(format!("The path {old} does not exist"));
    }
    if to.is_empty() || file(call, &to)?.is_some() || !below(call, &to)?.is_empty() {
        return says(format!("The destination {new} already exists"));
    }
    has_folder(call, &to)?;
    for (memory, path) in moved {
        done(call.engine.rename(call.caller, memory.id, &path)?)?;
    }
    Ok(format!("Successfully renamed {old} to {new}"))
}

fn done(outcome: Forgotten) -> Result<(), Unable> {
    match outcome {
        Forgotten::Done(_) => Ok(()),
        Forgotten::Refused(refusal) => Err(refusal.into()),
    }
}
