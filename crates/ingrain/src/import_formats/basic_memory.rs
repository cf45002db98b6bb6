//! basic-memory: Markdown notes with front matter (`title`, `type`, `tags`, `permalink`), observations
//! `- [category] fact #tag` and relations `- relation [[Note]]`. One memory per note, with its text unchanged. Mostly
//! written by models, so imported as drafts.

use std::collections::BTreeMap;

use engine::model::vocabulary::Kind;
use serde_json::{Map, Value, json};

use super::kind_guess::guess_kind;
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, front_matter, memory_path, shorten};

/// Most relations kept in the metadata of a note; all are in its text.
const RELATIONS_MAX: usize = 50;

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let (fields, text) = front_matter::split_front_matter(&file.text);
    let title = fields.text("title").unwrap_or(file.stem());
    let mut tags = fields.list("tags");
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    let mut relations = Vec::new();
    for line in text.lines() {
        if let Some((category, fact)) = parse_observation(line) {
            *categories.entry(category).or_default() += 1;
            tags.extend(hashtags(fact));
        } else if let Some(relation) = parse_relation(line).filter(|_| relations.len() < RELATIONS_MAX) {
            relations.push(relation);
        }
    }
    // The category of most observations; of equals the first by name.
    let most =
        categories.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(**name))).map(|(name, _)| *name);
    let stated = fields.text("type").filter(|stated| *stated != "note").unwrap_or_default();
    let kind = guess_kind(stated, guess_kind(most.unwrap_or_default(), guess_kind(title, Kind::Note)));
    let mut metadata = Map::new();
    if !relations.is_empty() {
        metadata.insert("relations".to_owned(), json!(relations));
    }
    if let Some(permalink) = fields.text("permalink") {
        metadata.insert("permalink".to_owned(), Value::String(shorten(permalink, 500)));
    }
    let name = file.name.strip_suffix(".md").unwrap_or(&file.name);
    found.add(FoundMemory {
        source: file.name.clone(),
        path: memory_path::join(fields.text("permalink").unwrap_or(name), []),
        title: Some(title.to_owned()),
        hint: None,
        content: text.to_owned(),
        kind,
        tags,
        metadata,
        writer: Writer::Model,
    })
}

/// Category and text of `- [category] fact`. Check boxes are none.
fn parse_observation(line: &str) -> Option<(&str, &str)> {
    let (category, fact) = line.trim().strip_prefix("- [")?.split_once(']')?;
    let is_box = matches!(category.trim(), "" | "x" | "X" | "-");
    // `[[Note]]` is a link, `[text](address)` too.
    let is_link = category.starts_with('[') || fact.starts_with(['(', ']']);
    (!is_box && !is_link && !fact.trim().is_empty()).then(|| (category.trim(), fact.trim()))
}

/// `relation Note` of `- relation [[Note]]`.
fn parse_relation(line: &str) -> Option<String> {
    let (relation, rest) = line.trim().strip_prefix("- ")?.split_once("[[")?;
    let (target, _) = rest.split_once("]]")?;
    let relation = if relation.trim().is_empty() { "relates_to" } else { relation.trim() };
    Some(shorten(&format!("{relation} {target}"), 200))
}

fn hashtags(fact: &str) -> impl Iterator<Item = String> + '_ {
    let words = fact.split_whitespace().filter_map(|word| word.strip_prefix('#'));
    words.map(|tag| tag.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()).filter(|tag| !tag.is_empty())
}

/// Whether a text looks like a note of basic-memory: it has a permalink, or both front matter and observations.
pub fn is_note(text: &str) -> bool {
    let (fields, body) = front_matter::split_front_matter(text);
    let has_observations = || body.lines().any(|line| parse_observation(line).is_some());
    fields.has_any(&["permalink"]) || (fields.has_any(&["title"]) && fields.has_any(&["type"]) && has_observations())
}
