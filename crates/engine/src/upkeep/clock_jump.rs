//! Clock jumps: memories archived by a clock that ran ahead become active again once it is set back.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::row::{RowKind, SideRecord};
use crate::model::time::is_ahead;
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Filter, PageRequest, SortOrder, row};
use crate::recall::read;

/// Latest time at which upkeep archived something. A time ahead of the clock shows that the clock was set back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LastArchival {
    at: Timestamp,
}

/// Row id, beside the leases of upkeep.
const LAST_ARCHIVAL_ID: &str = "last_archival";

impl SideRecord for LastArchival {
    const KIND: RowKind = RowKind::Leases;
    fn row_id(&self) -> String {
        LAST_ARCHIVAL_ID.to_owned()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        String::new()
    }
}

/// Adds the time of an archival to the change that archives.
pub(super) fn with_archival_time(change: Change) -> Change {
    let last = LastArchival { at: change.at };
    change.with_write(Write::Row(last.to_row()))
}

/// Restores what was archived at a time that is still to come; returns how many. One look-up where the clock was not
/// set back.
pub(super) fn restore_archived_ahead(
    engine: &Engine,
    tenant: TenantId,
    batch: usize,
    now: Timestamp,
) -> Result<u64, Error> {
    let last = row::get_record::<LastArchival>(&*engine.backend, tenant, LAST_ARCHIVAL_ID)?;
    if !last.is_some_and(|last| is_ahead(last.at, now)) {
        return Ok(0);
    }
    let mut restored = 0;
    let mut after = None;
    loop {
        let filter = Filter { states: vec![State::Archived], updated_after: Some(now), ..Filter::default() };
        let page = PageRequest { order: SortOrder::Oldest, after, limit: batch };
        let archived = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
        for memory in archived.iter().filter(|memory| memory.archived_at.is_some_and(|at| is_ahead(at, now))) {
            restored += restore_memory(engine, tenant, memory, now)?;
        }
        match archived.last().filter(|_| archived.len() == batch) {
            Some(last) => after = read::cursor_after(page.order, last),
            None => break,
        }
    }
    // Last, so that an upkeep that is interrupted starts again.
    engine.commit_setup(with_archival_time(Change::new(tenant, now)))?;
    Ok(restored)
}

/// Restores one memory to the state before it was archived. 0 if it has changed meanwhile or its path is taken.
fn restore_memory(engine: &Engine, tenant: TenantId, memory: &Memory, now: Timestamp) -> Result<u64, Error> {
    let (everything, upkeep) = (Readable::whole_tenant(tenant), Caller::system(tenant));
    let archival = engine.backend.get_version(&everything, memory.version)?;
    // Only what upkeep archived: a document that a caller replaced, or a note that made room for another, stays away.
    let before = archival.filter(|version| {
        version.actor == upkeep.principal && matches!(version.operation, Operation::Expire | Operation::Archive)
    });
    let Some(before) = before.and_then(|version| version.previous) else { return Ok(0) };
    let Some(before) = engine.backend.get_version(&everything, before)? else { return Ok(0) };
    let mut change = Change::new(tenant, now);
    if let (Some(path), State::Active) = (&memory.path, before.memory.state) {
        let place = Place { store: memory.store.clone(), scope: memory.scope.clone() };
        change = change.with_guard(Guard::PathFree { place, path: path.clone() });
    }
    let restore = Transition::new(memory, Operation::Restore)
        .with_reason("the clock was set back".to_owned())
        .with_event(EventName::Restored)
        // Neither the archival nor the restoration is activity.
        .with_updated_at(before.memory.updated_at);
    let (change, _) = restore.plan(engine, &upkeep, change, |memory| {
        memory.state = before.memory.state;
        memory.archived_at = before.memory.archived_at;
    });
    match engine.commit_setup(change) {
        Ok(_) => Ok(1),
        Err(StoreError::Guard(_)) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
