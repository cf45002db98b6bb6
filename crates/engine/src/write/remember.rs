//! Remember: saves a draft through the gate in one transaction.
//!
//! A save is a state machine, so that a server blocks no thread on the disk. [`Engine::begin_remember`] plans a change,
//! the caller commits it, and [`Engine::resume_save`] takes the result of the commit: it answers, or plans again when a
//! guard failed. [`Engine::remember`] runs all steps in one call.
//!
//! In order: `begin_remember_as`, then for each attempt `attempt_save`, `prepare_draft`, `plan::plan_save`, the commit,
//! `resume_after_commit`.

use std::sync::Arc;

use jiff::Timestamp;

use crate::Engine;
use crate::gate::WriteIntent;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::RowKind;
use crate::model::vocabulary::Operation;
use crate::ports::change::{Change, CommitResult};
use crate::ports::scanned_change::ScannedChange;
use crate::ports::{StoreCallback, refusals};
use crate::recall::lineage;
use crate::tenant::erasures;
use crate::write::clear::ReadyDraft;
use crate::write::{Remembered, SavedMemory, clear, plan};

/// The next step of a save.
pub enum SaveStep {
    /// Commit this change and pass the result to [`Engine::resume_save`].
    Write(Change, PendingSave),
    Done(Remembered),
}

/// A save whose change is being committed.
pub struct PendingSave(PendingOutcome);

/// The answer to give once the change is committed.
enum PendingOutcome {
    Saved(Box<SaveAttempt>),
    /// The change only logs the refusal.
    Refused(Refusal),
}

/// One attempt at a save: its answer, and the request for the next attempt.
struct SaveAttempt {
    request: SaveRequest,
    saved: Box<SavedMemory>,
}

/// The input of a save. Every attempt starts from it again.
struct SaveRequest {
    draft: Draft,
    intent: WriteIntent,
    operation: Operation,
    /// The id of the question whose answer makes this the person's text; the save uses it up.
    consent: Option<String>,
    /// The memory of a person that this is a candidate for; `None`: the target is looked up.
    replaces: Option<Box<Memory>>,
    /// Number of this attempt, from 0.
    attempt: usize,
    /// Start of the first attempt: an erasure of the tenant after it ends the save.
    begun_at: Timestamp,
}

impl Engine {
    /// Saves a draft, or answers why it is refused.
    pub fn remember(&self, caller: &Caller, draft: Draft) -> Result<Remembered, Error> {
        ensure_not_expired(self, &draft)?;
        remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }

    /// Saves a draft that the caller's user has confirmed by answering this question: it counts as that person's text.
    /// Without a valid answer it is saved as the caller's own.
    pub fn remember_confirmed(&self, caller: &Caller, draft: Draft, question: &str) -> Result<Remembered, Error> {
        ensure_not_expired(self, &draft)?;
        let (intent, begun_at) = (WriteIntent::ConfirmedWrite, self.clock.now());
        let (consent, operation, attempt) = (Some(question.to_owned()), Operation::Create, 0);
        let request = SaveRequest { draft, intent, operation, consent, replaces: None, attempt, begun_at };
        run_save_steps(self, caller, attempt_save(self, caller, request)?, |change| self.commit(change))
    }

    /// First step of a save: plans its change without committing it.
    pub fn begin_remember(&self, caller: &Caller, draft: Draft) -> Result<SaveStep, Error> {
        ensure_not_expired(self, &draft)?;
        begin_remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }

    /// Queues the change of a step in the backend's writer; calls `answer` when it is durable.
    pub fn submit_save(&self, change: Arc<ScannedChange>, answer: StoreCallback<CommitResult>) {
        self.backend.submit(change, answer);
    }

    /// Next step of a save, given the result of its commit.
    pub fn resume_save(
        &self,
        caller: &Caller,
        saving: PendingSave,
        committed: Result<CommitResult, StoreError>,
    ) -> Result<SaveStep, Error> {
        resume_after_commit(self, caller, saving, committed)
    }

