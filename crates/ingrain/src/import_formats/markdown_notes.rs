//! Plain Markdown files: a person's notes, one memory per heading.

use engine::model::vocabulary::Kind;

use super::instruction_file::section_memory;
use super::sections::split_sections;
use super::{FormatError, FoundMemories, InputFile, Writer, front_matter, managed_section};

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let (fields, text) = front_matter::split_front_matter(&file.text);
    // An exported part may be in any Markdown file; its memories keep their paths.
    let (by_hand, managed) = managed_section::split_managed(text);
    for memory in managed.map(managed_section::parse_memories).unwrap_or_default() {
        found.add(memory.into_found(file))?;
    }
    let tags = fields.list("tags");
    for section in split_sections(&by_hand) {
        let mut memory = section_memory(file, &section, Kind::Note, Writer::Person);
        memory.tags.clone_from(&tags);
        if let Some(title) = fields.text("title").filter(|_| section.headings.is_empty()) {
            memory.title = Some(title.to_owned());
        }
        found.add(memory)?;
    }
    Ok(())
}
