//! Edits TOML text: everything outside the edited table keeps its bytes, line endings included.

use serde_json::{Map, Value as Json};
use similar::{ChangeTag, TextDiff};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::entry::{Addition, Slot};

/// The text with the additions, which replace what stands in their place.
pub fn add(text: &str, additions: &[Addition]) -> Result<String, String> {
    let mut document = parse(text)?;
    for addition in additions {
        let Some((name, parents)) = addition.path.split_last() else { continue };
        if addition.slot != Slot::Value {
            return Err("only a table has a place in TOML".to_owned());
        }
        let (parent, inline) = make_table(&mut document, parents)?;
        parent.insert(name, if inline { Item::Value(inline_table(addition)) } else { Item::Table(table(addition)) });
    }
    Ok(restore_line_endings(text, &document.to_string()))
}

/// The text without the additions. Of the tables around them, the innermost `made` are removed too if they are empty.
pub fn remove(text: &str, additions: &[Addition], made: usize) -> Result<String, String> {
    let mut document = parse(text)?;
    for addition in additions {
        let Some((name, parents)) = addition.path.split_last() else { continue };
        if let Some(parent) = find_table(document.as_table_mut(), parents) {
            parent.remove(name);
        }
        for depth in (0..parents.len()).rev().take(made) {
            let Some(parent) = find_table(document.as_table_mut(), &parents[..depth]) else { break };
            match parent.get(&parents[depth]).and_then(Item::as_table_like) {
                Some(table) if table.is_empty() => _ = parent.remove(&parents[depth]),
                _ => break,
            }
        }
    }
    Ok(restore_line_endings(text, &document.to_string()))
}

/// The value that stands in the place of an addition.
pub fn find(text: &str, addition: &Addition) -> Result<Option<Json>, String> {
    let document = parse(text)?;
    let found = addition.path.iter().try_fold(document.as_item(), |item, key| item.get(key));
    Ok(found.map(to_json))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        // Line and reason. The line itself is left out: it may hold a key.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}

/// The table at a path, made if it does not exist, and whether it is written inline.
fn make_table<'a>(document: &'a mut DocumentMut, path: &[String]) -> Result<(&'a mut dyn TableLike, bool), String> {
    let mut current: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for key in path {
        let made = || {
            let mut table = Table::new();
            // `[mcp_servers]` without keys of its own needs no header.
            table.set_implicit(true);
            Item::Table(table)
        };
        let item = current.entry(key).or_insert_with(made);
        inline = item.is_inline_table();
        current = item.as_table_like_mut().ok_or_else(|| format!("`{key}` is not a table"))?;
    }
    Ok((current, inline))
}

fn find_table<'a>(table: &'a mut Table, path: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut current: &mut dyn TableLike = table;
    for key in path {
        current = current.get_mut(key)?.as_table_like_mut()?;
    }
    Some(current)
}

fn table(addition: &Addition) -> Table {
    addition.fields.iter().fold(Table::new(), |mut table, (key, value)| {
        table.insert(key, Item::Value(to_toml(value)));
        table
    })
}

fn inline_table(addition: &Addition) -> Value {
    Value::InlineTable(addition.fields.iter().map(|(key, value)| (key.as_str(), to_toml(value))).collect())
}

/// `toml_edit` writes `\n` only: unchanged lines get their ending back, new lines the one of the first line.
fn restore_line_endings(before: &str, edited: &str) -> String {
    if !before.contains('\r') {
        return edited.to_owned();
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let bare: Vec<&str> = old.iter().map(|line| line.trim_end_matches(['\r', '\n'])).collect();
    let new: Vec<&str> = edited.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).collect();
    let ending = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let diff = TextDiff::from_slices(&bare, &new);
    let lines = diff.iter_all_changes().filter_map(|change| match change.tag() {
        ChangeTag::Equal => change.old_index().map(|index| old[index].to_owned()),
        ChangeTag::Insert => Some(format!("{}{ending}", change.value())),
        ChangeTag::Delete => None,
    });
    lines.collect()
}

fn to_toml(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(""),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::from(number.as_f64().unwrap_or(0.0)), Value::from)
        }
        Json::String(text) => Value::from(text),
        Json::Array(items) => Value::Array(items.iter().map(to_toml).collect::<Array>()),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.as_str(), to_toml(value)));
            Value::InlineTable(fields.collect::<InlineTable>())
        }
    }
}

fn to_json(item: &Item) -> Json {
    if let Some(table) = item.as_table_like() {
        return Json::Object(table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect::<Map<_, _>>());
    }
    match item.as_value() {
        Some(Value::String(text)) => Json::from(text.value().as_str()),
        Some(Value::Integer(number)) => Json::from(*number.value()),
        Some(Value::Float(number)) => Json::from(*number.value()),
        Some(Value::Boolean(value)) => Json::from(*value.value()),
        Some(Value::Array(items)) => items.iter().map(|value| to_json(&Item::Value(value.clone()))).collect(),
        Some(other) => Json::from(other.to_string().trim()),
        None => Json::Null,
    }
}
