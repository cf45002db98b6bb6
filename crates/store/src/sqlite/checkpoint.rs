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
use super::pool::{self, SharedConnection};
use crate::notifier::Notifier;
use crate::sync::lock;

/// How long to let pages gather once something was written: many of them are written more than once.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// Pages of log worth copying: 8 MiB, so that what is written often is copied seldom.
const LOG_PAGES_MIN: u64 = 2_000;
/// Pages of log from which it starts over; only then are writers asked to wait, and only for the last few pages.
const RESTART_LOG_PAGES: u64 = 4_000;
/// Few enough that a writer hardly notices them being copied.
const FEW_PAGES: u64 = 500;
/// Rounds in which the copying catches up with the writing; each leaves what was written meanwhile.
const ROUNDS_MAX: usize = 8;

/// The thread that copies.
pub(super) struct Checkpointer {
    thread: Option<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    notifier: Arc<Notifier>,
}

impl Checkpointer {
    pub(super) fn start(
        path: &Path,
        writer: SharedConnection,
        news: Arc<Notifier>,
    ) -> Result<Checkpointer, StoreError> {
        let stopped = Arc::new(AtomicBool::new(false));
        let work = CheckpointLoop { path: path.to_owned(), writer, notifier: news.clone(), stopped: stopped.clone() };
        let thread = std::thread::Builder::new()
            .name("ingrain-checkpoint".to_owned())
            .spawn(move || work.run())
            .map_err(|error| StoreError::Unavailable(format!("no thread for checkpoints: {error}")))?;
        Ok(Checkpointer { thread: Some(thread), stopped, notifier: news })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.notifier.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

struct CheckpointLoop {
    path: PathBuf,
    writer: SharedConnection,
    notifier: Arc<Notifier>,
    stopped: Arc<AtomicBool>,
}

impl CheckpointLoop {
    /// A failure is left to the writer: it copies for itself where the log grows past its own limit, and tells.
    fn run(&self) {
        let mut heard = 0;
        let mut conn = None;
        loop {
            heard = self.notifier.wait_changed(heard);
            if !self.is_stopped() {
                std::thread::park_timeout(GATHER_TIME);
            }
            if self.is_stopped() {
                return;
            }
            conn = conn.or_else(|| pool::open_checkpointer(&self.path).ok());
            if conn.as_ref().is_some_and(|conn| self.copy_log(conn).is_err()) {
                conn = None;
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn copy_log(&self, conn: &Connection) -> Result<(), Fault> {
        let mut log = WalProgress::run_checkpoint(conn, "noop")?;
        if log.pages_left() < LOG_PAGES_MIN {
            return Ok(());
        }
        for _ in 0..ROUNDS_MAX {
            log = WalProgress::run_checkpoint(conn, "passive")?;
            if log.pages_left() < FEW_PAGES || self.is_stopped() {
                break;
            }
        }
        if log.pages >= RESTART_LOG_PAGES && log.pages_left() < FEW_PAGES {
            // The next writer begins the log anew where nothing of it is left. Here it waits its turn; at the file it
            // would find it busy and sleep.
            let _writer = lock(&self.writer);
            WalProgress::run_checkpoint(conn, "full")?;
        }
        Ok(())
    }
}

/// How long the log is, and how much of it is in the database.
struct WalProgress {
    pages: u64,
    copied: u64,
}

impl WalProgress {
    fn run_checkpoint(conn: &Connection, mode: &str) -> Result<WalProgress, Fault> {
        let mut statement = conn.prepare_cached(&format!("pragma wal_checkpoint({mode})"))?;
        // Negative where there is no log.
        let pages = |pages: i64| u64::try_from(pages).unwrap_or_default();
        Ok(statement.query_row([], |row| Ok(WalProgress { pages: pages(row.get(1)?), copied: pages(row.get(2)?) }))?)
    }

    fn pages_left(&self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }
}
