//! Edits JSON and JSONC text: everything outside the edited entry keeps its bytes.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::entry::{Addition, Slot, item_id};

/// Comments and trailing commas, which the clients' parsers accept, and nothing looser: a file that a client cannot
/// read is left alone.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The text with the additions, which replace what stands in their place.
pub fn add(text: &str, additions: &[Addition]) -> Result<String, String> {
    let root = parse(text)?;
    for addition in additions {
        let value = to_input_in_order(addition);
        let top = root.object_value_or_create().ok_or("its top level is not an object")?;
        match (addition.slot, addition.path.split_last()) {
            (_, None) => {}
            (Slot::Value | Slot::IfMissing, Some((name, parents))) => {
                let parent = make_object(top, parents)?;
                match parent.get(name) {
                    Some(_) if addition.slot == Slot::IfMissing => {}
                    Some(property) => property.set_value(value),
                    None => _ = parent.append(name, value),
                }
            }
            (Slot::ListItem, Some((name, parents))) => {
                let parent = make_object(top, parents)?;
                let list = parent.array_value_or_create(name).ok_or_else(|| format!("`{name}` is not a list"))?;
                match find_item(&list, addition.id().as_deref()).and_then(|item| item.as_object()) {
                    Some(item) => _ = item.replace_with(value),
                    None => _ = list.append(value),
                }
            }
        }
    }
    let edited = end_with_newline(text, root.to_string());
    // A key that occurs twice is found once, and clients read the other one.
    for addition in additions {
        if addition.slot != Slot::IfMissing && find(&edited, addition)?.as_ref() != Some(&addition.value()) {
            return Err(format!("`{}` occurs twice", addition.path.join(".")));
        }
    }
    Ok(edited)
}

/// The text without the additions. Of the objects around them, the innermost `made` are removed too if they are empty.
pub fn remove(text: &str, additions: &[Addition], made: usize) -> Result<String, String> {
    let root = parse(text)?;
    for addition in additions {
        let Some((name, parents)) = addition.path.split_last() else { continue };
        let Some(parent) = find_object(&root, parents) else { continue };
        match addition.slot {
            Slot::Value | Slot::IfMissing => {
                parent.get(name).into_iter().for_each(|property| property.remove());
                remove_empty_objects(&root, parents, made);
            }
            Slot::ListItem => {
                let Some(list) = parent.array_value(name) else { continue };
                find_item(&list, addition.id().as_deref()).into_iter().for_each(CstNode::remove);
                if list.elements().is_empty() {
                    parent.get(name).into_iter().for_each(|property| property.remove());
                    remove_empty_objects(&root, parents, made);
                }
            }
        }
    }
    Ok(root.to_string())
}

/// The value that stands in the place of an addition.
pub fn find(text: &str, addition: &Addition) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let whole: Value = jsonc_parser::parse_to_serde_value(text, &OPTIONS).map_err(|error| describe(&error))?;
    let found = addition.path.iter().try_fold(&whole, |value, key| value.get(key));
    Ok(match addition.slot {
        Slot::Value | Slot::IfMissing => found.cloned(),
        Slot::ListItem => {
            let is_it = |item: &&Value| item_id(item) == addition.id();
            found.and_then(Value::as_array).and_then(|items| items.iter().find(is_it)).cloned()
        }
    })
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| describe(&error))?;
    // The serde reader also refuses what only the syntax tree accepts.
    if !text.trim().is_empty() {
        jsonc_parser::parse_to_serde_value::<Value>(text, &OPTIONS).map_err(|error| describe(&error))?;
    }
    Ok(root)
}

/// Line and reason of a syntax error. The line itself is left out: it may hold a key.
fn describe(error: &jsonc_parser::errors::ParseError) -> String {
    format!("line {}: {}", error.line_display(), error.kind())
}

fn make_object(top: CstObject, path: &[String]) -> Result<CstObject, String> {
    path.iter().try_fold(top, |object, key| {
        object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is not an object"))
    })
}

fn find_object(root: &CstRootNode, path: &[String]) -> Option<CstObject> {
    path.iter().try_fold(root.object_value()?, |object, key| object.object_value(key))
}

fn find_item(list: &CstArray, id: Option<&str>) -> Option<CstNode> {
    let id_of =
        |item: &CstNode| item_id(&jsonc_parser::parse_to_serde_value::<Value>(&item.to_string(), &OPTIONS).ok()?);
    list.elements().into_iter().find(|item| id.is_some() && id_of(item).as_deref() == id)
}

fn remove_empty_objects(root: &CstRootNode, path: &[String], made: usize) {
    for depth in (0..path.len()).rev().take(made) {
        let Some(parent) = find_object(root, &path[..depth]) else { return };
        match parent.get(&path[depth]) {
            Some(property) if property.object_value().is_some_and(|object| object.properties().is_empty()) => {
                property.remove();
            }
            _ => return,
        }
    }
}

/// A new text ends with a newline; an existing one ends as before.
fn end_with_newline(before: &str, edited: String) -> String {
    if before.trim().is_empty() { format!("{}\n", edited.trim()) } else { edited }
}

/// The value of an addition with its fields in their order.
fn to_input_in_order(addition: &Addition) -> CstInputValue {
    match addition.slot {
        Slot::IfMissing => to_input(&addition.value()),
        Slot::Value | Slot::ListItem => {
            let fields = addition.fields.iter().map(|(key, value)| (key.clone(), to_input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}

fn to_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), to_input(value))).collect())
        }
    }
}
