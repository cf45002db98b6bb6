//! Pin: switches a memory's always-inject flag, which puts it into every turn's context.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::{MemoryId, VersionId};
use crate::model::trust_flow::Field;
use crate::model::vocabulary::{Operation, State, Trust};
use crate::policy;
use crate::ports::change::Change;
use crate::ports::transition::{Transition, TransitionOutcome};
use crate::ports::{candidate_reviews, refusals, retry};
use crate::recall::read;
use crate::tenant::stores;
use crate::write::confirmation;

/// A pin, or its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    pub always_inject: bool,
    /// The version the caller has read; conflict if the memory has another one. Required where the pin makes an agent's
    /// text the person's own.
    pub expected_version: Option<VersionId>,
}

impl Engine {
    /// Switches always-inject on or off.
    ///
    /// A person who pins a draft confirms it: it gets the trust that a save of theirs would get. A program's pin of a
    /// draft about a person waits for that person.
    pub fn pin(&self, caller: &Caller, memory: MemoryId, pin: Pin) -> Result<TransitionOutcome, Error> {
        self.ensure_memory_enabled()?;
        retry::retry_lost_race(self, || pin_once(self, caller, memory, pin))
    }
}

fn pin_once(engine: &Engine, caller: &Caller, memory: MemoryId, pin: Pin) -> Result<TransitionOutcome, Error> {
    let current = read::read_by_id(engine, caller, memory)?;
    let store = stores::open_store(engine, caller, &current.store)?;
    // `true`: the opt-in of a pipeline limits what is added, not how a memory it can read is treated.
    let permitted = policy::may_write(caller, &store, &current.scope, current.kind, true);
    let takes_persons_pin = !pin.always_inject
        && current.always_inject
        && caller.role.is_program()
        && current.trust_of(Field::AlwaysInject) > Trust::AgentDraft;
    let permit = match permitted.and_then(|permit| match takes_persons_pin {
        true => Err(policy::people_change_refusal()),
        false => Ok(permit),
    }) {
        Ok(permit) => permit,
        Err(refusal) => {
            return Ok(TransitionOutcome::Refused(refusals::log_refusal(engine, caller, &store.slug, refusal)?));
        }
    };
    if !current.state.is_changeable() {
        return Err(Error::conflict("conflict.state", format!("the memory is {}", current.state)));
    }
    // Inside the retry: a memory that changes between two attempts is a conflict too.
    if pin.expected_version.is_some_and(|expected| expected != current.version) {
        return Err(read::changed_since_error(engine, caller, &current));
    }
    // Taking a pin away says nothing about the text, and a draft in review is decided there.
    let decides = pin.always_inject && !caller.role.is_program() && current.state == State::Active;
    // A title or tags of an agent on a person's own text are confirmed if the version was named, and kept as they are
    // if it was not.
    let confirms = decides
        && match pin.expected_version {
            Some(_) => permit.trust > current.least_trust(Field::ALL),
            None => permit.trust > current.trust,
        };
    if confirms {
        if pin.expected_version.is_none() {
            let message = "this makes a draft your own words: name the version that you have read";
            return Err(Error::invalid("shape.version_missing", message));
        }
        if let Some(refusal) = confirmation::confirmation_refusal(engine, caller, &store, &current)? {
            return Ok(TransitionOutcome::Refused(refusals::log_refusal(engine, caller, &store.slug, refusal)?));
        }
    }
    let transition = Transition::new(&current, Operation::Pin)
        .with_written_trust(permit.trust)
        .with_event(EventName::Pinned)
        .with_field("always_inject", pin.always_inject)
        .with_field("confirmed", confirms);
    let change = Change::new(caller.tenant, engine.clock.now());
    let (change, pinned) = transition.plan(engine, caller, change, |memory| {
        memory.always_inject = pin.always_inject;
        if confirms {
            memory.raise_trust(permit.trust);
        }
        // A pin that an agent has set already is the person's own from now on.
        if decides {
            memory.set_field_trust(Field::AlwaysInject, permit.trust);
        }
    });
    let (change, _) = confirmation::plan_request(engine, caller, change, Some(&current), &pinned)?;
    engine.commit(candidate_reviews::plan_candidate_change(engine, caller, change, &current, &pinned)?)?;
    Ok(TransitionOutcome::Done(Box::new(pinned)))
}
