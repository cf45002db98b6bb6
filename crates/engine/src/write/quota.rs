//! Quotas: a save into a full place archives the least important memories in the same transaction.

use jiff::Timestamp;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::lifecycle;
use crate::model::memory::Memory;
use crate::model::ruleset::Ruleset;
use crate::model::vocabulary::{Operation, State};
use crate::policy::{self, Readable};
use crate::ports::change::Change;
use crate::ports::transition::Transition;
use crate::ports::{Filter, PageRequest, SortOrder};

/// Adds to a save of `incoming` memories the archiving that keeps its place within `live_max`, least important first.
/// In a nearly full place, memories that have decayed almost to nothing are archived earlier.
pub(crate) fn plan_quota_room(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    ruleset: &Ruleset,
    incoming: u64,
    change: Change,
) -> Result<Change, Error> {
    let Some(live_max) = ruleset.live_max else { return Ok(change) };
    let state = engine.backend.place_state(caller.tenant, place)?;
    // The guard checks for room for one memory; for `incoming` of them the limit is lower by the rest.
    let room = Guard::RoomLeft { place: place.clone(), live_max: (live_max + 1).saturating_sub(incoming) };
    if ((state.live + incoming) as f64) < live_max as f64 * lifecycle::NEARLY_FULL_SHARE {
        return Ok(change.with_guard(room));
    }
    let over = (state.live + incoming).saturating_sub(live_max) as usize;
    let filter = Filter { places: vec![place.clone()], layers: ruleset.layers.clone(), ..Filter::default() };
    // One is read even if nothing must go: it may have decayed enough for early archiving.
    let mut fading = list_fading(engine, caller, &filter, over.max(1))?;
    if fading.len() < over && caller.role.is_program() {
        // Most of the place is a person's: look through all of it.
        fading = list_fading(engine, caller, &filter, state.live as usize)?;
        fading.truncate(over);
    }
    if fading.len() < over && caller.role.is_program() {
        return Err(full_of_persons_texts(live_max));
    }
    let mut change = change;
    if over == 0 {
        fading.retain(|memory| memory.decayed_importance(change.at) < lifecycle::EARLY_ARCHIVE_BELOW);
        change = change.with_guard(room);
    }
    // When over the limit there is no room guard: each archiving step guards the version of its memory instead.
    for memory in fading {
        let reason = Some(format!("made room: this place keeps at most {live_max} memories in use (`live_max`)"));
        let step = plan_archive(engine, caller, &memory, Operation::Archive, EventName::Archived, change.at, reason);
        change = change.with_change(step);
    }
    Ok(change)
}

/// The least important memories among the first `limit` that this caller's save may archive: a program makes no room at
/// the cost of what a person wrote or trusted.
fn list_fading(engine: &Engine, caller: &Caller, filter: &Filter, limit: usize) -> Result<Vec<Memory>, Error> {
    let page = PageRequest { order: SortOrder::Fading, after: None, limit };
    let mut fading = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), filter, &page)?;
    fading.retain(|memory| !policy::forget_needs_person(caller, memory));
    Ok(fading)
}

fn full_of_persons_texts(live_max: u64) -> Error {
    Error::conflict(
        "conflict.place_full",
        format!(
            "this place keeps at most {live_max} memories in use (`live_max`), and a person wrote or trusted all of \
             them; ask the person to forget some"
        ),
    )
}

/// Plans to archive one memory. Upkeep passes other operations and events, such as expiry.
pub(crate) fn plan_archive(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    operation: Operation,
    name: EventName,
    now: Timestamp,
    reason: Option<String>,
) -> Change {
    let archive = Transition::new(memory, operation).with_reason(reason).with_event(name);
    let (change, _) = archive.plan(engine, caller, Change::new(caller.tenant, now), |memory| {
        memory.state = State::Archived;
        memory.archived_at = Some(now);
    });
    change
}
