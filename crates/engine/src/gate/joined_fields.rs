//! Secrets split over sibling fields: half of a token in the title, half in the content.
//!
//! Each field was scanned alone before. Here the end of one and the start of the next are scanned as one word. Only
//! known token formats count: words of unrelated fields, put together, look random.

use serde_json::{Map, Value};

use crate::model::memory::Draft;
use crate::safety::{self, Finding, TextClass};

/// Most bytes taken of one field: longer than half of any token.
const PIECE_BYTES_MAX: usize = 512;
/// Most fields that one token is looked for in.
const PIECES_MAX: usize = 8;
/// No token format is shorter.
const JOINED_BYTES_MIN: usize = 16;

/// A joined word with findings, and the fields it comes from.
pub(super) struct JoinedFinding {
    pub fields: &'static str,
    pub text: String,
    pub findings: Vec<Finding>,
}

/// The secrets that siblings of a draft hold together.
pub(super) fn find_split_secrets(draft: &Draft) -> Vec<JoinedFinding> {
    let mut found = Vec::new();
    let content = draft.content.as_str();
    let (title, hint) = (draft.title.as_deref(), draft.recall_hint.as_deref());
    // Both orders: nothing says which half comes first.
    if let Some(title) = title {
        join_fields("title and content", [title, content], &mut found);
        join_fields("title and content", [content, title], &mut found);
    }
    if let Some(hint) = hint {
        join_fields("recall_hint and content", [hint, content], &mut found);
        join_fields("recall_hint and content", [content, hint], &mut found);
    }
    if let (Some(title), Some(hint)) = (title, hint) {
        join_fields("title and recall_hint", [title, hint], &mut found);
        join_fields("title and recall_hint", [hint, title], &mut found);
    }
    if let Some(tags) = draft.tags.as_deref().filter(|tags| !tags.is_empty()) {
        let tags = || tags.iter().map(String::as_str);
        join_fields("tags", tags(), &mut found);
        join_fields("content and tags", std::iter::once(content).chain(tags()), &mut found);
        join_fields("tags and content", tags().chain([content]), &mut found);
    }
    if let Some(metadata) = draft.metadata.as_ref().filter(|metadata| !metadata.is_empty()) {
        let mut values = Vec::new();
        collect_values(metadata, &mut values);
        join_fields("metadata", values.iter().copied(), &mut found);
        join_fields("content and metadata", std::iter::once(content).chain(values), &mut found);
    }
    if !draft.evidence.is_empty() {
        let texts = || draft.evidence.iter().flat_map(|piece| piece.text_fields());
        join_fields("evidence", texts(), &mut found);
        join_fields("content and evidence", std::iter::once(content).chain(texts()), &mut found);
    }
    found
}

/// Scans the words that begin in one text and go on in the next.
fn join_fields<'a>(fields: &'static str, texts: impl IntoIterator<Item = &'a str>, found: &mut Vec<JoinedFinding>) {
    let mut word = JoinedWord::default();
    for text in texts {
        let text = text.trim();
        let first = text.split(char::is_whitespace).next().unwrap_or_default();
        word.push(first);
        if first.len() < text.len() {
            word.scan(fields, found);
            word = JoinedWord::default();
            word.push(text.rsplit(char::is_whitespace).next().unwrap_or_default());
        }
    }
    word.scan(fields, found);
}

/// Pieces of neighbouring fields. The text is put together only if it may be a token.
#[derive(Default)]
struct JoinedWord<'a> {
    pieces: Vec<&'a str>,
}

impl<'a> JoinedWord<'a> {
    fn push(&mut self, piece: &'a str) {
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }

    fn scan(&self, fields: &'static str, found: &mut Vec<JoinedFinding>) {
        // From each piece on, since a token may begin with any of them.
        for start in 0..self.pieces.len().saturating_sub(1) {
            let pieces = &self.pieces[start..self.pieces.len().min(start + PIECES_MAX)];
            let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
            if bytes < JOINED_BYTES_MIN || pieces.iter().all(|piece| is_plain_word(piece)) {
                continue;
            }
            let text: String = pieces.iter().map(|piece| cut_piece(piece)).collect();
            let findings = safety::find_secrets(&text, TextClass::Identifier);
            // A piece that is a token alone was judged alone, and allowed.
            let is_split = || pieces.iter().all(|piece| safety::find_secrets(piece, TextClass::Free).is_empty());
            if !findings.is_empty() && is_split() {
                found.push(JoinedFinding { fields, text, findings });
            }
        }
    }
}

/// A word of prose: letters and punctuation, upper case only at the start.
fn is_plain_word(word: &str) -> bool {
    word.bytes().skip(1).all(|byte| !byte.is_ascii_digit() && !byte.is_ascii_uppercase() && byte != b'_')
        && !word.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

/// The start of a long word. Both halves of a token are shorter.
fn cut_piece(piece: &str) -> &str {
    piece.get(..piece.floor_char_boundary(PIECE_BYTES_MAX)).unwrap_or(piece)
}

/// All strings of metadata, in the order of their keys.
fn collect_values<'a>(map: &'a Map<String, Value>, values: &mut Vec<&'a str>) {
    map.values().for_each(|value| collect_strings(value, values));
}

fn collect_strings<'a>(value: &'a Value, values: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => values.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, values)),
        Value::Object(map) => collect_values(map, values),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn draft(fields: &Value) -> Draft {
        let text = |name: &str| fields[name].as_str().map(str::to_owned);
        let tags = fields["tags"].as_array();
        Draft {
            title: text("title"),
            recall_hint: text("hint"),
            content: text("content").unwrap_or_else(|| "The crane was greased.".to_owned()),
            tags: tags.map(|tags| tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            metadata: fields["metadata"].as_object().cloned(),
            ..Draft::default()
        }
    }

    #[test]
    fn halves_of_a_token_in_sibling_fields_are_found() {
        let token = ["gh", "p_"].concat() + "R4nd0mLyDr4wnCh4r4ct3rsF0rTh1sT3st99";
        // Longer pieces are found alone.
        for at in [3, 4, 12, 20] {
            let (one, two) = token.split_at(at);
            for fields in [
                json!({ "title": format!("about {one}"), "content": format!("{two} is the rest") }),
                json!({ "title": two, "content": format!("it starts with {one}") }),
                json!({ "hint": one, "content": two }),
                json!({ "title": one, "hint": two }),
                json!({ "tags": [one, two] }),
                json!({ "tags": ["crane", &token[..at], &token[at..38], &token[38..]] }),
                json!({ "content": format!("see {one}"), "tags": [two] }),
                json!({ "metadata": { "a": one, "b": two } }),
                json!({ "metadata": { "a": [one], "b": { "c": two } } }),
            ] {
                assert!(!find_split_secrets(&draft(&fields)).is_empty(), "{at}: {fields}");
            }
        }
    }

    #[test]
    fn ordinary_siblings_are_not_joined_to_a_secret() {
        for fields in [
            json!({ "title": "Checkout v1.2.3", "content": "2026-03-11: rolled", "tags": ["release-2026-03", "P1"] }),
            json!({ "title": "sk-learn notes", "content": "Kx7 is the part number", "tags": ["AKIA", "aws"] }),
            json!({ "metadata": { "commit": "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432", "id": "7c9e6679-7425-40de" } }),
            json!({ "tags": ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9", "j10", "k11", "L12", "M13"] }),
        ] {
            let found = find_split_secrets(&draft(&fields));
            assert!(found.is_empty(), "{fields}: {:?}", found.iter().map(|one| &one.findings).collect::<Vec<_>>());
        }
    }
}
