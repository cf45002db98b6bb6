//! A memory as a Markdown file with front matter, for people, editors and version control.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::error::Error;
use crate::model::memory::{Draft, Memory};
use crate::model::vocabulary::{State, Trust};
use crate::text::direction_marks::{
    escape_direction_marks, find_direction_mark, is_direction_mark, unescape_direction_marks,
};

/// A memory read from a Markdown file.
#[derive(Debug)]
pub struct ParsedMemory {
    pub draft: Draft,
    pub state: Option<State>,
    /// The least trust that the file names. It only lowers: a file cannot claim trust.
    pub trust: Option<Trust>,
}

/// Front matter of a file whose content has its direction marks written out.
const ESCAPED_MARKS: &str = "direction_marks";

/// Renders a memory: YAML front matter whose values are JSON, then the content. Direction marks are written out, so
/// that an editor shows the words in their order; the front matter says so.
pub fn render_memory(memory: &Memory) -> String {
    let fields = [
        ("id", json!(memory.id)),
        ("store", json!(memory.store)),
        ("scope", json!(memory.scope.to_string())),
        ("path", json!(memory.path)),
        ("title", json!(memory.title)),
        ("recall_hint", json!(memory.recall_hint)),
        ("kind", json!(memory.kind)),
        ("layer", json!(memory.layer)),
        ("state", json!(memory.state)),
        ("trust", json!(memory.trust)),
        ("field_trust", json!(Some(&memory.field_trust).filter(|fields| !fields.is_empty()))),
        ("confidence", json!(memory.confidence)),
        ("importance", json!(memory.importance)),
        ("tags", json!(memory.tags)),
        ("metadata", json!(memory.metadata)),
        ("always_inject", json!(memory.always_inject)),
        ("expires_at", json!(memory.expires_at)),
        ("verify_by", json!(memory.verify_by)),
        ("author", json!(memory.author)),
        ("version", json!(memory.version_number)),
        ("sha256", json!(memory.sha256)),
        ("created_at", json!(memory.created_at)),
        ("updated_at", json!(memory.updated_at)),
    ];
    let content = escape_direction_marks(&memory.content);
    let is_escaped = matches!(content, Cow::Owned(_)).then_some("escaped");
    let fields = fields.into_iter().chain([(ESCAPED_MARKS, json!(is_escaped))]);
    let mut text = String::from("---\n");
    for (key, value) in fields.filter(|(_, value)| !value.is_null()) {
        // JSON values are valid YAML. Writing to a string cannot fail.
        let _ = writeln!(text, "{key}: {}", escape_in_json(&value.to_string()));
    }
    text + "---\n" + &content
}

/// JSON text with direction marks in the form of JSON: it reads back as the same value.
fn escape_in_json(json: &str) -> String {
    match find_direction_mark(json) {
        None => json.to_owned(),
        Some(_) => json.chars().fold(String::with_capacity(json.len() + 8), |mut text, c| {
            match is_direction_mark(c) {
                true => drop(write!(text, "\\u{:04x}", u32::from(c))),
                false => text.push(c),
            }
            text
        }),
    }
}

/// File name below the folder of its store: the path, else the id. Characters that file systems reject become `_`.
pub fn file_name(memory: &Memory) -> String {
    let name = memory.path.clone().unwrap_or_else(|| memory.id.to_string());
    // Slashes stay: they make folders.
    let safe = |c: char| if c.is_control() || "<>:\"|?*".contains(c) { '_' } else { c };
    format!("{}.md", name.chars().map(safe).collect::<String>())
}