    /// Whether planning this save is quick enough for a thread that serves other calls too.
    pub fn is_cheap_save(&self, caller: &Caller, draft: &Draft) -> bool {
        // Each of these costs a search or a read of other memories.
        let looks_around = caller.run.is_some() || draft.recall_hint.is_some() || !draft.derived_from.is_empty();
        // Under an idempotency key the mark is committed with the change, which only the blocking path does.
        self.idempotency_mark.is_none()
            && self.backend.submits_in_background()
            && self.embedder.is_instant()
            && self.settings.classifier.is_none()
            && !looks_around
            && draft.content.len() <= self.limits().light_bytes_max
    }
}

/// Runs all steps of a save.
pub(crate) fn remember_as(
    engine: &Engine,
    caller: &Caller,
    draft: Draft,
    intent: WriteIntent,
    operation: Operation,
) -> Result<Remembered, Error> {
    let step = begin_remember_as(engine, caller, draft, intent, operation)?;
    run_save_steps(engine, caller, step, |change| engine.commit(change))
}

/// Runs the remaining steps of a save with the given way to commit.
pub(crate) fn run_save_steps(
    engine: &Engine,
    caller: &Caller,
    mut step: SaveStep,
    commit: impl Fn(Change) -> Result<CommitResult, StoreError>,
) -> Result<Remembered, Error> {
    loop {
        step = match step {
            SaveStep::Done(remembered) => return Ok(remembered),
            SaveStep::Write(change, saving) => engine.resume_save(caller, saving, commit(change))?,
        };
    }
}

