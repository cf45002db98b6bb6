//! What waits together becomes one transaction and one sync of the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::ports::change::{Change, Committed};
use engine::ports::{Answer, StoreError, Tenant};
use rusqlite::Connection;

use super::commit::Heads;
use super::fault::{Fault, same};
use super::pool::{Shared, lock};
use super::{commit, log_file, records};
use crate::bell::Bell;

pub(super) enum Job {
    Commit(Arc<Change>, Answer<Committed>),
    /// Written when it can be, and kept until then; somebody may want to hear of it, and does other things after a while.
    Later(Arc<Change>, Option<Answer<()>>),
    Tenant(Tenant, Answer<Tenant>),
    Flush(Answer<()>),
}

impl Job {
    pub(super) fn is_waited_for(&self) -> bool {
        !matches!(self, Job::Later(..))
    }

    /// Somebody listens for it, whether he waits until it is done or not.
    pub(super) fn is_pressing(&self) -> bool {
        !matches!(self, Job::Later(_, None))
    }

    pub(super) fn fail(self, error: StoreError) {
        match self {
            Job::Commit(_, answer) => answer(Err(error)),
            Job::Tenant(_, answer) => answer(Err(error)),
            Job::Flush(answer) => answer(Err(error)),
            Job::Later(_, answer) => drop(answer.map(|answer| answer(Err(error)))),
        }
    }
}

/// A group was not written, as another process holds the file: why, and what of it can be tried again.
pub(super) struct Held {
    pub(super) error: StoreError,
    pub(super) later: Vec<Job>,
}

/// Where groups are written, and what is kept between them.
pub(super) struct Desk {
    conn: Shared,
    news: Arc<Bell>,
    /// The first failure of a change nobody waited for; the next flush tells.
    lost: Option<StoreError>,
    /// Erased text may still stand in the log file.
    scrub: bool,
    synced: Arc<AtomicU64>,
    heads: Heads,
}

/// What one job of a group came to.
enum Outcome {
    Committed(Committed),
    Tenant(Tenant),
    Flushed,
}

impl Desk {
    /// `synced` counts the groups committed.
    pub(super) fn new(conn: Shared, news: Arc<Bell>, synced: Arc<AtomicU64>) -> Desk {
        Desk { conn, news, lost: None, scrub: false, synced, heads: Heads::default() }
    }

    pub(super) fn settle(&mut self, mut group: Vec<Job>) -> Option<Held> {
        let outcomes = match self.write(&group) {
            Err(error @ StoreError::Busy(_)) => {
                let later = group.extract_if(.., |job| !job.is_waited_for()).collect();
                group.into_iter().for_each(|job| job.fail(same(&error)));
                return Some(Held { error, later });
            }
            Err(error) => group.iter().map(|_| Err(same(&error))).collect(),
            Ok(outcomes) => outcomes,
        };
        self.news.ring();
        for (job, outcome) in group.into_iter().zip(outcomes) {
            match (job, outcome) {
                (Job::Commit(change, answer), Ok(Outcome::Committed(committed))) => {
                    drop(change);
                    answer(Ok(committed));
                }
                (Job::Commit(_, answer), Err(error)) => answer(Err(error)),
                (Job::Tenant(_, answer), Ok(Outcome::Tenant(tenant))) => answer(Ok(tenant)),
                (Job::Tenant(_, answer), Err(error)) => answer(Err(error)),
                (Job::Later(_, Some(answer)), outcome) => answer(outcome.map(drop)),
                // Its guard said that it is not wanted any more.
                (Job::Later(_, None), Err(StoreError::Guard(_))) => {}
                (Job::Later(_, None), Err(error)) => self.lost = self.lost.take().or(Some(error)),
                (Job::Flush(answer), outcome) => {
                    let lost = self.lost.take().or(outcome.err());
                    answer(lost.map_or(Ok(()), Err));
                }
                _ => {}
            }
        }
        self.scrub();
        None
    }

