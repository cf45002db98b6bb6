//! Group commit: all changes that wait together become one transaction and one disk sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::model::error::StoreError;
use engine::ports::change::CommitResult;
use engine::ports::scanned_change::ScannedChange;
use engine::ports::{StoreCallback, Tenant};
use rusqlite::Connection;

use super::commit::HeadCache;
use super::fault::{Fault, clone_error};
use super::log_position::PositionWriter;
use super::pool::SharedConnection;
use super::{commit, records, wal_vfs};
use crate::notifier::Notifier;
use crate::sync::lock;

/// One queued piece of work and the callback for its outcome.
pub(super) enum WriteJob {
    Commit(Arc<ScannedChange>, StoreCallback<CommitResult>),
    /// Retried until the file is free, so the caller may stop waiting; optional callback.
    Later(Arc<ScannedChange>, Option<StoreCallback<()>>),
    Tenant(Tenant, StoreCallback<Tenant>),
    Flush(StoreCallback<()>),
}

impl WriteJob {
    /// Fails with its group while another process holds the file; the other jobs are retried.
    pub(super) fn is_waited_for(&self) -> bool {
        !matches!(self, WriteJob::Later(..))
    }

    /// Has a callback, so it must not linger for the next group.
    pub(super) fn is_urgent(&self) -> bool {
        !matches!(self, WriteJob::Later(_, None))
    }

    fn erases_text(&self) -> bool {
        match self {
            WriteJob::Commit(change, _) | WriteJob::Later(change, _) => commit::erases_text(change),
            WriteJob::Tenant(..) | WriteJob::Flush(_) => false,
        }
    }

    pub(super) fn fail_with(self, error: StoreError) {
        match self {
            WriteJob::Commit(_, answer) => answer(Err(error)),
            WriteJob::Tenant(_, answer) => answer(Err(error)),
            WriteJob::Flush(answer) => answer(Err(error)),
            WriteJob::Later(_, answer) => drop(answer.map(|answer| answer(Err(error)))),
        }
    }
}

/// A group that was not written because another process holds the file, with the jobs to retry.
pub(super) struct BusyGroup {
    pub(super) error: StoreError,
    pub(super) later: Vec<WriteJob>,
}

/// Writes groups over the write connection, and keeps state between them.
pub(super) struct GroupWriter {
    conn: SharedConnection,
    notifier: Arc<Notifier>,
    /// First failure of a change without a callback; the next flush returns it.
    first_failure: Option<StoreError>,
    /// Erased text may still be in the log file.
    needs_scrub: bool,
    sync_count: Arc<AtomicU64>,
    heads: HeadCache,
    /// `None` for a database in memory.
    positions: Option<PositionWriter>,
}

/// Result of one job of a group.
enum JobOutcome {
    Committed(CommitResult),
    Tenant(Tenant),
    Flushed,
}

impl GroupWriter {
    /// `sync_count` is incremented for each committed group.
    pub(super) fn new(
        conn: SharedConnection,
        notifier: Arc<Notifier>,
        sync_count: Arc<AtomicU64>,
        positions: Option<PositionWriter>,
    ) -> GroupWriter {
        let heads = HeadCache::default();
        GroupWriter { conn, notifier, first_failure: None, needs_scrub: false, sync_count, heads, positions }
    }

    /// Writes a group and calls the callbacks. Where the file is busy, waiting callers get the error and the other jobs
    /// are returned for a retry.
    pub(super) fn process_group(&mut self, mut group: Vec<WriteJob>) -> Option<BusyGroup> {
        let outcomes = match self.write_group(&group) {
            Err(error @ StoreError::Busy(_)) => {
                let later = group.extract_if(.., |job| !job.is_waited_for()).collect();
                group.into_iter().for_each(|job| job.fail_with(clone_error(&error)));
                return Some(BusyGroup { error, later });
            }
            Err(error) => group.iter().map(|_| Err(clone_error(&error))).collect(),
            Ok(outcomes) => outcomes,
        };
        // Wakes threads that wait for events, and the checkpointer.
        self.notifier.notify_all();
        for (job, outcome) in group.into_iter().zip(outcomes) {
            match (job, outcome) {
                (WriteJob::Commit(change, answer), Ok(JobOutcome::Committed(committed))) => {
                    // Dropped before the callback, so that the caller frees the last reference: memory is best freed
                    // by the thread that allocated it.
                    drop(change);
                    answer(Ok(committed));
                }
                (WriteJob::Commit(_, answer), Err(error)) => answer(Err(error)),
                (WriteJob::Tenant(_, answer), Ok(JobOutcome::Tenant(tenant))) => answer(Ok(tenant)),
                (WriteJob::Tenant(_, answer), Err(error)) => answer(Err(error)),
                (WriteJob::Later(_, Some(answer)), outcome) => answer(outcome.map(drop)),
                // A failed guard means that the change is not wanted any more.
                (WriteJob::Later(_, None), Err(StoreError::Guard(_))) => {}
                (WriteJob::Later(_, None), Err(error)) => {
                    self.first_failure = self.first_failure.take().or(Some(error))
                }
                (WriteJob::Flush(answer), outcome) => {
                    let failure = self.first_failure.take().or(outcome.err());
                    answer(failure.map_or(Ok(()), Err));
                }
                // A successful change without a callback.
                _ => {}
            }
        }
        self.scrub_log();
        None
    }

