//! Rollback: take back what was activated, and on request bring back what it had replaced.

use crate::Engine;
use crate::caller::Caller;
use crate::change::{Change, Guard, Write};
use crate::chronicle::{Feat, ROLLBACK, address};
use crate::error::Error;
use crate::event::{EventName, Happening};
use crate::gate::{Entry, Stamp};
use crate::id::MemoryId;
use crate::memory::{Draft, Memory};
use crate::policy::{self, Readable};
use crate::ports::Address;
use crate::refusal::Refusal;
use crate::vocabulary::{Operation, State};

#[derive(Debug, Clone)]
pub enum RolledBack {
    Done(Box<Rollback>),
    Refused(Refusal),
}

/// What a rollback did.
#[derive(Debug, Clone)]
pub struct Rollback {
    /// The memory that was taken back.
    pub memory: Memory,
    /// What is active again.
    pub restored: Vec<Memory>,
    /// What stays as it is although it was replaced, and why.
    pub not_restored: Vec<(MemoryId, String)>,
}

impl Engine {
    /// Tombstones an active memory. History stays, and its value may return: a rollback is no forgetting.
    pub fn rollback(
        &self,
        caller: &Caller,
        memory: MemoryId,
        restore: bool,
        reason: Option<&str>,
    ) -> Result<RolledBack, Error> {
        self.is_on()?;
        let current = self.read_by_id(caller, memory)?;
        let store = self.open_store(caller, &current.store)?;
        if let Err(refusal) = policy::may_forget(caller, &store, &current) {
            return Ok(RolledBack::Refused(self.refuse(caller, &store.slug, refusal)?));
        }
        if current.state != State::Active {
            let reason = format!("the memory is {}, only an active one can be rolled back", current.state);
            return Err(Error::conflict("conflict.not_active", reason));
        }
        let now = self.clock.now();
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, reason.map(str::to_owned));
        let entry = Entry::transition(&current, Operation::Rollback, stamp, Vec::new(), |memory| {
            memory.state = State::Tombstoned;
            memory.always_inject = false;
        });
        let mut done = Rollback { memory: entry.memory().clone(), restored: Vec::new(), not_restored: Vec::new() };
        let event =
            Happening::new(EventName::Forgotten, caller, now).about(entry.memory()).with("operation", "rollback");
        let mut change = Change::new(caller.tenant, now)
            .guard(Guard::VersionIs { memory: current.id, version: current.version })
            .event(event)
            .write(Write::Entry(Box::new(entry)));
        if restore {
            change = self.restoring(caller, &current, change, &mut done)?;
        }
        let feat = Feat { name: ROLLBACK, memory: &done.memory, told: told(&done) };
        self.backend.commit(self.chronicled(caller, change, &feat)?)?;
        Ok(RolledBack::Done(Box::new(done)))
    }

    /// Adds what brings back everything this memory had replaced, but nothing that was forgotten since.
    fn restoring(
        &self,
        caller: &Caller,
        current: &Memory,
        change: Change,
        done: &mut Rollback,
    ) -> Result<Change, Error> {
        let now = change.at;
        let mut change = change;
        for id in &current.supersedes {
            let Some(old) = self.backend.get(&Readable::everything(caller.tenant), &Address::Id(*id))? else {
                done.not_restored.push((*id, "it is gone".to_owned()));
                continue;
            };
            if old.state != State::Superseded || old.superseded_by != Some(current.id) {
                done.not_restored.push((*id, format!("it is {}", old.state)));
                continue;
            }
            let banned = self.banned(caller.tenant, &self.ban_keys(caller.tenant)?, &old.scope, &Draft::of(&old))?;
            if let Some(ban) = banned.ban {
                done.not_restored.push((*id, ban.refusal().message));
                continue;
            }
            change.guards.extend(banned.guards);
            let reason = format!("{} was rolled back", current.id);
            let stamp = Stamp::new(caller, self.fresh_version_id(), now, Some(reason));
            let entry = Entry::transition(&old, Operation::Restore, stamp, Vec::new(), |memory| {
                memory.state = State::Active;
                memory.superseded_by = None;
            });
            done.restored.push(entry.memory().clone());
            change = change
                .guard(Guard::VersionIs { memory: old.id, version: old.version })
                .event(Happening::new(EventName::Restored, caller, now).about(entry.memory()))
                .write(Write::Entry(Box::new(entry)));
        }
        Ok(change)
    }
}

fn told(done: &Rollback) -> String {
    let back = match done.restored.len() {
        0 => String::new(),
        restored => format!("; {restored} it had replaced stand again"),
    };
    format!("Rolled back {}{back}", address(&done.memory))
}
