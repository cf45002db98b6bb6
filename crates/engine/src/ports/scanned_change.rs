//! Changes as a backend takes them: with every string scanned.
//!
//! Doors and verbs refuse a secret and say so. This is the last check before the database: it makes no refusals, so
//! that revoking, forgetting and erasing always work; what still holds a secret is redacted.

use std::ops::Deref;

use serde_json::{Map, Value};

use crate::gate::allow_list::AllowList;
use crate::model::event::EventBody;
use crate::model::row::{Row, RowKind};
use crate::ports::change::{Change, Write};
use crate::safety::{self, TextClass};

/// A change without secrets. Backends take nothing else, and only [`Change::scanned`] makes one.
///
/// Memories are scanned by the gate ([`crate::gate::VersionedEntry`]), side records and events here.
#[derive(Debug, Clone)]
pub struct ScannedChange(Change);

impl ScannedChange {
    pub fn into_change(self) -> Change {
        self.0
    }
}

impl Deref for ScannedChange {
    type Target = Change;
    fn deref(&self) -> &Change {
        &self.0
    }
}

impl Change {
    /// The change with every string of its side records and events scanned.
    pub fn scanned(self) -> ScannedChange {
        self.scanned_except(&AllowList::default)
    }

    /// As [`Change::scanned`]; values on the allow list pass. The list is loaded at the first finding.
    pub(crate) fn scanned_except(mut self, load_allow_list: &dyn Fn() -> AllowList) -> ScannedChange {
        let scanner = StringScanner { load_allow_list };
        let cleared_paths: Vec<String> = self.writes.iter().filter_map(cleared_path).collect();
        for write in &mut self.writes {
            if let Write::Row(row) | Write::TouchRow(row) = write {
                scanner.scan_row(row);
            }
        }
        self.events.iter_mut().for_each(|event| scanner.scan_event(event, &cleared_paths));
        ScannedChange(self)
    }
}

/// The path of a memory in the same change: the gate has scanned it.
fn cleared_path(write: &Write) -> Option<String> {
    match write {
        Write::Entry(entry) => entry.memory().path.clone(),
        _ => None,
    }
}

/// Fields that hold names and ids, in side records and in the payload of events. All other strings are free text.
const IDENTIFIER_FIELDS: &[&str] = &[
    "actor",
    "agent",
    "allowed",
    "author",
    "by",
    "confirmed_by",
    "conversation",
    "created_by",
    "digest",
    "digests",
    "holder",
    "id",
    "ingested_by",
    "key",
    "memory",
    "name",
    "opened_by",
    "path",
    "pattern",
    "pipeline",
    "principal",
    "proposer",
    "receipt",
    "reviewer",
    "reviewers",
    "run",
    "session",
    "sha256",
    "slug",
    "store",
    "subject",
    "system",
    "target_path",
    "target_store",
    "tenant",
    "user",
    "version",
];

/// Fields that are not scanned, with the reason.
const UNSCANNED_FIELDS: &[(RowKind, &str)] = &[
    // A random key made here. It is a secret on purpose, and never shown.
    (RowKind::Bans, "key"),
    // Addresses of stored memories and the engine's own reasons, on the path of every context.
    (RowKind::Receipts, "candidates"),
];

/// Field of strings outside of memories. No planted order is allowed there; secrets are allowed by value.
const RECORD_FIELD: &str = "record";

struct StringScanner<'a> {
    load_allow_list: &'a dyn Fn() -> AllowList,
}

impl StringScanner<'_> {
    fn scan_row(&self, row: &mut Row) {
        for column in [&mut row.id, &mut row.state, &mut row.subject, &mut row.parent] {
            self.scan_text(column, TextClass::Identifier);
        }
        if let Value::Object(body) = &mut row.body {
            for (field, value) in body.iter_mut() {
                if !UNSCANNED_FIELDS.contains(&(row.kind, field.as_str())) {
                    self.scan_value(value, class_of(field));
                }
            }
        }
    }

    fn scan_event(&self, event: &mut EventBody, cleared_paths: &[String]) {
        self.scan_text(&mut event.actor, TextClass::Identifier);
        for name in [&mut event.run, &mut event.conversation].into_iter().flatten() {
            self.scan_text(name, TextClass::Identifier);
        }
        if let Some(scope) = &mut event.scope {
            scope.names_mut().into_iter().for_each(|name| self.scan_text(name, TextClass::Identifier));
        }
        for (field, value) in event.payload.iter_mut() {
            let is_cleared = |path: &str| cleared_paths.iter().any(|cleared| cleared == path);
            if !(field == "path" && value.as_str().is_some_and(is_cleared)) {
                self.scan_value(value, class_of(field));
            }
        }
    }

    fn scan_value(&self, value: &mut Value, class: TextClass) {
        match value {
            Value::String(text) => self.scan_text(text, class),
            // Items have the class of their array.
            Value::Array(items) => items.iter_mut().for_each(|item| self.scan_value(item, class)),
            Value::Object(map) => self.scan_map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn scan_map(&self, map: &mut Map<String, Value>) {
        for (field, value) in map.iter_mut() {
            self.scan_value(value, class_of(field));
        }
        // Keys may be names too, such as the systems of a key's grants.
        if map.keys().any(|key| safety::find_token_format(key).is_some()) {
            for (mut key, value) in std::mem::take(map) {
                self.scan_text(&mut key, TextClass::Identifier);
                map.insert(key, value);
            }
        }
    }

    fn scan_text(&self, text: &mut String, class: TextClass) {
        let findings = safety::find_secrets(text, class);
        if findings.is_empty() {
            return;
        }
        let findings = (self.load_allow_list)().remove_allowed(RECORD_FIELD, text, findings);
        if !findings.is_empty() {
            *text = safety::redact_secrets(text, &findings);
        }
    }
}

fn class_of(field: &str) -> TextClass {
    match IDENTIFIER_FIELDS.binary_search(&field).is_ok() {
        true => TextClass::Identifier,
        false => TextClass::Free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifier_fields_are_sorted_for_the_binary_search() {
        assert!(IDENTIFIER_FIELDS.is_sorted(), "a field out of order would be scanned as free text");
    }
}
