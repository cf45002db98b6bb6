//! Patch: new content for a memory the caller has read, by its sha256.

use crate::Engine;
use crate::gate::Stamp;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Guard};
use crate::ports::{Address, StoreError};
use crate::write::remember::{Outcome, Remembered};

/// What shall stand there instead.
#[derive(Clone, Debug)]
pub struct Patch {
    pub memory: MemoryId,
    pub expected_sha256: String,
    pub content: String,
    pub summary: Option<String>,
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Clone)]
pub enum Patched {
    Saved(Box<Memory>),
    Refused(Refusal),
}

impl Engine {
    /// Replaces a memory's content if its sha256 is still the expected one.
    pub fn patch(&self, caller: &Caller, patch: Patch) -> Result<Patched, Error> {
        let current = self.read_by_id(caller, patch.memory)?;
        let store = self.open_store(caller, &current.store)?;
        if !current.state.stands() {
            let reason = format!("the memory is {}, so it cannot be patched", current.state);
            return Err(Error::conflict("conflict.state", reason));
        }
        let draft = Draft {
            store: current.store.clone(),
            content: patch.content,
            evidence: patch.evidence,
            expected_sha256: Some(patch.expected_sha256.clone()),
            reason: patch.summary,
            kind: Some(current.kind),
            layer: Some(current.layer),
            ..Draft::default()
        };
        let cleared = match self.clear(caller, &store, &current.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Patched::Refused(self.refuse(caller, &store.slug, refusal)?)),
        };
        self.expected(caller, Some(&patch.expected_sha256), &current)?;
        if cleared.state() == State::Constrained && current.state == State::Active {
            return self.patch_beside(caller, &current, cleared.draft().clone());
        }
        let now = self.clock.now();
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, cleared.draft().reason.clone());
        let change =
            Change::new(caller.tenant, now).guard(Guard::VersionIs { memory: current.id, version: current.version });
        let entry = cleared.revise(&current, self.ruleset(&store)?, Operation::Patch, stamp);
        let embedding = self.embedding_at_save(entry.memory());
        let entry = entry.with_embedding(embedding);
        let memory = entry.memory().clone();
        match self.backend.commit(self.written(caller, change, entry, Outcome::Updated)) {
            Ok(_) => Ok(Patched::Saved(Box::new(memory))),
            Err(StoreError::Guard(_)) => Err(self.lost_patch(caller, &patch.expected_sha256, current.id)),
            Err(error) => Err(error.into()),
        }
    }

    /// Where a program's writes wait for review, what stands is not touched: the patch waits beside it.
    fn patch_beside(&self, caller: &Caller, current: &Memory, patch: Draft) -> Result<Patched, Error> {
        let draft = Draft {
            content: patch.content,
            evidence: patch.evidence,
            reason: patch.reason,
            derived_from: vec![current.version],
            ..Draft::of(current)
        };
        Ok(match self.remember(caller, draft)? {
            Remembered::Saved(saved) => Patched::Saved(Box::new(saved.memory)),
            Remembered::Refused(refusal) => Patched::Refused(refusal),
        })
    }

    /// What the loser of a race is told: what stands there now.
    fn lost_patch(&self, caller: &Caller, expected: &str, memory: MemoryId) -> Error {
        let everything = Readable::everything(caller.tenant);
        match self.backend.get(&everything, &Address::Id(memory)) {
            Ok(Some(current)) => self
                .expected(caller, Some(expected), &current)
                .err()
                // The content is the same again, but another change came between.
                .unwrap_or_else(|| Error::conflict("conflict.lost_race", "the memory has changed since you read it")),
            Ok(None) => Error::not_found(format!("memory `{memory}`")),
            Err(error) => error.into(),
        }
    }
}
