//! Commits: a change at once and alone, or later in a group on a background thread, which also notifies listeners.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::ports::change::{Change, CommitResult};
use tokio::runtime::Handle;

use super::commit::{self, Head, WritePlan};
use super::fault::Fault;
use super::pool::{Pool, Session, TransactionMode};
use super::row_codec::{Statement, params};
use super::{entry, events};

/// Changes per transaction of the background writer: other writes of the tenant wait for the whole transaction.
const GROUP_MAX: usize = 64;
/// Queued changes from which the next caller blocks until there is room.
const QUEUE_MAX: usize = 8_192;
/// How long a change without a waiting caller may linger, so that it shares a transaction.
const LINGER: Duration = Duration::from_millis(20);
/// Retries after a deadlock or serialisation failure.
const CONTENTION_MAX: usize = 8;

/// Commits a change and returns when it is durable. Tries again where nothing was written; where the answer to the
/// commit was lost, the next attempt looks in the event log whether it succeeded.
pub(super) async fn commit(pool: &Pool, change: &Change) -> Result<CommitResult, Fault> {
    let deadline = Instant::now() + pool.options.wait_max;
    let mut contended = 0;
    let mut unanswered = None;
    loop {
        match try_commit(pool, change, unanswered.as_ref()).await {
            Ok(committed) => return Ok(committed),
            Err(CommitFailure::NotWritten(fault)) if fault.is_contention() && contended < CONTENTION_MAX => {
                contended += 1
            }
            Err(CommitFailure::NotWritten(fault)) if fault.is_connection_lost() && Instant::now() < deadline => {}
            Err(CommitFailure::NotWritten(fault)) => return Err(fault),
            // Without an event nothing tells whether the change was written.
            Err(CommitFailure::Unknown { fault, last_event }) if last_event.seq == 0 => return Err(fault),
            Err(CommitFailure::Unknown { fault, .. }) if Instant::now() >= deadline => return Err(fault),
            Err(CommitFailure::Unknown { last_event, .. }) => unanswered = Some(last_event),
        }
    }
}

/// The last event of a commit whose answer was lost. If the log holds it, the change was committed, otherwise not.
struct UnansweredCommit {
    seq: u64,
    hash: String,
}

/// How far a failed commit got.
enum CommitFailure {
    NotWritten(Fault),
    /// The connection broke after the commit was sent.
    Unknown {
        fault: Fault,
        last_event: UnansweredCommit,
    },
}

impl From<Fault> for CommitFailure {
    fn from(fault: Fault) -> CommitFailure {
        CommitFailure::NotWritten(fault)
    }
}

async fn try_commit(
    pool: &Pool,
    change: &Change,
    unanswered: Option<&UnansweredCommit>,
) -> Result<CommitResult, CommitFailure> {
    let session = pool.acquire().await?;
    // First, so that the queries behind it see what the previous holder of the lock committed. The server may still be
    // at work on an attempt that was not answered: it holds this lock until it is done.
    let mut queries = vec![commit::lock_head(change.tenant)];
    queries.extend(unanswered.map(|event| events::event_query(change.tenant, event.seq, &event.hash)));
    queries.extend(commit::change_queries(change));
    let open = pool.begin_sql(Some(change.tenant), TransactionMode::Write);
    let planned = match session.send_statements(Some(&open), &queries, None).await {
        Ok(mut results) => match unanswered.map(|event| (event, results.remove(1))) {
            Some((event, found)) if !found.is_empty() => {
                session.roll_back().await;
                // The number of erased memories was in the lost answer; the event in the log has it.
                return Ok(CommitResult { last_event_seq: event.seq, erased_count: 0 });
            }
            _ => plan_with_head(change, results),
        },
        Err(fault) => Err(fault),
    };
    let (head, mut plan) = match planned {
        Ok(planned) => planned,
        Err(fault) => {
            // Awaited, because the head stays locked for all writers of the tenant until then.
            session.roll_back().await;
            return Err(fault.into());
        }
    };
    // Only here: the plan of each write has advanced the head.
    plan.statements.push(head.save());
    match session.send_statements(None, &plan.statements, Some("commit")).await {
        Ok(results) => {
            session.give_back();
            Ok(commit::to_committed(&plan, &results)?)
        }
        Err(fault) if fault.is_connection_lost() => {
            let last_event = UnansweredCommit { seq: plan.last_event, hash: head.event_hash };
            Err(CommitFailure::Unknown { fault, last_event })
        }
        Err(fault) => {
            // After a failed statement the server turns the commit into a rollback, so the connection is clean.
            session.give_back();
            Err(entry::map_path_conflict(fault, change).into())
        }
    }
}

