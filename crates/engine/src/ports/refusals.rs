//! Refusals in the event log: code and rules, never the refused text.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventBody;
use crate::model::refusal::Refusal;
use crate::ports::change::Change;

/// Commits the event of a refusal and returns the refusal.
pub(crate) fn log_refusal(engine: &Engine, caller: &Caller, store: &str, refusal: Refusal) -> Result<Refusal, Error> {
    engine.commit(plan_refusal_event(engine, caller, store, &refusal))?;
    Ok(refusal)
}

/// Plans the event of a refusal and counts its findings.
pub(crate) fn plan_refusal_event(engine: &Engine, caller: &Caller, store: &str, refusal: &Refusal) -> Change {
    let now = engine.clock.now();
    engine.scan_counters.count_blocked(refusal);
    Change::new(caller.tenant, now).with_event(EventBody::from_refusal(caller, now, store, refusal))
}
