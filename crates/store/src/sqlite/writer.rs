//! The write queue. One group is written at a time. A caller that finds the queue empty writes on its own thread, which
//! saves two thread switches; otherwise changes queue for the writer thread, which writes all that wait as one group.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::model::error::StoreError;
use engine::ports::change::CommitResult;
use engine::ports::scanned_change::ScannedChange;
use engine::ports::{StoreCallback, Tenant};

use super::fault::clone_error;
use super::group_writer::{BusyGroup, GroupWriter, WriteJob};
use super::log_position::PositionWriter;
use super::pool::SharedConnection;
use crate::notifier::Notifier;
use crate::sync::lock;

/// Changes per transaction. The first of a group waits for the last, so groups are bounded.
const GROUP_MAX: usize = 256;
/// Queued changes with a waiting caller, from which the next caller blocks until there is room.
const QUEUE_MAX: usize = 1_024;
/// Queued changes without a waiting caller. Reads leave these behind and must not block while another process writes,
/// so there is room for some minutes of searches without pause: tens of megabytes.
const LATER_MAX: usize = 32_768;
/// How long a change without a waiting caller may linger, so that it shares the disk sync of a change with one.
const LINGER: Duration = Duration::from_millis(50);

/// Handle of the write queue and its thread. Dropping it writes what is queued.
pub(super) struct Writer {
    queue: Arc<WriteQueue>,
    thread: Option<JoinHandle<()>>,
    sync_count: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(
        conn: SharedConnection,
        notifier: Arc<Notifier>,
        positions: Option<PositionWriter>,
    ) -> Result<Writer, StoreError> {
        let sync_count = Arc::new(AtomicU64::new(0));
        let group_writer = Mutex::new(GroupWriter::new(conn, notifier, sync_count.clone(), positions));
        let queue = Arc::new(WriteQueue {
            state: Mutex::default(),
            job_added: Condvar::new(),
            room_freed: Condvar::new(),
            group_writer,
        });
        let thread_queue = queue.clone();
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || thread_queue.run_loop())
            .map_err(|error| StoreError::Unavailable(format!("the writer thread cannot be started: {error}")))?;
        Ok(Writer { queue, thread: Some(thread), sync_count })
    }

    /// Groups committed so far. Each is one disk sync, checkpoints aside.
    pub(super) fn sync_count(&self) -> u64 {
        self.sync_count.load(Ordering::Relaxed)
    }

    pub(super) fn commit(&self, change: ScannedChange) -> Result<CommitResult, StoreError> {
        self.submit_and_wait(|answer| WriteJob::Commit(Arc::new(change), answer))
    }

    /// Queues the change even where the queue is empty: the caller's thread must not be used for writing.
    pub(super) fn submit(&self, change: Arc<ScannedChange>, answer: StoreCallback<CommitResult>) {
        self.queue.push_job(WriteJob::Commit(change, answer));
    }

    pub(super) fn commit_later(&self, change: ScannedChange) {
        self.queue.push_job(WriteJob::Later(Arc::new(change), None));
    }

    pub(super) fn commit_soon(&self, change: ScannedChange, answer: StoreCallback<()>) {
        self.queue.push_job(WriteJob::Later(Arc::new(change), Some(answer)));
    }

    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.submit_and_wait(WriteJob::Flush)
    }

    pub(super) fn flush_soon(&self, answer: StoreCallback<()>) {
        self.queue.push_job(WriteJob::Flush(answer));
    }

    pub(super) fn ensure_tenant(&self, tenant: Tenant) -> Result<Tenant, StoreError> {
        self.submit_and_wait(|answer| WriteJob::Tenant(tenant, answer))
    }

    fn submit_and_wait<T: Send + 'static>(
        &self,
        job: impl FnOnce(StoreCallback<T>) -> WriteJob,
    ) -> Result<T, StoreError> {
        let (answer, outcome) = sync_channel(1);
        let job = job(Box::new(move |done| drop(answer.send(done))));
        match self.queue.try_take_group() {
            Some((mut group_writer, mut group)) => {
                group.push(job);
                self.queue.process_group(&mut group_writer, group);
            }
            None => self.queue.push_job(job),
        }
        // The sender is dropped without an answer only where the write panicked.
        outcome.recv().map_err(|_| StoreError::Unavailable("the change broke while it was written".to_owned()))?
    }
}

