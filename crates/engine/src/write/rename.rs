//! Rename: the same memory at another path of its place.

use crate::Engine;
use crate::gate::{Entry, Stamp, Stop, new_path, scan};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::MemoryId;
use crate::model::memory::Draft;
use crate::model::vocabulary::Operation;
use crate::policy;
use crate::ports::StoreError;
use crate::ports::change::{Change, Guard, Place, Write};
use crate::removal::forget::Forgotten;

impl Engine {
    /// Moves a memory to a path where nothing stands. Its history moves with it.
    pub fn rename(&self, caller: &Caller, memory: MemoryId, path: &str) -> Result<Forgotten, Error> {
        self.is_on()?;
        let current = self.read_by_id(caller, memory)?;
        let store = self.open_store(caller, &current.store)?;
        let path = new_path(path, self.limits())?;
        let secrets = self.ruleset(&store)?.secrets;
        // A path is text too: the scanner sees it before it is kept.
        let draft = Draft { path: Some(path.clone()), ..Draft::default() };
        let seen = match scan(draft, current.scope.kind(), secrets, &|| self.allow_list(caller.tenant), None) {
            Err(Stop::Refused(refusal)) => Some(refusal),
            Err(Stop::Failed(error)) => return Err(error),
            Ok(_) => None,
        };
        let denied = policy::may_write(caller, &store, &current.scope, current.kind, true).err();
        if let Some(refusal) = denied.or(seen) {
            return Ok(Forgotten::Refused(self.refuse(caller, &store.slug, refusal)?));
        }
        let now = self.clock.now();
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, Some("renamed".to_owned()));
        let entry = Entry::transition(&current, Operation::Update, stamp, Vec::new(), |memory| {
            memory.path = Some(path.clone())
        });
        let renamed = entry.memory().clone();
        let place = Place { store: current.store.clone(), scope: current.scope.clone() };
        let change = Change::new(caller.tenant, now)
            .guard(Guard::VersionIs { memory: current.id, version: current.version })
            .guard(Guard::PathFree { place, path })
            .event(Happening::new(EventName::WriteUpdated, caller, now).about(&renamed).with("operation", "rename"))
            .write(Write::Entry(Box::new(entry)));
        match self.backend.commit(change) {
            Ok(_) => Ok(Forgotten::Done(Box::new(renamed))),
            Err(StoreError::Guard(Guard::PathFree { .. })) => {
                Err(Error::conflict("conflict.path_taken", "something stands at that path already"))
            }
            Err(error) => Err(error.into()),
        }
    }
}
