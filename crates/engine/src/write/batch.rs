//! Batch saves: many drafts of one place in one transaction. Turns of a conversation are saved this way.

use crate::Engine;
use crate::gate::{VersionStamp, VersionedEntry};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::{Guard, Place};
use crate::model::memory::Draft;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::{Access, Dedup, Operation};
use crate::ports::change::Change;
use crate::ports::{embedding, refusals};
use crate::recall::lineage;
use crate::tenant::stores;
use crate::write::{Remembered, SaveOutcome, SavedMemory, clear, plan, quota, remember};

/// Whether drafts without a path can be saved here in one transaction: only if none depends on what the place holds.
pub(crate) fn can_save_as_batch(engine: &Engine, caller: &Caller, store: &Store, scope: &Scope) -> Result<bool, Error> {
    Ok(stores::ruleset_of(engine, store)?.dedup == Dedup::None
        && store.access != Access::DraftWrite
        && !caller.unattended
        && clear::closed_run_refusal(engine, caller, scope)?.is_none())
}

/// Saves drafts of one place in one transaction, or one by one where [`can_save_as_batch`] says no.
///
/// Each draft passes the gate; a refused one does not stop the others. `guard` is added to every commit. A failed guard
/// is returned as an error, and the caller retries the batch.
pub(crate) fn remember_batch(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    drafts: Vec<Draft>,
    guard: Option<&Guard>,
) -> Result<Vec<Remembered>, Error> {
    let store = stores::open_store(engine, caller, &place.store)?;
    let guarded = |change: Change| guard.into_iter().cloned().fold(change, Change::with_guard);
    if !can_save_as_batch(engine, caller, &store, &place.scope)? {
        let commit = |change| engine.commit(guarded(change));
        return drafts
            .into_iter()
            .map(|draft| remember::run_save_steps(engine, caller, engine.begin_remember(caller, draft)?, commit))
            .collect();
    }
    let mut cleared = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        draft.derived_from = lineage::find_repeated_versions(engine, caller, &draft)?;
        cleared.push(clear::clear_for_write(engine, caller, &store, &place.scope, draft)?);
    }
    // Only now: a batch of which nothing passes must not create a store that is made on first use.
    if cleared.iter().any(Result::is_ok) {
        stores::store_for_write(engine, caller, &place.store)?;
    }
    // One time for all drafts: turns of a batch keep their order by number, not by time.
    let now = engine.clock.now();
    let (ruleset, mut change) = (stores::ruleset_of(engine, &store)?, guarded(Change::new(caller.tenant, now)));
    let mut answers = Vec::with_capacity(cleared.len());
    for cleared in cleared {
        let cleared = match cleared {
            Ok(cleared) => cleared,
            Err(refusal) => {
                answers.push(Remembered::Refused(refusal));
                continue;
            }
        };
        let warnings = cleared.warnings().to_vec();
        let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, cleared.draft().reason.clone());
        let entry: VersionedEntry =
            cleared.into_new_memory(engine.fresh_memory_id(), caller, ruleset, Operation::Create, stamp);
        let embedding = embedding::embed_if_instant(engine, entry.memory());
        let entry = entry.with_embedding(embedding);
        let (memory, outcome) = (entry.memory().clone(), SaveOutcome::Created);
        answers.push(Remembered::Saved(Box::new(SavedMemory {
            memory,
            outcome,
            deduped_by: None,
            near: None,
            review: None,
            warnings,
        })));
        change = plan::add_written_entry(engine, caller, change, entry, outcome);
    }
    // Quota is planned once for the whole batch, by the number that passed the gate.
    let saved = answers.iter().filter(|answer| matches!(answer, Remembered::Saved(_))).count();
    if saved > 0 {
        let change = quota::plan_quota_room(engine, caller, place, ruleset, saved as u64, change)?;
        engine.commit(change)?;
    }
    // Logged after the commit: a caller that retries on a failed guard does not log the same refusal twice.
    for answer in &answers {
        if let Remembered::Refused(refusal) = answer {
            refusals::log_refusal(engine, caller, &place.store, refusal.clone())?;
        }
    }
    Ok(answers)
}
