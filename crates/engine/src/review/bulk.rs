//! Bulk decisions: many reviews decided with few transactions, each checked as if it were alone.

use std::collections::HashSet;

use super::decide::{VERSION_MISSING, ensure_open, ensure_version_read};
use super::plan::ApprovalPlan;
use super::{DecisionOutcome, QueueFilter};
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::COMMIT_BATCH_MAX;
use crate::model::review::{Action, Decision, Review, ReviewState};
use crate::ports::change::{Change, Write};
use crate::ports::refusals;
use crate::review::{decide, plan, queue};

/// A review to decide, and its version as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadReview {
    pub id: String,
    pub version: Option<VersionId>,
}

impl From<&Review> for ReadReview {
    fn from(review: &Review) -> ReadReview {
        ReadReview { id: review.id.to_string(), version: review.version }
    }
}

/// Result of a bulk decision.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct BulkDecisionReport {
    pub decided: u64,
    pub not_decided: Vec<UndecidedReview>,
}

/// A review that was not decided, and why.
#[derive(Debug, Clone, serde::Serialize)]
pub struct UndecidedReview {
    pub id: String,
    pub code: String,
    pub message: String,
}

/// Decisions that are committed in one transaction.
#[derive(Default)]
struct DecisionBatch {
    change: Option<Change>,
    reviews: Vec<ReadReview>,
    /// Places and paths the batch writes to. A decision that writes to one of these, or to one of `memories`, goes to
    /// the next batch: inside one transaction its guards would fail on the writes before it.
    paths: HashSet<(String, String)>,
    memories: HashSet<MemoryId>,
}

impl Engine {
    /// All pending reviews the caller may see, optionally of one action or one store.
    pub fn pending_reviews(
        &self,
        caller: &Caller,
        action: Option<Action>,
        store: Option<String>,
    ) -> Result<Vec<Review>, Error> {
        let limit = Some(self.limits().list_max);
        let mut filter = QueueFilter { state: Some(ReviewState::Pending), action, store, after: None, limit };
        let mut pending = Vec::new();
        loop {
            let queue = self.reviews(caller, &filter)?;
            pending.extend(queue.reviews);
            match queue.next {
                Some(next) => filter.after = Some(next),
                None => return Ok(pending),
            }
        }
    }

    /// Approves or rejects each of these reviews at the version that was read. One that cannot be decided does not stop
    /// the others.
    pub fn decide_all(
        &self,
        caller: &Caller,
        reviews: &[ReadReview],
        approve: bool,
        comment: Option<&str>,
    ) -> Result<BulkDecisionReport, Error> {
        self.ensure_memory_enabled()?;
        let mut report = BulkDecisionReport::default();
        let mut batch = DecisionBatch::default();
        for read in reviews {
            let ReadReview { id, .. } = read;
            match plan_bulk_decision(self, caller, read, approve, comment) {
                Ok(Ok(change)) => {
                    // Planned before this commit. If the commit makes it stale, a guard fails in the next batch, whose
                    // reviews are then decided one by one.
                    if batch.reviews.len() >= COMMIT_BATCH_MAX || !batch.can_add(&change) {
                        commit_decision_batch(self, caller, std::mem::take(&mut batch), approve, comment, &mut report)?;
                    }
                    batch.add_decision(read, change);
                }
                Ok(Err(undecided)) => report.not_decided.push(undecided),
                // These concern the whole call, not one review.
                Err(error @ (Error::Store(_) | Error::Invalid { .. })) if error.code() != VERSION_MISSING => {
                    return Err(error);
                }
                Err(error) => report.not_decided.push(undecided_review(id, error.code(), &error)),
            }
        }
        commit_decision_batch(self, caller, batch, approve, comment, &mut report)?;
        Ok(report)
    }
}

