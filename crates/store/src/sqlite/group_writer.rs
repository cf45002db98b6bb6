//! What waits together becomes one transaction and one sync of the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::ports::change::{Change, CommitResult};
use engine::ports::{StoreCallback, StoreError, Tenant};
use rusqlite::Connection;

use super::commit::HeadCache;
use super::fault::{Fault, clone_error};
use super::pool::SharedConnection;
use super::{commit, records, wal_vfs};
use crate::notifier::Notifier;
use crate::sync::lock;

pub(super) enum WriteJob {
    Commit(Arc<Change>, StoreCallback<CommitResult>),
    /// Written when it can be, and kept until then; somebody may want to hear of it, and does other things after a while.
    Later(Arc<Change>, Option<StoreCallback<()>>),
    Tenant(Tenant, StoreCallback<Tenant>),
    Flush(StoreCallback<()>),
}

impl WriteJob {
    pub(super) fn is_waited_for(&self) -> bool {
        !matches!(self, WriteJob::Later(..))
    }

    /// Somebody listens for it, whether he waits until it is done or not.
    pub(super) fn is_urgent(&self) -> bool {
        !matches!(self, WriteJob::Later(_, None))
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

/// A group was not written, as another process holds the file: why, and what of it can be tried again.
pub(super) struct BusyGroup {
    pub(super) error: StoreError,
    pub(super) later: Vec<WriteJob>,
}

/// Where groups are written, and what is kept between them.
pub(super) struct GroupWriter {
    conn: SharedConnection,
    notifier: Arc<Notifier>,
    /// The first failure of a change nobody waited for; the next flush tells.
    first_failure: Option<StoreError>,
    /// Erased text may still stand in the log file.
    needs_scrub: bool,
    sync_count: Arc<AtomicU64>,
    heads: HeadCache,
}

/// What one job of a group came to.
enum JobOutcome {
    Committed(CommitResult),
    Tenant(Tenant),
    Flushed,
}

impl GroupWriter {
    /// `synced` counts the groups committed.
    pub(super) fn new(conn: SharedConnection, notifier: Arc<Notifier>, sync_count: Arc<AtomicU64>) -> GroupWriter {
        GroupWriter { conn, notifier, first_failure: None, needs_scrub: false, sync_count, heads: HeadCache::default() }
    }

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
        self.notifier.notify_all();
        for (job, outcome) in group.into_iter().zip(outcomes) {
            match (job, outcome) {
                (WriteJob::Commit(change, answer), Ok(JobOutcome::Committed(committed))) => {
                    drop(change);
                    answer(Ok(committed));
                }
                (WriteJob::Commit(_, answer), Err(error)) => answer(Err(error)),
                (WriteJob::Tenant(_, answer), Ok(JobOutcome::Tenant(tenant))) => answer(Ok(tenant)),
                (WriteJob::Tenant(_, answer), Err(error)) => answer(Err(error)),
                (WriteJob::Later(_, Some(answer)), outcome) => answer(outcome.map(drop)),
                // Its guard said that it is not wanted any more.
                (WriteJob::Later(_, None), Err(StoreError::Guard(_))) => {}
                (WriteJob::Later(_, None), Err(error)) => {
                    self.first_failure = self.first_failure.take().or(Some(error))
                }
                (WriteJob::Flush(answer), outcome) => {
                    let lost = self.first_failure.take().or(outcome.err());
                    answer(lost.map_or(Ok(()), Err));
                }
                _ => {}
            }
        }
        self.scrub_log();
        None
    }

    fn write_group(&mut self, group: &[WriteJob]) -> Result<Vec<Result<JobOutcome, StoreError>>, StoreError> {
        if group.iter().all(|job| matches!(job, WriteJob::Flush(_))) {
            return Ok(group.iter().map(|_| Ok(JobOutcome::Flushed)).collect());
        }
        let conn = lock(&self.conn);
        let written = write_in_transaction(&conn, &mut self.heads, group);
        self.needs_scrub |= group
            .iter()
            .any(|job| matches!(job, WriteJob::Commit(change, _) | WriteJob::Later(change, _) if commit::erases_text(change)));
        let outcomes = written?;
        self.sync_count.fetch_add(u64::from(outcomes.iter().any(Result::is_ok)), Ordering::Relaxed);
        Ok(outcomes)
    }

    /// Takes erased text out of the log file. A reader in the way makes it wait for the next group.
    pub(super) fn scrub_log(&mut self) {
        if self.needs_scrub {
            let conn = lock(&self.conn);
            let busy = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0));
            self.needs_scrub = busy.is_ok_and(|busy| busy != 0);
        }
    }
}

/// One transaction for the group, in which a change that fails fails alone. Nearly all that fail do so at their
/// guards, before they write; only where one did write is the group written again with a way back to before each.
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

/// What is remembered of the file outlives a transaction only where that is committed.
fn with_head_cache(
    conn: &Connection,
    heads: &mut HeadCache,
    group: &[WriteJob],
    way: WriteMode,
) -> Result<Option<Vec<Result<JobOutcome, StoreError>>>, Fault> {
    let mut remembered = std::mem::take(heads);
    let outcomes = try_transaction(conn, &mut remembered, group, way)?;
    if outcomes.is_some() {
        *heads = remembered;
    }
    Ok(outcomes)
}

#[derive(Clone, Copy, PartialEq)]
enum WriteMode {
    Plain,
    /// Each change in a savepoint, which copies every page it touches.
    WithSavepoints,
}

/// `None`, with nothing written, where a change left a part of itself behind.
fn try_transaction(
    conn: &Connection,
    heads: &mut HeadCache,
    group: &[WriteJob],
    way: WriteMode,
) -> Result<Option<Vec<Result<JobOutcome, StoreError>>>, Fault> {
    if !conn.is_autocommit() {
        // A panic left it open.
        execute_sql(conn, "rollback")?;
    }
    execute_sql(conn, "begin immediate")?;
    heads.drop_if_outdated(conn)?;
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        let before = conn.total_changes();
        let outcome = match way {
            WriteMode::Plain => apply_job(conn, heads, job),
            WriteMode::WithSavepoints => apply_in_savepoint(conn, heads, job),
        };
        // A full disk ends the whole transaction, not just this change.
        if conn.is_autocommit() {
            return Err(outcome.err().unwrap_or_else(|| Fault::corrupt("the transaction ended early")));
        }
        if outcome.is_err() && way == WriteMode::Plain && conn.total_changes() != before {
            execute_sql(conn, "rollback")?;
            // One alone leaves nothing behind now, so it failed as it should.
            return Ok((group.len() == 1).then(|| vec![outcome.map_err(StoreError::from)]));
        }
        outcomes.push(outcome.map_err(StoreError::from));
    }
    let kept = heads.save_changed(conn).and_then(|()| Ok(wal_vfs::with_buffered_log(|| execute_sql(conn, "commit"))?));
    roll_back_on_error(conn, kept).map(|()| Some(outcomes))
}

/// A change that leaves nothing behind when it fails.
fn apply_in_savepoint(conn: &Connection, heads: &mut HeadCache, job: &WriteJob) -> Result<JobOutcome, Fault> {
    execute_sql(conn, "savepoint change")?;
    let outcome = apply_job(conn, heads, job);
    if outcome.is_err() && !conn.is_autocommit() {
        execute_sql(conn, "rollback to change")?;
    }
    if !conn.is_autocommit() {
        execute_sql(conn, "release change")?;
    }
    outcome
}

fn execute_sql(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Leaves no transaction open, however it went.
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
