//! Checks that the open file is still the one at its path and was not truncated. Writes to a removed file would be lost
//! when the process ends, and a truncated file cannot be read sensibly.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use engine::model::error::StoreError;

/// Least time between two checks by writers. A check costs a microsecond; at most a second of saves goes to a lost
/// file.
const CHECK_INTERVAL_MS: u64 = 1_000;

pub(super) struct FileIdentity {
    path: PathBuf,
    opened: Option<FileId>,
    opened_at: Instant,
    /// Milliseconds after `opened_at`.
    checked_ms: AtomicU64,
    /// Length at the last check. A database file normally only grows.
    bytes: AtomicU64,
    /// Whether the last check failed; every write then checks again.
    is_damaged: AtomicBool,
    /// Opened on first use and never closed: closing any descriptor of a file drops all POSIX locks that this process,
    /// and so SQLite, holds on it.
    file: OnceLock<ManuallyDrop<File>>,
}

// SQLite's file header: page size and page count, big-endian.

const PAGE_BYTES_AT: usize = 16;
const PAGES_AT: usize = 28;
const HEADER_BYTES: usize = 32;

/// Device and inode.
type FileId = (u64, u64);

impl FileIdentity {
    /// The identity of a file that SQLite has opened already.
    pub(super) fn from_path(path: &Path) -> FileIdentity {
        let (opened_at, checked_ms, is_damaged) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
        let bytes = AtomicU64::new(std::fs::metadata(path).map_or(0, |file| file.len()));
        FileIdentity {
            path: path.to_owned(),
            opened: file_id(path),
            opened_at,
            checked_ms,
            bytes,
            is_damaged,
            file: OnceLock::new(),
        }
    }

    /// Checks regardless of the interval.
    pub(super) fn check_now(&self) -> Result<(), StoreError> {
        let outcome = match file_id(&self.path) == self.opened {
            true => self.check_not_truncated(),
            false => Err(StoreError::FileReplaced),
        };
        self.is_damaged.store(outcome.is_err(), Ordering::Relaxed);
        outcome
    }

    /// Length of the file according to its own header.
    fn header_bytes(&self) -> Option<u64> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                // Where another thread is faster, this descriptor leaks, which is safe; closing it is not.
                let file = ManuallyDrop::new(File::open(&self.path).ok()?);
                self.file.get_or_init(|| file)
            }
        };
        header_bytes(file)
    }

    /// A file that got shorter was either compacted (`vacuum`), and its header says so, or truncated from outside.
    fn check_not_truncated(&self) -> Result<(), StoreError> {
        // A file that vanished just now is found by the identity check next time.
        let Ok(file) = std::fs::metadata(&self.path) else { return Ok(()) };
        let (bytes, bytes_before) = (file.len(), self.bytes.load(Ordering::Relaxed));
        if bytes < bytes_before && self.header_bytes().is_none_or(|expected| expected > bytes) {
            let reason = format!("the file was truncated from {bytes_before} to {bytes} bytes while it was open");
            return Err(StoreError::Corrupt(reason));
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Checks where the last check is old enough; one of several threads does it.
    pub(super) fn check_if_due(&self) -> Result<(), StoreError> {
        let now = u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.checked_ms.load(Ordering::Relaxed);
        let due = now.saturating_sub(last) >= CHECK_INTERVAL_MS;
        let is_mine = due && self.checked_ms.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A damaged file is checked on each write, so that writes resume as soon as the file is back.
        match is_mine || self.is_damaged.load(Ordering::Relaxed) {
            true => self.check_now(),
            false => Ok(()),
        }
    }
}

/// Refuses a file that was emptied from outside: SQLite would take it for a new database and discard the log beside it.
/// An empty file without a log is a new database.
pub(super) fn refuse_emptied_file(path: &Path) -> Result<(), StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).ok().map(|file| file.len());
    // The log first: a process that creates the database at this moment fills the file before the log.
    match bytes(Path::new(&log)).is_some_and(|bytes| bytes > 0) && bytes(path) == Some(0) {
        true => Err(StoreError::Corrupt(format!("`{}` is empty, but its log file `-wal` is not", path.display()))),
        false => Ok(()),
    }
}

/// Length of a database file according to its header.
fn header_bytes(file: &File) -> Option<u64> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0).ok()?;
    let page_bytes = match u16::from_be_bytes([header[PAGE_BYTES_AT], header[PAGE_BYTES_AT + 1]]) {
        // 65,536 does not fit into two bytes, so SQLite stores it as 1.
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let pages: [u8; 4] = header[PAGES_AT..PAGES_AT + 4].try_into().ok()?;
    Some(page_bytes * u64::from(u32::from_be_bytes(pages)))
}

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// On other systems an open file cannot be removed.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}
