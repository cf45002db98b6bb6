//! What goes wrong inside this backend, and how the engine hears of it.

use engine::ports::StoreError;
use rusqlite::ErrorCode;

/// Either the driver failed, or what it said already has a meaning.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        match fault {
            Fault::Sql(error) => meaning(&error),
            Fault::Store(error) => error,
        }
    }
}

impl Fault {
    /// What was read cannot have been written by us.
    pub(super) fn corrupt(what: impl std::fmt::Display) -> Fault {
        Fault::Store(StoreError::Corrupt(what.to_string()))
    }

    pub(super) fn is_constraint(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
    }
}

fn meaning(error: &rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Corrupt(text),
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::DiskFull
            | ErrorCode::PermissionDenied
            | ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure,
        ) => StoreError::Unwritable(text),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => StoreError::Corrupt(text),
        Some(_) => StoreError::Unavailable(text),
        // The driver could not read a column as what we wrote there.
        None => StoreError::Corrupt(text),
    }
}

/// The same failure for everyone who waited for it.
pub(super) fn same(error: &StoreError) -> StoreError {
    match error {
        StoreError::Guard(guard) => StoreError::Guard(guard.clone()),
        StoreError::Unavailable(text) => StoreError::Unavailable(text.clone()),
        StoreError::Unwritable(text) => StoreError::Unwritable(text.clone()),
        StoreError::Newer { found, known } => StoreError::Newer { found: *found, known: *known },
        StoreError::Corrupt(text) => StoreError::Corrupt(text.clone()),
    }
}
