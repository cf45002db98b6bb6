//! Quarantine: one command holds back a bad memory and everything made from it, and one takes that back.

use std::collections::HashSet;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Address, refusals, retry, row};
use crate::recall::{lineage, visibility};
use crate::tenant::bans::{self, Ban, BanCause, BanReason};

/// What a quarantine, or its end, did.
#[derive(Clone, Debug)]
pub enum QuarantineOutcome {
    Done(Box<QuarantineReach>),
    Refused(Refusal),
}

#[derive(Clone, Debug)]
pub struct QuarantineReach {
    /// The memories held back or let go, the named one first.
    pub memories: Vec<Memory>,
    /// Runs and conversations that had been given one of them.
    pub reached: Vec<String>,
}

/// Memories changed in one transaction.
const MEMORIES_PER_BATCH: usize = 250;

impl Engine {
    /// Takes a memory, and on request everything derived from it, out of use until a person lets it go.
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

    /// Lets go of what a quarantine of this memory held back.
    pub fn release(&self, caller: &Caller, memory: MemoryId, reason: Option<&str>) -> Result<QuarantineOutcome, Error> {
        self.ensure_memory_enabled()?;
        if let Some(refusal) = reviewers_only(caller) {
            return Ok(QuarantineOutcome::Refused(refusals::log_refusal(self, caller, "", refusal)?));
        }
        // Kept over the attempts: batches that were committed before a lost race are part of the answer.
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
    let mut held: Vec<Memory> = Vec::from_iter(Some(root.clone()).filter(|root| root.state == State::Active));
    if derived {
        held.extend(lineage::find_descendants(engine, caller.tenant, &HashSet::from([root.id]), &[State::Active])?);
    }
    if held.is_empty() {
        let reason = format!("the memory is {}, and nothing active is derived from it", root.state);
        return Err(Error::conflict("conflict.state", reason));
    }
    let mark = quarantine_mark(root.id, reason);
    for batch in held.chunks(MEMORIES_PER_BATCH) {
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
    let mut free = Vec::new();
    for memory in held.into_iter().filter(|memory| memory.state == State::Constrained) {
        let last = engine.backend.get_version(&everything, memory.version)?;
        let by_this = |reason: &String| reason.starts_with(&mark);
        if last.is_some_and(|v| v.operation == Operation::Constrain && v.reason.as_ref().is_some_and(by_this)) {
            free.push(memory);
        }
    }
    if free.is_empty() && released.is_empty() {
        return Err(Error::conflict("conflict.state", "nothing is held back by a quarantine of this memory"));
    }
    for batch in free.chunks(MEMORIES_PER_BATCH) {
        engine.commit(plan_release(engine, caller, batch, reason)?)?;
        released.extend_from_slice(batch);
    }
    Ok(())
}

/// What puts memories out of use. Their text is held back with them: saving it again is no way out.
pub(crate) fn plan_quarantine(engine: &Engine, caller: &Caller, batch: &[Memory], mark: &str) -> Result<Change, Error> {
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    let why = BanReason { cause: BanCause::Quarantine, by: &caller.principal, why: None, at: now };
    for memory in batch {
        let value = std::iter::once((memory.id, memory.content.as_str()));
        change.writes.extend(bans::plan_bans(engine, caller.tenant, &memory.scope, value, &why)?);
        let constrain = Transition::new(memory, Operation::Constrain)
            .with_reason(mark.to_owned())
            .with_event(EventName::Quarantined);
        (change, _) = constrain.plan(engine, caller, change, |memory| memory.state = State::Constrained);
    }
    Ok(change)
}

fn plan_release(engine: &Engine, caller: &Caller, batch: &[Memory], reason: Option<&str>) -> Result<Change, Error> {
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    for memory in batch {
        let about =
            RowFilter { subject: Some(memory.id.to_string()), limit: MEMORIES_PER_BATCH, ..RowFilter::default() };
        for ban in row::select_records::<Ban>(&*engine.backend, caller.tenant, &about)? {
            if ban.cause == BanCause::Quarantine {
                change = change.with_write(Write::DeleteRow { kind: RowKind::Bans, id: ban.row_id() });
            }
        }
        let restore = Transition::new(memory, Operation::Restore)
            .with_reason(reason.map(str::to_owned))
            .with_event(EventName::Restored);
        (change, _) = restore.plan(engine, caller, change, |memory| memory.state = State::Active);
    }
    Ok(change)
}

/// A memory of the tenant wherever it lives, for those who decide.
pub(crate) fn load_any_memory(engine: &Engine, caller: &Caller, id: MemoryId) -> Result<Memory, Error> {
    visibility::visible_to(engine, caller)?;
    let memory = engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Id(id))?;
    memory.ok_or_else(|| Error::not_found(format!("memory `{id}`")))
}

/// The reason by which a quarantine knows its own.
pub(crate) fn quarantine_mark(root: MemoryId, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("quarantine {root}: {reason}"),
        None => format!("quarantine {root}"),
    }
}

pub(crate) fn reviewers_only(caller: &Caller) -> Option<Refusal> {
    let entitled = caller.role.may_decide_reviews() && caller.rules.manage;
    (!entitled).then(|| Refusal::new("policy.reviewers_only", "only reviewers and admins may do this"))
}
