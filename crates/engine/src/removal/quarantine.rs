//! Quarantine: holds back a bad memory and everything derived from it; release puts them back into use.

use std::collections::HashSet;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::MemoryId;
use crate::model::limits::COMMIT_BATCH_MAX;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Address, Filter, SortOrder, refusals, retry, row};
use crate::recall::{lineage, read, visibility};
use crate::tenant::bans::{self, Ban, BanCause, BanReason};
use crate::text::normalize;

/// Answer of a quarantine or a release.
#[derive(Clone, Debug)]
pub enum QuarantineOutcome {
    Done(Box<QuarantineReach>),
    Refused(Refusal),
}

#[derive(Clone, Debug)]
pub struct QuarantineReach {
    /// The memories held back or released, the named one first.
    pub memories: Vec<Memory>,
    /// Runs and conversations that one of them was shown to. Empty for a release.
    pub reached: Vec<String>,
}

/// Bans of one memory that a release reads: one for each text it was held back with.
const BANS_PER_MEMORY_MAX: usize = 250;

impl Engine {
    /// Takes a memory out of use until it is released; with `derived`, everything derived from it too.
    pub fn quarantine(
        &self,
        caller: &Caller,
        memory: MemoryId,
        derived: bool,
        reason: Option<&str>,
    ) -> Result<QuarantineOutcome, Error> {
        self.ensure_memory_enabled()?;
        if let Some(refusal) = reviewers_only(caller) {
            return Ok(QuarantineOutcome::Refused(refusals::log_refusal(self, caller, "", refusal)?));
        }
        retry::retry_lost_race(self, || quarantine_once(self, caller, memory, derived, reason))
    }

    /// Releases the memories that a quarantine of this memory holds back.
    pub fn release(&self, caller: &Caller, memory: MemoryId, reason: Option<&str>) -> Result<QuarantineOutcome, Error> {
        self.ensure_memory_enabled()?;
        if let Some(refusal) = reviewers_only(caller) {
            return Ok(QuarantineOutcome::Refused(refusals::log_refusal(self, caller, "", refusal)?));
        }
        // Kept across attempts: batches committed before a lost race are part of the answer.
        let mut released = Vec::new();
        retry::retry_lost_race(self, || release_once(self, caller, memory, reason, &mut released))?;
        Ok(QuarantineOutcome::Done(Box::new(QuarantineReach { memories: released, reached: Vec::new() })))
    }
}

fn quarantine_once(
    engine: &Engine,
    caller: &Caller,
    memory: MemoryId,
    derived: bool,
    reason: Option<&str>,
) -> Result<QuarantineOutcome, Error> {
    let root = load_any_memory(engine, caller, memory)?;
    // A root that is not active is left as it is, but its derived memories are still held back.
    let mut held: Vec<Memory> = Vec::from_iter(Some(root.clone()).filter(|root| root.state == State::Active));
    if derived {
        held.extend(lineage::find_descendants(engine, caller.tenant, &HashSet::from([root.id]), &[State::Active])?);
    }
    if held.is_empty() {
        let reason = format!("the memory is already {}; nothing to hold back", root.state);
        return Err(Error::conflict("conflict.state", reason));
    }
    let mark = quarantine_mark(root.id, reason);
    // A guard that fails in a later batch leaves the earlier ones held back; the retry continues with the rest.
    for batch in held.chunks(COMMIT_BATCH_MAX) {
        engine.commit(plan_quarantine(engine, caller, batch, &mark)?)?;
    }
    let ids: Vec<MemoryId> = held.iter().map(|memory| memory.id).chain([root.id]).collect();
    let reached = lineage::list_audience(engine, caller.tenant, ids.iter())?;
    Ok(QuarantineOutcome::Done(Box::new(QuarantineReach { memories: held, reached })))
}

fn release_once(
    engine: &Engine,
    caller: &Caller,
    memory: MemoryId,
    reason: Option<&str>,
    released: &mut Vec<Memory>,
) -> Result<(), Error> {
    let root = load_any_memory(engine, caller, memory)?;
    let mut held: Vec<Memory> = vec![root.clone()];
    held.extend(lineage::find_descendants(engine, caller.tenant, &HashSet::from([root.id]), &[State::Constrained])?);
    let everything = Readable::whole_tenant(caller.tenant);
    let mark = quarantine_mark(root.id, None);
    let mut releasable = Vec::new();
    for memory in held.into_iter().filter(|memory| memory.state == State::Constrained) {
        let last = engine.backend.get_version(&everything, memory.version)?;
        // A memory that changed since, or is held back for another reason, stays held back.
        let by_this = |reason: &String| reason.starts_with(&mark);
        if last.is_some_and(|v| v.operation == Operation::Constrain && v.reason.as_ref().is_some_and(by_this)) {
            releasable.push(memory);
        }
    }
    if releasable.is_empty() && released.is_empty() {
        return Err(Error::conflict("conflict.state", "no memory is held back by a quarantine of this one"));
    }
    for batch in releasable.chunks(COMMIT_BATCH_MAX) {
        engine.commit(plan_release(engine, caller, batch, reason)?)?;
        released.extend_from_slice(batch);
    }
    Ok(())
}

