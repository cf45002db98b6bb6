//! The one thread that writes. Everything that waits goes into one transaction and one sync of the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::change::{Change, Committed};
use engine::ports::{StoreError, Tenant};
use rusqlite::Connection;

use super::fault::{Fault, same};
use super::pool::{Shared, lock};
use super::{commit, records};
use crate::bell::Bell;

/// Changes in one transaction. More would make the first of them wait for the last.
const GROUP_MAX: usize = 256;
/// Changes that may wait before whoever brings the next one waits too.
const QUEUE_MAX: usize = 1_024;
/// How long a change nobody waits for may stay, so that it can share the sync of one somebody does.
const LINGER: Duration = Duration::from_millis(20);

type Answer<T> = SyncSender<Result<T, StoreError>>;

enum Job {
    Commit(Box<Change>, Answer<Committed>),
    Later(Box<Change>),
    Tenant(Tenant, Answer<Tenant>),
    Flush(Answer<()>),
}

pub(super) struct Writer {
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    synced: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(conn: Shared, news: Arc<Bell>) -> Result<Writer, StoreError> {
        let (queue, jobs) = sync_channel(QUEUE_MAX);
        let synced = Arc::new(AtomicU64::new(0));
        let mut desk = Desk { conn, news, lost: None, scrub: false, synced: synced.clone() };
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || desk.work(&jobs))
            .map_err(|error| StoreError::Unavailable(format!("no thread for the writer: {error}")))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread), synced })
    }

    /// Groups committed so far: each waited for the disk once, checkpoints aside.
    pub(super) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    pub(super) fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        self.ask(|answer| Job::Commit(Box::new(change), answer))
    }

    pub(super) fn commit_later(&self, change: Change) {
        if let Some(queue) = &self.queue {
            // A writer that is gone is reported to whoever waits for an answer.
            let _ = queue.send(Job::Later(Box::new(change)));
        }
    }

    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.ask(Job::Flush)
    }

    pub(super) fn ensure_tenant(&self, tenant: Tenant) -> Result<Tenant, StoreError> {
        self.ask(|answer| Job::Tenant(tenant, answer))
    }

    fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (answer, waiting) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(job(answer)).map_err(|_| stopped())?;
        waiting.recv().map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    /// What was handed over is still written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread keeps between groups.
struct Desk {
    conn: Shared,
    news: Arc<Bell>,
    /// The first failure of a change nobody waited for; the next flush tells.
    lost: Option<StoreError>,
    /// Erased text may still stand in the log file.
    scrub: bool,
    synced: Arc<AtomicU64>,
}

/// What one job of a group came to.
enum Outcome {
    Committed(Committed),
    Tenant(Tenant),
    Flushed,
}

impl Desk {
    fn work(&mut self, jobs: &Receiver<Job>) {
        let mut group = Vec::new();
        while gather(jobs, &mut group) {
            self.settle(std::mem::take(&mut group));
        }
        if !group.is_empty() {
            self.settle(group);
        }
        self.scrub();
    }

    fn settle(&mut self, group: Vec<Job>) {
        let outcomes = self.write(&group);
        self.news.ring();
        for (job, outcome) in group.into_iter().zip(outcomes) {
            // Whoever asked may have gone; the change stands either way.
            match (job, outcome) {
                (Job::Commit(_, answer), Ok(Outcome::Committed(committed))) => drop(answer.send(Ok(committed))),
                (Job::Commit(_, answer), Err(error)) => drop(answer.send(Err(error))),
                (Job::Tenant(_, answer), Ok(Outcome::Tenant(tenant))) => drop(answer.send(Ok(tenant))),
                (Job::Tenant(_, answer), Err(error)) => drop(answer.send(Err(error))),
                // Its guard said that it is not wanted any more.
                (Job::Later(_), Err(StoreError::Guard(_))) => {}
                (Job::Later(_), Err(error)) => self.lost = self.lost.take().or(Some(error)),
                (Job::Flush(answer), outcome) => {
                    let lost = self.lost.take().or(outcome.err());
                    drop(answer.send(lost.map_or(Ok(()), Err)));
                }
                _ => {}
            }
        }
        self.scrub();
    }

