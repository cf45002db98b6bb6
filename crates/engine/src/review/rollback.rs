//! Rollback: takes an active memory back; on request restores what it had replaced.

use crate::Engine;
use crate::gate::{VersionStamp, VersionedEntry, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory, Version};
use crate::model::refusal::Refusal;
use crate::model::store::Store;
use crate::model::trust_flow::Field;
use crate::model::vocabulary::{Operation, State};
use crate::policy::{self, Readable, WritePermit};
use crate::ports::change::Change;
use crate::ports::transition::{Transition, tombstone};
use crate::ports::{Address, embedding, refusals};
use crate::recall::promoted::ROLLBACK;
use crate::recall::read;
use crate::removal::redact;
use crate::review::promotion_notice::{self, Notice, display_address};
use crate::tenant::bans::Word;
use crate::tenant::{bans, stores};
use crate::write::clear;

#[derive(Debug, Clone)]
pub enum RollbackOutcome {
    Done(Box<Rollback>),
    Refused(Refusal),
}

/// Result of a rollback.
#[derive(Debug, Clone)]
pub struct Rollback {
    /// The memory that was rolled back, as it is now.
    pub memory: Memory,
    /// Memories that are active again.
    pub restored: Vec<Memory>,
    /// Replaced memories that were not restored, and why.
    pub not_restored: Vec<(MemoryId, String)>,
}

impl Engine {
    /// Takes an active memory back. With `restore`, its previous content becomes a new version; a memory without one is
    /// tombstoned and the memories it had replaced become active again. Without `restore` it is tombstoned. History
    /// stays, and unlike after a forget the text may be saved again.
    pub fn rollback(
        &self,
        caller: &Caller,
        memory: MemoryId,
        restore: bool,
        reason: Option<&str>,
    ) -> Result<RollbackOutcome, Error> {
        self.ensure_memory_enabled()?;
        let current = read::read_by_id(self, caller, memory)?;
        let store = stores::open_store(self, caller, &current.store)?;
        let permit = match policy::forget_needs_person(caller, &current) {
            true => Err(policy::people_remove_refusal()),
            false => policy::may_forget(caller, &store, &current),
        };
        if let Err(refusal) = permit {
            return Ok(RollbackOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
        }
        if current.state != State::Active {
            let reason = format!("only an active memory can be rolled back; this one is {}", current.state);
            return Err(Error::conflict("conflict.not_active", reason));
        }
        let now = self.clock.now();
        let stamp = VersionStamp::new(caller, self.fresh_version_id(), now, reason.map(str::to_owned));
        // Without `restore` the history is not needed.
        let versions = if restore { redact::list_all_versions(self, caller, current.id)? } else { Vec::new() };
        let restored = match find_prior_version(&versions) {
            Some(prior) => Some(restore_prior_version(self, caller, &store, &current, &prior, stamp)?),
            None => None,
        };
        let change = Change::new(caller.tenant, now);
        let take_back = |change, not_restored| {
            let rollback = Transition::new(&current, Operation::Rollback)
                .with_reason(reason.map(str::to_owned))
                .with_event(EventName::Forgotten)
                .with_field("operation", "rollback");
            let (change, memory) = rollback.plan(self, caller, change, tombstone);
            (change, Rollback { memory, restored: Vec::new(), not_restored })
        };
        let (change, done) = match restored {
            Some(Ok(entry)) => plan_restored_content(caller, change, &current, entry),
            // The prior content cannot be restored: the memory is still taken back, and the answer says why.
            Some(Err(why)) => take_back(change, vec![(current.id, why)]),
            None => {
                let (change, mut done) = take_back(change, Vec::new());
                let change =
                    if restore { plan_restore_replaced(self, caller, &current, change, &mut done)? } else { change };
                (change, done)
            }
        };
        let notice = Notice { action: ROLLBACK, memory: &done.memory, text: rollback_notice(&done) };
        self.commit(promotion_notice::plan_notice(self, caller, change, &notice)?)?;
        Ok(RollbackOutcome::Done(Box::new(done)))
    }
}

/// The prior content as a new version at the memory's current path; else the reason why it cannot be restored.
fn restore_prior_version(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    current: &Memory,
    prior: &PriorVersion<'_>,
    stamp: VersionStamp,
) -> Result<Result<VersionedEntry, String>, Error> {
    let version = prior.latest.number;
    // A redacted version has no text to restore.
    if prior.latest.redacted_at.or(prior.written.redacted_at).is_some() {
        return Ok(Err(format!("version {version} was redacted")));
    }
    if prior.latest.memory.is_expired(stamp.at) {
        return Ok(Err(format!("version {version} has expired")));
    }
    // The memory may have been renamed since: a rollback restores the content, not the path.
    let mut old = Memory { path: current.path.clone(), ..prior.latest.memory.clone() };
    old.set_field_trust(Field::Path, current.trust_of(Field::Path));
    let draft = Draft { evidence: prior.written.evidence.clone(), ..Draft::from_intact(&old)? };
    let intent = WriteIntent::RestoreVersion { permit: WritePermit { state: old.state, trust: old.trust } };
    Ok(match clear::clear_draft_as(engine, caller, intent, store, &old.scope, draft)? {
        Err(refusal) => Err(format!("version {version}: {}", refusal.message)),
        Ok(cleared) => {
            let at = stamp.at;
            let entry = cleared
                .into_imported_version(&old, Some(current), Operation::Rollback, stamp, false)
                .with_updated_at(at);
            let embedding = embedding::embed_if_instant(engine, entry.memory());
            Ok(entry.with_embedding(embedding))
        }
    })
}

/// Adds the restoring of the memories this one had replaced, except those forgotten or banned since.
fn plan_restore_replaced(
    engine: &Engine,
    caller: &Caller,
    current: &Memory,
    change: Change,
    done: &mut Rollback,
) -> Result<Change, Error> {
    let mut change = change;
    if current.supersedes.is_empty() {
        done.not_restored.push((current.id, "it replaced nothing".to_owned()));
    }
    for id in &current.supersedes {
        let Some(old) = engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Id(*id))? else {
            done.not_restored.push((*id, "it is gone".to_owned()));
            continue;
        };
        // Restored only if it is still superseded by this memory: anything else was decided later.
        if old.state != State::Superseded || old.superseded_by != Some(current.id) {
            done.not_restored.push((*id, format!("it is {}", old.state)));
            continue;
        }
        // Its text may have been forgotten elsewhere in the scope since.
        let banned = bans::check_bans(
            engine,
            caller.tenant,
            Word::of(caller),
            &bans::load_ban_keys(engine, caller.tenant)?,
            &old.scope,
            &Draft::from_intact(&old)?,
        )?;
        if let Some(ban) = banned.ban {
            done.not_restored.push((*id, ban.to_refusal().message));
            continue;
        }
        change.guards.extend(banned.guards);
        let reason = format!("{} was rolled back", current.id);
        let restore = Transition::new(&old, Operation::Restore).with_reason(reason).with_event(EventName::Restored);
        let (with_old, restored) = restore.plan(engine, caller, change, |memory| {
            memory.state = State::Active;
            memory.superseded_by = None;
        });
        change = with_old;
        done.restored.push(restored);
    }
    Ok(change)
}

