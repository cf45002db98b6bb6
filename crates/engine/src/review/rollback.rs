//! Rollback: take back what was activated, and on request bring back what it had replaced.

use crate::Engine;
use crate::gate::{Deed, Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory, Version};
use crate::model::refusal::Refusal;
use crate::model::store::Store;
use crate::model::vocabulary::{Operation, State};
use crate::policy::{self, Permit, Readable};
use crate::ports::Address;
use crate::ports::change::{Change, Guard, Write};
use crate::review::promotion_notice::{Feat, ROLLBACK, address};

#[derive(Debug, Clone)]
pub enum RolledBack {
    Done(Box<Rollback>),
    Refused(Refusal),
}

/// What a rollback did.
#[derive(Debug, Clone)]
pub struct Rollback {
    /// The memory that was taken back, as it stands now.
    pub memory: Memory,
    /// What is active again.
    pub restored: Vec<Memory>,
    /// What stays as it is although it was replaced, and why.
    pub not_restored: Vec<(MemoryId, String)>,
}

impl Engine {
    /// Takes an active memory back: tombstones it or, where it shall be restored and was a new version of what stood
    /// there, lets that stand again. History stays, and its value may return: a rollback is no forgetting.
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
        let versions = if restore { self.every_version(caller, current.id)? } else { Vec::new() };
        let before = match before(&versions) {
            Some(before) => Some(self.standing_again(caller, &store, &current, &before, stamp.clone())?),
            None => None,
        };
        let change =
            Change::new(caller.tenant, now).guard(Guard::VersionIs { memory: current.id, version: current.version });
        let (change, done) = match before {
            Some(Ok(entry)) => returned(caller, change, entry),
            Some(Err(why)) => taken_back(caller, change, &current, stamp, vec![(current.id, why)]),
            None => {
                let (change, mut done) = taken_back(caller, change, &current, stamp, Vec::new());
                let change = if restore { self.restoring(caller, &current, change, &mut done)? } else { change };
                (change, done)
            }
        };
        let feat = Feat { name: ROLLBACK, memory: &done.memory, told: told(&done) };
        self.backend.commit(self.chronicled(caller, change, &feat)?)?;
        Ok(RolledBack::Done(Box::new(done)))
    }

    /// The version that stood before, as a new one where the memory is now; else why it cannot stand again.
    fn standing_again(
        &self,
        caller: &Caller,
        store: &Store,
        current: &Memory,
        before: &Before<'_>,
        stamp: Stamp,
    ) -> Result<Result<Entry, String>, Error> {
        let version = before.stood.number;
        if before.stood.redacted_at.or(before.written.redacted_at).is_some() {
            return Ok(Err(format!("version {version} was redacted")));
        }
        if before.stood.memory.is_expired(stamp.at) {
            return Ok(Err(format!("version {version} has expired")));
        }
        // It may have been renamed since: what is taken back is what was said, not where it stands.
        let old = Memory { path: current.path.clone(), ..before.stood.memory.clone() };
        let draft = Draft { evidence: before.written.evidence.clone(), ..Draft::of(&old) };
        let deed = Deed::Restore { permit: Permit { state: old.state, trust: old.trust } };
        Ok(match self.clear_as(caller, deed, store, &old.scope, draft)? {
            Err(refusal) => Err(format!("version {version}: {}", refusal.message)),
            Ok(cleared) => {
                let at = stamp.at;
                let entry = cleared.record(&old, Some(current), Operation::Rollback, stamp, false).dated(at);
                let embedding = self.embedding_at_save(entry.memory());
                Ok(entry.with_embedding(embedding))
            }
        })
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
        if current.supersedes.is_empty() {
            done.not_restored.push((current.id, "it replaced nothing".to_owned()));
        }
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

/// What a writing replaced.
struct Before<'a> {
    /// The last version that stood before it.
    stood: &'a Version,
    /// The version that brought in what stood, with its evidence.
    written: &'a Version,
}

/// What stood before the last writing that is still in force, among versions from the newest on. A rollback that
/// brought an earlier version back has undone one writing already.
fn before(versions: &[Version]) -> Option<Before<'_>> {
    let mut undone = 1;
    let mut stood = None;
    for (at, version) in versions.iter().enumerate().filter(|(_, version)| version.memory.state == State::Active) {
        if undone == 0 {
            stood = stood.or(Some(version));
        }
        match version.operation {
            Operation::Rollback => undone += 1,
            operation if !writes(operation) || is_move(version, versions.get(at + 1)) => {}
            _ => match (undone, stood) {
                (0, Some(stood)) => return Some(Before { stood, written: version }),
                _ => undone -= 1,
            },
        }
    }
    None
}

/// Whether it says something, rather than how what was said is treated.
fn writes(operation: Operation) -> bool {
    match operation {
        Operation::Create
        | Operation::Update
        | Operation::Patch
        | Operation::Seed
        | Operation::Promote
        | Operation::Confirm
        | Operation::Import => true,
        Operation::Supersede
        | Operation::Rollback
        | Operation::Restore
        | Operation::Constrain
        | Operation::Archive
        | Operation::Expire
        | Operation::Extend
        | Operation::Forget
        | Operation::Redact
        | Operation::Pin => false,
    }
}

/// Whether nothing but the path is other than before.
fn is_move(version: &Version, older: Option<&Version>) -> bool {
    let said = |version: &Version| (version.memory.state, version.memory.trust, Draft::of(&version.memory));
    older.is_some_and(|older| {
        let (state, trust, draft) = said(older);
        said(version) == (state, trust, Draft { path: version.memory.path.clone(), ..draft })
    })
}

/// The memory goes, its history stays.
fn taken_back(
    caller: &Caller,
    change: Change,
    current: &Memory,
    stamp: Stamp,
    not_restored: Vec<(MemoryId, String)>,
) -> (Change, Rollback) {
    let entry = Entry::transition(current, Operation::Rollback, stamp, Vec::new(), |memory| {
        memory.state = State::Tombstoned;
        memory.always_inject = false;
    });
    let done = Rollback { memory: entry.memory().clone(), restored: Vec::new(), not_restored };
    let event =
        Happening::new(EventName::Forgotten, caller, change.at).about(entry.memory()).with("operation", "rollback");
    (change.event(event).write(Write::Entry(Box::new(entry))), done)
}

/// The memory stays, and says again what it said before.
fn returned(caller: &Caller, mut change: Change, entry: Entry) -> (Change, Rollback) {
    let memory = entry.memory().clone();
    let event = Happening::new(EventName::Restored, caller, change.at)
        .about(&memory)
        .with("sha256", &memory.sha256)
        .with("operation", "rollback");
    change.guards.extend(entry.guards().iter().cloned());
    let change = change.event(event).write(Write::Entry(Box::new(entry)));
    (change, Rollback { restored: vec![memory.clone()], memory, not_restored: Vec::new() })
}

fn told(done: &Rollback) -> String {
    let back = match done.restored.as_slice() {
        [] => String::new(),
        [restored] if restored.id == done.memory.id => " to what stood there before".to_owned(),
        restored => format!("; {} it had replaced stand again", restored.len()),
    };
    format!("Rolled back {}{back}", address(&done.memory))
}
