//! The part of a CLAUDE.md or AGENTS.md that `ingrain export` writes, between two comment lines. The rest of the file
//! is a person's and never changed.

use engine::model::memory::Memory;
use engine::model::vocabulary::{Kind, Trust};
use engine::text::direction_marks::{escape_direction_marks, unescape_direction_marks};
use serde_json::Map;

use super::{FoundMemory, InputFile, Writer, memory_path};

const BEGIN: &str = "<!-- ingrain:begin";
const BEGIN_LINE: &str = "<!-- ingrain:begin (written by `ingrain export`, which replaces it) -->";
const END: &str = "<!-- ingrain:end -->";
const MEMORY: &str = "<!-- ingrain:memory ";
const MEMORY_END: &str = " -->";
/// Beginning of every marker. In the text of a memory it is written in another way, so that no memory can end the part.
const MARKER: &str = "<!-- ingrain:";
const MARKER_IN_TEXT: &str = "<!-- ingrain&#58;";

const DRAFTS_HEADING: &str = "## Unreviewed drafts";
const DRAFTS_INTRO: &str = "Saved by agents. No person has reviewed these: check them before you rely on them.";

/// Headings of the kinds, in the order of the file.
const HEADINGS: &[(Kind, &str)] = &[
    (Kind::WorkspaceConvention, "## Conventions"),
    (Kind::Runbook, "## Runbooks"),
    (Kind::VerificationChecklist, "## Checklists"),
    (Kind::ServiceContext, "## Context"),
    (Kind::Decision, "## Decisions"),
    (Kind::ToolUsageLesson, "## Tools"),
    (Kind::IncidentLesson, "## Incidents"),
    (Kind::Lesson, "## Lessons"),
    (Kind::UserPreference, "## Preferences"),
];
const OTHER_HEADING: &str = "## Notes";

fn heading_of(kind: Kind) -> &'static str {
    HEADINGS.iter().find(|(known, _)| *known == kind).map_or(OTHER_HEADING, |(_, heading)| heading)
}

/// A memory read back from the part.
#[derive(Debug, PartialEq)]
pub struct ManagedMemory {
    is_draft: bool,
    kind: Option<Kind>,
    path: Option<String>,
    title: Option<String>,
    content: String,
}

impl ManagedMemory {
    pub fn into_found(self, file: &InputFile) -> FoundMemory {
        let title = self.title.clone().unwrap_or_default();
        FoundMemory {
            source: format!("{}: {title}", file.name),
            path: self.path.unwrap_or_else(|| memory_path::join(&file.name, [title.as_str()])),
            title: self.title,
            hint: None,
            content: self.content,
            kind: self.kind.unwrap_or(Kind::Note),
            tags: Vec::new(),
            metadata: Map::new(),
            writer: if self.is_draft { Writer::Model } else { Writer::Person },
        }
    }
}

/// The file without the part, and the part's text.
pub fn split_managed(text: &str) -> (String, Option<&str>) {
    match find_managed(text) {
        Some((start, end)) => (format!("{}{}", &text[..start], &text[end..]), Some(&text[start..end])),
        None => (text.to_owned(), None),
    }
}

/// Bytes of the part, with its marker lines.
fn find_managed(text: &str) -> Option<(usize, usize)> {
    let start = find_line(text, 0, BEGIN)?;
    let end = find_line(text, start, END)?;
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    Some((start, line_end))
}

/// Start of the first line at or after a position that begins with the marker.
fn find_line(text: &str, from: usize, marker: &str) -> Option<usize> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if line.starts_with(marker) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Whether a file has only one of the two markers, or more than one part: it cannot be told what to replace.
pub fn is_broken(text: &str) -> bool {
    let count = |marker| text.lines().filter(|line| line.starts_with(marker)).count();
    let (begins, ends) = (count(BEGIN), count(END));
    begins != ends || begins > 1 || (begins == 1 && find_managed(text).is_none())
}

/// The file with the part replaced, or added at the end.
pub fn replace_managed(text: &str, part: &str) -> String {
    match find_managed(text) {
        Some((start, end)) => format!("{}{part}{}", &text[..start], &text[end..]),
        None if text.trim().is_empty() => part.to_owned(),
        None => format!("{}\n\n{part}", text.trim_end_matches('\n')),
    }
}

