//! Pace: work nobody waits for goes in small transactions, so that whoever saves meanwhile is hardly held up.

use jiff::SignedDuration;

use crate::model::error::Error;
use crate::ports::Clock;

/// Memories or rows written in one transaction where the machine is quick: enough to share a wait for the disk.
const BATCH_SIZE_MAX: usize = 20;
/// Milliseconds one transaction should take: half of the 50 a writer may be held up, as the disk has its say too.
const TRANSACTION_MILLIS_MAX: i128 = 25;
/// Below this share of it there is room for one more.
const QUICK_SHARE: i128 = 4;

/// How many go together, by how long the last ones took.
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
    /// Works through what is due, a few in one transaction.
    pub(crate) fn run_batches<T>(
        &mut self,
        clock: &dyn Clock,
        due: &[T],
        mut work: impl FnMut(&[T]) -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        let (mut worked, mut rest) = (0, due);
        while !rest.is_empty() {
            let (group, after) = rest.split_at(self.batch_size.min(rest.len()));
            let begun = clock.now();
            worked += work(group)?;
            self.adjust_size(clock.now().duration_since(begun));
            rest = after;
        }
        Ok(worked)
    }

    /// Transactions so far, and the longest of them.
    pub(crate) fn transaction_stats(&self) -> (u64, SignedDuration) {
        (self.transactions, self.longest)
    }

    fn adjust_size(&mut self, took: SignedDuration) {
        self.transactions += 1;
        self.longest = self.longest.max(took);
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
    fn slow_groups_shrink_to_one_and_quick_ones_grow_back() {
        let mut pace = BatchSizer::default();
        let mut after = |millis: i64, times: usize| {
            (0..times).for_each(|_| pace.adjust_size(SignedDuration::from_millis(millis)));
            pace.batch_size
        };
        assert_eq!(after(2, 3), BATCH_SIZE_MAX);
        assert_eq!(after(60, 1), BATCH_SIZE_MAX / 2);
        assert_eq!(after(60, 9), 1);
        assert_eq!(after(15, 5), 1, "neither slow nor quick");
        assert_eq!(after(2, 4), 5);
        assert_eq!(after(0, 100), BATCH_SIZE_MAX);
    }
}
