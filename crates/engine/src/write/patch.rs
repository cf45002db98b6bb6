//! Patch: replaces the content of a memory the caller has read. The sha256 of that content must still match.

use crate::Engine;
use crate::gate::VersionStamp;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy::{self, Readable};
use crate::ports::change::Change;
use crate::ports::{Address, candidate_reviews, embedding, refusals};
use crate::recall::read;
use crate::tenant::stores;
use crate::write::{Remembered, SaveOutcome, SavedMemory, clear, confirmation, plan, remember};

/// New content for one memory.
#[derive(Clone, Debug)]
pub struct Patch {
    pub memory: MemoryId,
    /// Digest of the content the caller has read.
    pub expected_sha256: String,
    pub content: String,
    pub summary: Option<String>,
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Clone)]
pub enum PatchOutcome {
    Saved(Box<Memory>),
    /// The memory stays as it is; the new content is a draft that waits for review.
    Proposed(Box<SavedMemory>),
    Refused(Refusal),
}

impl Engine {
    /// Replaces a memory's content if its sha256 is still the expected one. No retry on a lost race: the caller has to
    /// read the new content first.
    pub fn patch(&self, caller: &Caller, patch: Patch) -> Result<PatchOutcome, Error> {
        let current = read::read_by_id(self, caller, patch.memory)?;
        let store = stores::open_store(self, caller, &current.store)?;
        if !current.state.is_changeable() {
            let reason = format!("the memory is {}, so it cannot be patched", current.state);
            return Err(Error::conflict("conflict.state", reason));
        }
        let draft = Draft {
            store: current.store.clone(),
            content: patch.content,
            evidence: patch.evidence,
            expected_sha256: Some(patch.expected_sha256.clone()),
            reason: patch.summary,
            // A patch changes the content only. Kind and layer are named so that the gate checks the rules for them.
            kind: Some(current.kind),
            layer: Some(current.layer),
            ..Draft::default()
        };
        let cleared = match clear::clear_for_write(self, caller, &store, &current.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => {
                return Ok(PatchOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
            }
        };
        // After the gate: a refusal is answered before a conflict.
        read::ensure_expected_sha256(self, caller, Some(&patch.expected_sha256), &current)?;
        // A patch of a draft updates the draft; a patch of an active memory must not activate without review.
        let needs_person = policy::replace_needs_person(caller, &current);
        if needs_person || (cleared.state() == State::Constrained && current.state == State::Active) {
            return save_patch_draft(self, caller, &current, cleared.draft().clone());
        }
        let now = self.clock.now();
        let stamp = VersionStamp::new(caller, self.fresh_version_id(), now, cleared.draft().reason.clone());
        let change = Change::new(caller.tenant, now)
            .with_guard(Guard::VersionIs { memory: current.id, version: current.version });
        let entry = cleared.into_revision(&current, stores::ruleset_of(self, &store)?, Operation::Patch, stamp);
        let embedding = embedding::embed_if_instant(self, entry.memory());
        let entry = entry.with_embedding(embedding);
        let memory = entry.memory().clone();
        let change = candidate_reviews::plan_candidate_change(self, caller, change, &current, &memory)?;
        let (change, _) = confirmation::plan_request(self, caller, change, Some(&current), &memory)?;
        match self.commit(plan::add_written_entry(self, caller, change, entry, SaveOutcome::Updated)) {
            Ok(_) => Ok(PatchOutcome::Saved(Box::new(memory))),
            Err(StoreError::Guard(_)) => Err(patch_conflict_error(self, caller, &patch.expected_sha256, current.id)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Saves the patch as a draft beside the memory: it is a person's, or writes by programs wait for review in its store.
fn save_patch_draft(engine: &Engine, caller: &Caller, current: &Memory, patch: Draft) -> Result<PatchOutcome, Error> {
    let draft = Draft {
        content: patch.content,
        evidence: patch.evidence,
        reason: patch.reason,
        derived_from: vec![current.version],
        ..Draft::from_intact(current)?
    };
    Ok(match remember::remember_candidate(engine, caller, draft, current)? {
        Remembered::Saved(saved) => PatchOutcome::Proposed(saved),
        Remembered::Refused(refusal) => PatchOutcome::Refused(refusal),
    })
}

/// Conflict after a lost race, with the content as it is now.
fn patch_conflict_error(engine: &Engine, caller: &Caller, expected: &str, memory: MemoryId) -> Error {
    let everything = Readable::whole_tenant(caller.tenant);
    match engine.backend.get_memory(&everything, &Address::Id(memory)) {
        Ok(Some(current)) => read::ensure_expected_sha256(engine, caller, Some(expected), &current)
            .err()
            // The content still matches: another field changed, or the content was changed and changed back.
            .unwrap_or_else(|| Error::conflict("conflict.lost_race", "the memory has changed since you read it")),
        Ok(None) => Error::not_found(format!("memory `{memory}`")),
        Err(error) => error.into(),
    }
}
