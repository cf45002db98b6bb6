//! Parsers of other tools' memory files: text in, memories to import out. No I/O here; `commands/import/` reads files.

mod basic_memory;
mod claude_memory;
mod cursor_rules;
mod front_matter;
mod instruction_file;
mod json_lines;
mod kind_guess;
pub mod managed_section;
mod markdown_notes;
mod mem0;
mod memory_graph;
mod memory_path;
mod recognise;
mod sections;
#[cfg(test)]
mod tests;

pub use recognise::{recognise_markdown, recognise_records};

use clap::ValueEnum;
use engine::model::vocabulary::{Kind, Trust};
use serde_json::{Map, Value};

use memory_path::PathSet;

/// Most bytes of one file.
pub const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Most files of one import.
pub const FILES_MAX: usize = 5_000;
/// Most memories of one import.
pub const MEMORIES_MAX: usize = 20_000;
/// Deepest folder below the one that was named.
pub const FOLDER_DEPTH_MAX: usize = 12;

/// Format of the files of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum SourceFormat {
    /// An export of Ingrain: JSON, JSONL or Markdown with its front matter
    Ingrain,
    /// CLAUDE.md
    ClaudeMd,
    /// AGENTS.md
    AgentsMd,
    /// GEMINI.md
    GeminiMd,
    /// .cursor/rules/*.mdc or .cursorrules
    CursorRules,
    /// Folder with a MEMORY.md and topic files
    ClaudeMemory,
    /// JSONL graph of the official MCP memory server
    McpMemory,
    /// JSON of mem0: a list, or an object with `results`
    Mem0,
    /// Notes of basic-memory
    BasicMemory,
    /// Any Markdown, split by heading
    Markdown,
    /// One JSON object per line with `content` or `text`
    Jsonl,
}

impl SourceFormat {
    /// Its word on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Where it is, with `/`: below the repository or the named folder. Part of the paths of its memories.
    pub name: String,
    pub text: String,
}

impl InputFile {
    /// Last part of the name.
    fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// File name without its extension.
    fn stem(&self) -> &str {
        let name = self.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
    }
}

/// Who wrote a text: it limits the trust of what is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Person,
    Model,
}

impl Writer {
    pub fn trust(self) -> Trust {
        match self {
            Writer::Person => Trust::UserAuthored,
            Writer::Model => Trust::AgentDraft,
        }
    }
}

/// A memory found in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMemory {
    /// File and heading, for people.
    pub source: String,
    pub path: String,
    pub title: Option<String>,
    pub hint: Option<String>,
    pub content: String,
    pub kind: Kind,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub writer: Writer,
}

/// What a parser found.
#[derive(Clone, Debug, Default)]
pub struct FoundMemories {
    pub memories: Vec<FoundMemory>,
    /// Parts that are no memory, in words.
    pub notes: Vec<String>,
    paths: PathSet,
}

/// A file that does not have its format, in words.
#[derive(Debug)]
pub struct FormatError(pub String);

impl FoundMemories {
    /// Adds a memory with content; its path is made unique. An error above [`MEMORIES_MAX`].
    fn add(&mut self, mut memory: FoundMemory) -> Result<(), FormatError> {
        let content = memory.content.trim();
        if content.is_empty() {
            return Ok(());
        }
        if self.memories.len() >= MEMORIES_MAX {
            return Err(FormatError(format!("more than {MEMORIES_MAX} memories: import it in parts")));
        }
        memory.content = content.to_owned();
        memory.path = self.paths.claim(&memory.path);
        memory.title = memory.title.as_deref().map(|title| shorten(title, TITLE_BYTES_MAX)).filter(|t| !t.is_empty());
        memory.hint = memory.hint.as_deref().map(|hint| shorten(hint, HINT_BYTES_MAX)).filter(|h| !h.is_empty());
        memory.tags = clean_tags(&memory.tags);
        self.memories.push(memory);
        Ok(())
    }
}

// Below the limits of the engine, which refuses longer ones: a long heading must not cost its text.
const TITLE_BYTES_MAX: usize = 200;
const HINT_BYTES_MAX: usize = 500;
const TAG_BYTES_MAX: usize = 64;
const TAGS_MAX: usize = 20;

/// The text on one line, cut at a character.
fn shorten(text: &str, bytes_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= bytes_max {
        return line;
    }
    let end = (0..=bytes_max).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", line[..end].trim_end())
}

fn clean_tags(tags: &[String]) -> Vec<String> {
    let mut clean: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim().trim_start_matches('#')).filter(|tag| !tag.is_empty()) {
        if tag.len() <= TAG_BYTES_MAX && !clean.iter().any(|known| known == tag) && clean.len() < TAGS_MAX {
            clean.push(tag.to_owned());
        }
    }
    clean
}

/// Parses files of one format. Paths are unique over all of them.
pub fn parse_files(format: SourceFormat, files: &[InputFile], found: &mut FoundMemories) -> Result<(), FormatError> {
    if format == SourceFormat::ClaudeMemory {
        return claude_memory::parse(files, found);
    }
    for file in files {
        let parsed = match format {
            SourceFormat::ClaudeMd | SourceFormat::AgentsMd | SourceFormat::GeminiMd => {
                instruction_file::parse(file, found)
            }
            SourceFormat::CursorRules => cursor_rules::parse(file, found),
            SourceFormat::McpMemory => memory_graph::parse(file, found),
            SourceFormat::Mem0 => mem0::parse(file, found),
            SourceFormat::BasicMemory => basic_memory::parse(file, found),
            SourceFormat::Markdown => markdown_notes::parse(file, found),
            SourceFormat::Jsonl => json_lines::parse(file, found),
            // Both are handled by the caller.
            SourceFormat::Ingrain | SourceFormat::ClaudeMemory => Ok(()),
        };
        parsed.map_err(|FormatError(why)| FormatError(format!("`{}`: {why}", file.name)))?;
    }
    Ok(())
}
