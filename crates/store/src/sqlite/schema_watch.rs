//! Detects that a newer program has migrated the file while this one has it open. Without the check this program would
//! silently skip data in a form it does not know.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use engine::model::error::StoreError;

use super::migrate;
use super::pool::Readers;

/// Least time between two checks; a check costs some microseconds.
const CHECK_INTERVAL_MS: u64 = 1_000;
/// Not checked yet, so the first check is due.
const NEVER: u64 = u64::MAX;

pub(super) struct SchemaWatch {
    opened_at: Instant,
    /// Milliseconds after `opened_at`.
    checked_ms: AtomicU64,
}

impl SchemaWatch {
    pub(super) fn new() -> SchemaWatch {
        SchemaWatch { opened_at: Instant::now(), checked_ms: AtomicU64::new(NEVER) }
    }

    /// Checks where the last successful check is old enough. A failure is not recorded, so every later call checks
    /// again and fails too.
    pub(super) fn check_if_due(&self, readers: &Readers) -> Result<(), StoreError> {
        let now = u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.checked_ms.load(Ordering::Relaxed);
        if last != NEVER && now.saturating_sub(last) < CHECK_INTERVAL_MS {
            return Ok(());
        }
        readers.with_connection(migrate::check_not_newer)?;
        self.checked_ms.store(now, Ordering::Relaxed);
        Ok(())
    }
}
