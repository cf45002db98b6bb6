//! Wakes those who wait for events when this process wrote some.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A bell that rings after every group written.
#[derive(Default)]
pub(super) struct News {
    rung: Mutex<u64>,
    bell: Condvar,
}

impl News {
    pub(super) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.bell.notify_all();
    }

    /// How often it has rung; looked at before the log, so that nothing written between is missed.
    pub(super) fn count(&self) -> u64 {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it has rung more often than `count`, at most so long.
    pub(super) fn wait(&self, count: u64, at_most: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.bell.wait_timeout_while(rung, at_most, |rung| *rung == count));
    }
}
