//! Decide: approve, reject, ask for changes. A second decision is a conflict.

use jiff::{Timestamp, ToSpan};

use super::apply::Verdict;
use super::{Action, Review, ReviewState};
use crate::Engine;
use crate::gate::{Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Guard, Write};
use crate::ports::row::{self, Kept, RowFilter, RowKind};
use crate::ports::{Address, StoreError};

/// The answer to a decision.
#[derive(Debug, Clone)]
pub enum Decided {
    Approved(Box<Approval>),
    /// Rejected, or sent back.
    Closed(Box<Review>),
    Refused(Refusal),
}

/// What an approval made.
#[derive(Debug, Clone)]
pub struct Approval {
    pub review: Review,
    pub memory: Memory,
}

impl Engine {
    /// Lets a proposal stand: checked again, applied and recorded in one transaction.
    pub fn approve(&self, caller: &Caller, id: &str, comment: Option<&str>) -> Result<Decided, Error> {
        self.is_on()?;
        let review = self.review_named(caller, id)?;
        if let Some(refused) = self.kept_from_deciding(caller, &review)? {
            return Ok(refused);
        }
        waits(&review)?;
        for _ in 0..self.limits().commit_attempts {
            match self.approving(caller, &review, comment.map(str::to_owned))? {
                Verdict::Refused(refusal) => {
                    return Ok(Decided::Refused(self.refuse(caller, &review.target_store, refusal)?));
                }
                Verdict::Outdated(why) => return Err(self.superseding(caller, &review, &why)?),
                Verdict::Apply(change, memory) => match self.backend.commit(*change) {
                    Ok(_) => return self.approved(caller, &review, *memory),
                    Err(StoreError::Guard(Guard::RowIs { kind: RowKind::Reviews, .. })) => {
                        return Err(decided_already());
                    }
                    // Something it rests on moved: look at it again.
                    Err(StoreError::Guard(_)) => {}
                    Err(error) => return Err(error.into()),
                },
            }
        }
        Err(Error::conflict("conflict.lost_race", "what this rests on keeps changing; try again"))
    }

    /// Closes a proposal without doing it. A candidate is tombstoned; the source of a promotion stays as it is.
    pub fn reject(&self, caller: &Caller, id: &str, comment: Option<&str>) -> Result<Decided, Error> {
        self.close(caller, id, ReviewState::Rejected, comment.map(str::to_owned))
    }

    /// Sends a proposal back to whoever made it, saying what is missing.
    pub fn request_changes(&self, caller: &Caller, id: &str, comment: &str) -> Result<Decided, Error> {
        self.close(caller, id, ReviewState::ChangesRequested, Some(comment.to_owned()))
    }

    fn close(&self, caller: &Caller, id: &str, state: ReviewState, comment: Option<String>) -> Result<Decided, Error> {
        self.is_on()?;
        let review = self.review_named(caller, id)?;
        // Whoever proposed something may always take it back.
        let own = review.proposer == caller.principal && state == ReviewState::Rejected;
        if let Some(refused) = self.kept_from_deciding(caller, &review)?.filter(|_| !own) {
            return Ok(refused);
        }
        waits(&review)?;
        let change = self.closing(caller, &review, state, comment.clone())?;
        let at = change.at;
        self.backend.commit(change).map_err(second_decision)?;
        Ok(Decided::Closed(Box::new(review.decided(state, caller, comment, at))))
    }

    pub(super) fn kept_from_deciding(&self, caller: &Caller, review: &Review) -> Result<Option<Decided>, Error> {
        match self.entitled(caller, review)? {
            Ok(()) => Ok(None),
            Err(refusal) => Ok(Some(Decided::Refused(self.refuse(caller, &review.target_store, refusal)?))),
        }
    }

