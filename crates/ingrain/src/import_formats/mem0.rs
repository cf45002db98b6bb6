//! mem0: a list of memories, or an object that holds one in `results` or `memories`. mem0 has a model extract them, so
//! they are imported as drafts.

use engine::model::vocabulary::Kind;
use engine::text::digest::content_sha256;
use serde_json::{Map, Value};

use super::kind_guess::guess_kind;
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, memory_path, shorten};

/// Fields that are kept as metadata, under these names.
const KEPT_FIELDS: &[(&str, &str)] = &[
    ("created_at", "recorded_at"),
    ("user_id", "mem0_user"),
    ("agent_id", "mem0_agent"),
    ("app_id", "mem0_app"),
    ("run_id", "mem0_run"),
];

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let text = file.text.trim_start_matches('\u{feff}');
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        // Also one object per line.
        Err(error) => {
            let at = FormatError(format!("not valid JSON at line {}, column {}", error.line(), error.column()));
            let lines = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
            Value::Array(lines.collect::<Result<_, _>>().map_err(|_| at)?)
        }
    };
    for (number, item) in find_list(&document).ok_or_else(no_list)?.iter().enumerate() {
        let content = item.get("memory").or_else(|| item.get("text")).or_else(|| item.get("data"));
        let Some(content) = content.and_then(Value::as_str) else {
            found.notes.push(format!("{}: entry {} has no `memory`", file.name, number + 1));
            continue;
        };
        found.add(build_memory(file, number, item, content))?;
    }
    Ok(())
}

fn no_list() -> FormatError {
    FormatError("expected a list of memories, or an object with `results`".to_owned())
}

/// The list of memories in a document.
pub fn find_list(document: &Value) -> Option<&Vec<Value>> {
    let inner = || ["results", "memories"].iter().find_map(|key| document.get(key)?.as_array());
    document.as_array().or_else(inner)
}

fn build_memory(file: &InputFile, number: usize, item: &Value, content: &str) -> FoundMemory {
    let mut metadata = item.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, kept_as) in KEPT_FIELDS {
        if let Some(value) = item.get(key).filter(|value| !value.is_null()) {
            metadata.insert((*kept_as).to_owned(), value.clone());
        }
    }
    let tags = item.get("categories").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let tags: Vec<String> = tags.map(str::to_owned).collect();
    let stated = metadata.get("type").or_else(|| metadata.get("category")).and_then(Value::as_str).unwrap_or_default();
    let kind = guess_kind(&format!("{stated} {}", tags.join(" ")), guess_kind(content, Kind::Note));
    // The id is the same in every export; without one, the text is.
    let id = item.get("id").and_then(Value::as_str).map(str::to_owned);
    let id = id.unwrap_or_else(|| content_sha256(content)[..12].to_owned());
    FoundMemory {
        source: format!("{}: entry {}", file.name, number + 1),
        path: memory_path::join("mem0", [id.as_str()]),
        title: Some(shorten(content.lines().next().unwrap_or_default(), 80)),
        hint: None,
        content: content.to_owned(),
        kind,
        tags,
        metadata: drop_nulls(metadata),
        writer: Writer::Model,
    }
}

fn drop_nulls(mut metadata: Map<String, Value>) -> Map<String, Value> {
    metadata.retain(|_, value| !value.is_null());
    metadata
}
