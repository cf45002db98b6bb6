//! Whether a newer program has brought the file further than this one knows, while this one has it open: it would read
//! what it does not understand as nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use engine::model::error::StoreError;

use super::migrate;
use super::pool::Readers;

/// Between two looks: a look costs some microseconds.
const CHECK_INTERVAL_MS: u64 = 1_000;
/// No look yet: the first is due.
const NEVER: u64 = u64::MAX;

pub(super) struct SchemaWatch {
    since: Instant,
    checked_ms: AtomicU64,
}

impl SchemaWatch {
    pub(super) fn new() -> SchemaWatch {
        SchemaWatch { since: Instant::now(), checked_ms: AtomicU64::new(NEVER) }
    }

    /// Looks where nobody has for a while. What is too new stays so, and is found again by everybody.
    pub(super) fn check_if_due(&self, readers: &Readers) -> Result<(), StoreError> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.checked_ms.load(Ordering::Relaxed);
        if last != NEVER && now.saturating_sub(last) < CHECK_INTERVAL_MS {
            return Ok(());
        }
        readers.with_connection(migrate::check_not_newer)?;
        self.checked_ms.store(now, Ordering::Relaxed);
        Ok(())
    }
}
