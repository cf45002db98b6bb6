//! Writing: a change at once and alone, or later in a group; and waking those who listen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::model::id::TenantId;
use engine::ports::StoreError;
use engine::ports::change::{Change, CommitResult};
use tokio::runtime::Handle;

use super::commit::{self, Head, WritePlan};
use super::fault::Fault;
use super::pool::{Pool, Session, TransactionMode};
use super::row_codec::{Statement, params};
use super::{entry, events};

/// Changes in one transaction of the background writer: others of the tenant wait as long as it takes.
const GROUP_MAX: usize = 64;
/// Changes that may wait before whoever brings the next one waits too.
const QUEUE_MAX: usize = 8_192;
/// How long a change nobody waits for may stay, so that it can share a transaction.
const LINGER: Duration = Duration::from_millis(20);
/// Attempts at a transaction that others were in the way of.
const CONTENTION_MAX: usize = 8;

/// Writes a change and returns when it is safe. Tries again where nothing was written, and finds out where it may be.
pub(super) async fn commit(pool: &Pool, change: &Change) -> Result<CommitResult, Fault> {
    let deadline = Instant::now() + pool.options.wait_max;
    let mut contended = 0;
    loop {
        match try_commit(pool, change).await {
            Ok(committed) => return Ok(committed),
            Err(CommitFailure::NotWritten(fault)) if fault.is_contention() && contended < CONTENTION_MAX => {
                contended += 1
            }
            Err(CommitFailure::NotWritten(fault)) if fault.is_connection_lost() && Instant::now() < deadline => {}
            Err(CommitFailure::NotWritten(fault)) => return Err(fault),
            Err(CommitFailure::Unknown { fault, seq, hash }) => {
                if seq == 0 {
                    return Err(fault);
                }
                if events::has_event(pool, change.tenant, seq, &hash).await? {
                    // How many were erased went with the answer; the event that tells of it stands.
                    return Ok(CommitResult { last_event_seq: seq, erased_count: 0 });
                }
            }
        }
    }
}

enum CommitFailure {
    /// Nothing was written.
    NotWritten(Fault),
    /// The line broke after the commit was sent: the entry with this number and hash stands, or nothing does.
    Unknown { fault: Fault, seq: u64, hash: String },
}

impl From<Fault> for CommitFailure {
    fn from(fault: Fault) -> CommitFailure {
        CommitFailure::NotWritten(fault)
    }
}

async fn try_commit(pool: &Pool, change: &Change) -> Result<CommitResult, CommitFailure> {
    let session = pool.acquire().await?;
    let mut questions = vec![commit::lock_head(change.tenant)];
    questions.extend(commit::change_queries(change));
    let open = pool.begin_sql(Some(change.tenant), TransactionMode::Write);
    let planned = match session.send_statements(Some(&open), &questions, None).await {
        Ok(answers) => plan_with_head(change, answers),
        Err(fault) => Err(fault),
    };
    let (head, mut plan) = match planned {
        Ok(planned) => planned,
        Err(fault) => {
            session.roll_back().await;
            return Err(fault.into());
        }
    };
    plan.steps.push(head.save());
    match session.send_statements(None, &plan.steps, Some("commit")).await {
        Ok(answers) => {
            session.give_back();
            Ok(commit::to_committed(&plan, &answers)?)
        }
        Err(fault) if fault.is_connection_lost() => {
            Err(CommitFailure::Unknown { fault, seq: plan.last_event, hash: head.event_hash })
        }
        Err(fault) => {
            // The commit after a failed statement ended the transaction.
            session.give_back();
            Err(entry::map_path_conflict(fault, change).into())
        }
    }
}

fn plan_with_head(change: &Change, mut answers: Vec<Vec<tokio_postgres::Row>>) -> Result<(Head, WritePlan), Fault> {
    let mut head = Head::from_rows(change.tenant, &answers.remove(0))?;
    let plan = commit::plan_change(change, &mut head, answers)?;
    Ok((head, plan))
}

type AnswerSender<T> = SyncSender<Result<T, StoreError>>;

enum WriteJob {
    Later(Box<Change>),
    /// A tenant's log has grown.
    Notify(TenantId),
    Flush(AnswerSender<()>),
}

/// The thread behind `commit_later`.
pub(super) struct Writer {
    queue: Option<SyncSender<WriteJob>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(runtime: Handle, pool: Arc<Pool>) -> Result<Writer, StoreError> {
        let (queue, jobs) = sync_channel(QUEUE_MAX);
        let mut desk = GroupWriter { runtime, pool, first_failure: None };
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || desk.run_loop(&jobs))
            .map_err(|error| StoreError::Unavailable(format!("no thread for the writer: {error}")))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) fn commit_later(&self, change: Change) {
        if let Some(queue) = &self.queue {
            // A writer that is gone is reported to whoever waits for an answer.
            let _ = queue.send(WriteJob::Later(Box::new(change)));
        }
    }

    /// Tells listeners soon. Apart from the commit, because a commit that notifies waits for every other one that does.
    pub(super) fn queue_notification(&self, tenant: TenantId) {
        if let Some(queue) = &self.queue {
            // Whoever listens looks by itself now and then, so a lost word costs a moment.
            let _ = queue.try_send(WriteJob::Notify(tenant));
        }
    }

    pub(super) fn flush(&self) -> Result<(), StoreError> {
        let stopped = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (answer, waiting) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(WriteJob::Flush(answer)).map_err(|_| stopped())?;
        waiting.recv().map_err(|_| stopped())?
    }
}

