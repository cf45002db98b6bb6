//! Remember: one gate, one transaction, one answer.
//!
//! A save is a state machine, so that a server needs no thread that waits for the disk: [`Engine::begin_remember`]
//! plans a change, the caller commits it, and [`Engine::resume_save`] answers or plans again where a guard failed.
//! [`Engine::remember`] runs all steps. In order: `prepare_draft` clears the draft at the gate (`clear.rs`), `plan.rs`
//! finds what it is a version of (`target.rs`) and builds the change, and the backend commits it.

use std::sync::Arc;

use jiff::Timestamp;

use crate::Engine;
use crate::gate::{ClearedDraft, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::{MemoryId, TenantId};
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::RowKind;
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Operation};
use crate::policy;
use crate::ports::change::{Change, CommitResult};
use crate::ports::{StoreCallback, refusals};
use crate::recall::lineage;
use crate::tenant::erasures::erasure_count_guard;
use crate::tenant::{bans, cache, erasures, stores};
use crate::write::{clear, plan};

/// The answer to a save.
#[derive(Debug, Clone)]
pub enum Remembered {
    Saved(Box<SavedMemory>),
    Refused(Refusal),
}

#[derive(Debug, Clone)]
pub struct SavedMemory {
    pub memory: Memory,
    pub outcome: SaveOutcome,
    /// Which sameness made this an update or a no-op.
    pub deduped_by: Option<Dedup>,
    /// A memory with a similar hint that says something else.
    pub near: Option<MemoryId>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    Created,
    Updated,
    /// Already known: nothing was written.
    Unchanged,
}

/// What a save needs next.
pub enum SaveStep {
    /// This is to be written; [`Engine::hear`] wants to know how that went.
    Write(Change, PendingSave),
    Done(Remembered),
}

/// A save whose change is being written.
pub struct PendingSave(PendingOutcome);

/// What it comes to once that is written.
enum PendingOutcome {
    Saved(Box<SaveAttempt>),
    Refused(Refusal),
}

/// A save that stands once its change does, and what it takes to try again.
struct SaveAttempt {
    asked: SaveRequest,
    saved: Box<SavedMemory>,
}

/// What was asked for.
struct SaveRequest {
    draft: Draft,
    deed: WriteIntent,
    operation: Operation,
    attempt: usize,
    begun: Timestamp,
}

/// A draft that passed the gate, and where it goes.
struct ReadyDraft {
    store: Arc<Store>,
    cleared: ClearedDraft,
}

impl Engine {
    /// Saves what a caller learnt, or says why not.
    pub fn remember(&self, caller: &Caller, draft: Draft) -> Result<Remembered, Error> {
        ensure_not_expired(self, &draft)?;
        remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }

    /// As [`Engine::remember`], a step at a time.
    pub fn begin_remember(&self, caller: &Caller, draft: Draft) -> Result<SaveStep, Error> {
        ensure_not_expired(self, &draft)?;
        begin_remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }

    /// Whether the steps of this save look at next to nothing: then they may be taken where others wait.
    pub fn is_cheap_save(&self, caller: &Caller, draft: &Draft) -> bool {
        let looks_around = caller.run.is_some() || draft.recall_hint.is_some() || !draft.derived_from.is_empty();
        // Under an idempotency key the mark is committed with the change, which only the blocking path does.
        self.idempotency_mark.is_none()
            && self.backend.submits_in_background()
            && self.embedder.is_instant()
            && self.settings.classifier.is_none()
            && !looks_around
            && draft.content.len() <= self.limits().light_bytes_max
    }

    /// Hands the change of a save to the backend's writer; `answer` is called when it is durable.
    pub fn submit_save(&self, change: Arc<Change>, answer: StoreCallback<CommitResult>) {
        self.backend.submit(change, answer);
    }