fn plan_with_head(change: &Change, mut results: Vec<Vec<tokio_postgres::Row>>) -> Result<(Head, WritePlan), Fault> {
    let mut head = Head::from_rows(change.tenant, &results.remove(0))?;
    let plan = commit::plan_change(change, &mut head, results)?;
    Ok((head, plan))
}

type AnswerSender<T> = SyncSender<Result<T, StoreError>>;

/// One queued piece of work of the background writer.
enum WriteJob {
    Later(Box<Change>),
    /// Notify listeners that the tenant's event log has grown.
    Notify(TenantId),
    Flush(AnswerSender<()>),
}

/// Handle of the background writer thread, which handles `commit_later`, notifications and flushes.
pub(super) struct Writer {
    queue: Option<SyncSender<WriteJob>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(runtime: Handle, pool: Arc<Pool>) -> Result<Writer, StoreError> {
        let (queue, jobs) = sync_channel(QUEUE_MAX);
        let mut group_writer = GroupWriter { runtime, pool, first_failure: None };
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || group_writer.run_loop(&jobs))
            .map_err(|error| StoreError::Unavailable(format!("the writer thread cannot be started: {error}")))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) fn commit_later(&self, change: Change) {
        if let Some(queue) = &self.queue {
            // A stopped writer is reported by `flush`.
            let _ = queue.send(WriteJob::Later(Box::new(change)));
        }
    }

    /// Notifies listeners soon. Not part of the commit: Postgres runs commits that notify one after the other, across
    /// all tenants.
    pub(super) fn queue_notification(&self, tenant: TenantId) {
        if let Some(queue) = &self.queue {
            // Where the queue is full the notification is dropped: listeners poll too, so it only costs them time.
            let _ = queue.try_send(WriteJob::Notify(tenant));
        }
    }

    pub(super) fn flush(&self) -> Result<(), StoreError> {
        let stopped = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (answer, outcome) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(WriteJob::Flush(answer)).map_err(|_| stopped())?;
        outcome.recv().map_err(|_| stopped())?
    }
}

impl Writer {
    /// Waits until the queued changes are written and ends the thread.
    pub(super) fn stop(&mut self) {
        // The thread ends when the last sender is dropped and the queue is empty.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked, and then nothing is left to wait for.
            let _ = thread.join();
        }
    }
}

/// State of the background thread.
struct GroupWriter {
    runtime: Handle,
    pool: Arc<Pool>,
    /// First failure of a queued change; the next flush returns it.
    first_failure: Option<StoreError>,
}

impl GroupWriter {
    fn run_loop(&mut self, jobs: &Receiver<WriteJob>) {
        while let Ok(first) = jobs.recv() {
            let mut group = vec![first];
            // Changes in a group share a commit, which is the slow part of a small write.
            gather_jobs(jobs, &mut group);
            self.process_group(group);
        }
    }

    fn process_group(&mut self, group: Vec<WriteJob>) {
        let mut changes: Vec<Change> = Vec::new();
        let mut grown_logs = BTreeSet::new();
        let mut flushes = Vec::new();
        for job in group {
            match job {
                WriteJob::Later(change) => {
                    grown_logs.extend((!change.events.is_empty()).then_some(change.tenant));
                    changes.push(*change);
                }
                WriteJob::Notify(tenant) => drop(grown_logs.insert(tenant)),
                WriteJob::Flush(answer) => flushes.push(answer),
            }
        }
        // A stable sort, so that the changes of a tenant keep their order.
        changes.sort_by_key(|change| change.tenant);
        for tenant_changes in changes.chunk_by(|a, b| a.tenant == b.tenant) {
            if let Err(fault) = self.runtime.block_on(write_group(&self.pool, tenant_changes)) {
                self.first_failure = self.first_failure.take().or(Some(fault.into()));
            }
        }
        // A failure is ignored: listeners poll too.
        let _ = self.runtime.block_on(notify_listeners(&self.pool, &grown_logs));
        for answer in flushes {
            // The caller may have stopped waiting.
            let _ = answer.send(self.first_failure.take().map_or(Ok(()), Err));
        }
    }
}