impl Writer {
    /// Writes what was handed over and ends.
    pub(super) fn stop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread keeps between groups.
struct GroupWriter {
    runtime: Handle,
    pool: Arc<Pool>,
    /// The first failure of a change nobody waited for; the next flush tells.
    first_failure: Option<StoreError>,
}

impl GroupWriter {
    fn run_loop(&mut self, jobs: &Receiver<WriteJob>) {
        while let Ok(first) = jobs.recv() {
            let mut group = vec![first];
            gather_jobs(jobs, &mut group);
            self.process_group(group);
        }
    }

    fn process_group(&mut self, group: Vec<WriteJob>) {
        let mut changes: Vec<Change> = Vec::new();
        let mut grown = BTreeSet::new();
        let mut waiting = Vec::new();
        for job in group {
            match job {
                WriteJob::Later(change) => {
                    grown.extend((!change.events.is_empty()).then_some(change.tenant));
                    changes.push(*change);
                }
                WriteJob::Notify(tenant) => drop(grown.insert(tenant)),
                WriteJob::Flush(answer) => waiting.push(answer),
            }
        }
        // Stable, so that a tenant's changes stay in their order.
        changes.sort_by_key(|change| change.tenant);
        for of_tenant in changes.chunk_by(|a, b| a.tenant == b.tenant) {
            if let Err(fault) = self.runtime.block_on(write_group(&self.pool, of_tenant)) {
                self.first_failure = self.first_failure.take().or(Some(fault.into()));
            }
        }
        // Nobody waits for this word, and whoever listens looks by itself too.
        let _ = self.runtime.block_on(notify_listeners(&self.pool, &grown));
        for answer in waiting {
            // Whoever asked may have gone.
            let _ = answer.send(self.first_failure.take().map_or(Ok(()), Err));
        }
    }
}

/// Takes all there is, and waits a moment for more unless somebody waits for an answer.
fn gather_jobs(jobs: &Receiver<WriteJob>, group: &mut Vec<WriteJob>) {
    let until = Instant::now() + LINGER;
    while group.len() < GROUP_MAX && !group.iter().any(|job| matches!(job, WriteJob::Flush(_))) {
        match jobs.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(job) => group.push(job),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One transaction for a tenant's group; each change in a savepoint of its own, so that it fails alone.
async fn write_group(pool: &Pool, changes: &[Change]) -> Result<(), Fault> {
    let Some(tenant) = changes.first().map(|change| change.tenant) else { return Ok(()) };
    let session = pool.acquire().await?;
    match write_changes(pool, &session, tenant, changes).await {
        Ok(lost) => {
            session.give_back();
            lost.map_or(Ok(()), Err)
        }
        Err(fault) => {
            session.roll_back().await;
            Err(fault)
        }
    }
}

/// The first change that failed alone, if any did.
async fn write_changes(
    pool: &Pool,
    session: &Session<'_>,
    tenant: TenantId,
    changes: &[Change],
) -> Result<Option<Fault>, Fault> {
    let answers = session
        .send_statements(
            Some(&pool.begin_sql(Some(tenant), TransactionMode::Write)),
            &[commit::lock_head(tenant)],
            None,
        )
        .await?;
    let mut head = Head::from_rows(tenant, answers.first().map_or(&[], Vec::as_slice))?;
    let mut lost = None;
    for change in changes {
        let mut moved = head.clone();
        match write_one_change(session, change, &mut moved).await {
            Ok(()) => head = moved,
            Err(fault) if fault.is_connection_lost() => return Err(fault),
            Err(fault) => {
                session.send_statements(None, &[], Some("rollback to savepoint change")).await?;
                // A guard that failed says that the change is not wanted any more.
                let unwanted = matches!(fault, Fault::Store(StoreError::Guard(_)));
                lost = lost.or(Some(fault).filter(|_| !unwanted));
            }
        }
    }
    session.send_statements(None, &[head.save()], Some("commit")).await?;
    Ok(lost)
}

async fn write_one_change(session: &Session<'_>, change: &Change, head: &mut Head) -> Result<(), Fault> {
    let questions = commit::change_queries(change);
    let mut savepoint = Some("savepoint change");
    let answers = match questions.is_empty() {
        true => Vec::new(),
        false => session.send_statements(savepoint.take(), &questions, None).await?,
    };
    let plan = match commit::plan_change(change, head, answers) {
        Ok(plan) => plan,
        Err(fault) => {
            // There has to be one to go back to.
            session.send_statements(savepoint, &[], None).await?;
            return Err(fault);
        }
    };
    session.send_statements(savepoint, &plan.steps, Some("release savepoint change")).await.map(drop)
}

async fn notify_listeners(pool: &Pool, grown: &BTreeSet<TenantId>) -> Result<(), Fault> {
    if grown.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = grown.iter().map(ToString::to_string).collect();
    let step =
        Statement::new("select pg_notify($1, tenant) from unnest($2) tenant", params![events::EVENTS_CHANNEL, names]);
    let session = pool.acquire().await?;
    session.run_transaction(&pool.begin_sql(None, TransactionMode::Write), &[step], "commit").await.map(drop)
}