/// Parses a file into a draft, its state and the least trust it names. Author and times are ignored: a file cannot
/// claim them.
pub fn parse_draft(text: &str, store: &str) -> Result<ParsedMemory, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (front, content) = match text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) {
        Some(rest) => split_front_matter(rest)
            .ok_or_else(|| Error::invalid("shape.front_matter", "the front matter has no end (`---`)"))?,
        None => ("", text),
    };
    let fields = FrontMatter::parse(front)?;
    let content = match fields.text_field(ESCAPED_MARKS)?.as_deref() {
        Some("escaped") => unescape_direction_marks(content),
        _ => Cow::Borrowed(content),
    };
    let draft = Draft {
        store: fields.text_field("store")?.unwrap_or_else(|| store.to_owned()),
        path: fields.text_field("path")?,
        title: fields.text_field("title")?,
        recall_hint: fields.text_field("recall_hint")?,
        kind: fields.word_field("kind")?,
        layer: fields.word_field("layer")?,
        confidence: fields.field_as("confidence", "a number", Value::as_f64)?,
        importance: fields.field_as("importance", "a number", Value::as_f64)?,
        always_inject: fields.field_as("always_inject", "`true` or `false`", Value::as_bool)?,
        tags: fields.field_as("tags", "a list", |value| Some(to_string_list(value)))?,
        metadata: fields.field_as("metadata", "an object", |value| value.as_object().cloned())?,
        expires_at: fields.time_field("expires_at")?,
        verify_by: fields.time_field("verify_by")?,
        // Only a system is read from the scope: user, agent and run are those of the importing caller.
        system: fields.text_field("scope")?.and_then(|scope| scope.strip_prefix("system:").map(str::to_owned)),
        content: content.into_owned(),
        ..Draft::default()
    };
    // A word that is no trust level is a person's own field.
    let trust = |value: &Value| serde_json::from_value::<Trust>(value.clone()).ok();
    let least = |value: &Value| match value {
        Value::Object(levels) => levels.values().filter_map(trust).min(),
        level => trust(level),
    };
    let named = ["trust", "field_trust"].into_iter().filter_map(|key| fields.0.get(key));
    let trust = named.filter_map(|(_, value)| least(value)).min();
    let state = fields.word_field("state")?;
    Ok(ParsedMemory { draft, state, trust })
}

fn split_front_matter(rest: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Front matter: `key: value` lines. A value is JSON, a plain scalar, or a list of `- item` lines below it. Each field
/// has its line number for error messages.
struct FrontMatter(BTreeMap<String, (usize, Value)>);

impl FrontMatter {
    fn parse(front: &str) -> Result<FrontMatter, Error> {
        let mut fields: BTreeMap<String, (usize, Value)> = BTreeMap::new();
        let mut last: Option<String> = None;
        // Line 1 of the file is the opening `---`, so the first field is on line 2.
        for (number, line) in front.lines().enumerate().map(|(at, line)| (at + 2, line)) {
            if let (Some(item), Some(key)) = (line.trim_start().strip_prefix("- "), &last) {
                let (_, list) = fields.entry(key.clone()).or_insert_with(|| (number, json!([])));
                if !list.is_array() {
                    *list = json!([]);
                }
                list.as_array_mut().into_iter().for_each(|list| list.push(parse_scalar(item)));
                continue;
            }
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let invalid = || Error::invalid("shape.front_matter", format!("line {number}: it is not `key: value`"));
            let (key, value) = line.split_once(':').ok_or_else(invalid)?;
            fields.insert(key.trim().to_owned(), (number, parse_scalar(value)));
            last = Some(key.trim().to_owned());
        }
        // A key without a value is as good as absent, unless list items follow it.
        fields.retain(|_, (_, value)| !value.is_null());
        Ok(FrontMatter(fields))
    }

    /// A field, converted by `read`; an error that says what was expected if that fails.
    fn field_as<T>(&self, key: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, Error> {
        let Some((line, value)) = self.0.get(key) else { return Ok(None) };
        let invalid = || Error::invalid("shape.front_matter", format!("line {line}, `{key}`: expected {expected}"));
        read(value).map(Some).ok_or_else(invalid)
    }

    /// A text field; a bare number or boolean counts as text.
    fn text_field(&self, key: &str) -> Result<Option<String>, Error> {
        self.field_as(key, "a text", |value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        })
    }

    /// A field whose value is a word of a vocabulary, such as a kind.
    fn word_field<T: FromStr<Err = Error>>(&self, key: &str) -> Result<Option<T>, Error> {
        let line = self.0.get(key).map_or(0, |(line, _)| *line);
        let with_line = |error: Error| Error::invalid(error.code(), format!("line {line}, `{key}`: {error}"));
        self.text_field(key)?.map(|word| word.parse().map_err(with_line)).transpose()
    }

    fn time_field(&self, key: &str) -> Result<Option<Timestamp>, Error> {
        self.field_as(key, "a time such as 2027-01-31T12:00:00Z", |value| value.as_str()?.parse().ok())
    }
}

/// Parses a value: JSON, a list in brackets without quotes, or plain text.
fn parse_scalar(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| {
        let bare = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        match bare {
            Some(items) => items.split(',').map(parse_scalar).filter(|item| !item.is_null()).collect(),
            None => Value::String(text.trim_matches('\'').to_owned()),
        }
    })
}

