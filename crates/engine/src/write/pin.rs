//! Pin: switches a memory's always-inject flag, which puts it into every turn's context.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::MemoryId;
use crate::model::vocabulary::Operation;
use crate::policy;
use crate::ports::change::Change;
use crate::ports::transition::{Transition, TransitionOutcome};
use crate::ports::{candidate_reviews, refusals, retry};
use crate::recall::read;
use crate::tenant::stores;

impl Engine {
    /// Switches always-inject on or off.
    pub fn pin(&self, caller: &Caller, memory: MemoryId, always_inject: bool) -> Result<TransitionOutcome, Error> {
        self.ensure_memory_enabled()?;
        retry::retry_lost_race(self, || pin_once(self, caller, memory, always_inject))
    }
}

fn pin_once(
    engine: &Engine,
    caller: &Caller,
    memory: MemoryId,
    always_inject: bool,
) -> Result<TransitionOutcome, Error> {
    let current = read::read_by_id(engine, caller, memory)?;
    let store = stores::open_store(engine, caller, &current.store)?;
    // `true`: the opt-in of a pipeline limits what is added, not how a memory it can read is treated.
    let permit = match policy::may_write(caller, &store, &current.scope, current.kind, true) {
        Ok(permit) => permit,
        Err(refusal) => {
            return Ok(TransitionOutcome::Refused(refusals::log_refusal(engine, caller, &store.slug, refusal)?));
        }
    };
    if !current.state.is_changeable() {
        return Err(Error::conflict("conflict.state", format!("the memory is {}", current.state)));
    }
    let pin = Transition::new(&current, Operation::Pin)
        .with_written_trust(permit.trust)
        .with_event(EventName::Pinned)
        .with_field("always_inject", always_inject);
    let change = Change::new(caller.tenant, engine.clock.now());
    let (change, pinned) = pin.plan(engine, caller, change, |memory| memory.always_inject = always_inject);
    engine.commit(candidate_reviews::plan_candidate_change(engine, caller, change, &current, &pinned)?)?;
    Ok(TransitionOutcome::Done(Box::new(pinned)))
}
