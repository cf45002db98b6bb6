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
use crate::policy::Readable;
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
    let page = PageRequest { order: SortOrder::Fading, after: None, limit: over.max(1) };
    let mut fading = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
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
