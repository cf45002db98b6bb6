//! Classification of errors from Postgres and from the connection to it.

use engine::model::error::StoreError;
use tokio_postgres::error::SqlState;

use crate::fault::{self, ToStoreError};

pub(super) type Fault = fault::Fault<tokio_postgres::Error>;

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl Fault {
    pub(super) fn unavailable(reason: impl std::fmt::Display) -> Fault {
        Fault::Store(StoreError::Unavailable(reason.to_string()))
    }

    fn sql_state(&self) -> Option<&SqlState> {
        match self {
            Fault::Sql(error) => error.code(),
            Fault::Store(_) => None,
        }
    }

    pub(super) fn is_unique_violation(&self) -> bool {
        self.sql_state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Serialisation failure or deadlock: the same transaction may succeed when tried again.
    pub(super) fn is_contention(&self) -> bool {
        matches!(self.sql_state(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
    }

    /// TLS could not be set up as configured. Trying again does not help.
    pub(super) fn is_tls_failure(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.to_string().starts_with(TLS_HANDSHAKE_ERROR) && !is_io_failure(error))
    }

    /// The connection broke, or the server is shutting down or starting: another connection may work.
    pub(super) fn is_connection_lost(&self) -> bool {
        match self {
            Fault::Sql(error) => error.code().map_or_else(|| is_transport_error(error), is_shutdown),
            Fault::Store(_) => false,
        }
    }
}

/// Beginning of the driver's message for a failed handshake; it has no error code for it.
const TLS_HANDSHAKE_ERROR: &str = "error performing TLS handshake";

/// Whether the cause is a broken connection and not TLS itself.
fn is_io_failure(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    // rustls reports a rejected certificate as an I/O error of the kind `InvalidData`.
    io.is_some_and(|io| io.kind() != std::io::ErrorKind::InvalidData)
}

/// Whether an error without an SQLSTATE comes from the connection.
fn is_transport_error(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

fn is_shutdown(state: &SqlState) -> bool {
    // Class 08 are connection exceptions, 57P01 to 57P03 are shutdown, crash and start-up.
    state.code().starts_with("08")
        || [&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW].contains(&state)
}

impl ToStoreError for tokio_postgres::Error {
    fn to_store_error(&self) -> StoreError {
        // An error that the server did not send comes from the connection. Unreadable columns never get here:
        // `read_column` reports them.
        let Some(db) = self.as_db_error() else { return StoreError::Unavailable(error_with_source(self)) };
        let text = db.message().to_owned();
        let state = db.code();
        match state.code().get(..2).unwrap_or_default() {
            _ if is_shutdown(state) => StoreError::Unavailable(text),
            // Class 53, insufficient resources: a full disk stays full, too many connections pass.
            "53" if *state == SqlState::DISK_FULL => StoreError::Unwritable(text),
            // 40 lost a race, 55 lock not available, 57 cancelled, for example by the statement timeout.
            "53" | "40" | "55" | "57" => StoreError::Unavailable(text),
            // A standby, or a database that was set to read-only.
            "25" if *state == SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::Unwritable(text),
            // Wrong password or role; no such database.
            "28" | "3D" => StoreError::Unavailable(text),
            // Also the answer of row-level security to a row of another tenant.
            "42" if *state == SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Unwritable(text),
            "42" | "3F" if is_schema_missing(state) => StoreError::Unavailable(format!("{text}; {MIGRATE_HINT}")),
            // `set local role ingrain_app` where the role is missing.
            "22" if text.contains("role") => StoreError::Unavailable(format!("{text}; {MIGRATE_HINT}")),
            _ => StoreError::Corrupt(text),
        }
    }
}

/// What to do about a missing schema.
pub(super) const MIGRATE_HINT: &str = "run `ingrain migrate` with the owner's URL";

fn is_schema_missing(state: &SqlState) -> bool {
    [&SqlState::UNDEFINED_TABLE, &SqlState::UNDEFINED_FUNCTION, &SqlState::INVALID_SCHEMA_NAME].contains(&state)
}

/// The message with its cause, which the driver leaves out of its own.
fn error_with_source(error: &tokio_postgres::Error) -> String {
    use std::error::Error;
    match error.source().map(ToString::to_string) {
        Some(source) if source == "server does not support TLS" => {
            "the server offers no TLS, but `sslmode` in the URL requires it".to_owned()
        }
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
