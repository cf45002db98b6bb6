//! Rename: moves a memory to another path in the same place.

use crate::Engine;
use crate::gate::{GateError, normalize_new_path, scan_draft};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::id::MemoryId;
use crate::model::memory::Draft;
use crate::model::vocabulary::Operation;
use crate::policy;
use crate::ports::change::Change;
use crate::ports::transition::{Transition, TransitionOutcome};
use crate::ports::{candidate_reviews, refusals};
use crate::recall::read;
use crate::tenant::{allow_list, stores};

impl Engine {
    /// Moves a memory to a free path. Its history moves with it.
    pub fn rename(&self, caller: &Caller, memory: MemoryId, path: &str) -> Result<TransitionOutcome, Error> {
        self.ensure_memory_enabled()?;
        let current = read::read_by_id(self, caller, memory)?;
        let store = stores::open_store(self, caller, &current.store)?;
        let path = normalize_new_path(path, self.limits())?;
        let secrets = stores::ruleset_of(self, &store)?.secrets;
        // A path is stored text: it is scanned like content.
        let draft = Draft { path: Some(path.clone()), ..Draft::default() };
        let found = match scan_draft(
            draft,
            current.scope.kind(),
            secrets,
            &|| allow_list::load_allow_list(self, caller.tenant),
            None,
        ) {
            Err(GateError::Refused(refusal)) => Some(refusal),
            Err(GateError::Failed(error)) => return Err(error),
            Ok(_) => None,
        };
        // Permission first: a caller who may not write here learns nothing from the scanner.
        let permitted = match policy::replace_needs_person(caller, &current) {
            true => Err(policy::people_change_refusal()),
            false => policy::may_write(caller, &store, &current.scope, current.kind, true),
        };
        let permit = match permitted.and_then(|permit| found.map_or(Ok(permit), Err)) {
            Ok(permit) => permit,
            Err(refusal) => {
                return Ok(TransitionOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
            }
        };
        let place = Place { store: current.store.clone(), scope: current.scope.clone() };
        // No lookup before: the guard finds a memory at the new path, also one that is saved at the same time.
        let change =
            Change::new(caller.tenant, self.clock.now()).with_guard(Guard::PathFree { place, path: path.clone() });
        let rename = Transition::new(&current, Operation::Update)
            .with_reason("renamed".to_owned())
            .with_written_trust(permit.trust)
            .with_event(EventName::WriteUpdated)
            .with_field("operation", "rename");
        let (change, renamed) = rename.plan(self, caller, change, |memory| memory.path = Some(path));
        let change = candidate_reviews::plan_candidate_change(self, caller, change, &current, &renamed)?;
        match self.commit(change) {
            Ok(_) => Ok(TransitionOutcome::Done(Box::new(renamed))),
            Err(StoreError::Guard(Guard::PathFree { .. })) => {
                Err(Error::conflict("conflict.path_taken", "a memory exists at that path already"))
            }
            Err(error) => Err(error.into()),
        }
    }
}
