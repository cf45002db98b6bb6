//! Decisions: approve, reject, request changes, and the lapse of old reviews. A second decision is a conflict.

use jiff::{Timestamp, ToSpan};

use super::plan::ApprovalPlan;
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::EventName;
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Decision, Review, ReviewState};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::transition::{Transition, tombstone};
use crate::ports::{Address, candidate_reviews, refusals, retry, row};
use crate::removal::quarantine;
use crate::review::{plan, queue};
use crate::safety;

/// Code of a decision that does not say which version was read.
pub(super) const VERSION_MISSING: &str = "review.version_missing";

/// The answer to a decision.
#[derive(Debug, Clone)]
pub enum DecisionOutcome {
    Approved(Box<Approval>),
    /// Rejected, or sent back for changes.
    Closed(Box<Review>),
    Refused(Refusal),
}

/// An approved review and the memory it concerns.
#[derive(Debug, Clone)]
pub struct Approval {
    pub review: Review,
    pub memory: Memory,
}

impl Engine {
    /// Approves a proposal: checks it again, applies and records it in one transaction. The decision names the version
    /// that was read ([`Review::version`]); if the proposed text has changed since, it is a conflict.
    pub fn approve(&self, caller: &Caller, id: &str, decision: &Decision) -> Result<DecisionOutcome, Error> {
        self.ensure_memory_enabled()?;
        let review = queue::find_review(self, caller, id)?;
        if let Some(refused) = decision_refusal(self, caller, &review)? {
            return Ok(refused);
        }
        // After the permission check: a refusal is answered before a conflict.
        ensure_open(&review)?;
        ensure_version_read(&review, decision)?;
        // Other guards than the review's own state may fail, such as a place that changed: then the approval is planned
        // anew.
        retry::retry_lost_race(self, || match plan::plan_approval(self, caller, &review, decision.comment.clone())? {
            ApprovalPlan::Refused(refusal) => {
                Ok(DecisionOutcome::Refused(refusals::log_refusal(self, caller, &review.target_store, refusal)?))
            }
            ApprovalPlan::Outdated(why) => Err(supersede_review(self, caller, &review, &why)?),
            ApprovalPlan::CandidateChanged(candidate) => Err(renew_review(self, caller, &review, &candidate)?),
            ApprovalPlan::Apply(change, memory) => match self.commit(*change) {
                Ok(_) => load_approval(self, caller, &review, *memory),
                // Not retried: another caller has decided.
                Err(StoreError::Guard(Guard::RowInState { kind: RowKind::Reviews, .. })) => {
                    Err(already_decided_error())
                }
                Err(error) => Err(error.into()),
            },
        })
    }

    /// Closes a proposal without applying it. Its candidate is tombstoned; the source of a promotion stays as it is.
    pub fn reject(&self, caller: &Caller, id: &str, decision: &Decision) -> Result<DecisionOutcome, Error> {
        close_review(self, caller, id, ReviewState::Rejected, decision)
    }

    /// Sends a proposal back to its proposer with a comment. It stays open.
    pub fn request_changes(&self, caller: &Caller, id: &str, decision: &Decision) -> Result<DecisionOutcome, Error> {
        close_review(self, caller, id, ReviewState::ChangesRequested, decision)
    }
}

fn close_review(
    engine: &Engine,
    caller: &Caller,
    id: &str,
    state: ReviewState,
    decision: &Decision,
) -> Result<DecisionOutcome, Error> {
    engine.ensure_memory_enabled()?;
    let review = queue::find_review(engine, caller, id)?;
    // A proposer may always withdraw their own proposal.
    let is_withdrawal = review.is_own_proposal(caller) && state == ReviewState::Rejected;
    if let Some(refused) = decision_refusal(engine, caller, &review)?.filter(|_| !is_withdrawal) {
        return Ok(refused);
    }
    ensure_open(&review)?;
    ensure_version_read(&review, decision)?;
    let comment = decision.comment.clone();
    let change = plan_closing(engine, caller, &review, state, comment.clone())?;
    let at = change.at;
    engine.commit(change).map_err(map_decision_conflict)?;
    Ok(DecisionOutcome::Closed(Box::new(review.with_decision(state, caller, comment.map(safety::without_secrets), at))))
}

/// The logged refusal of a caller who may not decide this review.
pub(crate) fn decision_refusal(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
) -> Result<Option<DecisionOutcome>, Error> {
    match queue::check_may_decide(engine, caller, review)? {
        Ok(()) => Ok(None),
        Err(refusal) => {
            Ok(Some(DecisionOutcome::Refused(refusals::log_refusal(engine, caller, &review.target_store, refusal)?)))
        }
    }
}

/// The answer to a committed approval.
fn load_approval(engine: &Engine, caller: &Caller, review: &Review, memory: Memory) -> Result<DecisionOutcome, Error> {
    let review = row::get_record(&*engine.backend, caller.tenant, &review.row_id())?.unwrap_or_else(|| review.clone());
    // The planned memory still has the text that was just redacted: read it again.
    let memory = match review.action {
        Action::Redact => quarantine::load_any_memory(engine, caller, memory.id)?,
        _ => memory,
    };
    Ok(DecisionOutcome::Approved(Box::new(Approval { review, memory })))
}

