//! How one process asks the endpoint that makes summaries: once for each, and not while it fails.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::model::id::TenantId;
use crate::model::row::SideRecord;
use crate::summaries::StoredSummary;

/// How long an endpoint that failed is left alone: no turn waits for it meanwhile.
const FAILURE_BACKOFF: SignedDuration = SignedDuration::from_mins(5);

/// How long what was made is remembered here: written within moments, it is then found where it is kept.
const RECENT_SUMMARY_AGE: SignedDuration = SignedDuration::from_secs(10);
/// Summaries remembered at once, a page each.
const RECENT_SUMMARIES_MAX: usize = 32;

/// What is being asked for, what was just made, and when the endpoint last failed.
#[derive(Debug, Default)]
pub struct SummaryRequests {
    /// One entry for each summary that somebody makes or waits for, so the calls under way bound it.
    in_progress: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Newest first.
    recent: Mutex<VecDeque<(TenantId, StoredSummary)>>,
    failed_at: Mutex<Option<Timestamp>>,
}

impl SummaryRequests {
    /// Does the work while nobody else in this process does work of that name.
    pub(crate) fn run_exclusive<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let slot = Arc::clone(lock_unpoisoned(&self.in_progress).entry(name.to_owned()).or_default());
        let result = {
            let _guard = lock_unpoisoned(&slot);
            work()
        };
        drop(slot);
        let mut in_progress = lock_unpoisoned(&self.in_progress);
        // The last one out takes the name along.
        if in_progress.get(name).is_some_and(|slot| Arc::strong_count(slot) == 1) {
            in_progress.remove(name);
        }
        result
    }

    pub(crate) fn record_summary(&self, tenant: TenantId, summary: StoredSummary) {
        let mut made = lock_unpoisoned(&self.recent);
        made.truncate(RECENT_SUMMARIES_MAX - 1);
        made.push_front((tenant, summary));
    }

    /// What was made of a conversation a moment ago and may not be written yet, newest first.
    pub(crate) fn recent_summaries(&self, tenant: TenantId, conversation: &str, now: Timestamp) -> Vec<StoredSummary> {
        let is_recent = |made: &StoredSummary| now.duration_since(made.row_time()).abs() < RECENT_SUMMARY_AGE;
        let made = lock_unpoisoned(&self.recent);
        let of_conversation = made
            .iter()
            .filter(|(owner, made)| *owner == tenant && made.row_parent() == conversation && is_recent(made));
        of_conversation.map(|(_, made)| made.clone()).collect()
    }

    /// Something was forgotten that one of them may tell of.
    pub(crate) fn clear_recent(&self) {
        lock_unpoisoned(&self.recent).clear();
    }

    pub(crate) fn record_failure(&self, at: Timestamp) {
        *lock_unpoisoned(&self.failed_at) = Some(at);
    }

    /// When the endpoint failed, if that is not long ago.
    pub(crate) fn recent_failure(&self, now: Timestamp) -> Option<Timestamp> {
        lock_unpoisoned(&self.failed_at).filter(|at| is_backing_off(*at, now))
    }
}

/// Whether what failed then is still left alone. A clock that was put back does not make it so for ever.
pub(crate) fn is_backing_off(failed_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(failed_at).abs() < FAILURE_BACKOFF
}

fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn work_of_one_name_is_done_one_after_the_other_and_leaves_nothing() {
        let (requests, inside) = (SummaryRequests::default(), Mutex::new(()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| requests.run_exclusive("one", || drop(inside.try_lock().expect("nobody else is here"))));
            }
        });
        assert!(lock_unpoisoned(&requests.in_progress).is_empty());
    }

    #[test]
    fn what_was_made_is_known_until_it_is_written_or_forgotten() {
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
    fn what_failed_is_left_alone_for_five_minutes() {
        let requests = SummaryRequests::default();
        let minute = |minute: i64| Timestamp::from_second(60 * (10 + minute)).expect("in range");
        assert_eq!(requests.recent_failure(minute(0)), None);
        requests.record_failure(minute(0));
        for (later, is_recent) in [(0, true), (4, true), (5, false), (60, false), (-1, true), (-6, false)] {
            assert_eq!(requests.recent_failure(minute(later)).is_some(), is_recent, "{later}");
        }
    }
}