/// Adds queued jobs to the group, and waits a moment for more unless a flush waits for the group.
fn gather_jobs(jobs: &Receiver<WriteJob>, group: &mut Vec<WriteJob>) {
    let deadline = Instant::now() + LINGER;
    while group.len() < GROUP_MAX && !group.iter().any(|job| matches!(job, WriteJob::Flush(_))) {
        // A timeout of zero still takes jobs that are queued already, so a busy queue fills the group.
        match jobs.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(job) => group.push(job),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Writes a tenant's group in one transaction; each change has its own savepoint, so that it fails alone.
async fn write_group(pool: &Pool, changes: &[Change]) -> Result<(), Fault> {
    let Some(tenant) = changes.first().map(|change| change.tenant) else { return Ok(()) };
    let session = pool.acquire().await?;
    match write_changes(pool, &session, tenant, changes).await {
        Ok(failure) => {
            session.give_back();
            failure.map_or(Ok(()), Err)
        }
        Err(fault) => {
            session.roll_back().await;
            Err(fault)
        }
    }
}

/// Returns the fault of the first change that failed alone, if any did.
async fn write_changes(
    pool: &Pool,
    session: &Session<'_>,
    tenant: TenantId,
    changes: &[Change],
) -> Result<Option<Fault>, Fault> {
    let results = session
        .send_statements(
            Some(&pool.begin_sql(Some(tenant), TransactionMode::Write)),
            &[commit::lock_head(tenant)],
            None,
        )
        .await?;
    let mut head = Head::from_rows(tenant, results.first().map_or(&[], Vec::as_slice))?;
    let mut first_failure = None;
    for change in changes {
        // A failed change must not advance the head.
        let mut next_head = head.clone();
        match write_one_change(session, change, &mut next_head).await {
            Ok(()) => head = next_head,
            // The savepoint is lost with the connection, and so are the changes before it.
            Err(fault) if fault.is_connection_lost() => return Err(fault),
            Err(fault) => {
                session.send_statements(None, &[], Some("rollback to savepoint change")).await?;
                // A failed guard means that the change is not wanted any more.
                let is_unwanted = matches!(fault, Fault::Store(StoreError::Guard(_)));
                first_failure = first_failure.or(Some(fault).filter(|_| !is_unwanted));
            }
        }
    }
    // The head is saved once for the group, since no other writer can read it meanwhile.
    session.send_statements(None, &[head.save()], Some("commit")).await?;
    Ok(first_failure)
}

async fn write_one_change(session: &Session<'_>, change: &Change, head: &mut Head) -> Result<(), Fault> {
    let queries = commit::change_queries(change);
    // Sent with whichever batch of statements goes first, to save a round trip.
    let mut savepoint = Some("savepoint change");
    let results = match queries.is_empty() {
        true => Vec::new(),
        false => session.send_statements(savepoint.take(), &queries, None).await?,
    };
    let plan = match commit::plan_change(change, head, results) {
        Ok(plan) => plan,
        Err(fault) => {
            // The caller rolls back to the savepoint, so it must exist.
            session.send_statements(savepoint, &[], None).await?;
            return Err(fault);
        }
    };
    session.send_statements(savepoint, &plan.statements, Some("release savepoint change")).await.map(drop)
}

async fn notify_listeners(pool: &Pool, grown_logs: &BTreeSet<TenantId>) -> Result<(), Fault> {
    if grown_logs.is_empty() {
        return Ok(());
    }
    // One transaction for all tenants: Postgres runs commits that notify one after the other.
    let names: Vec<String> = grown_logs.iter().map(ToString::to_string).collect();
    let statement =
        Statement::new("select pg_notify($1, tenant) from unnest($2) tenant", params![events::EVENTS_CHANNEL, names]);
    let session = pool.acquire().await?;
    session.run_transaction(&pool.begin_sql(None, TransactionMode::Write), &[statement], "commit").await.map(drop)
}
