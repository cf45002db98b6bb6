//! CLAUDE.md, AGENTS.md and GEMINI.md: instructions that a person wrote, one memory per heading.

use engine::model::vocabulary::Kind;
use serde_json::Map;

use super::kind_guess::guess_kind;
use super::sections::{Section, split_sections};
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, front_matter, managed_section, memory_path};

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let (_, text) = front_matter::split_front_matter(&file.text);
    let (by_hand, managed) = managed_section::split_managed(text);
    for memory in managed.map(managed_section::parse_memories).unwrap_or_default() {
        found.add(memory.into_found(file))?;
    }
    for section in split_sections(&by_hand) {
        note_references(file, &section, found);
        found.add(section_memory(file, &section, Kind::WorkspaceConvention, Writer::Person))?;
    }
    Ok(())
}

/// A section of a file as a memory, with a path from the file and its headings.
pub fn section_memory(file: &InputFile, section: &Section, default: Kind, writer: Writer) -> FoundMemory {
    let own = section.headings.last().map(String::as_str);
    // The own heading says more than those above it.
    let kind = guess_kind(own.unwrap_or_default(), guess_kind(&section.headings.join(" "), default));
    let parts: Vec<&str> = match section.headings.is_empty() {
        true => vec!["intro"],
        false => section.headings.iter().map(String::as_str).collect(),
    };
    let source = match own {
        Some(_) => format!("{}: {}", file.name, section.headings.join(" / ")),
        None => file.name.clone(),
    };
    FoundMemory {
        source,
        path: memory_path::join(&file.name, parts),
        title: Some(if own.is_some() { section.headings.join(": ") } else { file.file_name().to_owned() }),
        hint: None,
        content: section.body.clone(),
        kind,
        tags: Vec::new(),
        metadata: Map::new(),
        writer,
    }
}

/// Notes `@path` lines: the client reads those files, an import does not.
fn note_references(file: &InputFile, section: &Section, found: &mut FoundMemories) {
    let is_reference = |line: &&str| {
        line.strip_prefix('@').is_some_and(|path| !path.is_empty() && !path.contains(char::is_whitespace))
    };
    let references = section.body.lines().map(|line| line.trim().trim_start_matches("- ")).filter(is_reference);
    for line in references.take(REFERENCES_NAMED_MAX) {
        found.notes.push(format!(
            "{}: `{}` is not followed; name that file to import it too",
            file.name,
            super::shorten(line, 200)
        ));
    }
}

/// Most references named for one section.
const REFERENCES_NAMED_MAX: usize = 10;
