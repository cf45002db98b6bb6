//! Reviews of a candidate that changes: the open ones are superseded, and what still waits gets a new review.
//!
//! A review is about one version of its candidate. Every verb that makes a new version of a memory which may wait for
//! review (save, patch, pin, rename, forget, redact, upkeep) adds this to its change.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::id::{MemoryId, TenantId};
use crate::model::memory::Memory;
use crate::model::review::{Action, Review, ReviewState, SourceVersion};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::vocabulary::State;
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::{Address, row};

/// Adds that the open reviews of the candidate `before` are superseded. If `after` still waits for review, each is
/// followed by a new review of that version, with another id: a decision on the old one is a conflict.
pub(crate) fn plan_candidate_change(
    engine: &Engine,
    caller: &Caller,
    mut change: Change,
    before: &Memory,
    after: &Memory,
) -> Result<Change, Error> {
    for review in list_candidate_reviews(engine, caller.tenant, before)? {
        let next = match after.state == State::Constrained {
            true => Some(next_review(engine, &review, after, &change)?),
            false => None,
        };
        change = supersede_review(caller, change, &review, next.as_ref());
        if let Some(next) = next {
            let event = next.to_event(EventName::ReviewProposed, caller, change.at);
            change = change.with_write(Write::Row(next.to_row())).with_event(event);
        }
    }
    Ok(change)
}

/// Adds that one review is superseded by `next`, or by nothing if its candidate no longer waits.
pub(crate) fn supersede_review(caller: &Caller, change: Change, review: &Review, next: Option<&Review>) -> Change {
    let why = match next {
        Some(next) => format!("the proposed text has changed; review {} replaces this one", next.id),
        None => "the proposed text is no longer there".to_owned(),
    };
    let guard =
        Guard::RowInState { kind: RowKind::Reviews, id: review.row_id(), state: Some(review.state.to_string()) };
    let closed = review.with_decision(ReviewState::Superseded, caller, Some(why), change.at);
    let event = closed.to_event(EventName::ReviewSuperseded, caller, change.at);
    change.with_guard(guard).with_write(Write::Row(closed.to_row())).with_event(event)
}

/// The open reviews whose candidate this memory is. None without a read if it does not wait for review.
pub(crate) fn list_candidate_reviews(
    engine: &Engine,
    tenant: TenantId,
    candidate: &Memory,
) -> Result<Vec<Review>, Error> {
    if candidate.state != State::Constrained {
        return Ok(Vec::new());
    }
    let mut reviews = list_open_reviews(engine, tenant, candidate.id)?;
    // A review whose source this memory is (such as its forget) finds the new version itself.
    reviews.retain(|review| review.candidate == Some(candidate.id));
    Ok(reviews)
}

/// The open reviews about this memory, as their candidate or their first source.
pub(crate) fn list_open_reviews(engine: &Engine, tenant: TenantId, memory: MemoryId) -> Result<Vec<Review>, Error> {
    let about = RowFilter {
        subject: Some(memory.to_string()),
        limit: engine.limits().list_max,
        newest_first: true,
        ..RowFilter::default()
    };
    let mut reviews: Vec<Review> = row::select_records(&*engine.backend, tenant, &about)?;
    reviews.retain(|review| review.state.is_open());
    Ok(reviews)
}

/// The review of a later version of the candidate.
pub(crate) fn next_review(
    engine: &Engine,
    review: &Review,
    candidate: &Memory,
    change: &Change,
) -> Result<Review, Error> {
    let next = review.for_candidate_version(candidate, change.at);
    Ok(match review.action {
        // The path may have changed, and with it the memory that the draft would replace.
        Action::Draft if candidate.path.is_some() => {
            Review { sources: replaced_by_draft(engine, change.tenant, candidate)?, ..next }
        }
        _ => next,
    })
}

/// The memory that a draft would replace if it is approved: the one at its path.
pub(crate) fn replaced_by_draft(
    engine: &Engine,
    tenant: TenantId,
    draft: &Memory,
) -> Result<Vec<SourceVersion>, Error> {
    let Some(path) = draft.path.clone() else { return Ok(Vec::new()) };
    let place = Place { store: draft.store.clone(), scope: draft.scope.clone() };
    let current = engine.backend.get_memory(&Readable::whole_tenant(tenant), &Address::Path { place, path })?;
    Ok(current.iter().map(SourceVersion::from_memory).collect())
}
