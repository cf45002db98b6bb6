//! Forget: a tombstone by default. History stays.

use crate::Engine;
use crate::gate::{Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy;
use crate::ports::StoreError;
use crate::ports::change::{Change, Guard, Write};
use crate::tenant::bans::{BanCause, Banning};

#[derive(Debug, Clone)]
pub enum Forgotten {
    Done(Box<Memory>),
    Refused(Refusal),
}

/// How a memory is forgotten.
#[derive(Debug, Clone, Default)]
pub struct Forgetting {
    pub reason: Option<String>,
    /// The same value may be saved again.
    pub may_return: bool,
    /// Only if this version still stands.
    pub expected: Option<VersionId>,
}

impl Engine {
    /// Takes a memory out of use. Its path is free again, its history stays, its value may not come back.
    pub fn forget(&self, caller: &Caller, memory: MemoryId, reason: Option<String>) -> Result<Forgotten, Error> {
        self.forget_as(caller, memory, &Forgetting { reason, ..Forgetting::default() })
    }

    /// As [`Engine::forget`], with more to say about it.
    pub fn forget_as(&self, caller: &Caller, memory: MemoryId, how: &Forgetting) -> Result<Forgotten, Error> {
        self.is_on()?;
        for _ in 0..self.limits().commit_attempts {
            let current = self.read_by_id(caller, memory)?;
            let store = self.open_store(caller, &current.store)?;
            if let Err(refusal) = policy::may_forget(caller, &store, &current) {
                return Ok(Forgotten::Refused(self.refuse(caller, &store.slug, refusal)?));
            }
            if current.state == State::Tombstoned {
                return Err(Error::conflict("conflict.state", "the memory is forgotten already"));
            }
            if how.expected.is_some_and(|expected| expected != current.version) {
                return Err(self.changed_since(caller, &current));
            }
            match self.backend.commit(self.tombstoning(caller, &current, how.reason.clone(), how.may_return)?) {
                Ok(_) => return Ok(Forgotten::Done(Box::new(self.read_by_id(caller, memory)?))),
                // Somebody changed it between the look and the write: look again.
                Err(StoreError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::conflict("conflict.lost_race", "the memory keeps changing; try again"))
    }

    /// What forgetting writes: a tombstone, and the ban that keeps the value from coming back.
    pub(crate) fn tombstoning(
        &self,
        caller: &Caller,
        current: &Memory,
        reason: Option<String>,
        may_return: bool,
    ) -> Result<Change, Error> {
        let now = self.clock.now();
        let mut change =
            Change::new(caller.tenant, now).guard(Guard::VersionIs { memory: current.id, version: current.version });
        if !may_return {
            let why = Banning { cause: BanCause::Forget, by: &caller.principal, why: reason.as_deref(), at: now };
            let value = std::iter::once((current.id, current.content.as_str()));
            change.writes.extend(self.banning(caller.tenant, &current.scope, value, &why)?);
        }
        let said = std::iter::once(current.content.as_str());
        change.writes.extend(self.dropping_summaries(caller.tenant, said)?);
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, reason);
        let entry = Entry::transition(current, Operation::Forget, stamp, Vec::new(), |memory| {
            memory.state = State::Tombstoned;
            memory.always_inject = false;
        });
        let event =
            Happening::new(EventName::Forgotten, caller, now).about(entry.memory()).with("may_return", may_return);
        Ok(change.event(event).write(Write::Entry(Box::new(entry))))
    }

    /// Switches a memory's always-inject on or off.
    pub fn pin(&self, caller: &Caller, memory: MemoryId, always_inject: bool) -> Result<Forgotten, Error> {
        self.is_on()?;
        self.again(|| self.pin_once(caller, memory, always_inject))
    }

    fn pin_once(&self, caller: &Caller, memory: MemoryId, always_inject: bool) -> Result<Forgotten, Error> {
        let current = self.read_by_id(caller, memory)?;
        let store = self.open_store(caller, &current.store)?;
        if let Err(refusal) = policy::may_write(caller, &store, &current.scope, current.kind, true) {
            return Ok(Forgotten::Refused(self.refuse(caller, &store.slug, refusal)?));
        }
        if !current.state.stands() {
            return Err(Error::conflict("conflict.state", format!("the memory is {}", current.state)));
        }
        let now = self.clock.now();
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, None);
        let entry = Entry::transition(&current, Operation::Pin, stamp, Vec::new(), |memory| {
            memory.always_inject = always_inject;
        });
        let pinned = entry.memory().clone();
        let change = Change::new(caller.tenant, now)
            .guard(Guard::VersionIs { memory: current.id, version: current.version })
            .event(Happening::new(EventName::Pinned, caller, now).about(&pinned).with("always_inject", always_inject))
            .write(Write::Entry(Box::new(entry)));
        self.backend.commit(change)?;
        Ok(Forgotten::Done(Box::new(pinned)))
    }
}
