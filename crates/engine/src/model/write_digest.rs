//! Digests of what a change writes. They are part of the change's log entry, so the hash chain covers the data too:
//! `verify` computes them again from the stored rows and compares. See docs/decisions/0016-proof-over-the-data.md.

use std::borrow::Cow;

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::model::id::MemoryId;
use crate::model::row::RowKind;
use crate::text::canonical_json::canonical;

/// SHA-256 of a stored version or side record.
pub type WriteDigest = [u8; 32];

/// The columns of a stored version, without its content: `sha256` stands for that.
#[derive(Clone, Copy, Debug)]
pub struct VersionColumns<'a> {
    pub memory: MemoryId,
    pub number: u32,
    pub id: Uuid,
    pub operation: &'a str,
    /// As the JSON text that is stored, so that a new field of a memory is covered without a change here.
    pub snapshot: &'a str,
    pub sha256: &'a str,
    pub previous: Option<Uuid>,
    pub actor: &'a str,
    pub run: Option<&'a str>,
    pub conversation: Option<&'a str>,
    pub reason: Option<&'a str>,
    pub evidence: &'a str,
    /// In microseconds, as is `redacted_at`.
    pub at: i64,
    pub redacted_at: Option<i64>,
}

impl VersionColumns<'_> {
    pub fn digest(&self) -> WriteDigest {
        let mut hash = Parts::new(b"version");
        hash.add(self.memory.0.as_bytes());
        hash.add(&self.number.to_be_bytes());
        hash.add(self.id.as_bytes());
        for text in [self.operation, self.snapshot, self.sha256, self.actor, self.evidence] {
            hash.add(text.as_bytes());
        }
        hash.add_optional(self.previous.as_ref().map(|id| id.as_bytes().as_slice()));
        for text in [self.run, self.conversation, self.reason] {
            hash.add_optional(text.map(str::as_bytes));
        }
        hash.add(&self.at.to_be_bytes());
        hash.add_optional(self.redacted_at.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice));
        hash.finish()
    }
}

/// The columns of a stored side record.
#[derive(Clone, Copy, Debug)]
pub struct RowColumns<'a> {
    pub kind: RowKind,
    pub id: &'a str,
    pub state: &'a str,
    pub subject: &'a str,
    pub parent: &'a str,
    /// In microseconds.
    pub at: i64,
    pub body: &'a Value,
    /// The body as text, where it is at hand: a context writes a long receipt, and one serialisation is enough.
    pub body_text: Option<&'a str>,
}

impl RowColumns<'_> {
    /// Over the columns and the body, without the fields that are bookkeeping.
    pub fn digest(&self) -> WriteDigest {
        let mut hash = Parts::new(b"row");
        for text in [self.kind.as_str(), self.id, self.state, self.subject, self.parent] {
            hash.add(text.as_bytes());
        }
        hash.add(&self.at.to_be_bytes());
        let body = canonical(self.body);
        let text: Cow<'_, str> = match (bookkeeping_fields(self.kind), body.as_object(), self.body_text) {
            // Borrowed: the body is in its one spelling, and so is its text.
            ([], _, Some(text)) if matches!(body, Cow::Borrowed(_)) => text.into(),
            ([], _, _) | (_, None, _) => body.to_string().into(),
            (left_out, Some(fields), _) => {
                let mut fields = fields.clone();
                left_out.iter().for_each(|name| drop(fields.remove(*name)));
                Value::Object(fields).to_string().into()
            }
        };
        hash.add(text.as_bytes());
        hash.finish()
    }
}

/// Fields of a record that change without a decision of anybody.
fn bookkeeping_fields(kind: RowKind) -> &'static [&'static str] {
    match kind {
        // Written at most once a minute while the key is in use.
        RowKind::Keys => &["last_used_at"],
        _ => &[],
    }
}

/// Whether the log covers records of this kind. The others are bookkeeping that expires by itself: answers kept for
/// calls with an idempotency key, the leases of upkeep, and questions, which are open for minutes.
pub fn is_covered(kind: RowKind) -> bool {
    !matches!(kind, RowKind::Idempotency | RowKind::Leases | RowKind::Questions)
}

/// Whether the log names records of this kind by their id. The other ids may name a person or a file, and the log
/// outlives erasure: it has a digest of them.
fn is_named_in_log(kind: RowKind) -> bool {
    !matches!(kind, RowKind::Runs | RowKind::Documents | RowKind::Pipelines)
}

/// Hashes parts with their lengths, so that they cannot run into each other.
struct Parts(Sha256);

impl Parts {
    fn new(what: &[u8]) -> Parts {
        let mut parts = Parts(Sha256::new());
        parts.add(what);
        parts
    }

    fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
    }

    fn add_optional(&mut self, part: Option<&[u8]>) {
        match part {
            Some(part) => self.add(part),
            // No part has this length.
            None => self.0.update(u64::MAX.to_be_bytes()),
        }
    }

    fn finish(self) -> WriteDigest {
        self.0.finalize().into()
    }
}

