//! Settings of the two sorts of database.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteSettings {
    /// Longest wait for another process that writes, in milliseconds; then the call fails with `store.busy`.
    pub wait_ms: u64,
    /// Mebibytes of the search index kept in memory; with none, every search reads its places anew.
    pub index_mib: usize,
}

const MIB: usize = 1024 * 1024;

impl SqliteSettings {
    pub(super) fn from_options(options: &store::SqliteOptions) -> SqliteSettings {
        SqliteSettings { wait_ms: options.wait_max.as_millis() as u64, index_mib: options.recall_bytes_max / MIB }
    }

    pub fn to_options(&self) -> store::SqliteOptions {
        let waiting: Option<fn(&Path)> = std::io::stderr().is_terminal().then_some(print_waiting);
        store::SqliteOptions {
            recall_bytes_max: self.index_mib.saturating_mul(MIB),
            wait_max: Duration::from_millis(self.wait_ms),
            on_wait: waiting,
        }
    }
}

/// A person who waits is told what for.
fn print_waiting(file: &Path) {
    // A terminal that has gone away is no reason to stop.
    let _ = writeln!(std::io::stderr(), "waiting: another process is writing to `{}`", file.display());
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSettings {
    /// Connections of this process at most; one more listens for events.
    pub connections_max: usize,
    /// Longest wait for a free connection or a server that is away, in milliseconds; then callers are told to come back.
    pub wait_ms: u64,
    /// Longest time the server may work on one statement, in milliseconds.
    pub statement_ms: u64,
    /// Visible memories up to which vectors are compared one by one, which is exact.
    pub exact_max: u64,
}

impl PostgresSettings {
    pub(super) fn from_options(options: &store::PostgresOptions) -> PostgresSettings {
        PostgresSettings {
            connections_max: options.connections_max,
            wait_ms: options.wait_max.as_millis() as u64,
            statement_ms: options.statement_max.as_millis() as u64,
            exact_max: options.exact_max,
        }
    }

    pub fn to_options(&self) -> store::PostgresOptions {
        store::PostgresOptions {
            connections_max: self.connections_max,
            wait_max: Duration::from_millis(self.wait_ms),
            statement_max: Duration::from_millis(self.statement_ms),
            exact_max: self.exact_max,
        }
    }
}
