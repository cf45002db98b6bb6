//! JSON lines: one object per line with `content` or `text`. Who wrote it is unknown, so it is imported as drafts.

use engine::model::vocabulary::Kind;
use engine::text::digest::content_sha256;
use serde_json::Value;

use super::kind_guess::guess_kind;
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, memory_path, shorten};

/// Fields with the text; the first one that is there counts.
pub const TEXT_FIELDS: &[&str] = &["content", "text", "body", "fact"];

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |_| FormatError(format!("line {} is not a JSON object", number + 1));
        let item: Value = serde_json::from_str(line.trim_start_matches('\u{feff}')).map_err(wrong)?;
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let Some(content) = TEXT_FIELDS.iter().find_map(|key| text(key)) else {
            found.notes.push(format!("{}: line {} has no `content` or `text`", file.name, number + 1));
            continue;
        };
        let title = text("title").or_else(|| text("name")).map(str::to_owned);
        let stated = text("kind").or_else(|| text("type")).or_else(|| text("category")).unwrap_or_default();
        let guessed = || guess_kind(stated, guess_kind(title.as_deref().unwrap_or_default(), Kind::Note));
        let tags = item.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        // A stated path is the file's own; without one, the text is what stays the same.
        let own = text("path").or_else(|| text("id")).map(str::to_owned);
        let path = match own {
            Some(path) => memory_path::join(&path, []),
            None => memory_path::join(file.stem(), [&content_sha256(content)[..12]]),
        };
        found.add(FoundMemory {
            source: format!("{}: line {}", file.name, number + 1),
            path,
            hint: text("hint").or_else(|| text("recall_hint")).map(str::to_owned),
            content: content.to_owned(),
            kind: stated.parse().unwrap_or_else(|_| guessed()),
            tags: tags.map(str::to_owned).collect(),
            metadata: item.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
            title: title.or_else(|| Some(shorten(content.lines().next().unwrap_or_default(), 80))),
            writer: Writer::Model,
        })?;
    }
    Ok(())
}
