//! Remember many at once: turns of one conversation share a place and wait for one disk.

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
use crate::write::remember::{Remembered, SaveOutcome, SavedMemory};
use crate::write::{clear, plan, quota, remember};

/// Whether saves without a path need no look at what stands in this place, so that many can go in one transaction.
pub(crate) fn can_save_as_batch(engine: &Engine, caller: &Caller, store: &Store, scope: &Scope) -> Result<bool, Error> {
    Ok(stores::ruleset_of(engine, store)?.dedup == Dedup::None
        && store.access != Access::DraftWrite
        && !caller.unattended
        && clear::closed_run_refusal(engine, caller, scope)?.is_none())
}

/// Saves drafts of one place in one transaction, each through the gate: one that is refused does not hold up the
/// others. Where they cannot [go together](Engine::goes_together), one after the other. A guard that fails, this
/// one or another, is an error of the store: look again.
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
        let write = |change| engine.commit(guarded(change));
        return drafts
            .into_iter()
            .map(|draft| remember::run_save_steps(engine, caller, engine.begin_remember(caller, draft)?, write))
            .collect();
    }
    let mut cleared = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        draft.derived_from = lineage::find_repeated_versions(engine, caller, &draft)?;
        cleared.push(clear::clear_for_write(engine, caller, &store, &place.scope, draft)?);
    }
    if cleared.iter().any(Result::is_ok) {
        stores::store_for_write(engine, caller, &place.store)?;
    }
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
            warnings,
        })));
        change = plan::add_written_entry(engine, caller, change, entry, outcome);
    }
    let saved = answers.iter().filter(|answer| matches!(answer, Remembered::Saved(_))).count();
    if saved > 0 {
        let change = quota::plan_quota_room(engine, caller, place, ruleset, saved as u64, change)?;
        engine.commit(change)?;
    }
    for answer in &answers {
        if let Remembered::Refused(refusal) = answer {
            refusals::log_refusal(engine, caller, &place.store, refusal.clone())?;
        }
    }
    Ok(answers)
}