/// What a log entry says about one stored thing.
#[derive(Clone, PartialEq, Debug)]
pub enum LoggedWrite {
    Version {
        memory: MemoryId,
        number: u32,
        digest: WriteDigest,
    },
    Row {
        row: LoggedRow,
        digest: WriteDigest,
    },
    RowDeleted {
        row: LoggedRow,
    },
    /// All versions of a memory up to this number are gone.
    Erased {
        memory: MemoryId,
        number: u32,
    },
    /// Found in the database when it was adopted, not written by this change.
    Adopted(Box<LoggedWrite>),
    /// From here on everything in the database must be in the log.
    AdoptionDone,
}

/// A side record as the log names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedRow {
    pub kind: RowKind,
    /// Of kind and id.
    pub key: [u8; 16],
    /// `None` where the log has only the digest of the id.
    pub id: Option<String>,
}

impl LoggedRow {
    pub fn new(kind: RowKind, id: &str) -> LoggedRow {
        let key = match as_plain_uuid(id) {
            Some(id) => id.into_bytes(),
            None => {
                let mut hash = Parts::new(kind.as_str().as_bytes());
                hash.add(id.as_bytes());
                let digest = hash.finish();
                std::array::from_fn(|at| digest[at])
            }
        };
        LoggedRow { kind, key, id: Some(id.to_owned()).filter(|_| is_named_in_log(kind)) }
    }
}

/// An id in the one spelling of a UUID that its 16 bytes give back.
fn as_plain_uuid(id: &str) -> Option<Uuid> {
    let parsed = Uuid::try_parse(id).ok().filter(|_| id.len() == 36)?;
    id.bytes().all(|byte| !byte.is_ascii_uppercase()).then_some(parsed)
}

const VERSION: u8 = 1;
const ROW: u8 = 2;
const ROW_DELETED: u8 = 3;
const ERASED: u8 = 4;
const ADOPTED: u8 = 5;
const ADOPTION_DONE: u8 = 6;

const ID_IS_UUID: u8 = 0;
const ID_IS_TEXT: u8 = 1;
const ID_IS_DIGEST: u8 = 2;

/// The digests of a change's writes, in the form of the log: one record after the other, without separators.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WriteDigests(Vec<u8>);

impl WriteDigests {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn add_version(&mut self, version: &VersionColumns<'_>) {
        let digest = version.digest();
        self.add(&LoggedWrite::Version { memory: version.memory, number: version.number, digest });
    }

    /// Adds a written side record, if the log covers its kind.
    pub fn add_row(&mut self, row: &RowColumns<'_>) {
        if is_covered(row.kind) {
            self.add(&LoggedWrite::Row { row: LoggedRow::new(row.kind, row.id), digest: row.digest() });
        }
    }

    pub fn add_row_deletion(&mut self, kind: RowKind, id: &str) {
        if is_covered(kind) {
            self.add(&LoggedWrite::RowDeleted { row: LoggedRow::new(kind, id) });
        }
    }

    pub fn add_erasure(&mut self, memory: MemoryId, number: u32) {
        self.add(&LoggedWrite::Erased { memory, number });
    }

    pub fn add(&mut self, write: &LoggedWrite) {
        match write {
            LoggedWrite::Version { memory, number, digest } => {
                self.add_memory(VERSION, *memory, *number);
                self.0.extend_from_slice(digest);
            }
            LoggedWrite::Row { row, digest } => {
                self.add_row_name(ROW, row);
                self.0.extend_from_slice(digest);
            }
            LoggedWrite::RowDeleted { row } => self.add_row_name(ROW_DELETED, row),
            LoggedWrite::Erased { memory, number } => self.add_memory(ERASED, *memory, *number),
            LoggedWrite::Adopted(write) => {
                self.0.push(ADOPTED);
                self.add(write);
            }
            LoggedWrite::AdoptionDone => self.0.push(ADOPTION_DONE),
        }
    }

