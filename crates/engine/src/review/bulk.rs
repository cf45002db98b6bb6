//! Many decisions at once: some hundred a transaction, each checked as if it were alone.

use std::collections::HashSet;

use super::decide::ensure_open;
use super::plan::ApprovalPlan;
use super::{DecisionOutcome, QueueFilter};
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::MemoryId;
use crate::model::review::{Action, Review, ReviewState};
use crate::ports::change::{Change, Write};
use crate::ports::refusals;
use crate::review::{decide, plan, queue};

/// What a bulk decision did.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct BulkDecisionReport {
    pub decided: u64,
    pub not_decided: Vec<UndecidedReview>,
}

/// One that was left, and why.
#[derive(Debug, Clone, serde::Serialize)]
pub struct UndecidedReview {
    pub id: String,
    pub code: String,
    pub message: String,
}

/// Decisions in one transaction: enough to share a disk write, few enough that other writers do not wait.
const DECISIONS_PER_BATCH: usize = 250;

#[derive(Default)]
struct DecisionBatch {
    change: Option<Change>,
    ids: Vec<String>,
    /// What the batch writes; a step that rests on one of these waits for the next batch.
    paths: HashSet<(String, String)>,
    memories: HashSet<MemoryId>,
}

impl Engine {
    /// Everything that waits and the caller may see, of one action or for one store where those are named.
    pub fn pending_review_ids(
        &self,
        caller: &Caller,
        action: Option<Action>,
        store: Option<String>,
    ) -> Result<Vec<String>, Error> {
        let limit = Some(self.limits().list_max);
        let mut filter = QueueFilter { state: Some(ReviewState::Pending), action, store, after: None, limit };
        let mut ids = Vec::new();
        loop {
            let queue = self.reviews(caller, &filter)?;
            ids.extend(queue.reviews.iter().map(|review| review.id.to_string()));
            match queue.next {
                Some(next) => filter.after = Some(next),
                None => return Ok(ids),
            }
        }
    }

    /// Approves or rejects each of these. One that cannot be decided does not hold up the others.
    pub fn decide_all(
        &self,
        caller: &Caller,
        ids: &[String],
        approve: bool,
        comment: Option<&str>,
    ) -> Result<BulkDecisionReport, Error> {
        self.ensure_memory_enabled()?;
        let mut done = BulkDecisionReport::default();
        let mut batch = DecisionBatch::default();
        for id in ids {
            match plan_bulk_decision(self, caller, id, approve, comment) {
                Ok(Ok(change)) => {
                    if batch.ids.len() >= DECISIONS_PER_BATCH || !batch.can_add(&change) {
                        commit_decision_batch(self, caller, std::mem::take(&mut batch), approve, comment, &mut done)?;
                    }
                    batch.add_decision(id, change);
                }
                Ok(Err(not)) => done.not_decided.push(not),
                Err(error @ (Error::Store(_) | Error::Invalid { .. })) => return Err(error),
                Err(error) => done.not_decided.push(undecided_review(id, error.code(), &error)),
            }
        }
        commit_decision_batch(self, caller, batch, approve, comment, &mut done)?;
        Ok(done)
    }
}

fn plan_bulk_decision(
    engine: &Engine,
    caller: &Caller,
    id: &str,
    approve: bool,
    comment: Option<&str>,
) -> Result<Result<Change, UndecidedReview>, Error> {
    let review: Review = queue::find_review(engine, caller, id)?;
    if let Some(DecisionOutcome::Refused(refusal)) = decide::decision_refusal(engine, caller, &review)? {
        return Ok(Err(undecided_review(id, refusal.code, &refusal.message)));
    }
    ensure_open(&review)?;
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
    }
}

fn commit_decision_batch(
    engine: &Engine,
    caller: &Caller,
    batch: DecisionBatch,
    approve: bool,
    comment: Option<&str>,
    done: &mut BulkDecisionReport,
) -> Result<(), Error> {
    let Some(change) = batch.change else { return Ok(()) };
    match engine.commit(change) {
        Ok(_) => done.decided += batch.ids.len() as u64,
        // One of them lost a race; each on its own shows which.
        Err(StoreError::Guard(_)) => {
            for id in &batch.ids {
                let decided =
                    if approve { engine.approve(caller, id, comment) } else { engine.reject(caller, id, comment) };
                match decided {
                    Ok(DecisionOutcome::Refused(refusal)) => {
                        done.not_decided.push(undecided_review(id, refusal.code, &refusal.message))
                    }
                    Ok(_) => done.decided += 1,
                    Err(error @ Error::Store(_)) => return Err(error),
                    Err(error) => done.not_decided.push(undecided_review(id, error.code(), &error)),
                }
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

impl DecisionBatch {
    fn can_add(&self, change: &Change) -> bool {
        let free = |write: &Write| match write {
            Write::Entry(entry) => {
                let memory = entry.memory();
                let path =
                    memory.path.as_ref().map(|path| (format!("{} {}", memory.store, memory.scope), path.clone()));
                !self.memories.contains(&memory.id) && path.is_none_or(|path| !self.paths.contains(&path))
            }
            _ => true,
        };
        // A place that must not have changed is changed by every other step, and what a redaction holds back may be
        // what another step is about.
        let redacts = |change: &Change| change.writes.iter().any(|write| matches!(write, Write::Redact { .. }));
        let alone = change.guards.iter().any(|guard| matches!(guard, Guard::PlaceUnchanged { .. }))
            || redacts(change)
            || self.change.as_ref().is_some_and(redacts);
        self.ids.is_empty() || (!alone && change.writes.iter().all(free))
    }

    fn add_decision(&mut self, id: &str, step: Change) {
        for write in &step.writes {
            if let Write::Entry(entry) = write {
                let memory = entry.memory();
                self.memories.insert(memory.id);
                let place = format!("{} {}", memory.store, memory.scope);
                self.paths.extend(memory.path.clone().map(|path| (place, path)));
            }
        }
        self.ids.push(id.to_owned());
        self.change = Some(match self.change.take() {
            None => step,
            Some(change) => change.with_change(step),
        });
    }
}

fn undecided_review(id: &str, code: &str, message: &impl ToString) -> UndecidedReview {
    UndecidedReview { id: id.to_owned(), code: code.to_owned(), message: message.to_string() }
}
