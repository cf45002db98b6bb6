//! Places, and the conditions a write relies on.

use crate::model::id::{MemoryId, VersionId};
use crate::model::row::RowKind;
use crate::model::scope::Scope;

/// A place in a store: where paths and hashes are unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Slug of the store.
    pub store: String,
    pub scope: Scope,
}

/// What must still be true inside the transaction. A guard that fails changes nothing and is named in the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// The memory still stands at the version the decision was made on.
    VersionIs { memory: MemoryId, version: VersionId },
    /// Nothing live stands at this path.
    PathFree { place: Place, path: String },
    /// Nothing live with this content and no path stands in this place.
    HashFree { place: Place, sha256: String },
    /// Nothing was written to this place since it was looked at.
    PlaceUnchanged { place: Place, generation: u64 },
    /// The place holds fewer live memories than this.
    RoomLeft { place: Place, live_max: u64 },
    /// Every live turn of the session in this place stands before this number.
    TurnsBefore { place: Place, session: String, turn: u32 },
    /// The run has saved fewer memories than this into stores of this ruleset.
    RunSavesLeft { run: String, saves_max: u32 },
    /// The row is there in this state (`None`: it is not there).
    RowInState { kind: RowKind, id: String, state: Option<String> },
    /// This many rows are in this state.
    RowCountIs { kind: RowKind, state: &'static str, count: u64 },
}
