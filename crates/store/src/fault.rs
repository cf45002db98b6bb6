//! What goes wrong inside a backend, and how the engine hears of it.

use engine::model::error::StoreError;

/// Either the driver failed, or what it said already has a meaning.
#[derive(Debug)]
pub(crate) enum Fault<E> {
    Sql(E),
    Store(StoreError),
}

/// A driver's failure in the words of the engine.
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
    /// What was read cannot have been written by us.
    pub(crate) fn corrupt(what: impl std::fmt::Display) -> Fault<E> {
        Fault::Store(StoreError::Corrupt(what.to_string()))
    }
}
