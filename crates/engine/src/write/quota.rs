//! Quotas: a save into a full place archives the least important memory with it.
use crate::Engine;
use crate::ports::transition::Transition;
use jiff::Timestamp;

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
use crate::ports::{Filter, PageRequest, SortOrder};

/// Adds to a save what keeps its place within the quota: the least important is archived with it. In a nearly full
/// place what has all but faded goes even earlier.
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
    // The guard asks for room for one: with so many coming, that much less is full.
    let room = Guard::RoomLeft { place: place.clone(), live_max: (live_max + 1).saturating_sub(incoming) };
    if ((state.live + incoming) as f64) < live_max as f64 * lifecycle::NEARLY_FULL_SHARE {
        return Ok(change.with_guard(room));
    }
    let over = (state.live + incoming).saturating_sub(live_max) as usize;
    let filter = Filter { places: vec![place.clone()], layers: ruleset.layers.clone(), ..Filter::default() };
    let page = PageRequest { order: SortOrder::Fading, after: None, limit: over.max(1) };
    let mut fading = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
    let mut change = change;
    if over == 0 {
        fading.retain(|memory| memory.decayed_importance(change.at) < lifecycle::EARLY_ARCHIVE_BELOW);
        change = change.with_guard(room);
    }
    for memory in fading {
        let reason = Some(format!("made room: at most {live_max} stay in use here (`live_max`)"));
        let step = plan_archive(engine, caller, &memory, Operation::Archive, EventName::Archived, change.at, reason);
        change = change.with_change(step);
    }
    Ok(change)
}

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
