//! Wakes threads that wait for new events. A notification carries no event: waiters read those from the log.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::model::error::StoreError;

use crate::sync::lock;

/// Signalled when an event log of any tenant has grown. Counts its signals, so that none is missed between two waits.
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

    /// Waits for a signal after the one with number `seen`; returns the number of the latest.
    pub(crate) fn wait_changed(&self, seen: u64) -> u64 {
        let generation = lock(&self.generation);
        *self.changed.wait_while(generation, |generation| *generation == seen).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the last event's number is above `after`, or until `at_most` has passed; returns that number. Also
    /// polls every `poll_interval`, for events of other processes whose signal does not arrive here.
    pub(crate) fn wait_for_event(
        &self,
        after: u64,
        at_most: Duration,
        poll_interval: Duration,
        last_event: impl Fn() -> Result<u64, StoreError>,
    ) -> Result<u64, StoreError> {
        let deadline = Instant::now() + at_most;
        loop {
            // Read before the log: a signal between the two reads then ends the wait below at once.
            let seen = *lock(&self.generation);
            let last = last_event()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if last > after || left.is_zero() {
                return Ok(last);
            }
            let generation = lock(&self.generation);
            let pause = left.min(poll_interval);
            drop(self.changed.wait_timeout_while(generation, pause, |generation| *generation == seen));
        }
    }
}
