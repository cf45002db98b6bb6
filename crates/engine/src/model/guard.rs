//! Guards: conditions that a backend checks inside the transaction of a write (optimistic concurrency).

use crate::model::id::{MemoryId, VersionId};
use crate::model::row::RowKind;
use crate::model::scope::Scope;

/// One scope inside one store. Paths and content hashes are unique per place among active memories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Slug of the store.
    pub store: String,
    pub scope: Scope,
}

/// A precondition of a change. If one fails, the transaction is rolled back and the error names the guard.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// The memory's current version is the one the decision was made on.
    VersionIs { memory: MemoryId, version: VersionId },
    /// No active memory has this path.
    PathFree { place: Place, path: String },
    /// No active memory without a path has this content.
    HashFree { place: Place, sha256: String },
    /// Nothing was written to the place since its generation was read.
    PlaceUnchanged { place: Place, generation: u64 },
    /// The place holds fewer active memories than this.
    RoomLeft { place: Place, live_max: u64 },
    /// Every active turn of the session in this place has a lower number.
    TurnsBefore { place: Place, session: String, turn: u32 },
    /// The save counter of this unattended run (`Write::CountRunSave`) is below this.
    RunSavesLeft { run: String, saves_max: u32 },
    /// The side record exists in this state; `None`: it does not exist.
    RowInState { kind: RowKind, id: String, state: Option<String> },
    /// Exactly this many side records are in this state.
    RowCountIs { kind: RowKind, state: &'static str, count: u64 },
}
