//! Retrying a write whose guard failed because another write came first.
use crate::Engine;
use crate::model::error::{Error, StoreError};

/// Does it again where what it looked at changed before it could write.
pub(crate) fn retry_lost_race<T>(engine: &Engine, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..engine.limits().commit_attempts {
        match work() {
            Err(Error::Store(StoreError::Guard(_))) => {}
            answer => return answer,
        }
    }
    work()
}
