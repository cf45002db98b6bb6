//! Secrets split over sibling fields: half of a token in the title, half in the content.
//!
//! Each field was scanned alone before. Here the end of one and the start of another are scanned as one word. Only
//! known token formats count: words of unrelated fields, put together, look random. To keep a save cheap, two pieces
//! are joined only if they look like the halves of a token.

use serde_json::{Map, Value};

use crate::model::memory::Draft;
use crate::safety::{self, Finding, TextClass};

/// Most bytes taken of one field: longer than half of any token.
const PIECE_BYTES_MAX: usize = 512;
/// Most fields that one token is looked for in.
const PIECES_MAX: usize = 8;
/// No token format is shorter.
const JOINED_BYTES_MIN: usize = 16;
/// No prefix of a token format has more letters in a row.
const SHORT_WORD_BYTES_MAX: usize = 8;
/// Hexadecimal letters that a prefix may begin with, such as `EAA`; a longer row of them is an id.
const SHORT_BEGIN_BYTES_MAX: usize = 4;

/// A joined word with findings, and the fields it comes from.
pub(super) struct JoinedFinding {
    pub fields: &'static str,
    pub text: String,
    pub findings: Vec<Finding>,
}

/// A field of a draft, or several of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Title,
    Hint,
    Content,
    Tags,
    Metadata,
    Evidence,
    Session,
    Speaker,
}

/// The parts that are joined with each other, in both orders: nothing says which half comes first.
const PAIRS: &[(Part, Part, &str)] = &[
    (Part::Title, Part::Content, "title and content"),
    (Part::Title, Part::Hint, "title and recall_hint"),
    (Part::Title, Part::Tags, "title and tags"),
    (Part::Title, Part::Metadata, "title and metadata"),
    (Part::Title, Part::Evidence, "title and evidence"),
    (Part::Hint, Part::Content, "recall_hint and content"),
    (Part::Hint, Part::Tags, "recall_hint and tags"),
    (Part::Hint, Part::Metadata, "recall_hint and metadata"),
    (Part::Path, Part::Content, "path and content"),
    (Part::Path, Part::Title, "path and title"),
    (Part::Path, Part::Hint, "path and recall_hint"),
    (Part::Path, Part::Tags, "path and tags"),
    (Part::Path, Part::Metadata, "path and metadata"),
    (Part::Content, Part::Tags, "content and tags"),
    (Part::Content, Part::Metadata, "content and metadata"),
    (Part::Content, Part::Evidence, "content and evidence"),
    (Part::Tags, Part::Metadata, "tags and metadata"),
    (Part::Speaker, Part::Session, "speaker and session"),
    (Part::Speaker, Part::Content, "speaker and content"),
    (Part::Session, Part::Content, "session and content"),
];

/// Parts of several texts, which are joined in their order, alone and with the content: a token may be cut into many.
const ROWS: &[(Part, &str, &str)] = &[
    (Part::Tags, "tags", "content and tags"),
    (Part::Metadata, "metadata", "content and metadata"),
    (Part::Evidence, "evidence", "content and evidence"),
];

/// The secrets that siblings of a draft hold together.
pub(super) fn find_split_secrets(draft: &Draft) -> Vec<JoinedFinding> {
    let mut found = Vec::new();
    let texts = collect_texts(draft);
    let of_part = |part: Part| texts.iter().filter(move |text| text.part == part).map(|text| text.whole);
    for (part, name, with_content) in ROWS {
        if of_part(*part).next().is_some() {
            join_fields(name, of_part(*part), &mut found);
            join_fields(with_content, of_part(Part::Content).chain(of_part(*part)), &mut found);
            if *part == Part::Tags {
                join_fields(with_content, of_part(*part).chain(of_part(Part::Content)), &mut found);
            }
        }
    }
    // Most drafts are prose, and need no more.
    if !texts.iter().any(PartText::may_hold_half) {
        return found;
    }
    let of_part = |part: Part| texts.iter().filter(move |text| text.part == part);
    for (one, other, name) in PAIRS {
        for first in of_part(*one) {
            for second in of_part(*other) {
                scan_pair(name, first.end, second.start, &mut found);
                scan_pair(name, second.end, first.start, &mut found);
            }
        }
    }
    found
}

