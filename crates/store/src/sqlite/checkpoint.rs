//! Copies the log back into the database, beside whoever writes: a save waits for its own sync of the disk, not for
//! that of everybody's pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::ports::StoreError;
use rusqlite::Connection;

use super::fault::Fault;
use super::pool::{self, Shared, lock};
use crate::bell::Bell;

/// How long to let pages gather once something was written: many of them are written more than once.
const GATHER: Duration = Duration::from_millis(100);
/// Pages of log worth copying: 8 MiB, so that what is written often is copied seldom.
const LOG_PAGES: u64 = 2_000;
/// Pages of log from which it starts over; only then are writers asked to wait, and only for the last few pages.
const LONG_LOG_PAGES: u64 = 4_000;
/// Few enough that a writer hardly notices them being copied.
const FEW_PAGES: u64 = 500;
/// Rounds in which the copying catches up with the writing; each leaves what was written meanwhile.
const ROUNDS_MAX: usize = 8;

/// The thread that copies.
pub(super) struct Checkpointer {
    thread: Option<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    news: Arc<Bell>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path, writer: Shared, news: Arc<Bell>) -> Result<Checkpointer, StoreError> {
        let stopped = Arc::new(AtomicBool::new(false));
        let work = Work { path: path.to_owned(), writer, news: news.clone(), stopped: stopped.clone() };
        let thread = std::thread::Builder::new()
            .name("ingrain-checkpoint".to_owned())
            .spawn(move || work.run())
            .map_err(|error| StoreError::Unavailable(format!("no thread for checkpoints: {error}")))?;
        Ok(Checkpointer { thread: Some(thread), stopped, news })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.news.ring();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

struct Work {
    path: PathBuf,
    writer: Shared,
    news: Arc<Bell>,
    stopped: Arc<AtomicBool>,
}

impl Work {
    /// A failure is left to the writer: it copies for itself where the log grows past its own limit, and tells.
    fn run(&self) {
        let mut heard = 0;
        let mut conn = None;
        loop {
            heard = self.news.wait(heard);
            if !self.is_stopped() {
                std::thread::park_timeout(GATHER);
            }
            if self.is_stopped() {
                return;
            }
            conn = conn.or_else(|| pool::open_checkpointer(&self.path).ok());
            if conn.as_ref().is_some_and(|conn| self.copy(conn).is_err()) {
                conn = None;
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn copy(&self, conn: &Connection) -> Result<(), Fault> {
        let mut log = Log::after(conn, "noop")?;
        if log.left() < LOG_PAGES {
            return Ok(());
        }
        for _ in 0..ROUNDS_MAX {
            log = Log::after(conn, "passive")?;
            if log.left() < FEW_PAGES || self.is_stopped() {
                break;
            }
        }
        if log.pages >= LONG_LOG_PAGES && log.left() < FEW_PAGES {
            // The next writer begins the log anew where nothing of it is left. Here it waits its turn; at the file it
            // would find it busy and sleep.
            let _writer = lock(&self.writer);
            Log::after(conn, "full")?;
        }
        Ok(())
    }
}

/// How long the log is, and how much of it is in the database.
struct Log {
    pages: u64,
    copied: u64,
}

impl Log {
    fn after(conn: &Connection, mode: &str) -> Result<Log, Fault> {
        let mut statement = conn.prepare_cached(&format!("pragma wal_checkpoint({mode})"))?;
        // Negative where there is no log.
        let pages = |pages: i64| u64::try_from(pages).unwrap_or_default();
        Ok(statement.query_row([], |row| Ok(Log { pages: pages(row.get(1)?), copied: pages(row.get(2)?) }))?)
    }

    fn left(&self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }
}