/// The part for these memories: by kind, with drafts apart at the end.
pub fn render_part(name: &str, memories: &[Memory]) -> String {
    let mut text = format!("{BEGIN_LINE}\n\n# What {name} knows\n");
    if memories.is_empty() {
        text += "\nNothing yet.\n";
    }
    let (drafts, reviewed): (Vec<&Memory>, Vec<&Memory>) =
        memories.iter().partition(|memory| memory.least_text_trust() <= Trust::AgentDraft);
    let headings = HEADINGS.iter().map(|(_, heading)| *heading).chain([OTHER_HEADING]);
    for heading in headings {
        let mut of_kind = reviewed.iter().filter(|memory| heading_of(memory.kind) == heading).peekable();
        if of_kind.peek().is_some() {
            text += &format!("\n{heading}\n");
        }
        of_kind.for_each(|memory| text += &render_memory(memory, false));
    }
    if !drafts.is_empty() {
        text += &format!("\n{DRAFTS_HEADING}\n\n{DRAFTS_INTRO}\n");
        drafts.iter().for_each(|memory| text += &render_memory(memory, true));
    }
    format!("{text}\n{END}\n")
}

fn render_memory(memory: &Memory, is_draft: bool) -> String {
    let draft = if is_draft { "draft " } else { "" };
    // A path that could end the comment is left out; the text still says what it is.
    let path = memory.path.as_deref().filter(|path| !path.contains("--")).map(|path| format!(" {path}"));
    let last_part = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let title = memory.title.clone().or_else(|| memory.path.as_deref().map(last_part));
    let title = title.unwrap_or_else(|| "Note".to_owned()).replace(['\n', '\r'], " ");
    let marker = format!("{MEMORY}{draft}{}{}{MEMORY_END}", memory.kind, path.unwrap_or_default());
    let shown = |text: &str| escape_direction_marks(&text.replace(MARKER, MARKER_IN_TEXT)).into_owned();
    format!("\n{marker}\n### {}\n\n{}\n", shown(&title), shown(memory.content.trim_end()))
}

/// Memories of a part.
pub fn parse_memories(part: &str) -> Vec<ManagedMemory> {
    let mut memories = Vec::new();
    let mut lines = part.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(fields) = line.strip_prefix(MEMORY).and_then(|rest| rest.strip_suffix(MEMORY_END)) else { continue };
        let mut body: Vec<&str> = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with(MARKER)) {
            body.push(line);
        }
        memories.push(parse_memory(fields, &body));
    }
    memories
}

fn parse_memory(fields: &str, body: &[&str]) -> ManagedMemory {
    let (is_draft, fields) = fields.strip_prefix("draft ").map_or((false, fields), |rest| (true, rest));
    let (kind, path) = fields.split_once(' ').unwrap_or((fields, ""));
    let title = body.first().and_then(|line| line.strip_prefix("### "));
    let mut body = if title.is_some() { &body[1..] } else { body };
    // Headings of the next group belong to the part, not to the memory before them.
    while let Some((last, rest)) = body.split_last() {
        if !last.trim().is_empty() && !is_part_line(last) {
            break;
        }
        body = rest;
    }
    let text = |text: &str| unescape_direction_marks(&text.replace(MARKER_IN_TEXT, MARKER)).into_owned();
    ManagedMemory {
        is_draft,
        kind: kind.parse().ok(),
        path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        title: title.map(text),
        content: text(&body.join("\n")),
    }
}

fn is_part_line(line: &str) -> bool {
    HEADINGS.iter().any(|(_, heading)| *heading == line)
        || [OTHER_HEADING, DRAFTS_HEADING, DRAFTS_INTRO].contains(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_replaced_and_the_rest_stays() {
        let part = format!("{BEGIN_LINE}\nnew\n{END}\n");
        let old = format!("# Mine\nkeep\n{BEGIN_LINE}\nold\n{END}\n\nafter\n");
        assert_eq!(replace_managed(&old, &part), format!("# Mine\nkeep\n{part}\nafter\n"));
        assert_eq!(replace_managed("# Mine\n", &part), format!("# Mine\n\n{part}"));
        assert_eq!(replace_managed("", &part), part);
        assert_eq!(split_managed(&old).0, "# Mine\nkeep\n\nafter\n");
        assert!(!is_broken(&old) && !is_broken("") && is_broken(BEGIN_LINE) && is_broken(END));
        assert!(is_broken(&format!("{END}\n{BEGIN_LINE}\n")) && is_broken(&format!("{old}{old}")));
    }
}
