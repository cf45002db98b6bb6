//! The checkpointer: a thread that copies the write-ahead log into the database file, so that a save waits only for the
//! sync of its own log pages and not for a checkpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::model::error::StoreError;
use rusqlite::Connection;

use super::fault::Fault;
use super::pool::{self, SharedConnection};
use crate::notifier::Notifier;
use crate::sync::lock;

/// Pause after a write before its pages are copied: many pages are written again within it and are then copied once.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// Log pages not yet copied from which a checkpoint is worth it: 8 MiB, so that pages written often are copied seldom.
const LOG_PAGES_MIN: u64 = 2_000;
/// Log length from which the log is restarted. Only that blocks writers, and only for the last few pages.
const RESTART_LOG_PAGES: u64 = 4_000;
/// Pages that can be copied while a writer waits without being noticed.
const FEW_PAGES: u64 = 500;
/// Rounds to catch up with writers; each round leaves the pages written during it.
const ROUNDS_MAX: usize = 8;

/// Handle of the thread; dropping it stops the thread.
pub(super) struct Checkpointer {
    thread: Option<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    notifier: Arc<Notifier>,
}

impl Checkpointer {
    pub(super) fn start(
        path: &Path,
        writer: SharedConnection,
        notifier: Arc<Notifier>,
    ) -> Result<Checkpointer, StoreError> {
        let stopped = Arc::new(AtomicBool::new(false));
        let work =
            CheckpointLoop { path: path.to_owned(), writer, notifier: notifier.clone(), stopped: stopped.clone() };
        let thread = std::thread::Builder::new()
            .name("ingrain-checkpoint".to_owned())
            .spawn(move || work.run())
            .map_err(|error| StoreError::Unavailable(format!("the checkpoint thread cannot be started: {error}")))?;
        Ok(Checkpointer { thread: Some(thread), stopped, notifier })
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
    /// Errors are ignored here: where the log grows past the writer's own limit, the writer runs the checkpoint and
    /// reports the error.
    fn run(&self) {
        let mut seen = 0;
        let mut conn = None;
        loop {
            seen = self.notifier.wait_changed(seen);
            if !self.is_stopped() {
                // Parked instead of sleeping, so that dropping the checkpointer need not wait.
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
        // `noop` only reads the counters.
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
            // A writer restarts the log where all of it is copied. The mutex makes writers of this process queue here;
            // at the file they would find it busy and sleep between tries.
            let _writer = lock(&self.writer);
            WalProgress::run_checkpoint(conn, "full")?;
        }
        Ok(())
    }
}

/// Length of the log, and how much of it is copied into the database, in pages.
struct WalProgress {
    pages: u64,
    copied: u64,
}

impl WalProgress {
    fn run_checkpoint(conn: &Connection, mode: &str) -> Result<WalProgress, Fault> {
        let mut statement = conn.prepare_cached(&format!("pragma wal_checkpoint({mode})"))?;
        // Negative where the database has no log.
        let pages = |pages: i64| u64::try_from(pages).unwrap_or_default();
        Ok(statement.query_row([], |row| Ok(WalProgress { pages: pages(row.get(1)?), copied: pages(row.get(2)?) }))?)
    }

    fn pages_left(&self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }
}
