//! JSON schemas in few words: tool lists are read by models and paid for by the token.

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

pub(super) fn integer_schema(least: u64, most: u64, default: usize) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
}

pub(super) fn boolean_schema(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

pub(super) fn enum_schema(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// An output whose one field holds objects.
pub(super) fn object_list_schema(field: &str) -> Value {
    object_schema(&[(field, json!({ "type": "array", "items": { "type": "object" } }))], &[field])
}

/// An output of plain fields: `s` text, `b` flag, `n` number.
pub(super) fn flat_object_schema(fields: &[(&str, char)], required: &[&str]) -> Value {
    let schema = |sort: char| match sort {
        'b' => json!({ "type": "boolean" }),
        'n' => json!({ "type": "number" }),
        _ => json!({ "type": "string" }),
    };
    let fields: Vec<(&str, Value)> = fields.iter().map(|(name, sort)| (*name, schema(*sort))).collect();
    object_schema(&fields, required)
}
