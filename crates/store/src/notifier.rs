//! Wakes those who wait for events. Both backends ring it when a log has grown; what happened is read from the log.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::ports::StoreError;

use crate::sync::lock;

/// A bell that rings when a log has grown.
#[derive(Default)]
pub(crate) struct Notifier {
    generation: Mutex<u64>,
    changed: Condvar,
}

impl Notifier {
    pub(crate) fn notify_all(&self) {
        *lock(&self.generation) += 1;
        self.changed.notify_all();
    }

    /// Waits until it has rung since it had rung `heard` times; answers how often by now.
    pub(crate) fn wait_changed(&self, heard: u64) -> u64 {
        let rung = lock(&self.generation);
        *self.changed.wait_while(rung, |rung| *rung == heard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the log's last entry comes after `after`, at most so long; answers its number. Looks by itself every
    /// `look_again`, for what nobody rang about.
    pub(crate) fn wait_for_event(
        &self,
        after: u64,
        at_most: Duration,
        look_again: Duration,
        last_event: impl Fn() -> Result<u64, StoreError>,
    ) -> Result<u64, StoreError> {
        let until = Instant::now() + at_most;
        loop {
            // Counted before the log is looked at, so that nothing written between is missed.
            let heard = *lock(&self.generation);
            let last = last_event()?;
            let left = until.saturating_duration_since(Instant::now());
            if last > after || left.is_zero() {
                return Ok(last);
            }
            let rung = lock(&self.generation);
            drop(self.changed.wait_timeout_while(rung, left.min(look_again), |rung| *rung == heard));
        }
    }
}
