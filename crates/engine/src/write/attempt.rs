//! A save in steps: decide, hand over what to write, hear how it went. So that whoever has better to do than to wait for
//! the disk can leave it to others in between.

use std::sync::Arc;

use jiff::Timestamp;

use crate::Engine;
use crate::admin::erase::erasures_are;
use crate::gate::{ClearedDraft, Deed};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::store::Store;
use crate::model::vocabulary::Operation;
use crate::policy;
use crate::ports::StoreError;
use crate::ports::change::{Change, Committed, Guard};
use crate::ports::row::RowKind;
use crate::tenant::bans;
use crate::tenant::cache;
use crate::write::remember::{Remembered, Saved};

/// What a save needs next.
pub enum Step {
    /// This is to be written; [`Engine::hear`] wants to know how that went.
    Write(Change, Saving),
    Done(Remembered),
}

/// A save whose change is being written.
pub struct Saving(Then);

/// What it comes to once that is written.
enum Then {
    Saved(Box<Attempt>),
    Refused(Refusal),
}

/// A save that stands once its change does, and what it takes to try again.
struct Attempt {
    asked: Asked,
    saved: Box<Saved>,
}

/// What was asked for.
struct Asked {
    draft: Draft,
    deed: Deed,
    operation: Operation,
    attempt: usize,
    begun: Timestamp,
}

/// A draft that passed the gate, and where it goes.
struct Ready {
    store: Arc<Store>,
    cleared: ClearedDraft,
}

impl Engine {
    /// Whether the steps of this save look at next to nothing: then they may be taken where others wait.
    pub fn is_light(&self, caller: &Caller, draft: &Draft) -> bool {
        let looks_around = caller.run.is_some() || draft.recall_hint.is_some() || !draft.derived_from.is_empty();
        self.backend.writes_beside()
            && self.embedder.is_instant()
            && self.settings.classifier.is_none()
            && !looks_around
            && draft.content.len() <= self.limits().light_bytes_max
    }

    /// All steps of a save, one after the other.
    pub(crate) fn remember_as(
        &self,
        caller: &Caller,
        draft: Draft,
        deed: Deed,
        operation: Operation,
    ) -> Result<Remembered, Error> {
        let step = self.begin_as(caller, draft, deed, operation)?;
        self.carry_out(caller, step, |change| self.backend.commit(change))
    }

    /// The steps that are left, written in this way.
    pub(crate) fn carry_out(
        &self,
        caller: &Caller,
        mut step: Step,
        write: impl Fn(Change) -> Result<Committed, StoreError>,
    ) -> Result<Remembered, Error> {
        loop {
            step = match step {
                Step::Done(remembered) => return Ok(remembered),
                Step::Write(change, saving) => self.hear(caller, saving, write(change))?,
            };
        }
    }

    pub(crate) fn begin_as(
        &self,
        caller: &Caller,
        mut draft: Draft,
        deed: Deed,
        operation: Operation,
    ) -> Result<Step, Error> {
        if draft.derived_from.is_empty() && deed == Deed::Write {
            draft.derived_from = self.echoes(caller, &draft)?;
        }
        self.attempt(caller, Asked { draft, deed, operation, attempt: 0, begun: self.clock.now() })
    }

