//! Failures of a call. [`Error`] is what the engine returns, [`StoreError`] what a backend returns.
//!
//! A refusal (`refusal.rs`) is an answer of policy or safety, not a failure.

use crate::model::guard::Guard;
use crate::model::refusal::Refusal;

/// Failure of a call. [`Error::code`] is stable and for programs; the message is for people and may change.
///
/// The caller can correct the first three. `Store` means that the database failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is malformed, out of range, or refused by policy where no refusal outcome exists.
    #[error("{message}")]
    Invalid { code: &'static str, message: String },
    /// Does not exist, or the caller may not see it: the two are not told apart.
    #[error("{what} not found")]
    NotFound { what: String },
    /// The request was made on an outdated or wrong state.
    #[error("{}", .0.message())]
    Conflict(Conflict),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Optimistic concurrency failure: the object has changed since the caller read it, or is not in the expected state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub code: &'static str,
    pub reason: String,
    /// The current version, if there is one that the caller may see.
    pub current: Option<CurrentVersion>,
}

/// The current version as a conflict reports it, so that the caller can merge and retry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CurrentVersion {
    pub sha256: String,
    pub version: String,
    /// The first `conflict_excerpt_chars` characters of the content.
    pub excerpt: String,
}

impl Conflict {
    fn message(&self) -> String {
        match &self.current {
            Some(current) => format!("{}; it is now `{}`", self.reason, current.sha256),
            None => self.reason.clone(),
        }
    }
}

/// For methods without a refusal outcome, such as reads. The refusal's hint and findings are dropped.
impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Invalid { code: refusal.code, message: refusal.message }
    }
}

impl Error {
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Error {
        Error::Invalid { code, message: message.into() }
    }

    pub fn not_found(what: impl Into<String>) -> Error {
        Error::NotFound { what: what.into() }
    }

    pub fn conflict(code: &'static str, reason: impl Into<String>) -> Error {
        Error::Conflict(Conflict { code, reason: reason.into(), current: None })
    }

    /// A word outside its closed list (see `vocabulary.rs`); the message lists the valid ones.
    pub fn unknown_word(what: &'static str, word: &str, known: &[&str]) -> Error {
        // Echoed cut to 40 characters without control characters: it may be any text of a model.
        let shown: String = word.chars().take(40).filter(|c| !c.is_control()).collect();
        let message = format!("unknown {what} `{shown}`; one of: {}", known.join(", "));
        Error::Invalid { code: "shape.unknown_word", message }
    }

    /// The stable code that clients match on.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid { code, .. } => code,
            Error::NotFound { .. } => "not_found",
            Error::Conflict(conflict) => conflict.code,
            Error::Store(error) => error.code(),
        }
    }
}

/// Failure of a backend. Driver errors are translated to it; no driver type leaves the store crate.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A guard of the change did not hold. The transaction was rolled back; the caller may read again and retry.
    #[error("another write came first; this change was not saved; read it again and retry")]
    Guard(Guard),
    #[error("the database is not reachable right now: {0}")]
    Unavailable(String),
    /// Another process held the file for longer than the configured wait.
    #[error("another process is writing to {0}")]
    Busy(String),
    #[error("the database is full or cannot be written: {0}")]
    Unwritable(String),
    #[error(
        "the database was written by a newer version of ingrain ({found}, this one knows {known}): upgrade ingrain"
    )]
    SchemaTooNew { found: u32, known: u32 },
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// The text of a memory is not the one its sha256 was made of: it was changed in the database, or is damaged there.
    #[error("the text of {0} was changed in the database; `ingrain verify` says what else was")]
    Altered(String),
    /// The open file no longer has a name (removed or replaced). Writes to it would be lost, so they are refused.
    #[error("the database file was removed or replaced while it was open: restart this process")]
    FileReplaced,
}

impl StoreError {
    pub fn code(&self) -> &'static str {
        match self {
            // A conflict, not a failure of the database: the caller may try again.
            StoreError::Guard(_) => "conflict.lost_race",
            StoreError::Unavailable(_) => "store.unavailable",
            StoreError::Busy(_) => "store.busy",
            StoreError::Unwritable(_) => "store.unwritable",
            StoreError::SchemaTooNew { .. } => "store.newer",
            StoreError::Corrupt(_) => "store.corrupt",
            StoreError::Altered(_) => "store.altered",
            StoreError::FileReplaced => "store.gone",
        }
    }
}
