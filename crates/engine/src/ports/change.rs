//! What a store is asked to write: all of it or none of it, under conditions it checks itself.

use jiff::Timestamp;

use crate::gate::VersionedEntry;
use crate::model::event::EventBody;
use crate::model::guard::{Guard, Place};
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::row::{Row, RowKind};

/// One transaction. The engine decided everything; the store checks the guards inside it and writes.
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

    /// With one memory's new version and everything the gate said must still hold for it.
    ///
    /// The only place that builds [`Write::Entry`].
    pub(crate) fn with_entry(mut self, entry: VersionedEntry) -> Change {
        self.guards.extend(entry.guards().iter().cloned());
        self.writes.push(Write::Entry(Box::new(entry)));
        self
    }

    /// With all of another change, in the same transaction.
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

/// One thing to write.
#[derive(Debug, Clone)]
pub enum Write {
    /// A memory with its new version: the only way content gets in.
    Entry(Box<VersionedEntry>),
    /// A side record: a store, pipeline, review, run, key …
    Row(Row),
    DeleteRow {
        kind: RowKind,
        id: String,
    },
    /// Counters of what a recall returned.
    CountRecalls {
        memories: Vec<MemoryId>,
        /// Those of them that may be episodes, which a recall keeps from fading.
        fading: Vec<MemoryId>,
    },
    /// Counts a save of an unattended run.
    CountRunSave {
        run: String,
    },
    /// Erases the content of these versions, and of the live memory where it stands at one of them.
    Redact {
        memory: MemoryId,
        versions: Vec<VersionId>,
    },
    /// Deletes memories with all their history: pipelines, users and tenants that go.
    Erase {
        place: Place,
    },
    /// A vector that was missing or of an older model; not a change of the memory.
    SetEmbedding {
        memory: MemoryId,
        version: VersionId,
        embedding: crate::model::vector::Embedding,
    },
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommitResult {
    /// Number of the last event written, 0 where there was none.
    pub last_event_seq: u64,
    /// Memories deleted by [`Write::Erase`].
    pub erased_count: u64,
}
