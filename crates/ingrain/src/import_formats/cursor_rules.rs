//! Rules of Cursor: `.mdc` files with front matter (`description`, `globs`, `alwaysApply`), and the older
//! `.cursorrules`.

use engine::model::vocabulary::Kind;
use serde_json::{Value, json};

use super::instruction_file::section_memory;
use super::kind_guess::guess_kind;
use super::sections::split_sections;
use super::{FormatError, FoundMemories, InputFile, Writer, front_matter};

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let (fields, text) = front_matter::split_front_matter(&file.text);
    let (description, globs) = (fields.text("description"), fields.list("globs"));
    for section in split_sections(text) {
        let default = guess_kind(file.stem(), Kind::WorkspaceConvention);
        let mut memory = section_memory(file, &section, default, Writer::Person);
        if section.headings.is_empty() {
            memory.title = Some(description.unwrap_or(file.stem()).to_owned());
        }
        memory.hint = description.map(str::to_owned);
        if !globs.is_empty() {
            memory.metadata.insert("globs".to_owned(), json!(globs));
        }
        if fields.text("alwaysApply") == Some("true") {
            memory.metadata.insert("always_apply".to_owned(), Value::Bool(true));
        }
        found.add(memory)?;
    }
    Ok(())
}
