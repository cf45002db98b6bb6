//! Batch size of background work: small transactions, sized by how long the last ones took, so that saves wait little.

use jiff::SignedDuration;

use crate::model::error::Error;
use crate::ports::Clock;

/// Memories or rows in one transaction on a quick machine: enough to share one wait for the disk.
const BATCH_SIZE_MAX: usize = 20;
/// Milliseconds one transaction should take at most: half of the 50 a writer may wait, which leaves the rest for the
/// disk.
const TRANSACTION_MILLIS_MAX: i128 = 25;
/// A transaction below this part (one in four) of the maximum lets the batch grow by one.
const QUICK_SHARE: i128 = 4;

/// Adaptive batch size: halves after a slow transaction, grows by one after a quick one.
pub(crate) struct BatchSizer {
    batch_size: usize,
    transactions: u64,
    longest: SignedDuration,
}

impl Default for BatchSizer {
    fn default() -> BatchSizer {
        BatchSizer { batch_size: BATCH_SIZE_MAX, transactions: 0, longest: SignedDuration::ZERO }
    }
}

impl BatchSizer {
    /// Runs `work` on all items, batch by batch. `work` is one transaction and returns how many items it changed.
    pub(crate) fn run_batches<T>(
        &mut self,
        clock: &dyn Clock,
        items: &[T],
        mut work: impl FnMut(&[T]) -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        let (mut worked, mut rest) = (0, items);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(self.batch_size.min(rest.len()));
            let begun = clock.now();
            worked += work(batch)?;
            self.adjust_size(clock.now().duration_since(begun));
            rest = after;
        }
        Ok(worked)
    }

    /// Number of transactions so far, and the duration of the longest.
    pub(crate) fn transaction_stats(&self) -> (u64, SignedDuration) {
        (self.transactions, self.longest)
    }

    fn adjust_size(&mut self, took: SignedDuration) {
        self.transactions += 1;
        self.longest = self.longest.max(took);
        // Halves at once and grows slowly, so that a slow disk is not tried again with every batch.
        self.batch_size = match took.as_millis() {
            millis if millis > TRANSACTION_MILLIS_MAX => (self.batch_size / 2).max(1),
            millis if millis < TRANSACTION_MILLIS_MAX / QUICK_SHARE => (self.batch_size + 1).min(BATCH_SIZE_MAX),
            _ => self.batch_size,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_batches_shrink_to_one_and_quick_ones_grow_back() {
        let mut sizer = BatchSizer::default();
        let mut size_after = |millis: i64, times: usize| {
            (0..times).for_each(|_| sizer.adjust_size(SignedDuration::from_millis(millis)));
            sizer.batch_size
        };
        assert_eq!(size_after(2, 3), BATCH_SIZE_MAX);
        assert_eq!(size_after(60, 1), BATCH_SIZE_MAX / 2);
        assert_eq!(size_after(60, 9), 1);
        assert_eq!(size_after(15, 5), 1, "neither slow nor quick");
        assert_eq!(size_after(2, 4), 5);
        assert_eq!(size_after(0, 100), BATCH_SIZE_MAX);
    }
}