/// The content that a write replaced.
struct PriorVersion<'a> {
    /// The last version with that content.
    latest: &'a Version,
    /// The version that first had that content, with its evidence.
    written: &'a Version,
}

/// The content before the last write that is still in force. `versions` are sorted newest first.
///
/// Walks back in time and counts the writes to undo: one at first, and one more for each earlier rollback on the way,
/// because that rollback has undone one write already.
fn find_prior_version(versions: &[Version]) -> Option<PriorVersion<'_>> {
    let mut to_undo = 1;
    let mut latest = None;
    for (at, version) in versions.iter().enumerate().filter(|(_, version)| version.memory.state == State::Active) {
        // The first version reached with nothing left to undo is the newest one of the prior content.
        if to_undo == 0 {
            latest = latest.or(Some(version));
        }
        match version.operation {
            Operation::Rollback => to_undo += 1,
            operation if !writes_content(operation) || is_path_change(version, versions.get(at + 1)) => {}
            _ => match (to_undo, latest) {
                (0, Some(latest)) => return Some(PriorVersion { latest, written: version }),
                _ => to_undo -= 1,
            },
        }
    }
    None
}

/// Whether an operation writes content. The others change only how the content is treated.
fn writes_content(operation: Operation) -> bool {
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

/// Whether only the path differs from the version before: a rename.
fn is_path_change(version: &Version, older: Option<&Version>) -> bool {
    let fields = |version: &Version| (version.memory.state, version.memory.trust, Draft::from_memory(&version.memory));
    older.is_some_and(|older| {
        let (state, trust, draft) = fields(older);
        fields(version) == (state, trust, Draft { path: version.memory.path.clone(), ..draft })
    })
}

/// Plans to give the memory its prior content back.
fn plan_restored_content(
    caller: &Caller,
    change: Change,
    current: &Memory,
    entry: VersionedEntry,
) -> (Change, Rollback) {
    let memory = entry.memory().clone();
    let event = EventBody::new(EventName::Restored, caller, change.at)
        .about_memory(&memory)
        .with_field("sha256", &memory.sha256)
        .with_field("operation", "rollback");
    let change = change
        .with_guard(Guard::VersionIs { memory: current.id, version: current.version })
        .with_event(event)
        .with_entry(entry);
    (change, Rollback { restored: vec![memory.clone()], memory, not_restored: Vec::new() })
}

fn rollback_notice(done: &Rollback) -> String {
    let effect = match done.restored.as_slice() {
        [] => String::new(),
        [restored] if restored.id == done.memory.id => " to its previous content".to_owned(),
        restored => format!("; restored the memories it had replaced: {}", restored.len()),
    };
    format!("Rolled back {}{effect}", display_address(&done.memory))
}
