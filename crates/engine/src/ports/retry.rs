//! Retry of writes that lost a race: a guard failed because another write was committed between planning and commit.

use crate::Engine;
use crate::model::error::{Error, StoreError};

/// Runs `work` until no guard fails, at most `commit_attempts` times. `work` must read everything again on each call.
/// There is no pause in between: one of the racing writers wins each round, so the rounds make progress.
pub(crate) fn retry_lost_race<T>(engine: &Engine, mut work: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let attempt = || match work() {
        // Only a failed guard is retried; every other error ends the call.
        Err(Error::Store(StoreError::Guard(_))) => Ok(None),
        answer => answer.map(Some),
    };
    let contended = || Error::conflict("conflict.lost_race", "other writers keep changing this; try again");
    retry_times(engine.limits().commit_attempts, attempt)?.ok_or_else(contended)
}

/// Runs `attempt` until it returns a value; `None` from it means a lost race. Returns `None` if every attempt lost.
pub(crate) fn retry_times<T>(
    attempts: usize,
    mut attempt: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    for _ in 0..attempts {
        if let Some(answer) = attempt()? {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}