/// A text of a draft: its first and its last word may be halves of a token.
struct PartText<'a> {
    part: Part,
    whole: &'a str,
    start: &'a str,
    end: &'a str,
}

impl<'a> PartText<'a> {
    fn new(part: Part, whole: &'a str) -> PartText<'a> {
        let whole = whole.trim();
        // A path has segments where other texts have words.
        let is_gap = |c: char| c.is_whitespace() || (part == Part::Path && c == '/');
        let start = whole.split(is_gap).next().unwrap_or_default();
        let end = whole.rsplit(is_gap).next().unwrap_or_default();
        // No token goes on with a URL; one may begin behind the last mark of it.
        let start = if start.contains("://") { "" } else { start };
        let end = if end.contains("://") { end.rsplit(['/', '=', '?', '&']).next().unwrap_or_default() } else { end };
        PartText { part, whole, start, end }
    }

    fn may_hold_half(&self) -> bool {
        is_long_half(self.start) || is_long_half(self.end)
    }
}

fn collect_texts(draft: &Draft) -> Vec<PartText<'_>> {
    let mut texts = Vec::with_capacity(8);
    for (part, text) in [
        (Part::Path, draft.path.as_deref()),
        (Part::Title, draft.title.as_deref()),
        (Part::Hint, draft.recall_hint.as_deref()),
        (Part::Content, Some(draft.content.as_str())),
        (Part::Session, draft.session.as_deref()),
        (Part::Speaker, draft.speaker.as_deref()),
    ] {
        texts.extend(text.map(|text| PartText::new(part, text)));
    }
    texts.extend(draft.tags.iter().flatten().map(|tag| PartText::new(Part::Tags, tag)));
    let mut values = Vec::new();
    draft.metadata.iter().for_each(|metadata| collect_values(metadata, &mut values));
    texts.extend(values.into_iter().map(|value| PartText::new(Part::Metadata, value)));
    let evidence = draft.evidence.iter().flat_map(|piece| piece.text_fields());
    texts.extend(evidence.map(|text| PartText::new(Part::Evidence, text)));
    texts
}

/// Scans two words as one, if they may be halves of a token.
fn scan_pair(fields: &'static str, first: &str, second: &str, found: &mut Vec<JoinedFinding>) {
    let has_long_half = || is_long_half(first) || is_long_half(second);
    if first.len() + second.len() >= JOINED_BYTES_MIN && may_begin_token(first) && has_long_half() {
        scan_pieces(fields, &[first, second], found);
    }
}

/// Whether a token may begin in this word and go on after it. Dates, digests and ids do not begin one, and a word of
/// prose only if it is short, such as `ghp`, or has a mark inside, such as `sk-live-`.
fn may_begin_token(word: &str) -> bool {
    let goes_on = word.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_./+=:~".contains(&byte));
    let is_id = || {
        word.len() > SHORT_BEGIN_BYTES_MAX
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-' | b':' | b'.' | b'T' | b'Z'))
    };
    let is_prose = || {
        is_plain_word(word)
            && (word.ends_with(['.', ':'])
                || (word.len() > SHORT_WORD_BYTES_MAX && word.bytes().all(|byte| byte.is_ascii_alphabetic())))
    };
    goes_on && !is_id() && !is_prose()
}

/// Whether a word may be the longer half of a token: long enough, and no word of prose.
fn is_long_half(word: &str) -> bool {
    word.len() >= JOINED_BYTES_MIN / 2 && !is_plain_word(word)
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
            scan_pieces(fields, pieces, found);
        }
    }
}

