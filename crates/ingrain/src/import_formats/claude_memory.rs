//! Claude Code's own memory: a folder with the index MEMORY.md and topic files, which may have front matter (`name`,
//! `description`, `type`). Written by the model, so it is imported as drafts.

use engine::model::vocabulary::Kind;
use serde_json::Map;

use super::instruction_file::section_memory;
use super::kind_guess::guess_kind;
use super::sections::split_sections;
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, front_matter, memory_path};

const INDEX_FILE: &str = "MEMORY.md";

/// Kinds of the types that Claude Code gives its memories.
const TYPES: &[(&str, Kind)] = &[
    ("user", Kind::UserPreference),
    ("feedback", Kind::WorkspaceConvention),
    ("project", Kind::ServiceContext),
    ("reference", Kind::ServiceContext),
];

pub fn parse(files: &[InputFile], found: &mut FoundMemories) -> Result<(), FormatError> {
    for file in files {
        let is_index = file.file_name().eq_ignore_ascii_case(INDEX_FILE);
        let (fields, text) = front_matter::split_front_matter(&file.text);
        if is_index || !fields.has_any(&["name", "description", "type", "metadata.type"]) {
            let text = if is_index { without_index_lines(text, files) } else { text.to_owned() };
            for section in split_sections(&text) {
                found.add(section_memory(file, &section, guess_kind(file.stem(), Kind::Note), Writer::Model))?;
            }
            continue;
        }
        let kind_name = fields.text("metadata.type").or_else(|| fields.text("type")).unwrap_or_default();
        let kind = TYPES.iter().find(|(name, _)| *name == kind_name).map(|(_, kind)| *kind);
        let title = fields.text("name").unwrap_or(file.stem());
        found.add(FoundMemory {
            source: file.name.clone(),
            path: memory_path::join(&file.name, []),
            title: Some(title.to_owned()),
            hint: fields.text("description").map(str::to_owned),
            content: text.to_owned(),
            kind: kind.unwrap_or_else(|| guess_kind(title, Kind::Note)),
            tags: Vec::new(),
            metadata: Map::new(),
            writer: Writer::Model,
        })?;
    }
    Ok(())
}

/// The index without the lines that only link to a topic file of this import.
fn without_index_lines(text: &str, files: &[InputFile]) -> String {
    let links_to_topic = |line: &str| {
        let is_item = line.trim_start().starts_with(['-', '*', '+', '|', '[']);
        let target = line.split_once("](").and_then(|(_, rest)| rest.split(')').next());
        let target = target.map(|target| target.trim_start_matches("./").split('#').next().unwrap_or_default());
        is_item && target.is_some_and(|target| !target.is_empty() && files.iter().any(|file| is_at(file, target)))
    };
    text.lines().filter(|line| !links_to_topic(line)).flat_map(|line| [line, "\n"]).collect()
}

fn is_at(file: &InputFile, target: &str) -> bool {
    file.name == target || file.name.strip_suffix(target).is_some_and(|folder| folder.ends_with('/'))
}
