//! Whether the file that is open is still the one at its path: what is written to a removed file is lost with the process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use engine::ports::StoreError;

/// Between two looks by those who write: a look costs a microsecond, a lost second of saves can be told.
const LOOK_MS: u64 = 1_000;

pub(super) struct Standing {
    path: PathBuf,
    opened: Option<FileId>,
    since: Instant,
    looked_ms: AtomicU64,
    gone: AtomicBool,
}

/// Device and inode.
type FileId = (u64, u64);

impl Standing {
    /// Of a file that is open by now.
    pub(super) fn of(path: &Path) -> Standing {
        let (since, looked_ms, gone) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
        Standing { path: path.to_owned(), opened: file_id(path), since, looked_ms, gone }
    }

    /// Looks now.
    pub(super) fn look(&self) -> Result<(), StoreError> {
        let gone = file_id(&self.path) != self.opened;
        self.gone.store(gone, Ordering::Relaxed);
        if gone { Err(StoreError::Gone) } else { Ok(()) }
    }

    /// Looks where nobody has for a while.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.looked_ms.load(Ordering::Relaxed);
        let due = now.saturating_sub(last) >= LOOK_MS;
        let mine = due && self.looked_ms.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A file that is back is found again by the next look.
        match mine || self.gone.load(Ordering::Relaxed) {
            true => self.look(),
            false => Ok(()),
        }
    }
}

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}
