//! Who sees which entries of the log: prepared once, asked of every entry.

use crate::Engine;
use crate::caller::Caller;
use crate::error::Error;
use crate::event::Event;
use crate::policy::{Readable, Scopes};
use crate::vocabulary::Role;

/// One caller's view of the log.
#[derive(Clone, Debug)]
pub struct Witness {
    eyes: Readable,
    caller: Caller,
}

impl Engine {
    /// The view of this caller, as its rights stand now.
    pub fn witness(&self, caller: &Caller) -> Result<Witness, Error> {
        Ok(Witness { eyes: self.eyes(caller)?, caller: caller.clone() })
    }
}

impl Witness {
    /// An event is seen by who did it and by who sees where it happened; what concerns the whole tenant, by admins.
    pub fn sees(&self, event: &Event) -> bool {
        let happening = &event.happening;
        let own = happening.actor == self.caller.principal && happening.conversation == self.caller.conversation;
        match &happening.scope {
            _ if self.caller.role == Role::Admin => matches!(self.eyes.scopes, Scopes::All),
            Some(scope) => self.eyes.sees(scope),
            None => own,
        }
    }
}
