//! JSON decoding with readable errors: the field, the expected type and the received type, never the value itself,
//! which may be a secret.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Characters of a field's path that are shown: its names come from the caller.
const PLACE_CHARS: usize = 100;
/// Characters of a parser's message that are shown.
const WORDS_CHARS: usize = 1_000;

/// Decodes JSON. The error names line, column and field.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(strip_bom(bytes));
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (line, column) = (error.inner().line(), error.inner().column());
        format!(
            "line {line}, column {column}: {}",
            describe_error(&error.path().to_string(), &error.inner().to_string())
        )
    })?;
    let trailing = |error: serde_json::Error| {
        format!("line {}, column {}: unexpected text after the JSON value", error.line(), error.column())
    };
    json.end().map(|()| read).map_err(trailing)
}

/// The bytes without a UTF-8 byte order mark, which some editors write.
pub fn strip_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// As [`from_slice`], for frequent calls: decodes without tracking the field, and again with it only on an error. Each
/// type is compiled twice for this.
pub fn from_slice_fast<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).or_else(|_| from_slice(bytes))
}

/// As [`from_slice`], for a value that is already parsed.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| describe_error(&error.path().to_string(), &error.inner().to_string()))
}

/// A parser's message with the field's path and without the value that it quotes.
pub fn describe_error(place: &str, error: &str) -> String {
    let words = reword_serde_error(error);
    let place: String = place.chars().filter(|c| !c.is_control()).take(PLACE_CHARS).collect();
    match place.as_str() {
        "" | "." | "?" => words,
        // The message names the field already.
        place if words.starts_with(&format!("unknown field `{place}`")) => words,
        place => format!("`{place}`: {words}"),
    }
}

/// A message of serde without the value that it quotes. Messages that quote none pass unchanged.
fn reword_serde_error(error: &str) -> String {
    let text = error.split(" at line ").next().unwrap_or_default();
    if let Some((_, ours)) = PARSER_MESSAGES.iter().find(|(theirs, _)| *theirs == text) {
        return (*ours).to_owned();
    }
    let quotes = ["invalid type", "invalid value", "invalid length", "unknown variant"];
    if !quotes.iter().any(|start| text.starts_with(start)) {
        return text.chars().filter(|c| !c.is_control()).take(WORDS_CHARS).collect();
    }
    // From the right: the quoted value itself may contain `, expected `.
    let expected = text.rsplit_once(", expected ").or_else(|| text.rsplit_once(" expected "));
    let expected = expected.map_or("a value of another type", |(_, expected)| expected_type_name(expected));
    let sort = text.strip_prefix("invalid type: ").and_then(received_type_name);
    match sort {
        Some(sort) => format!("expected {expected}, not {sort}"),
        None => format!("expected {expected}"),
    }
}

/// Messages of the parsers of Rust's standard library, and ours. To add one, copy theirs literally.
const PARSER_MESSAGES: [(&str, &str); 7] = [
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("number too large to fit in target type", "expected a smaller number"),
    ("number too small to fit in target type", "expected a larger number"),
    ("invalid float literal", "expected a number"),
    ("cannot parse float from empty string", "expected a number"),
    ("provided string was not `true` or `false`", "expected `true` or `false`"),
];

/// Name of an expected Rust type in the words of JSON.
fn expected_type_name(expected: &str) -> &str {
    match expected {
        "i64" | "u64" | "u32" | "usize" | "i32" => "a whole number",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        other if other.starts_with("struct ") || other == "a map" => "an object",
        other => other,
    }
}

/// Type of the received value, from the beginning of serde's description.
fn received_type_name(came: &str) -> Option<&'static str> {
    const SORTS: [(&str, &str); 7] = [
        ("string", "a string"),
        ("integer", "a number"),
        ("floating point", "a number"),
        ("boolean", "`true` or `false`"),
        ("null", "null"),
        ("sequence", "a list"),
        ("map", "an object"),
    ];
    SORTS.iter().find(|(start, _)| came.starts_with(start)).map(|(_, sort)| *sort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Body {
        #[serde(default)]
        limit: Option<u64>,
        #[serde(default)]
        rows: Vec<Row>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Row {
        name: String,
    }

    #[test]
    fn errors_name_field_and_expected_type_and_not_the_value() {
        let check = |body: &str, expected: &str| {
            let message = from_slice::<Body>(body.as_bytes()).expect_err("does not decode");
            assert!(message.ends_with(expected) && !message.contains("hunter2"), "{body}: {message}");
        };
        check(r#"{"limit": "hunter2"}"#, "`limit`: expected a whole number, not a string");
        check(r#"{"rows": [{"name": "a"}, {"name": 7}]}"#, "`rows[1].name`: expected a string, not a number");
        check(r#"{"rows": [{}]}"#, "`rows[0]`: missing field `name`");
        check(r#"{"rows": {"a": 1}}"#, "`rows`: expected a list, not an object");
        check(r#"{"limit": 1} x"#, "unexpected text after the JSON value");
    }
}