fn scan_pieces(fields: &'static str, pieces: &[&str], found: &mut Vec<JoinedFinding>) {
    let text: String = pieces.iter().map(|piece| cut_piece(piece)).collect();
    if !safety::may_hold_token_format(&text) {
        return;
    }
    let findings = safety::find_secrets(&text, TextClass::Identifier);
    // A piece that is a token alone was judged alone, and allowed.
    let is_split = || pieces.iter().all(|piece| safety::find_secrets(piece, TextClass::Free).is_empty());
    if !findings.is_empty() && is_split() {
        found.push(JoinedFinding { fields, text, findings });
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
            path: text("path"),
            session: text("session"),
            speaker: text("speaker"),
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
                json!({ "title": format!("about {one}"), "tags": ["crane", two] }),
                json!({ "title": two, "tags": ["crane", one] }),
                json!({ "title": one, "metadata": { "a": "crane", "b": two } }),
                json!({ "metadata": { "a": "crane", "b": one }, "content": format!("{two} is the rest") }),
                json!({ "metadata": { "a": "crane", "b": two }, "content": format!("it starts with {one}") }),
                json!({ "path": format!("notes/{one}"), "content": two }),
                json!({ "path": two, "content": format!("it starts with {one}") }),
                json!({ "path": format!("notes/{one}"), "title": two }),
                json!({ "hint": format!("the crane {one}"), "tags": ["crane", "grease", two] }),
                json!({ "hint": one, "metadata": { "a": "crane", "b": two } }),
                json!({ "content": format!("see {one}"), "tags": ["crane", two] }),
                json!({ "tags": ["crane", one], "metadata": { "a": "crane", "b": two } }),
                json!({ "metadata": { "a": "x", "url": format!("https://h.test/?t={one}"), "z": "y" }, "title": two }),
                json!({ "speaker": one, "session": two }),
                json!({ "speaker": two, "session": one }),
            ] {
                assert!(!find_split_secrets(&draft(&fields)).is_empty(), "{at}: {fields}");
            }
        }
    }

    #[test]
    fn prose_dates_and_ids_begin_no_token() {
        let ids = ["9f8e7d6c5b4a39281706f5e4d3c2b1a098765432", "7c9e6679-7425-40de-944b-e07fc1f90ae7"];
        for word in ["crane.", "maintained", "2026-03-11T10:00:00Z", "(see", "done)"].iter().chain(&ids) {
            assert_eq!(may_begin_token(word), *word == "(see", "{word}");
        }
        for begin in ["gh", "ghp", "ghp_", "glpat-", "AKIA", "xoxb-1", "sk-live-", "SG.", "eyJhbGciOi", "EAA"] {
            assert!(may_begin_token(begin), "{begin}");
        }
    }

    #[test]
    fn ordinary_siblings_are_not_joined_to_a_secret() {
        for fields in [
            json!({ "title": "Checkout v1.2.3", "content": "2026-03-11: rolled", "tags": ["release-2026-03", "P1"] }),
            json!({ "title": "sk-learn notes", "content": "Kx7 is the part number", "tags": ["AKIA", "aws"] }),
            json!({ "metadata": { "commit": "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432", "id": "7c9e6679-7425-40de" } }),
            json!({ "path": "runbooks/checkout-v2/2026-03-11", "title": "sk-learn", "content": "Kx7vQ2mL is a part" }),
            json!({ "title": "Deploy of eu-west-1", "metadata": { "at": "2026-03-11T10:00:00Z",
                "commit": "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432", "url": "https://example.com/b/77?x=Ab12Cd34",
                "trace": "4bf92f3577b34da6a3ce929d0e0e4736" }, "tags": ["ghp", "sk", "xoxb", "deploy-9f8e7d6c"] }),
            json!({ "speaker": "U024BE7LD", "session": "T024BE7LD/C024BE91L/1718030400.123456",
                "content": "I opened PR-1234" }),
            json!({ "tags": ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9", "j10", "k11", "L12", "M13"] }),
        ] {
            let found = find_split_secrets(&draft(&fields));
            assert!(found.is_empty(), "{fields}: {:?}", found.iter().map(|one| &one.findings).collect::<Vec<_>>());
        }
    }
}
