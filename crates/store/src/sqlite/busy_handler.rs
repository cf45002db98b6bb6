//! Waits for another process that holds the write lock, and reports a wait that gets long.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::model::error::StoreError;

/// Wait after which the caller is notified: longer than a group commit takes, shorter than a person wants to wait
/// without a word.
const NOTIFY_AFTER: Duration = Duration::from_secs(2);
/// Milliseconds between two tries: short at first, as most group commits are short. The last repeats.
const RETRY_PAUSES_MS: [u64; 8] = [1, 2, 5, 10, 15, 25, 50, 100];

/// A busy handler for SQLite: sleeps and returns true until `wait_max` has passed; calls `on_wait` once per wait.
pub(super) fn retry_handler(
    path: &Path,
    wait_max: Duration,
    on_wait: Option<fn(&Path)>,
) -> impl FnMut(i32) -> bool + Send + 'static {
    let path = path.to_owned();
    let (mut since, mut notified) = (Instant::now(), false);
    move |tries| {
        // SQLite counts the tries of each wait from zero.
        if tries == 0 {
            (since, notified) = (Instant::now(), false);
        }
        let waited = since.elapsed();
        if waited >= NOTIFY_AFTER && !notified {
            notified = true;
            on_wait.into_iter().for_each(|notify| notify(&path));
        }
        let pause = RETRY_PAUSES_MS[usize::try_from(tries).unwrap_or(0).min(RETRY_PAUSES_MS.len() - 1)];
        let keep_waiting = waited < wait_max;
        if keep_waiting {
            std::thread::sleep(Duration::from_millis(pause));
        }
        keep_waiting
    }
}

/// Adds the file and the time waited to a busy error.
pub(super) fn add_file_name(error: StoreError, path: Option<&Path>, wait_max: Duration) -> StoreError {
    match (error, path) {
        (StoreError::Busy(_), Some(path)) => {
            StoreError::Busy(format!("`{}` and has not finished after {wait_max:?}", path.display()))
        }
        (error, _) => error,
    }
}
