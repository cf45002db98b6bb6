//! A memory as Markdown with front matter: for people, editors and version control.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::memory::{Draft, Memory};

/// One file: front matter in YAML whose values are JSON, then the content as it is.
pub fn render(memory: &Memory) -> String {
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
    let mut text = String::from("---\n");
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        // JSON is YAML, and writing to a string cannot fail.
        let _ = writeln!(text, "{key}: {value}");
    }
    text + "---\n" + &memory.content
}

/// Where the file goes under the store's folder: its path, else its id.
pub fn file_name(memory: &Memory) -> String {
    let name = memory.path.clone().unwrap_or_else(|| memory.id.to_string());
    let safe = |c: char| if c.is_control() || "<>:\"|?*".contains(c) { '_' } else { c };
    format!("{}.md", name.chars().map(safe).collect::<String>())
}

/// What a file says, and the state it claims. Standing it claims for itself (trust, author, times) is not read.
pub fn parse(text: &str, store: &str) -> Result<(Draft, Option<String>), Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (front, content) = match text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) {
        Some(rest) => split_front(rest)
            .ok_or_else(|| Error::invalid("shape.front_matter", "the front matter has no end (`---`)"))?,
        None => ("", text),
    };
    let fields = fields(front)?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let word = |key: &str| text(key).unwrap_or_default();
    let draft = Draft {
        store: text("store").unwrap_or_else(|| store.to_owned()),
        path: text("path"),
        title: text("title"),
        recall_hint: text("recall_hint"),
        kind: text("kind").map(|_| word("kind").parse()).transpose()?,
        layer: text("layer").map(|_| word("layer").parse()).transpose()?,
        confidence: fields.get("confidence").and_then(Value::as_f64),
        importance: fields.get("importance").and_then(Value::as_f64),
        always_inject: fields.get("always_inject").and_then(Value::as_bool),
        tags: fields.get("tags").map(texts),
        metadata: fields.get("metadata").and_then(Value::as_object).cloned(),
        expires_at: text("expires_at").map(|_| time(&word("expires_at"))).transpose()?,
        verify_by: text("verify_by").map(|_| time(&word("verify_by"))).transpose()?,
        system: text("scope").and_then(|scope| scope.strip_prefix("system:").map(str::to_owned)),
        content: content.to_owned(),
        ..Draft::default()
    };
    Ok((draft, text("state")))
}

fn split_front(rest: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// `key: value` lines; a value is JSON, a plain scalar, or a list of `- item` lines below it.
fn fields(front: &str) -> Result<Map<String, Value>, Error> {
    let mut fields = Map::new();
    let mut last: Option<String> = None;
    for line in front.lines() {
        if let (Some(item), Some(key)) = (line.trim_start().strip_prefix("- "), &last) {
            let list = fields.entry(key.clone()).or_insert_with(|| json!([]));
            if !list.is_array() {
                *list = json!([]);
            }
            list.as_array_mut().into_iter().for_each(|list| list.push(scalar(item)));
            continue;
        }
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let (key, value) = line
            .split_once(':')
            .ok_or_else(|| Error::invalid("shape.front_matter", "a line of the front matter is not `key: value`"))?;
        fields.insert(key.trim().to_owned(), scalar(value));
        last = Some(key.trim().to_owned());
    }
    fields.retain(|_, value| !value.is_null());
    Ok(fields)
}

fn scalar(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| {
        let bare = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        match bare {
            Some(items) => items.split(',').map(scalar).filter(|item| !item.is_null()).collect(),
            None => Value::String(text.trim_matches('\'').to_owned()),
        }
    })
}

fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        other => vec![text(other)],
    }
}

fn time(text: &str) -> Result<jiff::Timestamp, Error> {
    text.parse()
        .map_err(|_| Error::invalid("shape.time", "a time of the front matter is not like 2027-01-31T12:00:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Kind;

    #[test]
    fn people_may_write_it_by_hand() {
        let text = "---\ntitle: Rolling restarts\nkind: runbook\ntags:\n  - web\n  - prod\nconfidence: 0.7\n# why\npath: web/restart\n---\nDrain first.\n---\nnot front matter";
        let (draft, state) = parse(text, "notes").expect("parses");
        assert_eq!(draft.store, "notes");
        assert_eq!(draft.title.as_deref(), Some("Rolling restarts"));
        assert_eq!(draft.kind, Some(Kind::Runbook));
        assert_eq!(draft.tags, Some(vec!["web".to_owned(), "prod".to_owned()]));
        assert_eq!(draft.confidence, Some(0.7));
        assert_eq!(draft.content, "Drain first.\n---\nnot front matter");
        assert_eq!(state, None);
    }

    #[test]
    fn a_file_without_front_matter_is_all_content_and_an_open_one_is_an_error() {
        assert_eq!(parse("just text", "s").expect("parses").0.content, "just text");
        assert_eq!(parse("---\ntitle: x\n", "s").expect_err("open").code(), "shape.front_matter");
        assert_eq!(parse("---\nnonsense\n---\n", "s").expect_err("no colon").code(), "shape.front_matter");
    }
}
