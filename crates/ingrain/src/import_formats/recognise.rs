//! Recognises the format of a file by its name and content.

use serde_json::Value;

use super::{SourceFormat, basic_memory, front_matter, json_lines, mem0};

/// Names of files that tell their format.
const NAMES: &[(&str, SourceFormat)] = &[
    ("claude.md", SourceFormat::ClaudeMd),
    ("claude.local.md", SourceFormat::ClaudeMd),
    ("agents.md", SourceFormat::AgentsMd),
    ("agent.md", SourceFormat::AgentsMd),
    ("agents.override.md", SourceFormat::AgentsMd),
    ("copilot-instructions.md", SourceFormat::AgentsMd),
    ("gemini.md", SourceFormat::GeminiMd),
    (".cursorrules", SourceFormat::CursorRules),
    ("memory.md", SourceFormat::ClaudeMemory),
];

/// Fields of front matter that only an export of Ingrain has.
const OWN_FIELDS: &[&str] = &[
    "store",
    "kind",
    "path",
    "layer",
    "trust",
    "field_trust",
    "scope",
    "sha256",
    "recall_hint",
    "confidence",
    "importance",
];

/// Format of a Markdown file.
pub fn recognise_markdown(file_name: &str, text: &str) -> SourceFormat {
    let name = file_name.to_lowercase();
    if let Some((_, format)) = NAMES.iter().find(|(known, _)| *known == name) {
        return *format;
    }
    let (fields, _) = front_matter::split_front_matter(text);
    match () {
        () if name.ends_with(".mdc") => SourceFormat::CursorRules,
        () if fields.has_any(OWN_FIELDS) => SourceFormat::Ingrain,
        () if basic_memory::is_note(text) => SourceFormat::BasicMemory,
        () => SourceFormat::Markdown,
    }
}

/// Format of a JSON or JSONL file. What is not known is taken as our own, whose reader says what is wrong with it.
pub fn recognise_records(text: &str) -> SourceFormat {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        let has_memory = |item: &Value| item.get("memory").is_some_and(Value::is_string);
        if document.get("ingrain_export").is_some() {
            return SourceFormat::Ingrain;
        }
        if has_memory(&document) || mem0::find_list(&document).is_some_and(|list| list.iter().any(has_memory)) {
            return SourceFormat::Mem0;
        }
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let Ok(line) = serde_json::from_str::<Value>(first) else { return SourceFormat::Ingrain };
    let is_text = |key: &str| line.get(key).is_some_and(Value::is_string);
    let is_graph = matches!(line.get("type").and_then(Value::as_str), Some("entity" | "relation"));
    match () {
        () if is_graph && (is_text("name") || is_text("from")) => SourceFormat::McpMemory,
        () if is_text("memory") => SourceFormat::Mem0,
        () if json_lines::TEXT_FIELDS.iter().any(|key| is_text(key)) => SourceFormat::Jsonl,
        () => SourceFormat::Ingrain,
    }
}
