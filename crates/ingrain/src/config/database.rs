//! Settings of the two backends.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteSettings {
    /// Longest wait for the write lock of another process, in milliseconds; then the call fails with `store.busy`.
    pub wait_ms: u64,
    /// Size of the search index in memory, in MiB; with 0 every search reads the file.
    pub index_mib: usize,
}

const MIB: usize = 1024 * 1024;

impl SqliteSettings {
    pub(super) fn from_options(options: &store::SqliteOptions) -> SqliteSettings {
        SqliteSettings { wait_ms: options.wait_max.as_millis() as u64, index_mib: options.recall_bytes_max / MIB }
    }

    pub fn to_options(&self) -> store::SqliteOptions {
        // Only on a terminal: in logs and pipes the line would be noise.
        let waiting: Option<fn(&Path)> = std::io::stderr().is_terminal().then_some(print_waiting);
        store::SqliteOptions {
            recall_bytes_max: self.index_mib.saturating_mul(MIB),
            wait_max: Duration::from_millis(self.wait_ms),
            on_wait: waiting,
        }
    }
}

/// Tells a person at a terminal why the command waits.
fn print_waiting(file: &Path) {
    // A closed terminal must not stop the command.
    let _ = writeln!(std::io::stderr(), "waiting: another process is writing to `{}`", file.display());
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSettings {
    /// Maximum number of connections of this process; one more listens for events.
    pub connections_max: usize,
    /// Longest wait for a free connection or an unreachable server, in milliseconds; then the call fails as busy.
    pub wait_ms: u64,
    /// Statement timeout of the server, in milliseconds.
    pub statement_ms: u64,
    /// Up to this many visible memories, vectors are compared one by one (exact) instead of by index.
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