/// Plans a save to a path without committing it, for callers that commit many saves as one.
pub(crate) fn plan_save_at_path(
    engine: &Engine,
    caller: &Caller,
    draft: &Draft,
) -> Result<Result<(Change, Memory), Refusal>, Error> {
    let ReadyDraft { store, cleared } = match clear::prepare_draft(engine, caller, WriteIntent::Write, draft)? {
        Ok(ready) => ready,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // The caller retries the whole group, not this save, so the memory at the path is looked up at once.
    let (change, saved) = plan::plan_save(engine, caller, &store, cleared, Operation::Create, false)?;
    let change = change.unwrap_or_else(|| Change::new(caller.tenant, engine.clock.now()));
    Ok(Ok((change, saved.memory)))
}

// The steps of a save, in order.

fn ensure_not_expired(engine: &Engine, draft: &Draft) -> Result<(), Error> {
    match draft.expires_at {
        Some(at) if at <= engine.clock.now() => Err(Error::invalid("shape.expired", "the expiry is in the past")),
        _ => Ok(()),
    }
}

pub(crate) fn begin_remember_as(
    engine: &Engine,
    caller: &Caller,
    mut draft: Draft,
    intent: WriteIntent,
    operation: Operation,
) -> Result<SaveStep, Error> {
    // An agent that saves what its run recalled makes a copy: the copy gets the trust of its source, not more.
    if draft.derived_from.is_empty() && intent == WriteIntent::Write {
        draft.derived_from = lineage::find_repeated_versions(engine, caller, &draft)?;
    }
    let begun_at = engine.clock.now();
    let (consent, replaces, attempt) = (None, None, 0);
    attempt_save(engine, caller, SaveRequest { draft, intent, operation, consent, replaces, attempt, begun_at })
}

/// Saves a draft as a candidate for a memory that only a person may replace.
pub(crate) fn remember_candidate(
    engine: &Engine,
    caller: &Caller,
    draft: Draft,
    current: &Memory,
) -> Result<Remembered, Error> {
    let (intent, operation, begun_at) = (WriteIntent::Write, Operation::Create, engine.clock.now());
    let (consent, replaces, attempt) = (None, Some(Box::new(current.clone())), 0);
    let request = SaveRequest { draft, intent, operation, consent, replaces, attempt, begun_at };
    run_save_steps(engine, caller, attempt_save(engine, caller, request)?, |change| engine.commit(change))
}

fn attempt_save(engine: &Engine, caller: &Caller, request: SaveRequest) -> Result<SaveStep, Error> {
    if request.attempt >= engine.limits().commit_attempts {
        return Err(Error::conflict("conflict.lost_race", "many writers are at this place; try again"));
    }
    let ReadyDraft { store, cleared } = match clear::prepare_draft(engine, caller, request.intent, &request.draft)? {
        Ok(ready) => ready,
        Err(refusal) => return Ok(refusal_step(engine, caller, &request.draft.store, refusal)),
    };
    let skip_lookup = request.attempt == 0;
    let (change, saved) = match (&request.consent, &request.replaces) {
        (Some(question), _) => {
            match plan::plan_confirmed_save(engine, caller, &store, cleared, &request.draft, question)? {
                Some(planned) => planned,
                None => return begin_remember_as(engine, caller, request.draft, WriteIntent::Write, request.operation),
            }
        }
        (None, Some(current)) => plan::plan_candidate(engine, caller, &store, cleared, current)?,
        (None, None) => plan::plan_save(engine, caller, &store, cleared, request.operation, skip_lookup)?,
    };
    let saved = Box::new(saved);
    Ok(match change {
        Some(change) => {
            SaveStep::Write(change, PendingSave(PendingOutcome::Saved(Box::new(SaveAttempt { request, saved }))))
        }
        None => SaveStep::Done(Remembered::Saved(saved)),
    })
}

/// Step that logs a refusal before it is answered.
fn refusal_step(engine: &Engine, caller: &Caller, store: &str, refusal: Refusal) -> SaveStep {
    SaveStep::Write(
        refusals::plan_refusal_event(engine, caller, store, &refusal),
        PendingSave(PendingOutcome::Refused(refusal)),
    )
}

/// Answers a committed save; starts the next attempt when a guard failed.
fn resume_after_commit(
    engine: &Engine,
    caller: &Caller,
    saving: PendingSave,
    committed: Result<CommitResult, StoreError>,
) -> Result<SaveStep, Error> {
    let SaveAttempt { request, saved } = match saving.0 {
        PendingOutcome::Saved(attempt) => *attempt,
        PendingOutcome::Refused(refusal) => {
            return Ok(committed.map(|_| SaveStep::Done(Remembered::Refused(refusal)))?);
        }
    };
    let retry = SaveRequest { attempt: request.attempt + 1, ..request };
    match committed {
        Ok(_) => Ok(SaveStep::Done(Remembered::Saved(saved))),
        Err(StoreError::Guard(Guard::RunSavesLeft { saves_max, .. })) => {
            Ok(refusal_step(engine, caller, &retry.draft.store, run_cap_refusal(saves_max)))
        }
        // The answer was used by another call meanwhile: this one is the caller's own word.
        Err(StoreError::Guard(Guard::RowInState { kind: RowKind::Questions, .. })) => {
            begin_remember_as(engine, caller, retry.draft, WriteIntent::Write, retry.operation)
        }
        // A save never sets these guards. The code that added them (turns, documents, runs) handles their failure.
        Err(
            error @ StoreError::Guard(
                Guard::TurnsBefore { .. } | Guard::RowInState { kind: RowKind::Leases | RowKind::Runs, .. },
            ),
        ) => Err(error.into()),
        // The place is taken (attempt 0 skips the lookup), or something changed between lookup and commit.
        Err(StoreError::Guard(guard)) => {
            invalidate_cache(engine, caller.tenant, &guard, retry.begun_at)?;
            attempt_save(engine, caller, retry)
        }
        Err(error) => Err(error.into()),
    }
}

/// Drops cached rows of the tenant that the failed guard proved stale. An error if the tenant was erased meanwhile.
pub(crate) fn invalidate_cache(
    engine: &Engine,
    tenant: TenantId,
    guard: &Guard,
    begun_at: Timestamp,
) -> Result<(), Error> {
    if matches!(guard, Guard::RowInState { .. } | Guard::RowCountIs { .. }) {
        engine.tenant_cache.forget_tenant(tenant);
    }
    match guard {
        // The draft may be a text the erasure was meant to remove, so it is not saved after it.
        Guard::RowCountIs { kind: RowKind::Certificates, .. } => {
            erasures::ensure_not_erased_since(engine, tenant, begun_at)
        }
        _ => Ok(()),
    }
}

fn run_cap_refusal(saves_max: u32) -> Refusal {
    Refusal::new(
        "policy.run_cap",
        format!("an unattended run may save at most {saves_max} memories, and this run is at that limit"),
    )
    .with_hint("go on without saving; a person can save it later")
}