/// Plans to reject, supersede or send back a review. Except when it is sent back, its candidate is tombstoned.
pub(crate) fn plan_closing(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    state: ReviewState,
    comment: Option<String>,
) -> Result<Change, Error> {
    let mut change = plan::plan_decision(engine, caller, review);
    let name = match state {
        ReviewState::ChangesRequested => EventName::ReviewChangesRequested,
        ReviewState::Superseded => EventName::ReviewSuperseded,
        _ => EventName::ReviewRejected,
    };
    let everything = Readable::whole_tenant(caller.tenant);
    let candidate =
        review.candidate.map(|id| engine.backend.get_memory(&everything, &Address::Id(id))).transpose()?.flatten();
    let is_final = state != ReviewState::ChangesRequested;
    if let Some(candidate) = candidate.filter(|memory| is_final && memory.state == State::Constrained) {
        let forget = Transition::new(&candidate, Operation::Forget).with_reason(comment.clone());
        (change, _) = forget.plan(engine, caller, change, tombstone);
    }
    let decided = review.with_decision(state, caller, comment.map(safety::without_secrets), change.at);
    let event = decided.to_event(name, caller, change.at);
    Ok(change.with_write(Write::Row(decided.to_row())).with_event(event))
}

/// Marks an outdated proposal as superseded; returns the conflict for the caller who wanted to decide it.
pub(crate) fn supersede_review(engine: &Engine, caller: &Caller, review: &Review, why: &str) -> Result<Error, Error> {
    let change = plan_closing(engine, caller, review, ReviewState::Superseded, Some(why.to_owned()))?;
    engine.commit(change).map_err(map_decision_conflict)?;
    let reason = format!("{why}; the proposal is superseded, propose it again");
    Ok(Error::conflict("conflict.source_changed", reason))
}

/// Closes reviews that waited longer than `review_days_max`; returns how many. At most `list_max` of each state a call:
/// upkeep comes again.
pub(crate) fn expire_reviews(engine: &Engine, tenant: TenantId, now: Timestamp) -> Result<u64, Error> {
    let caller = Caller::system(tenant);
    let days = i64::from(engine.limits().review_days_max);
    let Ok(before) = now.checked_sub((days * 24).hours()) else { return Ok(0) };
    let mut expired = 0;
    for state in [ReviewState::Pending, ReviewState::ChangesRequested] {
        let filter = RowFilter {
            state: Some(state.to_string()),
            before: Some(before),
            limit: engine.limits().list_max,
            ..RowFilter::default()
        };
        for review in row::select_records::<Review>(&*engine.backend, tenant, &filter)? {
            let why = format!("it was not decided within {days} days");
            match engine.commit(plan_closing(engine, &caller, &review, ReviewState::Superseded, Some(why))?) {
                Ok(_) => expired += 1,
                // Somebody decided it just now.
                Err(StoreError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(expired)
}

/// Supersedes the review of a candidate that has another version now, and opens one for that version. Verbs that change
/// a candidate do this themselves; a candidate changed by an older version of the program is noticed here.
pub(crate) fn renew_review(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    candidate: &Memory,
) -> Result<Error, Error> {
    let change = plan::plan_decision(engine, caller, review);
    let next = candidate_reviews::next_review(engine, review, candidate, &change)?;
    let change = candidate_reviews::supersede_review(caller, change, review, Some(&next));
    let event = next.to_event(EventName::ReviewProposed, caller, change.at);
    let change = change.with_write(Write::Row(next.to_row())).with_event(event);
    engine.commit(change).map_err(map_decision_conflict)?;
    let reason = format!("the proposed text has changed since it was proposed; read and decide review `{}`", next.id);
    Ok(Error::conflict("conflict.source_changed", reason))
}

/// A decision counts only for the version that was read.
pub(super) fn ensure_version_read(review: &Review, decision: &Decision) -> Result<(), Error> {
    match (review.version, decision.version) {
        (Some(current), Some(read)) if current == read => Ok(()),
        // The candidate is gone: there is no text left to read. An approval finds the proposal outdated.
        (None, _) => Ok(()),
        (Some(_), None) => {
            let message = "a decision names the `version` of the review that was read: read the review, send its \
                           `version`";
            Err(Error::invalid(VERSION_MISSING, message))
        }
        (Some(current), Some(read)) => {
            let reason = format!("version `{read}` was read, but the review is about `{current}`: read it again");
            Err(Error::conflict("conflict.source_changed", reason))
        }
    }
}

pub(super) fn ensure_open(review: &Review) -> Result<(), Error> {
    match review.state.is_open() {
        true => Ok(()),
        false => {
            let by = review.reviewer.as_deref().unwrap_or("another caller");
            let mut reason = format!("the review is {} already, by {by}", review.state);
            // The comment of the program, which names the review to decide instead.
            if let Some(why) = review.comment.as_deref().filter(|_| review.state == ReviewState::Superseded) {
                reason = format!("{reason}: {why}");
            }
            Err(Error::conflict("conflict.decided", reason))
        }
    }
}

fn already_decided_error() -> Error {
    Error::conflict("conflict.decided", "another caller has decided this review meanwhile")
}

fn map_decision_conflict(error: StoreError) -> Error {
    match error {
        StoreError::Guard(_) => already_decided_error(),
        error => error.into(),
    }
}
