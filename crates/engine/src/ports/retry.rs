//! Retrying a write that lost a race: what it was planned on changed before it could be committed.

use crate::Engine;
use crate::model::error::{Error, StoreError};

/// Runs `work` until no guard fails, `commit_attempts` times at most. `work` looks everything up again each time.
pub(crate) fn retry_lost_race<T>(engine: &Engine, mut work: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let attempt = || match work() {
        Err(Error::Store(StoreError::Guard(_))) => Ok(None),
        answer => answer.map(Some),
    };
    let contended = || Error::conflict("conflict.lost_race", "what this rests on keeps changing; try again");
    retry_times(engine.limits().commit_attempts, attempt)?.ok_or_else(contended)
}

/// Runs `attempt` until it answers; `None` means that it lost a race. `None` in the end: it lost every time.
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