    fn write(&mut self, group: &[Job]) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        if group.iter().all(|job| matches!(job, Job::Flush(_))) {
            return Ok(group.iter().map(|_| Ok(Outcome::Flushed)).collect());
        }
        let conn = lock(&self.conn);
        let written = transaction(&conn, &mut self.heads, group);
        self.scrub |= group
            .iter()
            .any(|job| matches!(job, Job::Commit(change, _) | Job::Later(change, _) if commit::erases(change)));
        let outcomes = written?;
        self.synced.fetch_add(u64::from(outcomes.iter().any(Result::is_ok)), Ordering::Relaxed);
        Ok(outcomes)
    }

    /// Takes erased text out of the log file. A reader in the way makes it wait for the next group.
    pub(super) fn scrub(&mut self) {
        if self.scrub {
            let conn = lock(&self.conn);
            let busy = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0));
            self.scrub = busy.is_ok_and(|busy| busy != 0);
        }
    }
}

/// One transaction for the group, in which a change that fails fails alone. Nearly all that fail do so at their
/// guards, before they write; only where one did write is the group written again with a way back to before each.
fn transaction(conn: &Connection, heads: &mut Heads, group: &[Job]) -> Result<Vec<Result<Outcome, StoreError>>, Fault> {
    if let Some(outcomes) = remembering(conn, heads, group, Way::Plain)? {
        return Ok(outcomes);
    }
    Ok(remembering(conn, heads, group, Way::Undoable)?.unwrap_or_default())
}

/// What is remembered of the file outlives a transaction only where that is committed.
fn remembering(
    conn: &Connection,
    heads: &mut Heads,
    group: &[Job],
    way: Way,
) -> Result<Option<Vec<Result<Outcome, StoreError>>>, Fault> {
    let mut remembered = std::mem::take(heads);
    let outcomes = together(conn, &mut remembered, group, way)?;
    if outcomes.is_some() {
        *heads = remembered;
    }
    Ok(outcomes)
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plain,
    /// Each change in a savepoint, which copies every page it touches.
    Undoable,
}

/// `None`, with nothing written, where a change left a part of itself behind.
fn together(
    conn: &Connection,
    heads: &mut Heads,
    group: &[Job],
    way: Way,
) -> Result<Option<Vec<Result<Outcome, StoreError>>>, Fault> {
    if !conn.is_autocommit() {
        // A panic left it open.
        run(conn, "rollback")?;
    }
    run(conn, "begin immediate")?;
    heads.begin(conn)?;
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        let before = conn.total_changes();
        let outcome = match way {
            Way::Plain => perform(conn, heads, job),
            Way::Undoable => undoable(conn, heads, job),
        };
        // A full disk ends the whole transaction, not just this change.
        if conn.is_autocommit() {
            return Err(outcome.err().unwrap_or_else(|| Fault::corrupt("the transaction ended early")));
        }
        if outcome.is_err() && way == Way::Plain && conn.total_changes() != before {
            run(conn, "rollback")?;
            // One alone leaves nothing behind now, so it failed as it should.
            return Ok((group.len() == 1).then(|| vec![outcome.map_err(StoreError::from)]));
        }
        outcomes.push(outcome.map_err(StoreError::from));
    }
    let kept = heads.save(conn).and_then(|()| Ok(log_file::in_one_piece(|| run(conn, "commit"))?));
    ended(conn, kept).map(|()| Some(outcomes))
}

/// A change that leaves nothing behind when it fails.
fn undoable(conn: &Connection, heads: &mut Heads, job: &Job) -> Result<Outcome, Fault> {
    run(conn, "savepoint change")?;
    let outcome = perform(conn, heads, job);
    if outcome.is_err() && !conn.is_autocommit() {
        run(conn, "rollback to change")?;
    }
    if !conn.is_autocommit() {
        run(conn, "release change")?;
    }
    outcome
}

fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Leaves no transaction open, however it went.
fn ended(conn: &Connection, result: Result<(), Fault>) -> Result<(), Fault> {
    if result.is_err() && !conn.is_autocommit() {
        run(conn, "rollback")?;
    }
    result
}

fn perform(conn: &Connection, heads: &mut Heads, job: &Job) -> Result<Outcome, Fault> {
    match job {
        Job::Commit(change, _) | Job::Later(change, _) => commit::apply(conn, heads, change).map(Outcome::Committed),
        Job::Tenant(tenant, _) => records::ensure_tenant(conn, tenant).map(Outcome::Tenant),
        Job::Flush(_) => Ok(Outcome::Flushed),
    }
}
