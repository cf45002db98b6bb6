//! Requests to the summary endpoint in one process: one call at a time per summary, and none for a while after a
//! failure.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::model::id::TenantId;
use crate::model::row::SideRecord;
use crate::summaries::StoredSummary;

/// After a failure the endpoint is not called for this long, so that turns do not wait for it.
const FAILURE_BACKOFF: SignedDuration = SignedDuration::from_mins(5);

/// How long a new summary stays in this cache. Its write is asynchronous; after this time it is read from the store.
const RECENT_SUMMARY_AGE: SignedDuration = SignedDuration::from_secs(10);
/// Summaries in the cache, about a page each.
const RECENT_SUMMARIES_MAX: usize = 32;

/// Summaries being made, summaries made recently, and the time of the endpoint's last failure.
#[derive(Debug, Default)]
pub struct SummaryRequests {
    /// One lock per summary that is being made; removed by the last waiter, so the calls under way bound its size.
    in_progress: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Newest first.
    recent: Mutex<VecDeque<(TenantId, StoredSummary)>>,
    failed_at: Mutex<Option<Timestamp>>,
}

impl SummaryRequests {
    /// Runs the work while no other thread of this process runs work of the same name.
    pub(crate) fn run_exclusive<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let slot = Arc::clone(lock_unpoisoned(&self.in_progress).entry(name.to_owned()).or_default());
        let result = {
            let _guard = lock_unpoisoned(&slot);
            work()
        };
        // The own reference first, so that a count of 1 below means that nobody else waits.
        drop(slot);
        let mut in_progress = lock_unpoisoned(&self.in_progress);
        // Counted under the map's lock, where new waiters take their reference: none can come in between.
        if in_progress.get(name).is_some_and(|slot| Arc::strong_count(slot) == 1) {
            in_progress.remove(name);
        }
        result
    }

    /// Caches a summary until its write is done; the oldest one is dropped at [`RECENT_SUMMARIES_MAX`].
    pub(crate) fn record_summary(&self, tenant: TenantId, summary: StoredSummary) {
        let mut made = lock_unpoisoned(&self.recent);
        made.truncate(RECENT_SUMMARIES_MAX - 1);
        made.push_front((tenant, summary));
    }

    /// Cached summaries of a conversation, newest first.
    pub(crate) fn recent_summaries(&self, tenant: TenantId, conversation: &str, now: Timestamp) -> Vec<StoredSummary> {
        let is_recent = |made: &StoredSummary| now.duration_since(made.row_time()).abs() < RECENT_SUMMARY_AGE;
        let made = lock_unpoisoned(&self.recent);
        let of_conversation = made
            .iter()
            .filter(|(owner, made)| *owner == tenant && made.row_parent() == conversation && is_recent(made));
        of_conversation.map(|(_, made)| made.clone()).collect()
    }

    /// Empties the cache: a memory was removed, and a cached summary may contain it.
    pub(crate) fn clear_recent(&self) {
        lock_unpoisoned(&self.recent).clear();
    }

    pub(crate) fn record_failure(&self, at: Timestamp) {
        *lock_unpoisoned(&self.failed_at) = Some(at);
    }

    /// Time of the endpoint's last failure, if it is still backed off.
    pub(crate) fn recent_failure(&self, now: Timestamp) -> Option<Timestamp> {
        lock_unpoisoned(&self.failed_at).filter(|at| is_backing_off(*at, now))
    }
}

/// Whether a failure is recent enough to back off. The absolute distance: a clock that was set back must not extend the
/// back-off.
pub(crate) fn is_backing_off(failed_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(failed_at).abs() < FAILURE_BACKOFF
}

/// Locks a mutex even after a panic: no update here can be left half done.
fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn work_of_one_name_runs_one_at_a_time_and_leaves_no_lock() {
        let (requests, inside) = (SummaryRequests::default(), Mutex::new(()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| requests.run_exclusive("one", || drop(inside.try_lock().expect("no other thread"))));
            }
        });
        assert!(lock_unpoisoned(&requests.in_progress).is_empty());
    }

    #[test]
    fn recent_summaries_are_cached_for_ten_seconds_or_until_cleared() {
        let (requests, tenant) = (SummaryRequests::default(), TenantId(Uuid::nil()));
        let at = |second: i64| Timestamp::from_second(second).expect("in range");
        for number in 0..2 * RECENT_SUMMARIES_MAX {
            requests.record_summary(tenant, StoredSummary::example(&format!("c{number}"), at(100)));
        }
        let check = |tenant: TenantId, conversation: &str, second: i64, known: usize| {
            let made = requests.recent_summaries(tenant, conversation, at(second));
            assert_eq!(made.len(), known, "{conversation} {second}");
        };
        let last = format!("c{}", 2 * RECENT_SUMMARIES_MAX - 1);
        check(tenant, &last, 101, 1);
        check(tenant, &last, 110, 0);
        check(tenant, "c0", 101, 0);
        check(TenantId(Uuid::max()), &last, 101, 0);
        requests.clear_recent();
        check(tenant, &last, 101, 0);
    }

    #[test]
    fn a_failure_backs_off_for_five_minutes() {
        let requests = SummaryRequests::default();
        let minute = |minute: i64| Timestamp::from_second(60 * (10 + minute)).expect("in range");
        assert_eq!(requests.recent_failure(minute(0)), None);
        requests.record_failure(minute(0));
        for (later, is_recent) in [(0, true), (4, true), (5, false), (60, false), (-1, true), (-6, false)] {
            assert_eq!(requests.recent_failure(minute(later)).is_some(), is_recent, "{later}");
        }
    }
}
