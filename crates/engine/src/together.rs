//! Remember many at once: turns of one conversation share a place and wait for one disk.

use crate::Engine;
use crate::caller::Caller;
use crate::change::{Change, Guard, Place};
use crate::error::Error;
use crate::gate::{ClearedDraft, Entry, Stamp};
use crate::memory::Draft;
use crate::policy;
use crate::ports::StoreError;
use crate::remember::{Outcome, Remembered, Saved};
use crate::row::RowKind;
use crate::ruleset::Ruleset;
use crate::vocabulary::{Access, Dedup, Operation};

impl Engine {
    /// Saves drafts of one store in one transaction, each through the gate: one that is refused does not hold up the
    /// others. Where each needs a look at what stands, they are saved one by one.
    pub(crate) fn remember_together(
        &self,
        caller: &Caller,
        slug: &str,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Remembered>, Error> {
        let store = self.open_store(caller, slug)?;
        let ruleset = self.ruleset(&store)?;
        let scope = policy::scope_for(caller, store.scope, None)?;
        let plain = ruleset.dedup == Dedup::None
            && store.access != Access::DraftWrite
            && !caller.unattended
            && drafts.iter().all(|draft| draft.path.is_none())
            && self.run_is_closed(caller, &scope)?.is_none();
        if !plain {
            return drafts.into_iter().map(|draft| self.remember(caller, draft)).collect();
        }
        let mut cleared = Vec::with_capacity(drafts.len());
        for draft in &drafts {
            let mut draft = draft.clone();
            draft.derived_from = self.echoes(caller, &draft)?;
            cleared.push(self.clear(caller, &store, &scope, draft)?);
        }
        if cleared.iter().any(Result::is_ok) {
            self.store_for_write(caller, slug)?;
        }
        let place = Place { store: store.slug.clone(), scope };
        for _ in 0..self.limits().commit_attempts {
            match self.save_together(caller, &cleared, ruleset, &place) {
                // One of them was forgotten meanwhile: each on its own hears of it.
                Err(Error::Store(StoreError::Guard(Guard::RowIs { kind: RowKind::Bans, .. }))) => {
                    return drafts.into_iter().map(|draft| self.remember(caller, draft)).collect();
                }
                Err(Error::Store(StoreError::Guard(_))) => {}
                Err(error) => return Err(error),
                Ok(mut saved) => {
                    let mut answers = Vec::with_capacity(cleared.len());
                    for one in cleared {
                        answers.push(match one {
                            Err(refusal) => Remembered::Refused(self.refuse(caller, slug, refusal)?),
                            Ok(_) => Remembered::Saved(Box::new(saved.remove(0))),
                        });
                    }
                    return Ok(answers);
                }
            }
        }
        Err(Error::conflict("conflict.lost_race", "many writers are at this place; try again"))
    }

    fn save_together(
        &self,
        caller: &Caller,
        cleared: &[Result<ClearedDraft, crate::refusal::Refusal>],
        ruleset: &Ruleset,
        place: &Place,
    ) -> Result<Vec<Saved>, Error> {
        let now = self.clock.now();
        let mut change = Change::new(caller.tenant, now);
        let mut saved = Vec::new();
        for cleared in cleared.iter().flatten() {
            let stamp = Stamp::new(caller, self.fresh_version_id(), now, cleared.draft().reason.clone());
            let entry: Entry =
                cleared.clone().create(self.fresh_memory_id(), caller, ruleset, Operation::Create, stamp);
            let embedding = self.embedding_at_save(entry.memory());
            let entry = entry.with_embedding(embedding);
            let (memory, warnings) = (entry.memory().clone(), cleared.warnings().to_vec());
            saved.push(Saved { memory, outcome: Outcome::Created, deduped_by: None, near: None, warnings });
            change = self.written(caller, change, entry, Outcome::Created);
        }
        if saved.is_empty() {
            return Ok(saved);
        }
        let change = self.making_room(caller, place, ruleset, saved.len() as u64, change)?;
        self.backend.commit(change)?;
        Ok(saved)
    }
}
