//! Whether a newer program has brought the file further than this one knows, while this one has it open: it would read
//! what it does not understand as nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use engine::ports::StoreError;

use super::migrate;
use super::pool::Readers;

/// Between two looks: a look costs some microseconds.
const LOOK_MS: u64 = 1_000;
/// No look yet: the first is due.
const NEVER: u64 = u64::MAX;

pub(super) struct Age {
    since: Instant,
    looked_ms: AtomicU64,
}

impl Age {
    pub(super) fn new() -> Age {
        Age { since: Instant::now(), looked_ms: AtomicU64::new(NEVER) }
    }

    /// Looks where nobody has for a while. What is too new stays so, and is found again by everybody.
    pub(super) fn check(&self, readers: &Readers) -> Result<(), StoreError> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.looked_ms.load(Ordering::Relaxed);
        if last != NEVER && now.saturating_sub(last) < LOOK_MS {
            return Ok(());
        }
        readers.read(migrate::check_known)?;
        self.looked_ms.store(now, Ordering::Relaxed);
        Ok(())
    }
}
