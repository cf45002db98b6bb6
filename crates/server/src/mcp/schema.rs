//! Small JSON schemas for tools. Models read the tool list, so every token counts.

use serde_json::{Map, Value, json};

pub(super) fn object_schema(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    match required {
        [] => json!({ "type": "object", "properties": properties }),
        required => json!({ "type": "object", "properties": properties, "required": required }),
    }
}

pub(super) fn string_schema(description: &str) -> Value {
    match description {
        "" => json!({ "type": "string" }),
        description => json!({ "type": "string", "description": description }),
    }
}

pub(super) fn string_list_schema(description: &str) -> Value {
    match description {
        "" => json!({ "type": "array", "items": { "type": "string" } }),
        description => json!({ "type": "array", "items": { "type": "string" }, "description": description }),
    }
}

pub(super) fn integer_schema(min: u64, max: u64, default: usize, description: &str) -> Value {
    json!({ "type": "integer", "minimum": min, "maximum": max, "default": default, "description": description })
}

pub(super) fn boolean_schema(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

pub(super) fn enum_schema(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

/// A closed list of words, with a line on each in the description: clients show that, and few show one per value.
pub(super) fn described_enum_schema(words: &[(&str, &str)], description: &str) -> Value {
    let lines: String = words.iter().map(|(word, means)| format!("\n{word}: {means}")).collect();
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    enum_schema(&words, &format!("{description}{lines}"))
}

/// An output with one field that holds a list of objects.
pub(super) fn object_list_schema(field: &str) -> Value {
    object_schema(&[(field, json!({ "type": "array", "items": { "type": "object" } }))], &[field])
}

/// An output of scalar fields: `s` string, `b` boolean, `n` number.
pub(super) fn flat_object_schema(fields: &[(&str, char)], required: &[&str]) -> Value {
    let schema = |kind: char| match kind {
        'b' => json!({ "type": "boolean" }),
        'n' => json!({ "type": "number" }),
        _ => json!({ "type": "string" }),
    };
    let fields: Vec<(&str, Value)> = fields.iter().map(|(name, kind)| (*name, schema(*kind))).collect();
    object_schema(&fields, required)
}