impl Drop for Writer {
    /// Waits until the queued changes are written.
    fn drop(&mut self) {
        lock(&self.queue.state).closed = true;
        self.queue.job_added.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The queue and the group writer behind it. INVARIANT: `group_writer` is locked before `state`, never after it.
struct WriteQueue {
    state: Mutex<QueueState>,
    /// Wakes the writer thread.
    job_added: Condvar,
    /// Wakes callers that wait for room in the queue.
    room_freed: Condvar,
    group_writer: Mutex<GroupWriter>,
}

#[derive(Default)]
struct QueueState {
    jobs: Vec<WriteJob>,
    /// How many of the jobs have a waiting caller.
    waited_for: usize,
    /// How many of the jobs have a callback, including those with a waiting caller.
    urgent: usize,
    /// The last group had several waiting callers. Then callers queue instead of writing themselves, which makes larger
    /// groups and fewer syncs.
    is_crowded: bool,
    /// Another process held the file at the last attempt to write.
    is_file_busy: bool,
    /// The writer thread waits on `job_added`.
    asleep: bool,
    closed: bool,
}

impl WriteQueue {
    fn run_loop(&self) {
        while self.wait_for_jobs() {
            self.gather_jobs();
            let mut group_writer = lock(&self.group_writer);
            let group = self.take_group(&mut lock(&self.state));
            if group.is_empty() {
                // A caller that wrote on its own thread took the jobs along.
                continue;
            }
            // A panic drops the callbacks of its group, which tells the callers; the next group rolls back the
            // transaction that it left open.
            let is_file_busy = catch_unwind(AssertUnwindSafe(|| self.process_group(&mut group_writer, group)));
            drop(group_writer);
            if is_file_busy.unwrap_or(false) {
                // The configured wait may be very short; this keeps the thread from retrying without pause.
                std::thread::sleep(LINGER);
            }
        }
        lock(&self.group_writer).scrub_log();
    }

    /// Waits for jobs, a little longer where no caller waits for them. Returns false when the queue is closed and
    /// empty.
    fn wait_for_jobs(&self) -> bool {
        let mut queue = lock(&self.state);
        queue.asleep = true;
        let idle = |queue: &mut QueueState| queue.jobs.is_empty() && !queue.closed;
        queue = self.job_added.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
        let linger = |queue: &mut QueueState| !queue.jobs.is_empty() && !queue.is_urgent();
        let (mut queue, _) =
            self.job_added.wait_timeout_while(queue, LINGER, linger).unwrap_or_else(PoisonError::into_inner);
        queue.asleep = false;
        // At shutdown a busy file is not waited for again; the remaining jobs have no waiting caller.
        let given_up = queue.closed && queue.is_file_busy;
        !given_up && (!queue.jobs.is_empty() || !queue.closed)
    }

    /// Yields to other threads as long as they add jobs: on a busy machine this makes groups larger, on an idle one it
    /// returns at once.
    fn gather_jobs(&self) {
        let mut seen = 1;
        loop {
            let queued = lock(&self.state).jobs.len();
            if queued <= seen || queued >= GROUP_MAX {
                return;
            }
            seen = queued;
            std::thread::yield_now();
        }
    }

    fn push_job(&self, job: WriteJob) {
        let is_waited_for = job.is_waited_for();
        let is_full = |queue: &mut QueueState| queue.is_full(is_waited_for);
        let mut queue = self.room_freed.wait_while(lock(&self.state), is_full).unwrap_or_else(PoisonError::into_inner);
        queue.waited_for += usize::from(is_waited_for);
        queue.urgent += usize::from(job.is_urgent());
        queue.jobs.push(job);
        // A busy thread looks at the queue when it is done. A sleeping one is woken for the first job, which starts the
        // linger time, and for jobs that must not linger.
        if queue.asleep && (queue.jobs.len() == 1 || queue.is_urgent()) {
            self.job_added.notify_one();
        }
    }

    /// The group writer with the lingering jobs, if no thread writes and no caller queues.
    fn try_take_group(&self) -> Option<(MutexGuard<'_, GroupWriter>, Vec<WriteJob>)> {
        let group_writer = self.group_writer.try_lock().ok()?;
        let mut queue = lock(&self.state);
        let is_free = queue.waited_for == 0 && !queue.is_crowded && queue.jobs.len() < GROUP_MAX;
        is_free.then(|| (group_writer, self.take_group(&mut queue)))
    }

    /// Writes a group; returns true where another process holds the file. Then every waiting caller gets the error,
    /// also those still queued: each would otherwise wait the full time again, and its change could be written after
    /// the caller gave up. Jobs without a waiting caller stay queued until the file is free.
    fn process_group(&self, group_writer: &mut GroupWriter, group: Vec<WriteJob>) -> bool {
        let busy = group_writer.process_group(group);
        let mut queue = lock(&self.state);
        queue.is_file_busy = busy.is_some();
        let Some(BusyGroup { error, later }) = busy else { return false };
        let waiting = queue.jobs.extract_if(.., |job| job.is_waited_for()).collect::<Vec<_>>();
        // In front, to keep the order in which they came.
        queue.jobs.splice(..0, later);
        queue.waited_for = 0;
        queue.urgent = queue.jobs.iter().filter(|job| job.is_urgent()).count();
        drop(queue);
        self.room_freed.notify_all();
        waiting.into_iter().for_each(|job| job.fail_with(clone_error(&error)));
        true
    }

    fn take_group(&self, queue: &mut QueueState) -> Vec<WriteJob> {
        // Only a full queue has blocked callers.
        if queue.is_full(true) || queue.is_full(false) {
            self.room_freed.notify_all();
        }
        // The oldest jobs, in their order.
        let rest = queue.jobs.split_off(queue.jobs.len().min(GROUP_MAX));
        let group = std::mem::replace(&mut queue.jobs, rest);
        let waited_for = group.iter().filter(|job| job.is_waited_for()).count();
        queue.waited_for -= waited_for;
        queue.urgent -= group.iter().filter(|job| job.is_urgent()).count();
        queue.is_crowded = waited_for > 1;
        group
    }
}

impl QueueState {
    /// Whether there is no room for another job with, or without, a waiting caller.
    fn is_full(&self, waited_for: bool) -> bool {
        match waited_for {
            true => self.waited_for >= QUEUE_MAX,
            false => self.jobs.len() - self.waited_for >= LATER_MAX,
        }
    }

    /// Whether to write without lingering: a callback waits, or there is enough for a full group.
    fn is_urgent(&self) -> bool {
        self.closed || self.urgent > 0 || self.jobs.len() >= GROUP_MAX
    }
}
