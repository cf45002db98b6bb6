//! Saving: from a draft to a committed version.
//!
//! A save passes the files in this order:
//!
//! 1. `remember`: the verb; runs the steps below and retries when a guard fails.
//! 2. `clear`: looks up what the gate needs and runs it. The draft is cleared or refused.
//! 3. `target`: finds the memory the draft is a new version of, if there is one.
//! 4. `plan`: builds the change: version, guards, events.
//! 5. `quota`: adds the archiving of old memories where the place is full.
//! 6. `draft_review`, `confirmation`: add the review that a draft, or a pin set by a program, waits for.
//!
//! Verbs that share these steps: `batch` (many drafts in one transaction) and `patch` (new content for a memory).
//! `ask_person` finds the target before a person is asked, so that the question shows what a yes replaces.
//! Verbs that leave the content alone: `pin`, `rename`, `verify_by`. `idempotency` makes any call safe to repeat.

pub(crate) mod ask_person;
pub(crate) mod batch;
pub(crate) mod clear;
pub(crate) mod confirmation;
pub(crate) mod draft_review;
pub mod idempotency;
pub(crate) mod patch;
pub(crate) mod pin;
pub(crate) mod plan;
pub(crate) mod quota;
pub(crate) mod remember;
pub(crate) mod rename;
pub(crate) mod target;
pub(crate) mod verify_by;

use uuid::Uuid;

use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Dedup, Layer, ScopeKind};

/// The answer to a save.
#[derive(Debug, Clone)]
pub enum Remembered {
    Saved(Box<SavedMemory>),
    Refused(Refusal),
}

#[derive(Debug, Clone)]
pub struct SavedMemory {
    pub memory: Memory,
    pub outcome: SaveOutcome,
    /// The rule that matched an existing memory; `None` for a new one.
    pub deduped_by: Option<Dedup>,
    /// An existing memory with a similar hint that states another fact.
    pub near: Option<MemoryId>,
    /// The review in which a person may confirm what a program pinned.
    pub review: Option<Uuid>,
    pub warnings: Vec<String>,
}

impl SavedMemory {
    /// How long the memory is kept, in words; `None` where it does not expire.
    pub fn lifetime(&self) -> Option<String> {
        let memory = &self.memory;
        let until = memory.expires_at?.to_string();
        let day = until.split('T').next().unwrap_or_default();
        let why = match (memory.scope.kind(), memory.layer) {
            (ScopeKind::Conversation, _) => {
                ": drafts of a conversation lapse a while after its last activity; promote what should stay"
            }
            (_, Layer::Episodic) => ": episodes lapse by their class; `remember this` in the text keeps one for good",
            _ => "",
        };
        Some(format!("kept until {day}{why}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    Created,
    Updated,
    /// A duplicate: nothing was written.
    Unchanged,
}