    /// The next step, once it is known how the writing went.
    pub fn resume_save(
        &self,
        caller: &Caller,
        saving: PendingSave,
        written: Result<CommitResult, StoreError>,
    ) -> Result<SaveStep, Error> {
        let SaveAttempt { asked, saved } = match saving.0 {
            PendingOutcome::Saved(attempt) => *attempt,
            PendingOutcome::Refused(refusal) => {
                return Ok(written.map(|_| SaveStep::Done(Remembered::Refused(refusal)))?);
            }
        };
        let again = SaveRequest { attempt: asked.attempt + 1, ..asked };
        match written {
            Ok(_) => Ok(SaveStep::Done(Remembered::Saved(saved))),
            Err(StoreError::Guard(Guard::RunSavesLeft { saves_max, .. })) => {
                Ok(refusal_step(self, caller, &again.draft.store, run_cap_refusal(saves_max)))
            }
            // Not a save's own: whoever adds these knows what it means that they fail.
            Err(
                error @ StoreError::Guard(Guard::TurnsBefore { .. } | Guard::RowInState { kind: RowKind::Leases, .. }),
            ) => Err(error.into()),
            // Somebody stands there, or wrote between the look and the leap: look again.
            Err(StoreError::Guard(guard)) => {
                invalidate_cache(self, caller.tenant, &guard, again.begun)?;
                attempt_save(self, caller, again)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn ensure_not_expired(engine: &Engine, draft: &Draft) -> Result<(), Error> {
    match draft.expires_at {
        Some(at) if at <= engine.clock.now() => {
            Err(Error::invalid("shape.expired", "it would expire before it is saved: name a later time"))
        }
        _ => Ok(()),
    }
}

/// All steps of a save, one after the other.
pub(crate) fn remember_as(
    engine: &Engine,
    caller: &Caller,
    draft: Draft,
    deed: WriteIntent,
    operation: Operation,
) -> Result<Remembered, Error> {
    let step = begin_remember_as(engine, caller, draft, deed, operation)?;
    run_save_steps(engine, caller, step, |change| engine.commit(change))
}

/// The steps that are left, written in this way.
pub(crate) fn run_save_steps(
    engine: &Engine,
    caller: &Caller,
    mut step: SaveStep,
    write: impl Fn(Change) -> Result<CommitResult, StoreError>,
) -> Result<Remembered, Error> {
    loop {
        step = match step {
            SaveStep::Done(remembered) => return Ok(remembered),
            SaveStep::Write(change, saving) => engine.resume_save(caller, saving, write(change))?,
        };
    }
}

pub(crate) fn begin_remember_as(
    engine: &Engine,
    caller: &Caller,
    mut draft: Draft,
    deed: WriteIntent,
    operation: Operation,
) -> Result<SaveStep, Error> {
    if draft.derived_from.is_empty() && deed == WriteIntent::Write {
        draft.derived_from = lineage::find_repeated_versions(engine, caller, &draft)?;
    }
    attempt_save(engine, caller, SaveRequest { draft, deed, operation, attempt: 0, begun: engine.clock.now() })
}

/// Before looking again: where what was known of the tenant is no longer so, or a text was forgotten meanwhile, the
/// gate is to tell.
pub(crate) fn invalidate_cache(
    engine: &Engine,
    tenant: TenantId,
    guard: &Guard,
    begun: Timestamp,
) -> Result<(), Error> {
    if matches!(guard, Guard::RowInState { .. } | Guard::RowCountIs { .. }) {
        engine.tenant_cache.forget_tenant(tenant);
    }
    match guard {
        Guard::RowCountIs { kind: RowKind::Certificates, .. } => {
            erasures::ensure_not_erased_since(engine, tenant, begun)
        }
        _ => Ok(()),
    }
}

/// What a save to a path would write, for whoever writes many as one.
pub(crate) fn plan_save_at_path(
    engine: &Engine,
    caller: &Caller,
    draft: &Draft,
) -> Result<Result<(Change, Memory), Refusal>, Error> {
    let ReadyDraft { store, cleared } = match prepare_draft(engine, caller, WriteIntent::Write, draft)? {
        Ok(ready) => ready,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (change, saved) = plan::plan_save(engine, caller, &store, cleared, Operation::Create, false)?;
    let change = change.unwrap_or_else(|| Change::new(caller.tenant, engine.clock.now()));
    Ok(Ok((change, saved.memory)))
}

fn attempt_save(engine: &Engine, caller: &Caller, asked: SaveRequest) -> Result<SaveStep, Error> {
    if asked.attempt >= engine.limits().commit_attempts {
        return Err(Error::conflict("conflict.lost_race", "many writers are at this place; try again"));
    }
    let ReadyDraft { store, cleared } = match prepare_draft(engine, caller, asked.deed, &asked.draft)? {
        Ok(ready) => ready,
        Err(refusal) => return Ok(refusal_step(engine, caller, &asked.draft.store, refusal)),
    };
    let (change, saved) = plan::plan_save(engine, caller, &store, cleared, asked.operation, asked.attempt == 0)?;
    let saved = Box::new(saved);
    Ok(match change {
        Some(change) => {
            SaveStep::Write(change, PendingSave(PendingOutcome::Saved(Box::new(SaveAttempt { asked, saved }))))
        }
        None => SaveStep::Done(Remembered::Saved(saved)),
    })
}

fn refusal_step(engine: &Engine, caller: &Caller, store: &str, refusal: Refusal) -> SaveStep {
    SaveStep::Write(
        refusals::plan_refusal_event(engine, caller, store, &refusal),
        PendingSave(PendingOutcome::Refused(refusal)),
    )
}

/// Through the gate on what is known of the tenant; what that was is checked again when it is written.
fn prepare_draft(
    engine: &Engine,
    caller: &Caller,
    deed: WriteIntent,
    draft: &Draft,
) -> Result<Result<ReadyDraft, Refusal>, Error> {
    // A store that is made on first use is made by a save that passes, not by one that is refused.
    let store = match engine.tenant_cache.store(caller.tenant, &draft.store) {
        Some(store) => store,
        None => Arc::new(stores::open_store(engine, caller, &draft.store)?),
    };
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    if let Some(refusal) = clear::closed_run_refusal(engine, caller, &scope)? {
        return Ok(Err(refusal));
    }
    let (keys, erasures) =
        (bans::cached_ban_keys(engine, caller.tenant)?, erasures::cached_erasure_count(engine, caller.tenant)?);
    let cleared = match clear::clear_draft_with_keys(engine, caller, deed, &store, &scope, draft.clone(), &keys)? {
        Ok(cleared) => cleared,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let store = stores::cached_store_for_write(engine, caller, &draft.store)?;
    let known = [bans::ban_key_count_guard(&keys), cache::open_store_guard(&store), erasure_count_guard(erasures)];
    Ok(Ok(ReadyDraft { store, cleared: cleared.with_guards(known) }))
}

fn run_cap_refusal(saves_max: u32) -> Refusal {
    Refusal::new("policy.run_cap", format!("an unattended run may save {saves_max} memories, and this one has"))
        .with_hint("go on without saving; a person can save it later")
}