    fn write_group(&mut self, group: &[WriteJob]) -> Result<Vec<Result<JobOutcome, StoreError>>, StoreError> {
        // Jobs are written in order, so everything queued before these flushes is written already.
        if group.iter().all(|job| matches!(job, WriteJob::Flush(_))) {
            return Ok(group.iter().map(|_| Ok(JobOutcome::Flushed)).collect());
        }
        let conn = lock(&self.conn);
        let written = write_in_transaction(&conn, &mut self.heads, group);
        // Set even where the transaction failed: its pages may have reached the log.
        self.needs_scrub |= group.iter().any(WriteJob::erases_text);
        let outcomes = written?;
        if let Some(positions) = &mut self.positions {
            self.heads.take_saved().for_each(|head| positions.record(&conn, head));
        }
        // A group in which every job failed has written nothing and needs no sync.
        self.sync_count.fetch_add(u64::from(outcomes.iter().any(Result::is_ok)), Ordering::Relaxed);
        Ok(outcomes)
    }

    /// Truncates the log file to remove erased text from it. Where a reader blocks that, the next group tries again.
    pub(super) fn scrub_log(&mut self) {
        if self.needs_scrub {
            let conn = lock(&self.conn);
            let busy = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0));
            self.needs_scrub = busy.is_ok_and(|busy| busy != 0);
        }
    }
}

/// Writes the group in one transaction in which a change fails alone. Nearly all failures are guards, which are checked
/// before the change writes anything. Only where a change fails after a write is the group rolled back and written
/// again, with a savepoint per change.
fn write_in_transaction(
    conn: &Connection,
    heads: &mut HeadCache,
    group: &[WriteJob],
) -> Result<Vec<Result<JobOutcome, StoreError>>, Fault> {
    if let Some(outcomes) = with_head_cache(conn, heads, group, WriteMode::Plain)? {
        return Ok(outcomes);
    }
    Ok(with_head_cache(conn, heads, group, WriteMode::WithSavepoints)?.unwrap_or_default())
}

/// Keeps the cached heads only where the transaction commits: after a rollback or a panic they would be ahead of the
/// file.
fn with_head_cache(
    conn: &Connection,
    heads: &mut HeadCache,
    group: &[WriteJob],
    mode: WriteMode,
) -> Result<Option<Vec<Result<JobOutcome, StoreError>>>, Fault> {
    let mut cache = std::mem::take(heads);
    let outcomes = try_transaction(conn, &mut cache, group, mode)?;
    if outcomes.is_some() {
        *heads = cache;
    }
    Ok(outcomes)
}

#[derive(Clone, Copy, PartialEq)]
enum WriteMode {
    Plain,
    /// Each change in a savepoint. Slower: SQLite then copies every page that the change touches.
    WithSavepoints,
}

/// Returns `None`, with the transaction rolled back, where a change failed after it had written something.
fn try_transaction(
    conn: &Connection,
    heads: &mut HeadCache,
    group: &[WriteJob],
    mode: WriteMode,
) -> Result<Option<Vec<Result<JobOutcome, StoreError>>>, Fault> {
    if !conn.is_autocommit() {
        // Left open by a panic.
        execute_sql(conn, "rollback")?;
    }
    // Immediate: a deferred transaction takes the write lock at its first write, and fails where another connection has
    // written since it began.
    execute_sql(conn, "begin immediate")?;
    heads.drop_if_outdated(conn)?;
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        let changes_before = conn.total_changes();
        let outcome = match mode {
            WriteMode::Plain => apply_job(conn, heads, job),
            WriteMode::WithSavepoints => apply_in_savepoint(conn, heads, job),
        };
        // SQLite rolls back the whole transaction on some errors, such as a full disk.
        if conn.is_autocommit() {
            return Err(outcome.err().unwrap_or_else(|| Fault::corrupt("the transaction ended before its commit")));
        }
        if outcome.is_err() && mode == WriteMode::Plain && conn.total_changes() != changes_before {
            execute_sql(conn, "rollback")?;
            // The only job of its group needs no second run: the rollback undid what it wrote.
            return Ok((group.len() == 1).then(|| vec![outcome.map_err(StoreError::from)]));
        }
        outcomes.push(outcome.map_err(StoreError::from));
    }
    let committed =
        heads.save_changed(conn).and_then(|()| Ok(wal_vfs::with_buffered_log(|| execute_sql(conn, "commit"))?));
    roll_back_on_error(conn, committed).map(|()| Some(outcomes))
}

/// Applies a job in a savepoint, so that a failure undoes it alone.
fn apply_in_savepoint(conn: &Connection, heads: &mut HeadCache, job: &WriteJob) -> Result<JobOutcome, Fault> {
    execute_sql(conn, "savepoint change")?;
    let outcome = apply_job(conn, heads, job);
    if outcome.is_err() && !conn.is_autocommit() {
        execute_sql(conn, "rollback to change")?;
    }
    // `rollback to` leaves the savepoint open, so it is released in both cases.
    if !conn.is_autocommit() {
        execute_sql(conn, "release change")?;
    }
    outcome
}

fn execute_sql(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Rolls back an open transaction where `result` is an error.
fn roll_back_on_error(conn: &Connection, result: Result<(), Fault>) -> Result<(), Fault> {
    if result.is_err() && !conn.is_autocommit() {
        execute_sql(conn, "rollback")?;
    }
    result
}

fn apply_job(conn: &Connection, heads: &mut HeadCache, job: &WriteJob) -> Result<JobOutcome, Fault> {
    match job {
        WriteJob::Commit(change, _) | WriteJob::Later(change, _) => {
            commit::apply_change(conn, heads, change).map(JobOutcome::Committed)
        }
        WriteJob::Tenant(tenant, _) => records::ensure_tenant(conn, tenant).map(JobOutcome::Tenant),
        WriteJob::Flush(_) => Ok(JobOutcome::Flushed),
    }
}
