//! Raw rows for verification, as they are stored: what cannot be read as the engine's types must still be named.

use crate::model::id::{MemoryId, TenantId};
use crate::model::row::RowKind;
use crate::model::write_digest::{RowColumns, VersionColumns, WriteDigest};
use crate::text::words::IndexedWords;
use serde_json::Value;
use uuid::Uuid;

/// Where a scan in key order starts.
#[derive(Clone, PartialEq, Debug)]
pub enum ScanFrom<K> {
    Start,
    After(K),
    /// Only the row with this key.
    Only(K),
}

/// The end of a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogHead {
    /// Number of the last entry.
    pub seq: u64,
    /// Hash of the last entry.
    pub hash: String,
    /// Number of the first entry that must have digests.
    pub covered_from: u64,
}

/// The end of a tenant's log as it was written last, kept outside the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogPosition {
    pub tenant: TenantId,
    pub head: LogHead,
}

/// An entry of the event log with the exact text that its hash is of.
#[derive(Clone, PartialEq, Debug)]
pub struct LogEntry {
    pub seq: u64,
    pub name: String,
    /// In microseconds.
    pub at: i64,
    pub body: String,
    /// Digests of what the change wrote; `None` in an entry from before them.
    pub digests: Option<Vec<u8>>,
    pub hash: String,
}

/// A stored version with its content.
#[derive(Clone, PartialEq, Debug)]
pub struct ScannedVersion {
    pub memory: MemoryId,
    pub number: u32,
    pub id: Uuid,
    pub operation: String,
    pub snapshot: String,
    pub content: String,
    pub sha256: String,
    pub previous: Option<Uuid>,
    pub actor: String,
    pub run: Option<String>,
    pub conversation: Option<String>,
    pub reason: Option<String>,
    pub evidence: String,
    pub at: i64,
    pub redacted_at: Option<i64>,
}

impl ScannedVersion {
    pub fn digest(&self) -> WriteDigest {
        self.columns().digest()
    }

    pub fn columns(&self) -> VersionColumns<'_> {
        VersionColumns {
            memory: self.memory,
            number: self.number,
            id: self.id,
            operation: &self.operation,
            snapshot: &self.snapshot,
            sha256: &self.sha256,
            previous: self.previous,
            actor: &self.actor,
            run: self.run.as_deref(),
            conversation: self.conversation.as_deref(),
            reason: self.reason.as_deref(),
            evidence: &self.evidence,
            at: self.at,
            redacted_at: self.redacted_at,
        }
    }
}

/// The live row of a memory with the version it points to.
#[derive(Clone, PartialEq, Debug)]
pub struct ScannedMemory {
    pub id: MemoryId,
    pub number: u32,
    /// The columns that are derived from the version, in the order of [`crate::model::live_row::LIVE_COLUMNS`].
    pub columns: Vec<Option<String>>,
    /// Snapshot and content of the version; `None` where there is no such version.
    pub version: Option<(String, String)>,
    /// Whether the columns of its row in the recall index are the same as here.
    pub is_indexed: bool,
    /// The words it is found by; `None` where they cannot be read.
    pub words: Option<IndexedWords>,
}

/// The row of a place, with what it counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScannedPlace {
    /// Store and scope, for people.
    pub name: String,
    /// Each counter: its name, what is stored and what it must be. All of one moment.
    pub counters: Vec<(&'static str, i64, i64)>,
}

/// A stored side record; the body as text.
#[derive(Clone, PartialEq, Debug)]
pub struct ScannedRow {
    pub kind: RowKind,
    pub id: String,
    pub state: String,
    pub subject: String,
    pub parent: String,
    pub at: i64,
    pub body: String,
}

impl ScannedRow {
    /// `None` where the body is not JSON.
    pub fn digest(&self) -> Option<WriteDigest> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        let ScannedRow { kind, id, state, subject, parent, at, .. } = self;
        Some(RowColumns { kind: *kind, id, state, subject, parent, at: *at, body: &body, body_text: None }.digest())
    }
}
