//! Transitions: a new version of a memory with the same content, such as a change of state.
//!
//! Guard, version and event belong together; only this module builds them.

use jiff::Timestamp;
use serde_json::Value;

use crate::Engine;
use crate::gate::{VersionStamp, VersionedEntry};
use crate::model::caller::Caller;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State, Trust};
use crate::ports::change::Change;

/// A transition without its caller and time, which [`Transition::plan`] adds.
pub(crate) struct Transition<'a> {
    /// The memory at the version the decision was made on.
    pub memory: &'a Memory,
    pub operation: Operation,
    pub reason: Option<String>,
    /// `None`: another event of the same change covers it.
    pub event: Option<EventName>,
    /// Time of the last change that a reader would notice, where the transition is none.
    pub updated_at: Option<Timestamp>,
    /// Trust of the fields that the transition changes, such as the path of a rename.
    pub written_trust: Trust,
    /// Event fields in addition to those of every event about a memory.
    pub fields: Vec<(&'static str, Value)>,
}

impl<'a> Transition<'a> {
    pub fn new(memory: &'a Memory, operation: Operation) -> Transition<'a> {
        Transition {
            memory,
            operation,
            reason: None,
            event: None,
            updated_at: None,
            // The lowest, so that only a transition that says so trusts its values more.
            written_trust: Trust::AgentDraft,
            fields: Vec::new(),
        }
    }

    pub fn with_reason(mut self, reason: impl Into<Option<String>>) -> Transition<'a> {
        self.reason = reason.into();
        self
    }

    pub fn with_event(mut self, event: EventName) -> Transition<'a> {
        self.event = Some(event);
        self
    }

    pub fn with_kept_updated_at(self) -> Transition<'a> {
        let updated_at = self.memory.updated_at;
        self.with_updated_at(updated_at)
    }

    pub fn with_updated_at(mut self, updated_at: Timestamp) -> Transition<'a> {
        self.updated_at = Some(updated_at);
        self
    }

    pub fn with_written_trust(mut self, trust: Trust) -> Transition<'a> {
        self.written_trust = trust;
        self
    }

    pub fn with_field(mut self, name: &'static str, value: impl Into<Value>) -> Transition<'a> {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds guard, version and event to a change. Also returns the memory after the transition.
    pub fn plan(
        self,
        engine: &Engine,
        caller: &Caller,
        change: Change,
        alter: impl FnOnce(&mut Memory),
    ) -> (Change, Memory) {
        let at = change.at;
        let stamp = VersionStamp::new(caller, engine.fresh_version_id(), at, self.reason);
        let mut entry =
            VersionedEntry::from_transition(self.memory, self.operation, stamp, Vec::new(), self.written_trust, alter);
        if let Some(updated_at) = self.updated_at {
            entry = entry.with_updated_at(updated_at);
        }
        let altered = entry.memory().clone();
        // On the version that was decided on: a concurrent write makes the whole change fail.
        let mut change = change.with_guard(Guard::VersionIs { memory: self.memory.id, version: self.memory.version });
        if let Some(name) = self.event {
            // The event shows the memory after the transition.
            let event = EventBody::new(name, caller, at).about_memory(&altered);
            change = change
                .with_event(self.fields.into_iter().fold(event, |event, (name, value)| event.with_field(name, value)));
        }
        (change.with_entry(entry), altered)
    }
}

/// Outcome of a verb that makes one transition: pin, rename, verify-by, forget.
#[derive(Debug, Clone)]
pub enum TransitionOutcome {
    /// The memory after the transition.
    Done(Box<Memory>),
    Refused(Refusal),
}

/// Sets the state `tombstoned` and stops always-inject. The history is kept.
pub(crate) fn tombstone(memory: &mut Memory) {
    memory.state = State::Tombstoned;
    memory.always_inject = false;
}