    /// The next step, once it is known how the writing went.
    pub fn hear(&self, caller: &Caller, saving: Saving, written: Result<Committed, StoreError>) -> Result<Step, Error> {
        let Attempt { asked, saved } = match saving.0 {
            Then::Saved(attempt) => *attempt,
            Then::Refused(refusal) => return Ok(written.map(|_| Step::Done(Remembered::Refused(refusal)))?),
        };
        let again = Asked { attempt: asked.attempt + 1, ..asked };
        match written {
            Ok(_) => Ok(Step::Done(Remembered::Saved(saved))),
            Err(StoreError::Guard(Guard::RunSavesLeft { saves_max, .. })) => {
                Ok(self.refusing(caller, &again.draft.store, run_cap(saves_max)))
            }
            // Not a save's own: whoever adds these knows what it means that they fail.
            Err(error @ StoreError::Guard(Guard::TurnsBefore { .. } | Guard::RowIs { kind: RowKind::Leases, .. })) => {
                Err(error.into())
            }
            // Somebody stands there, or wrote between the look and the leap: look again.
            Err(StoreError::Guard(guard)) => {
                self.unlearn(caller.tenant, &guard, again.begun)?;
                self.attempt(caller, again)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Before looking again: where what was known of the tenant is no longer so, or a text was forgotten meanwhile, the
    /// gate is to tell.
    pub(crate) fn unlearn(&self, tenant: TenantId, guard: &Guard, begun: Timestamp) -> Result<(), Error> {
        if matches!(guard, Guard::RowIs { .. } | Guard::RowsAre { .. }) {
            self.known.forget(tenant);
        }
        match guard {
            Guard::RowsAre { kind: RowKind::Certificates, .. } => self.unerased_since(tenant, begun),
            _ => Ok(()),
        }
    }

    /// What a save to a path would write, for whoever writes many as one.
    pub(crate) fn looked_up(&self, caller: &Caller, draft: &Draft) -> Result<Result<(Change, Memory), Refusal>, Error> {
        let Ready { store, cleared } = match self.ready(caller, Deed::Write, draft)? {
            Ok(ready) => ready,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let (change, saved) = self.put(caller, &store, cleared, Operation::Create, false)?;
        let change = change.unwrap_or_else(|| Change::new(caller.tenant, self.clock.now()));
        Ok(Ok((change, saved.memory)))
    }

    fn attempt(&self, caller: &Caller, asked: Asked) -> Result<Step, Error> {
        if asked.attempt >= self.limits().commit_attempts {
            return Err(Error::conflict("conflict.lost_race", "many writers are at this place; try again"));
        }
        let Ready { store, cleared } = match self.ready(caller, asked.deed, &asked.draft)? {
            Ok(ready) => ready,
            Err(refusal) => return Ok(self.refusing(caller, &asked.draft.store, refusal)),
        };
        let (change, saved) = self.put(caller, &store, cleared, asked.operation, asked.attempt == 0)?;
        let saved = Box::new(saved);
        Ok(match change {
            Some(change) => Step::Write(change, Saving(Then::Saved(Box::new(Attempt { asked, saved })))),
            None => Step::Done(Remembered::Saved(saved)),
        })
    }

    fn refusing(&self, caller: &Caller, store: &str, refusal: Refusal) -> Step {
        Step::Write(self.refusal(caller, store, &refusal), Saving(Then::Refused(refusal)))
    }

    /// Through the gate on what is known of the tenant; what that was is checked again when it is written.
    fn ready(&self, caller: &Caller, deed: Deed, draft: &Draft) -> Result<Result<Ready, Refusal>, Error> {
        // A store that is made on first use is made by a save that passes, not by one that is refused.
        let store = match self.known.store(caller.tenant, &draft.store) {
            Some(store) => store,
            None => Arc::new(self.open_store(caller, &draft.store)?),
        };
        let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
        if let Some(refusal) = self.run_is_closed(caller, &scope)? {
            return Ok(Err(refusal));
        }
        let (keys, erasures) = (self.known_ban_keys(caller.tenant)?, self.known_erasures(caller.tenant)?);
        let cleared = match self.clear_with(caller, deed, &store, &scope, draft.clone(), &keys)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let store = self.known_store(caller, &draft.store)?;
        let known = [bans::keys_are(&keys), cache::store_is_open(&store), erasures_are(erasures)];
        Ok(Ok(Ready { store, cleared: cleared.guarded(known) }))
    }
}

fn run_cap(saves_max: u32) -> Refusal {
    Refusal::new("policy.run_cap", format!("an unattended run may save {saves_max} memories, and this one has"))
        .hint("go on without saving; a person can save it later")
}
