//! Whether the file that is open is still the one at its path, and whole: what is written to a removed file is lost with
//! the process, and what a file that was cut short is read as makes no sense.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use engine::model::error::StoreError;

/// Between two looks by those who write: a look costs a microsecond, a lost second of saves can be told.
const CHECK_INTERVAL_MS: u64 = 1_000;

pub(super) struct FileIdentity {
    path: PathBuf,
    opened: Option<FileId>,
    since: Instant,
    checked_ms: AtomicU64,
    /// Bytes it was seen to have: it only grows.
    bytes: AtomicU64,
    is_damaged: AtomicBool,
    /// Opened when it is first read here, and never closed: closing it would take away every lock SQLite has on it.
    file: OnceLock<ManuallyDrop<File>>,
}

/// Where SQLite's header says how large a page is and how many there are, big-endian.
const PAGE_BYTES_AT: usize = 16;
const PAGES_AT: usize = 28;
const HEADER_BYTES: usize = 32;

/// Device and inode.
type FileId = (u64, u64);

impl FileIdentity {
    /// Of a file that is open by now.
    pub(super) fn from_path(path: &Path) -> FileIdentity {
        let (since, checked_ms, is_damaged) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
        let bytes = AtomicU64::new(std::fs::metadata(path).map_or(0, |file| file.len()));
        FileIdentity {
            path: path.to_owned(),
            opened: file_id(path),
            since,
            checked_ms,
            bytes,
            is_damaged,
            file: OnceLock::new(),
        }
    }

    /// Looks now.
    pub(super) fn check_now(&self) -> Result<(), StoreError> {
        let looked = match file_id(&self.path) == self.opened {
            true => self.check_not_truncated(),
            false => Err(StoreError::FileReplaced),
        };
        self.is_damaged.store(looked.is_err(), Ordering::Relaxed);
        looked
    }

    fn header_bytes(&self) -> Option<u64> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = ManuallyDrop::new(File::open(&self.path).ok()?);
                self.file.get_or_init(|| file)
            }
        };
        header_bytes(file)
    }

    /// A file that is shorter than it was was compacted, and then its header says so, or cut.
    fn check_not_truncated(&self) -> Result<(), StoreError> {
        let Ok(file) = std::fs::metadata(&self.path) else { return Ok(()) };
        let (now, before) = (file.len(), self.bytes.load(Ordering::Relaxed));
        if now < before && self.header_bytes().is_none_or(|bytes| bytes > now) {
            let told = format!("the file was cut from {before} to {now} bytes while it was open");
            return Err(StoreError::Corrupt(told));
        }
        self.bytes.store(now, Ordering::Relaxed);
        Ok(())
    }

    /// Looks where nobody has for a while.
    pub(super) fn check_if_due(&self) -> Result<(), StoreError> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.checked_ms.load(Ordering::Relaxed);
        let due = now.saturating_sub(last) >= CHECK_INTERVAL_MS;
        let mine = due && self.checked_ms.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A file that is back is found again by the next look.
        match mine || self.is_damaged.load(Ordering::Relaxed) {
            true => self.check_now(),
            false => Ok(()),
        }
    }
}

/// Refuses a file that was emptied from outside: SQLite would begin anew in it and throw away the log beside it. An
/// empty file alone is a place to begin.
pub(super) fn refuse_emptied_file(path: &Path) -> Result<(), StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).ok().map(|file| file.len());
    match bytes(path) == Some(0) && bytes(Path::new(&log)).is_some_and(|bytes| bytes > 0) {
        true => Err(StoreError::Corrupt(format!("`{}` is empty, but its log beside it is not", path.display()))),
        false => Ok(()),
    }
}

/// How long a database is by its own header.
fn header_bytes(file: &File) -> Option<u64> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0).ok()?;
    let page_bytes = match u16::from_be_bytes([header[PAGE_BYTES_AT], header[PAGE_BYTES_AT + 1]]) {
        // What does not fit into two bytes.
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

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}
