//! Waiting for another process that writes: groups take milliseconds, so what lasts is told.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::model::error::StoreError;

/// After this long whoever waits is told why: longer than any healthy group, shorter than a person's patience.
const NOTIFY_AFTER: Duration = Duration::from_secs(2);
/// Milliseconds between two tries: soon at first, as most groups are short.
const RETRY_PAUSES_MS: [u64; 8] = [1, 2, 5, 10, 15, 25, 50, 100];

/// Tries again until `wait_max` is over; tells `waiting` once that it waits.
pub(super) fn retry_handler(
    path: &Path,
    wait_max: Duration,
    waiting: Option<fn(&Path)>,
) -> impl FnMut(i32) -> bool + Send + 'static {
    let path = path.to_owned();
    let (mut since, mut told) = (Instant::now(), false);
    move |tries| {
        if tries == 0 {
            (since, told) = (Instant::now(), false);
        }
        let waited = since.elapsed();
        if waited >= NOTIFY_AFTER && !told {
            told = true;
            waiting.into_iter().for_each(|tell| tell(&path));
        }
        let pause = RETRY_PAUSES_MS[usize::try_from(tries).unwrap_or(0).min(RETRY_PAUSES_MS.len() - 1)];
        let goes_on = waited < wait_max;
        if goes_on {
            std::thread::sleep(Duration::from_millis(pause));
        }
        goes_on
    }
}

/// A failure to get the file, with which file it is.
pub(super) fn add_file_name(error: StoreError, path: Option<&Path>, wait_max: Duration) -> StoreError {
    match (error, path) {
        (StoreError::Busy(_), Some(path)) => {
            StoreError::Busy(format!("`{}`, and was not done after {wait_max:?}", path.display()))
        }
        (error, _) => error,
    }
}
