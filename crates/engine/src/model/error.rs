//! A failure, as opposed to a refusal: the caller can mend the first four, the rest broke.

use crate::model::guard::Guard;
use crate::model::refusal::Refusal;

/// What went wrong. [`Error::code`] never changes for one cause; the message is for people.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{message}")]
    Invalid { code: &'static str, message: String },
    /// Also the answer to everything the caller may not see.
    #[error("{what} not found")]
    NotFound { what: String },
    #[error("{}", .0.message())]
    Conflict(Conflict),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The caller looked at something that has changed since, or that is not in the state he thinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub code: &'static str,
    pub reason: String,
    /// What stands there now: sha256 and the first characters, where the caller may see them.
    pub current: Option<CurrentVersion>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CurrentVersion {
    pub sha256: String,
    pub version: String,
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

/// A read that policy refuses: reads have no outcome of their own to carry the refusal.
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

    pub fn unknown_word(what: &'static str, word: &str, known: &[&str]) -> Error {
        // The word is echoed short: it may be anything a model made up.
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

/// What a backend can fail with. No driver's type crosses this line.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A guard did not hold: nothing was written.
    #[error("another write came first")]
    Guard(Guard),
    #[error("the database is not reachable right now: {0}")]
    Unavailable(String),
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
    /// What is written now would go to a file nobody finds again.
    #[error("the database file was removed or replaced while it was open: restart this process")]
    FileReplaced,
}

impl StoreError {
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Guard(_) => "conflict.lost_race",
            StoreError::Unavailable(_) => "store.unavailable",
            StoreError::Busy(_) => "store.busy",
            StoreError::Unwritable(_) => "store.unwritable",
            StoreError::SchemaTooNew { .. } => "store.newer",
            StoreError::Corrupt(_) => "store.corrupt",
            StoreError::FileReplaced => "store.gone",
        }
    }
}