    fn approved(&self, caller: &Caller, review: &Review, memory: Memory) -> Result<Decided, Error> {
        let review = row::get(&*self.backend, caller.tenant, &review.id())?.unwrap_or_else(|| review.clone());
        // What was redacted is not told again in the answer.
        let memory = match review.action {
            Action::Redact => self.any_memory(caller, memory.id)?,
            _ => memory,
        };
        Ok(Decided::Approved(Box::new(Approval { review, memory })))
    }

    /// What ends a review without applying it.
    pub(super) fn closing(
        &self,
        caller: &Caller,
        review: &Review,
        state: ReviewState,
        comment: Option<String>,
    ) -> Result<Change, Error> {
        let mut change = self.deciding(caller, review);
        let name = match state {
            ReviewState::ChangesRequested => EventName::ReviewChangesRequested,
            ReviewState::Superseded => EventName::ReviewSuperseded,
            _ => EventName::ReviewRejected,
        };
        let everything = Readable::everything(caller.tenant);
        let candidate =
            review.candidate.map(|id| self.backend.get(&everything, &Address::Id(id))).transpose()?.flatten();
        let ends = state != ReviewState::ChangesRequested;
        if let Some(candidate) = candidate.filter(|memory| ends && memory.state == State::Constrained) {
            let stamp = Stamp::new(caller, self.fresh_version_id(), change.at, comment.clone());
            let entry = Entry::transition(&candidate, Operation::Forget, stamp, Vec::new(), |memory| {
                memory.state = State::Tombstoned;
                memory.always_inject = false;
            });
            change = change
                .guard(Guard::VersionIs { memory: candidate.id, version: candidate.version })
                .write(Write::Entry(Box::new(entry)));
        }
        let decided = review.decided(state, caller, comment, change.at);
        let event = decided.event(name, caller, change.at);
        Ok(change.write(Write::Row(decided.to_row())).event(event))
    }

    /// Marks a proposal as out of date, and says so to whoever wanted to decide it.
    pub(super) fn superseding(&self, caller: &Caller, review: &Review, why: &str) -> Result<Error, Error> {
        let change = self.closing(caller, review, ReviewState::Superseded, Some(why.to_owned()))?;
        self.backend.commit(change).map_err(second_decision)?;
        let reason = format!("{why}; the proposal is superseded, propose it again");
        Ok(Error::conflict("conflict.source_changed", reason))
    }

    /// Closes proposals nobody decided in time. Answers how many.
    pub(crate) fn expire_reviews(&self, tenant: TenantId, now: Timestamp) -> Result<u64, Error> {
        let caller = Caller { principal: "ingrain".to_owned(), ..Caller::admin(tenant) };
        let days = i64::from(self.limits().review_days_max);
        let Ok(before) = now.checked_sub((days * 24).hours()) else { return Ok(0) };
        let mut expired = 0;
        for state in [ReviewState::Pending, ReviewState::ChangesRequested] {
            let filter = RowFilter {
                state: Some(state.to_string()),
                before: Some(before),
                limit: self.limits().list_max,
                ..RowFilter::default()
            };
            for review in row::select::<Review>(&*self.backend, tenant, &filter)? {
                let why = format!("nobody decided it within {days} days");
                match self.backend.commit(self.closing(&caller, &review, ReviewState::Superseded, Some(why))?) {
                    Ok(_) => expired += 1,
                    Err(StoreError::Guard(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(expired)
    }
}

pub(super) fn waits(review: &Review) -> Result<(), Error> {
    match review.state.is_open() {
        true => Ok(()),
        false => {
            let by = review.reviewer.as_deref().unwrap_or("somebody");
            let reason = format!("the review is {} already, by {by}", review.state);
            Err(Error::conflict("conflict.decided", reason))
        }
    }
}

fn decided_already() -> Error {
    Error::conflict("conflict.decided", "somebody else has decided this meanwhile")
}

fn second_decision(error: StoreError) -> Error {
    match error {
        StoreError::Guard(_) => decided_already(),
        error => error.into(),
    }
}