    fn write(&mut self, group: &[Job]) -> Vec<Result<Outcome, StoreError>> {
        if group.iter().all(|job| matches!(job, Job::Flush(_))) {
            return group.iter().map(|_| Ok(Outcome::Flushed)).collect();
        }
        let conn = lock(&self.conn);
        let written = transaction(&conn, group);
        self.scrub |= group
            .iter()
            .any(|job| matches!(job, Job::Commit(change, _) | Job::Later(change) if commit::erases(change)));
        match written {
            Ok(outcomes) => {
                self.synced.fetch_add(1, Ordering::Relaxed);
                outcomes
            }
            Err(fault) => {
                let error = StoreError::from(fault);
                group.iter().map(|_| Err(same(&error))).collect()
            }
        }
    }

    /// Takes erased text out of the log file. A reader in the way makes it wait for the next group.
    fn scrub(&mut self) {
        if self.scrub {
            let conn = lock(&self.conn);
            let busy = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0));
            self.scrub = busy.is_ok_and(|busy| busy != 0);
        }
    }
}

/// Waits for work and takes all there is. False when nobody can bring any more.
fn gather(jobs: &Receiver<Job>, group: &mut Vec<Job>) -> bool {
    let Ok(first) = jobs.recv() else { return false };
    group.push(first);
    loop {
        group.extend(jobs.try_iter().take(GROUP_MAX - group.len()));
        if group.len() >= GROUP_MAX || group.iter().any(|job| !matches!(job, Job::Later(_))) {
            return true;
        }
        match jobs.recv_timeout(LINGER) {
            Ok(job) => group.push(job),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return true,
        }
    }
}

/// One transaction for the group; each change in a savepoint of its own, so that it fails alone.
fn transaction(conn: &Connection, group: &[Job]) -> Result<Vec<Result<Outcome, StoreError>>, Fault> {
    let run = |sql: &str| conn.prepare_cached(sql)?.execute([]).map(drop);
    if !conn.is_autocommit() {
        // A panic left it open.
        run("rollback")?;
    }
    run("begin immediate")?;
    if let [only] = group {
        // Nothing else to keep apart from it.
        return match perform(conn, only) {
            Ok(outcome) => ended(conn, run("commit")).map(|()| vec![Ok(outcome)]),
            Err(fault) => ended(conn, Err(fault)).map(|()| Vec::new()),
        };
    }
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        run("savepoint change")?;
        let outcome = perform(conn, job);
        // A full disk ends the whole transaction, not just this change.
        if conn.is_autocommit() {
            return Err(outcome.err().unwrap_or_else(|| Fault::corrupt("the transaction ended early")));
        }
        if outcome.is_err() {
            run("rollback to change")?;
        }
        run("release change")?;
        outcomes.push(outcome.map_err(StoreError::from));
    }
    ended(conn, run("commit")).map(|()| outcomes)
}

/// Leaves no transaction open, however it went.
fn ended<E: Into<Fault>>(conn: &Connection, result: Result<(), E>) -> Result<(), Fault> {
    if result.is_err() && !conn.is_autocommit() {
        conn.prepare_cached("rollback")?.execute([])?;
    }
    result.map_err(Into::into)
}

fn perform(conn: &Connection, job: &Job) -> Result<Outcome, Fault> {
    match job {
        Job::Commit(change, _) | Job::Later(change) => commit::apply(conn, change).map(Outcome::Committed),
        Job::Tenant(tenant, _) => records::ensure_tenant(conn, tenant).map(Outcome::Tenant),
        Job::Flush(_) => Ok(Outcome::Flushed),
    }
}
