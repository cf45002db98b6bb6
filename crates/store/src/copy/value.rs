//! Rows in a form both backends read and write, and a fingerprint of them that does not depend on the backend.

use std::collections::BTreeSet;

use engine::model::vector::Vector;
use engine::text::canonical_json::canonical_text;
use engine::text::words::IndexedWords;
use sha2::{Digest, Sha256};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Bool(bool),
    Text(String),
    Id(Uuid),
    Bytes(Vec<u8>),
    /// As the backend printed it: backends differ in white space and in the spelling of numbers.
    Json(String),
    Tags(BTreeSet<String>),
    Words(IndexedWords),
    Vector(Vector),
}

pub(crate) type Record = Vec<Value>;

/// Row count and hash of a table; equal rows have equal fingerprints in both backends.
#[derive(Default)]
pub(crate) struct Fingerprint {
    pub(crate) rows: u64,
    hash: Sha256,
}

impl Fingerprint {
    pub(crate) fn add_record(&mut self, tenant: Uuid, record: &[Value]) {
        self.rows += 1;
        self.hash_part(b'#', tenant.as_bytes());
        for value in record {
            self.hash_value(value);
        }
    }

    pub(crate) fn into_hex(self) -> String {
        engine::text::digest::to_hex(&self.hash.finalize())
    }

    fn hash_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.hash_part(b'0', &[]),
            Value::Int(number) => self.hash_part(b'i', &number.to_le_bytes()),
            Value::Real(number) => self.hash_part(b'r', &number.to_le_bytes()),
            Value::Bool(flag) => self.hash_part(b'b', &[u8::from(*flag)]),
            Value::Text(text) => self.hash_part(b't', text.as_bytes()),
            Value::Id(id) => self.hash_part(b'u', id.as_bytes()),
            Value::Bytes(bytes) => self.hash_part(b'y', bytes),
            Value::Json(text) => self.hash_part(b'j', canonical_text(text).as_bytes()),
            Value::Tags(tags) => {
                // The set sorts the tags, which Postgres returns in any order.
                self.hash_part(b's', &(tags.len() as u64).to_le_bytes());
                tags.iter().for_each(|tag| self.hash_part(b't', tag.as_bytes()));
            }
            Value::Words(words) => self.hash_part(b'w', &words.to_bytes()),
            Value::Vector(vector) => self.hash_part(b'v', &vector.to_bytes()),
        }
    }

    /// Hashed with type tag and length, so that no two different rows give the same bytes.
    fn hash_part(&mut self, tag: u8, bytes: &[u8]) {
        self.hash.update([tag]);
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_text_ends_is_part_of_the_fingerprint() {
        let print = |record: &[Value]| {
            let mut fingerprint = Fingerprint::default();
            fingerprint.add_record(Uuid::nil(), record);
            fingerprint.into_hex()
        };
        let text = |text: &str| Value::Text(text.to_owned());
        assert_ne!(print(&[text("ab"), text("c")]), print(&[text("a"), text("bc")]));
        assert_ne!(print(&[text("")]), print(&[Value::Null]));
    }
}
