//! Verify-by: a date after which a memory counts as a draft until a person confirms it.

use jiff::Timestamp;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::MemoryId;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy;
use crate::ports::change::Change;
use crate::ports::refusals;
use crate::ports::transition::{Transition, TransitionOutcome};
use crate::recall::read;
use crate::tenant::stores;

impl Engine {
    /// Confirms that a memory is still true, until the given date or, without one, for good. Only a person can.
    pub fn verify_by(
        &self,
        caller: &Caller,
        memory: MemoryId,
        until: Option<Timestamp>,
        reason: Option<String>,
    ) -> Result<TransitionOutcome, Error> {
        self.ensure_memory_enabled()?;
        let current = read::read_by_id(self, caller, memory)?;
        let store = stores::open_store(self, caller, &current.store)?;
        let people_only = Refusal::new("policy.people_only", "only a person can confirm that a memory is still true");
        // An agent that confirms its own notes would make the date meaningless.
        let permit = match caller.role.is_program() {
            true => Err(people_only),
            false => policy::may_write(caller, &store, &current.scope, current.kind, true),
        };
        if let Err(refusal) = permit {
            return Ok(TransitionOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
        }
        // A draft is confirmed by its review, not here.
        if current.state != State::Active {
            return Err(Error::conflict("conflict.not_active", format!("the memory is {}", current.state)));
        }
        let now = self.clock.now();
        if until.is_some_and(|until| until <= now) {
            return Err(Error::invalid("shape.verify_by", "this date is in the past: name a later one"));
        }
        let confirm = Transition::new(&current, Operation::Confirm)
            .with_reason(reason)
            .with_event(EventName::WriteUpdated)
            .with_field("operation", Operation::Confirm.as_str())
            .with_field("verify_by", until.map(|until| until.to_string()));
        let change = Change::new(caller.tenant, now);
        let (change, confirmed) = confirm.plan(self, caller, change, |memory| memory.verify_by = until);
        self.commit(change)?;
        Ok(TransitionOutcome::Done(Box::new(confirmed)))
    }
}