fn to_string_list(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        other => vec![text(other)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::Kind;

    #[test]
    fn front_matter_may_be_written_by_hand() {
        let text = "---\ntitle: Rolling restarts\nkind: runbook\ntags:\n  - web\n  - prod\nconfidence: 0.7\n# why\n\
                    path: web/restart\n---\nDrain first.\n---\nnot front matter";
        let ParsedMemory { draft, state, trust } = parse_draft(text, "notes").expect("parses");
        assert_eq!(draft.store, "notes");
        assert_eq!(draft.title.as_deref(), Some("Rolling restarts"));
        assert_eq!(draft.kind, Some(Kind::Runbook));
        assert_eq!(draft.tags, Some(vec!["web".to_owned(), "prod".to_owned()]));
        assert_eq!(draft.confidence, Some(0.7));
        assert_eq!(draft.content, "Drain first.\n---\nnot front matter");
        assert_eq!((state, trust), (None, None));
    }

    #[test]
    fn a_file_without_front_matter_is_all_content_and_an_unclosed_one_is_an_error() {
        assert_eq!(parse_draft("just text", "s").expect("parses").draft.content, "just text");
        assert_eq!(parse_draft("---\ntitle: x\n", "s").expect_err("open").code(), "shape.front_matter");
        assert_eq!(parse_draft("---\nnonsense\n---\n", "s").expect_err("no colon").code(), "shape.front_matter");
    }

    #[test]
    fn direction_marks_that_were_written_out_are_read_back() {
        let read = |text| parse_draft(text, "notes").expect("parses").draft;
        assert_eq!(read("---\ndirection_marks: \"escaped\"\n---\na\\u{202e}b").content, "a\u{202e}b");
        assert_eq!(read("a\\u{202e}b").content, "a\\u{202e}b", "as somebody wrote it");
        let json = escape_in_json(&json!({ "note": "a\u{202e}b" }).to_string());
        assert_eq!(json, "{\"note\":\"a\\u202eb\"}");
        assert_eq!(read(&format!("---\nmetadata: {json}\n---\nx")).metadata.expect("there")["note"], "a\u{202e}b");
    }

    #[test]
    fn errors_name_line_and_field() {
        let check = |line: &str, message: &str| {
            let error = parse_draft(&format!("---\ntitle: 2024\n{line}\n---\nx"), "s").expect_err(line);
            assert!(error.to_string().starts_with(message), "{line}: {error}");
        };
        check("confidence: high", "line 3, `confidence`: expected a number");
        check("# why\nalways_inject: maybe", "line 4, `always_inject`: expected `true` or `false`");
        check("kind: nonsense", "line 3, `kind`: unknown kind `nonsense`");
        check("expires_at: soon", "line 3, `expires_at`: expected a time");
        check("metadata: 7", "line 3, `metadata`: expected an object");
        check("path: [a, b]", "line 3, `path`: expected a text");
        check("nonsense", "line 3: it is not `key: value`");
        assert_eq!(parse_draft("---\ntitle: 2024\n---\nx", "s").expect("fits").draft.title.as_deref(), Some("2024"));
    }
}
