//! Draft expiry by activity: drafts of a conversation expire together, some days after the last activity in it.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::ToSpan as _;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Place;
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::row::RowFilter;
use crate::model::scope::Scope;
use crate::model::vocabulary::{Operation, ScopeKind, State, Trust};
use crate::policy::Readable;
use crate::ports::change::Change;
use crate::ports::transition::Transition;
use crate::ports::{Filter, PageRequest, SortOrder, candidate_reviews, row};
use crate::recall::read::cursor_after;
use crate::receipts::receipt::Receipt;
use crate::tenant::stores;

/// Hours before its expiry that a draft is extended. Two days: upkeep that runs once a day is never too late.
const LOOK_AHEAD_HOURS: i64 = 48;
/// Newest memories of a conversation that are read to find its last save.
const NEWEST_MEMORIES_MAX: usize = 20;

/// Extends the drafts that expire soon and whose conversation was active after they were saved; returns how many.
pub(crate) fn extend_drafts(engine: &Engine, tenant: TenantId, batch: usize) -> Result<u64, Error> {
    let now = engine.clock.now();
    let soon = now.checked_add(LOOK_AHEAD_HOURS.hours()).unwrap_or(now);
    // The partial index on expiry holds only these two states.
    let states = vec![State::Active, State::Constrained];
    let scopes = vec![ScopeKind::Conversation];
    let filter = Filter { expired_by: Some(soon), scopes, states, ..Filter::default() };
    // Drafts of one conversation share their expiry: it is computed once for each place.
    let mut expiries: HashMap<Place, Option<Timestamp>> = HashMap::new();
    let (mut extended, mut after) = (0, None);
    loop {
        let page = PageRequest { order: SortOrder::Expiring, after, limit: batch };
        let due = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
        after = due.last().and_then(|last| cursor_after(SortOrder::Expiring, last));
        for memory in due.iter().filter(|memory| expires_by_activity(engine, tenant, memory)) {
            let place = Place { store: memory.store.clone(), scope: memory.scope.clone() };
            let expiry = match expiries.get(&place) {
                Some(expiry) => *expiry,
                None => {
                    let expiry = draft_expiry_time(engine, tenant, &place)?;
                    expiries.insert(place, expiry);
                    expiry
                }
            };
            if let Some(until) = expiry.filter(|until| Some(*until) > memory.expires_at) {
                extended += u64::from(commit_extension(engine, tenant, memory, until, now)?);
            }
        }
        if due.len() < batch {
            return Ok(extended);
        }
    }
}

/// Days a draft in this store lives after the last activity of its conversation; `None` if the ruleset sets none.
fn draft_lifetime_days(engine: &Engine, tenant: TenantId, slug: &str) -> Option<i64> {
    // Errors count as no lifetime: a draft in a store that cannot be opened simply expires.
    let store = stores::open_store(engine, &Caller::admin(tenant), slug).ok()?;
    stores::ruleset_of(engine, &store).ok()?.conversation_draft_days.map(i64::from)
}

/// Whether the expiry of a draft was set by the ruleset. An expiry before that was chosen by a caller and stays.
fn expires_by_activity(engine: &Engine, tenant: TenantId, memory: &Memory) -> bool {
    let days = draft_lifetime_days(engine, tenant, &memory.store);
    let by_ruleset = days.and_then(|days| add_days(memory.updated_at, days));
    memory.trust == Trust::AgentDraft && by_ruleset.is_some() && memory.expires_at >= by_ruleset
}

/// Expiry of the drafts of a conversation, from its last save or the last context that was built for it.
fn draft_expiry_time(engine: &Engine, tenant: TenantId, place: &Place) -> Result<Option<Timestamp>, Error> {
    let Scope::Conversation { conversation } = &place.scope else { return Ok(None) };
    let Some(days) = draft_lifetime_days(engine, tenant, &place.store) else { return Ok(None) };
    let filter = Filter { places: vec![place.clone()], states: State::ALL.to_vec(), ..Filter::default() };
    let page = PageRequest { order: SortOrder::Newest, after: None, limit: NEWEST_MEMORIES_MAX };
    let saved = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
    // Archiving by upkeep also sets `updated_at`, but is no activity.
    let saved = saved.iter().filter(|memory| memory.archived_at.is_none()).map(|memory| memory.updated_at).max();
    let of_conversation =
        RowFilter { subject: Some(conversation.clone()), newest_first: true, limit: 1, ..RowFilter::default() };
    let receipts: Vec<Receipt> = row::select_records(&*engine.backend, tenant, &of_conversation)?;
    let last_context = receipts.first().map(|receipt| receipt.at);
    Ok(saved.max(last_context).and_then(|last| add_days(last, days)))
}

/// Commits the new expiry as a version. `updated_at` stays: an extension is no activity. `false` after a lost race.
fn commit_extension(
    engine: &Engine,
    tenant: TenantId,
    memory: &Memory,
    until: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    let caller = Caller::system(tenant);
    let reason = Some("its conversation is still active".to_owned());
    let event = EventBody::new(EventName::Extended, &caller, now).about_memory(memory).with_field("expires_at", until);
    let extend = Transition::new(memory, Operation::Extend).with_reason(reason).with_kept_updated_at();
    let change = Change::new(tenant, now).with_event(event);
    let (change, extended) = extend.plan(engine, &caller, change, |memory| memory.expires_at = Some(until));
    let change = candidate_reviews::plan_candidate_change(engine, &caller, change, memory, &extended)?;
    match engine.commit(change) {
        Ok(_) => Ok(true),
        // The draft changed meanwhile. It is due again at the next upkeep, two days are enough for that.
        Err(StoreError::Guard(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn add_days(at: Timestamp, days: i64) -> Option<Timestamp> {
    at.checked_add((days * 24).hours()).ok()
}