/// Plans one decision without committing it.
fn plan_bulk_decision(
    engine: &Engine,
    caller: &Caller,
    read: &ReadReview,
    approve: bool,
    comment: Option<&str>,
) -> Result<Result<Change, UndecidedReview>, Error> {
    let ReadReview { id, version } = read;
    let review: Review = queue::find_review(engine, caller, id)?;
    if let Some(DecisionOutcome::Refused(refusal)) = decide::decision_refusal(engine, caller, &review)? {
        return Ok(Err(undecided_review(id, refusal.code, &refusal.message)));
    }
    ensure_open(&review)?;
    ensure_version_read(&review, &Decision { version: *version, comment: None })?;
    let comment = comment.map(str::to_owned);
    if !approve {
        return Ok(Ok(decide::plan_closing(engine, caller, &review, ReviewState::Rejected, comment)?));
    }
    match plan::plan_approval(engine, caller, &review, comment)? {
        ApprovalPlan::Apply(change, _) => Ok(Ok(*change)),
        ApprovalPlan::Refused(refusal) => {
            let refusal = refusals::log_refusal(engine, caller, &review.target_store, refusal)?;
            Ok(Err(undecided_review(id, refusal.code, &refusal.message)))
        }
        ApprovalPlan::Outdated(why) => Err(decide::supersede_review(engine, caller, &review, &why)?),
        ApprovalPlan::CandidateChanged(candidate) => Err(decide::renew_review(engine, caller, &review, &candidate)?),
    }
}

/// Commits a batch. If a guard fails, decides its reviews one by one.
fn commit_decision_batch(
    engine: &Engine,
    caller: &Caller,
    batch: DecisionBatch,
    approve: bool,
    comment: Option<&str>,
    report: &mut BulkDecisionReport,
) -> Result<(), Error> {
    let Some(change) = batch.change else { return Ok(()) };
    match engine.commit(change) {
        Ok(_) => report.decided += batch.reviews.len() as u64,
        // The error does not say which of them lost the race.
        Err(StoreError::Guard(_)) => {
            for ReadReview { id, version } in &batch.reviews {
                let decision = Decision { version: *version, comment: comment.map(str::to_owned) };
                let decided =
                    if approve { engine.approve(caller, id, &decision) } else { engine.reject(caller, id, &decision) };
                match decided {
                    Ok(DecisionOutcome::Refused(refusal)) => {
                        report.not_decided.push(undecided_review(id, refusal.code, &refusal.message))
                    }
                    Ok(_) => report.decided += 1,
                    Err(error @ Error::Store(_)) => return Err(error),
                    Err(error) => report.not_decided.push(undecided_review(id, error.code(), &error)),
                }
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

impl DecisionBatch {
    /// Whether a planned decision is independent of those in the batch.
    fn can_add(&self, change: &Change) -> bool {
        let is_independent = |write: &Write| match write {
            Write::Entry(entry) => {
                let memory = entry.memory();
                let path =
                    memory.path.as_ref().map(|path| (format!("{} {}", memory.store, memory.scope), path.clone()));
                !self.memories.contains(&memory.id) && path.is_none_or(|path| !self.paths.contains(&path))
            }
            _ => true,
        };
        // Every other decision changes the place that `PlaceUnchanged` guards. A redaction holds back derived memories,
        // which another decision may be about.
        let redacts = |change: &Change| change.writes.iter().any(|write| matches!(write, Write::Redact { .. }));
        let must_be_alone = change.guards.iter().any(|guard| matches!(guard, Guard::PlaceUnchanged { .. }))
            || redacts(change)
            || self.change.as_ref().is_some_and(redacts);
        self.reviews.is_empty() || (!must_be_alone && change.writes.iter().all(is_independent))
    }

    fn add_decision(&mut self, read: &ReadReview, decision: Change) {
        for write in &decision.writes {
            if let Write::Entry(entry) = write {
                let memory = entry.memory();
                self.memories.insert(memory.id);
                let place = format!("{} {}", memory.store, memory.scope);
                self.paths.extend(memory.path.clone().map(|path| (place, path)));
            }
        }
        self.reviews.push(read.clone());
        self.change = Some(match self.change.take() {
            None => decision,
            Some(change) => change.with_change(decision),
        });
    }
}

fn undecided_review(id: &str, code: &str, message: &impl ToString) -> UndecidedReview {
    UndecidedReview { id: id.to_owned(), code: code.to_owned(), message: message.to_string() }
}