/// Plans to hold back memories. Their texts are banned too, so that saving a text again does not evade the quarantine.
pub(crate) fn plan_quarantine(engine: &Engine, caller: &Caller, batch: &[Memory], mark: &str) -> Result<Change, Error> {
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    let why = BanReason::new(BanCause::Quarantine, caller, None, now);
    for memory in batch {
        let value = std::iter::once((memory.id, memory.content.as_str()));
        for write in bans::plan_bans(engine, caller.tenant, &memory.scope, value, &why)? {
            // A ban that is there stays as it is: a release must not lift the ban of a forget.
            let is_new = match &write {
                Write::Row(row) => engine.backend.get_row(caller.tenant, row.kind, &row.id)?.is_none(),
                _ => true,
            };
            change.writes.extend(Some(write).filter(|_| is_new));
        }
        let constrain = Transition::new(memory, Operation::Constrain)
            .with_reason(mark.to_owned())
            .with_event(EventName::Quarantined);
        // The reason of this version is the mark by which a release finds the memory.
        (change, _) = constrain.plan(engine, caller, change, |memory| memory.state = State::Constrained);
    }
    Ok(change)
}

/// Plans to release memories and to lift the bans of their quarantine.
fn plan_release(engine: &Engine, caller: &Caller, batch: &[Memory], reason: Option<&str>) -> Result<Change, Error> {
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    for memory in batch {
        let about =
            RowFilter { subject: Some(memory.id.to_string()), limit: BANS_PER_MEMORY_MAX, ..RowFilter::default() };
        for ban in row::select_records::<Ban>(&*engine.backend, caller.tenant, &about)? {
            // Bans of a forget or a redaction stay.
            if ban.cause != BanCause::Quarantine {
                continue;
            }
            change = change.with_write(match find_quarantined_twin(engine, caller, memory, batch)? {
                Some(twin) => Write::Row(Ban { memory: twin, ..ban }.to_row()),
                None => Write::DeleteRow { kind: RowKind::Bans, id: ban.row_id() },
            });
        }
        let restore = Transition::new(memory, Operation::Restore)
            .with_reason(reason.map(str::to_owned))
            .with_event(EventName::Restored);
        (change, _) = restore.plan(engine, caller, change, |memory| memory.state = State::Active);
    }
    Ok(change)
}

/// Another memory of the scope with the same text that stays in quarantine: the ban goes on for it.
fn find_quarantined_twin(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    released: &[Memory],
) -> Result<Option<MemoryId>, Error> {
    let (everything, text) = (Readable::whole_tenant(caller.tenant), normalize::normalise_text(&memory.content));
    let filter = Filter { scopes: vec![memory.scope.kind()], states: vec![State::Constrained], ..Filter::default() };
    for other in read::list_all_memories(engine, caller.tenant, &filter, SortOrder::Oldest)? {
        let is_same = other.scope == memory.scope && normalize::normalise_text(&other.content) == text;
        if !is_same || released.iter().any(|memory| memory.id == other.id) {
            continue;
        }
        // Candidates of reviews are held back too, but not by a quarantine.
        let last = engine.backend.get_version(&everything, other.version)?;
        let is_mark = |reason: &String| reason.starts_with(QUARANTINE_MARK);
        if last.is_some_and(|v| v.operation == Operation::Constrain && v.reason.as_ref().is_some_and(is_mark)) {
            return Ok(Some(other.id));
        }
    }
    Ok(None)
}

/// A memory of the tenant in any scope, for callers who may decide reviews.
pub(crate) fn load_any_memory(engine: &Engine, caller: &Caller, id: MemoryId) -> Result<Memory, Error> {
    // Only for its refusal: a caller without `memory.read` finds nothing.
    visibility::visible_to(engine, caller)?;
    let memory = engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Id(id))?;
    memory.ok_or_else(|| Error::not_found(format!("memory `{id}`")))
}

/// First word of the version reason.
const QUARANTINE_MARK: &str = "quarantine ";

/// Version reason that names the quarantine. A release finds its memories by this prefix.
pub(crate) fn quarantine_mark(root: MemoryId, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{QUARANTINE_MARK}{root}: {reason}"),
        None => format!("{QUARANTINE_MARK}{root}"),
    }
}

/// Refusal for a caller who is neither reviewer nor admin, or lacks the rule `memory.manage`.
pub(crate) fn reviewers_only(caller: &Caller) -> Option<Refusal> {
    let entitled = caller.role.may_decide_reviews() && caller.rules.manage;
    (!entitled).then(|| Refusal::new("policy.reviewers_only", "only reviewers and admins may do this"))
}
