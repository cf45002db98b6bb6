//! Classification of SQLite errors.

use engine::model::error::StoreError;
use rusqlite::ErrorCode;

use crate::fault::{self, ToStoreError};

pub(super) type Fault = fault::Fault<rusqlite::Error>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl Fault {
    pub(super) fn is_constraint_violation(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
    }
}

impl ToStoreError for rusqlite::Error {
    fn to_store_error(&self) -> StoreError {
        let text = self.to_string();
        match self.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Corrupt(text),
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::PermissionDenied
                | ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure,
            ) => StoreError::Unwritable(text),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => StoreError::Corrupt(text),
            // `busy_handler::add_file_name` replaces the text.
            Some(ErrorCode::DatabaseBusy) => StoreError::Busy("the database".to_owned()),
            Some(_) => StoreError::Unavailable(text),
            // No SQLite code: the driver could not read a column in the type we write there.
            None => StoreError::Corrupt(text),
        }
    }
}

/// A copy of an error for each caller of a failed group; `StoreError` is not `Clone`.
pub(super) fn clone_error(error: &StoreError) -> StoreError {
    match error {
        StoreError::Guard(guard) => StoreError::Guard(guard.clone()),
        StoreError::Unavailable(text) => StoreError::Unavailable(text.clone()),
        StoreError::Busy(text) => StoreError::Busy(text.clone()),
        StoreError::Unwritable(text) => StoreError::Unwritable(text.clone()),
        StoreError::SchemaTooNew { found, known } => StoreError::SchemaTooNew { found: *found, known: *known },
        StoreError::Corrupt(text) => StoreError::Corrupt(text.clone()),
        StoreError::Altered(text) => StoreError::Altered(text.clone()),
        StoreError::FileReplaced => StoreError::FileReplaced,
    }
}