    fn add_memory(&mut self, tag: u8, memory: MemoryId, number: u32) {
        self.0.push(tag);
        self.0.extend_from_slice(memory.0.as_bytes());
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn add_row_name(&mut self, tag: u8, row: &LoggedRow) {
        let kind = row.kind.as_str();
        self.0.extend_from_slice(&[tag, kind.len() as u8]);
        self.0.extend_from_slice(kind.as_bytes());
        let text = row.id.as_deref().and_then(|id| u16::try_from(id.len()).ok().map(|len| (len, id)));
        match text {
            Some((_, id)) if as_plain_uuid(id).is_some() => {
                self.0.push(ID_IS_UUID);
                self.0.extend_from_slice(&row.key);
            }
            Some((len, id)) => {
                self.0.push(ID_IS_TEXT);
                self.0.extend_from_slice(&len.to_be_bytes());
                self.0.extend_from_slice(id.as_bytes());
            }
            None => {
                self.0.push(ID_IS_DIGEST);
                self.0.extend_from_slice(&row.key);
            }
        }
    }
}

/// Reads the digests of a log entry; `None` at bytes that are not such digests.
pub fn read_digests(mut bytes: &[u8]) -> Option<Vec<LoggedWrite>> {
    let mut writes = Vec::new();
    while !bytes.is_empty() {
        writes.push(read_write(&mut bytes)?);
    }
    Some(writes)
}

fn read_write(bytes: &mut &[u8]) -> Option<LoggedWrite> {
    let [tag] = take(bytes)?;
    Some(match tag {
        VERSION => {
            let (memory, number) = read_memory(bytes)?;
            LoggedWrite::Version { memory, number, digest: take(bytes)? }
        }
        ROW => LoggedWrite::Row { row: read_row_name(bytes)?, digest: take(bytes)? },
        ROW_DELETED => LoggedWrite::RowDeleted { row: read_row_name(bytes)? },
        ERASED => {
            let (memory, number) = read_memory(bytes)?;
            LoggedWrite::Erased { memory, number }
        }
        // One level: what is adopted is a plain write.
        ADOPTED if bytes.first() != Some(&ADOPTED) => LoggedWrite::Adopted(Box::new(read_write(bytes)?)),
        ADOPTION_DONE => LoggedWrite::AdoptionDone,
        _ => return None,
    })
}

fn read_memory(bytes: &mut &[u8]) -> Option<(MemoryId, u32)> {
    Some((MemoryId(Uuid::from_bytes(take(bytes)?)), u32::from_be_bytes(take(bytes)?)))
}

fn read_row_name(bytes: &mut &[u8]) -> Option<LoggedRow> {
    let [len] = take(bytes)?;
    let kind: RowKind = std::str::from_utf8(take_slice(bytes, usize::from(len))?).ok()?.parse().ok()?;
    let [form] = take(bytes)?;
    Some(match form {
        ID_IS_UUID => {
            let key = take(bytes)?;
            LoggedRow { kind, key, id: Some(Uuid::from_bytes(key).to_string()) }
        }
        ID_IS_TEXT => {
            let len = u16::from_be_bytes(take(bytes)?);
            LoggedRow::new(kind, std::str::from_utf8(take_slice(bytes, usize::from(len))?).ok()?)
        }
        ID_IS_DIGEST => LoggedRow { kind, key: take(bytes)?, id: None },
        _ => return None,
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take_slice(bytes, N)?.try_into().ok()
}

fn take_slice<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(kind: RowKind, id: &str, digest: u8) -> LoggedWrite {
        LoggedWrite::Row { row: LoggedRow::new(kind, id), digest: [digest; 32] }
    }

    #[test]
    fn digests_read_back_as_written() {
        let memory = MemoryId(Uuid::from_u128(7));
        let writes = vec![
            LoggedWrite::Version { memory, number: 3, digest: [1; 32] },
            row(RowKind::Receipts, "01a1e25a-ec51-7c4c-b9fb-cc0d9d73eee0", 2),
            row(RowKind::Stores, "lessons", 3),
            row(RowKind::Runs, "run of ana", 4),
            LoggedWrite::RowDeleted { row: LoggedRow::new(RowKind::Receipts, "no uuid") },
            LoggedWrite::Erased { memory, number: 9 },
            LoggedWrite::Adopted(Box::new(row(RowKind::Keys, "k", 5))),
            LoggedWrite::AdoptionDone,
        ];
        let mut digests = WriteDigests::default();
        writes.iter().for_each(|write| digests.add(write));
        assert_eq!(read_digests(digests.as_bytes()).as_deref(), Some(&*writes));
        assert_eq!(read_digests(&digests.as_bytes()[..40]), None, "cut off");
        assert!(!digests.as_bytes().windows(3).any(|part| part == b"ana"), "ids of runs may name a person");
    }

    #[test]
    fn bookkeeping_does_not_change_a_digest_and_everything_else_does() {
        let digest = |kind, id: &str, state: &str, at, body: Value| {
            RowColumns { kind, id, state, subject: "", parent: "", at, body: &body, body_text: None }.digest()
        };
        let key = digest(RowKind::Keys, "k", "active", 1, json!({"rights": "agent", "last_used_at": null}));
        let used = digest(RowKind::Keys, "k", "active", 1, json!({"last_used_at": "today", "rights": "agent"}));
        assert_eq!(key, used);
        for other in [
            digest(RowKind::Keys, "k", "active", 1, json!({"rights": "admin", "last_used_at": null})),
            digest(RowKind::Keys, "k", "revoked", 1, json!({"rights": "agent", "last_used_at": null})),
            digest(RowKind::Keys, "k", "active", 2, json!({"rights": "agent", "last_used_at": null})),
            digest(RowKind::Keys, "l", "active", 1, json!({"rights": "agent", "last_used_at": null})),
            digest(RowKind::Runs, "k", "active", 1, json!({"rights": "agent", "last_used_at": null})),
        ] {
            assert_ne!(key, other);
        }
        assert_eq!(
            digest(RowKind::Usage, "u", "", 1, json!({"score": 1.0})),
            digest(RowKind::Usage, "u", "", 1, json!({"score": 1})),
            "one number, however a backend prints it"
        );
    }
}
