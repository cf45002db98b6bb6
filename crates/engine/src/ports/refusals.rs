//! Refusals in the event log: rule and code, never the refused text.
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventBody;
use crate::model::refusal::Refusal;
use crate::ports::change::Change;

/// Writes a refusal into the log and hands it back.
pub(crate) fn log_refusal(engine: &Engine, caller: &Caller, store: &str, refusal: Refusal) -> Result<Refusal, Error> {
    engine.commit(plan_refusal_event(engine, caller, store, &refusal))?;
    Ok(refusal)
}

/// What tells of a refusal.
pub(crate) fn plan_refusal_event(engine: &Engine, caller: &Caller, store: &str, refusal: &Refusal) -> Change {
    let now = engine.clock.now();
    engine.scan_counters.count_blocked(refusal);
    Change::new(caller.tenant, now).with_event(EventBody::from_refusal(caller, now, store, refusal))
}
