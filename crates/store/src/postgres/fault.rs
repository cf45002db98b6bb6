//! What the failures of Postgres and of the line to it mean to the engine.

use engine::ports::StoreError;
use tokio_postgres::error::SqlState;

use crate::fault::{self, ToStoreError};

pub(super) type Fault = fault::Fault<tokio_postgres::Error>;

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl Fault {
    pub(super) fn unavailable(what: impl std::fmt::Display) -> Fault {
        Fault::Store(StoreError::Unavailable(what.to_string()))
    }

    fn sql_state(&self) -> Option<&SqlState> {
        match self {
            Fault::Sql(error) => error.code(),
            Fault::Store(_) => None,
        }
    }

    /// Somebody else stands where a unique key wants to be.
    pub(super) fn is_unique_violation(&self) -> bool {
        self.sql_state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Two transactions were in each other's way; the same again may go well.
    pub(super) fn is_contention(&self) -> bool {
        matches!(self.sql_state(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
    }

    /// The line could not be sealed as asked for: trying again does not help.
    pub(super) fn is_tls_failure(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.to_string().starts_with(TLS_HANDSHAKE_ERROR) && !is_io_failure(error))
    }

    /// The connection is gone or the server is going or coming: another connection may do.
    pub(super) fn is_connection_lost(&self) -> bool {
        match self {
            Fault::Sql(error) => error.code().map_or_else(|| is_transport_error(error), is_shutdown),
            Fault::Store(_) => false,
        }
    }
}

/// How the driver begins to tell of a seal that failed; it has no other word for it.
const TLS_HANDSHAKE_ERROR: &str = "error performing TLS handshake";

/// The line broke, whatever it was about to say.
fn is_io_failure(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    // A certificate that is not believed comes as data that is not valid.
    io.is_some_and(|io| io.kind() != std::io::ErrorKind::InvalidData)
}

/// A failure without a code of the server's is one of the line to it.
fn is_transport_error(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

fn is_shutdown(state: &SqlState) -> bool {
    // Class 08 is the connection's, 57P0x are shutdown, crash and start-up.
    state.code().starts_with("08")
        || [&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW].contains(&state)
}

impl ToStoreError for tokio_postgres::Error {
    fn to_store_error(&self) -> StoreError {
        // Without a word of the server it is the line to it; columns that cannot be read are found out elsewhere.
        let Some(db) = self.as_db_error() else { return StoreError::Unavailable(error_with_source(self)) };
        let text = db.message().to_owned();
        let state = db.code();
        match state.code().get(..2).unwrap_or_default() {
            _ if is_shutdown(state) => StoreError::Unavailable(text),
            // Insufficient resources: a full disk cannot be written, too many connections go away.
            "53" if *state == SqlState::DISK_FULL => StoreError::Unwritable(text),
            "53" | "40" | "55" | "57" => StoreError::Unavailable(text),
            "25" if *state == SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::Unwritable(text),
            "28" | "3D" => StoreError::Unavailable(text),
            "42" if *state == SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Unwritable(text),
            "42" | "3F" if is_schema_missing(state) => StoreError::Unavailable(format!("{text}; {MIGRATE_HINT}")),
            "22" if text.contains("role") => StoreError::Unavailable(format!("{text}; {MIGRATE_HINT}")),
            _ => StoreError::Corrupt(text),
        }
    }
}

/// What to do about a schema that is not there.
pub(super) const MIGRATE_HINT: &str = "run `ingrain migrate` with the owner's URL";

fn is_schema_missing(state: &SqlState) -> bool {
    [&SqlState::UNDEFINED_TABLE, &SqlState::UNDEFINED_FUNCTION, &SqlState::INVALID_SCHEMA_NAME].contains(&state)
}

/// The driver keeps the reason behind its own words.
fn error_with_source(error: &tokio_postgres::Error) -> String {
    use std::error::Error;
    match error.source().map(ToString::to_string) {
        Some(source) if source == "server does not support TLS" => {
            "the server offers no TLS, and `sslmode` in the URL asks for it".to_owned()
        }
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
