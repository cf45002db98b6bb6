//! The error type inside a backend, and its conversion to the engine's `StoreError`.

use engine::model::error::StoreError;

/// An error of the driver, not classified yet, or one that is a `StoreError` already.
#[derive(Debug)]
pub(crate) enum Fault<E> {
    Sql(E),
    Store(StoreError),
}

/// Classifies a driver's error.
pub(crate) trait ToStoreError {
    fn to_store_error(&self) -> StoreError;
}

impl<E> From<StoreError> for Fault<E> {
    fn from(error: StoreError) -> Fault<E> {
        Fault::Store(error)
    }
}

impl<E: ToStoreError> From<Fault<E>> for StoreError {
    fn from(fault: Fault<E>) -> StoreError {
        match fault {
            Fault::Sql(error) => error.to_store_error(),
            Fault::Store(error) => error,
        }
    }
}

impl<E> Fault<E> {
    /// Stored data that this program cannot have written.
    pub(crate) fn corrupt(reason: impl std::fmt::Display) -> Fault<E> {
        Fault::Store(StoreError::Corrupt(reason.to_string()))
    }
}
