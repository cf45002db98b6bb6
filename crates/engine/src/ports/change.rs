//! Changes: one transaction of guards, writes and events, planned by the engine and committed by a backend.

use jiff::Timestamp;

use crate::gate::VersionedEntry;
use crate::model::event::EventBody;
use crate::model::guard::{Guard, Place};
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::memory::Memory;
use crate::model::row::{Row, RowKind};
use crate::model::write_digest::LoggedWrite;
use crate::text::words::IndexedWords;

/// One transaction. The backend checks all guards inside it, then applies the writes and appends the events; if one
/// guard fails, nothing is written.
#[derive(Debug, Clone)]
pub struct Change {
    pub tenant: TenantId,
    pub at: Timestamp,
    pub guards: Vec<Guard>,
    pub writes: Vec<Write>,
    pub events: Vec<EventBody>,
}

impl Change {
    pub fn new(tenant: TenantId, at: Timestamp) -> Change {
        Change { tenant, at, guards: Vec::new(), writes: Vec::new(), events: Vec::new() }
    }

    pub fn with_guard(mut self, guard: Guard) -> Change {
        self.guards.push(guard);
        self
    }

    pub fn with_write(mut self, write: Write) -> Change {
        self.writes.push(write);
        self
    }

    /// Adds a memory's new version and its guards. The only place that builds [`Write::Entry`], so that no entry is
    /// written without its guards.
    pub(crate) fn with_entry(mut self, entry: VersionedEntry) -> Change {
        self.guards.extend(entry.guards().iter().cloned());
        self.writes.push(Write::Entry(Box::new(entry)));
        self
    }

    /// Adds guards, writes and events of another change of the same tenant. Its time is ignored.
    pub fn with_change(mut self, other: Change) -> Change {
        self.guards.extend(other.guards);
        self.writes.extend(other.writes);
        self.events.extend(other.events);
        self
    }

    pub fn with_event(mut self, event: EventBody) -> Change {
        self.events.push(event);
        self
    }
}

/// One write of a change.
#[derive(Debug, Clone)]
pub enum Write {
    /// Upserts a memory and appends its new version. The only write that carries content.
    Entry(Box<VersionedEntry>),
    /// Upserts a side record: a store, pipeline, review, run, key and so on.
    Row(Row),
    /// Upserts a side record of which only bookkeeping fields differ (`model/write_digest.rs`), such as the last use of
    /// a key. Not in the log. Nothing is written where the stored record differs otherwise: another write came first.
    TouchRow(Row),
    /// Deletes a side record, if it exists.
    DeleteRow { kind: RowKind, id: String },
    /// Counts a recall of these memories. Not a new version.
    CountRecalls {
        memories: Vec<MemoryId>,
        /// Those that may be episodes: their decay starts again from now.
        fading: Vec<MemoryId>,
    },
    /// Counts a save of an unattended run (see `Guard::RunSavesLeft`).
    CountRunSave { run: String },
    /// Erases the text of these versions, and of the current memory if its version is one of them.
    Redact { memory: MemoryId, versions: Vec<VersionId> },
    /// Deletes all memories of a place with their history, for deleted pipelines and erased users or tenants.
    Erase { place: Place },
    /// Stores a vector that was missing or of another model, unless the memory has a newer version. Not a new version.
    SetEmbedding { memory: MemoryId, version: VersionId, embedding: crate::model::vector::Embedding },
    /// Adds to the digests of the change's log entry what the database holds already. Writes nothing else.
    Adopt(Vec<LoggedWrite>),
    /// Writes everything that is derived from versions anew for these memories: live row, tags, row of the search
    /// index. Not a new version. A memory that has a newer version by now is left as it is.
    Rebuild(Vec<DerivedRows>),
    /// Counts the memories of all places anew, removes rows of the search index that belong to no memory and moves the
    /// generation of every place, so that other processes load it again.
    RecountPlaces,
}

/// What the newest version of a memory says its derived rows must hold.
#[derive(Debug, Clone)]
pub struct DerivedRows {
    pub memory: Memory,
    pub words: IndexedWords,
}

/// Result of a commit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommitResult {
    /// Number of the last event written; 0 if there was none.
    pub last_event_seq: u64,
    /// Memories deleted by [`Write::Erase`].
    pub erased_count: u64,
}
