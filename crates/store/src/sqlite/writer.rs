//! One writes at a time. Who finds nobody else waiting writes at once; otherwise changes queue for the writer's
//! thread, which takes all that wait as one group.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::ports::change::{Change, CommitResult};
use engine::ports::{StoreCallback, StoreError, Tenant};

use super::fault::clone_error;
use super::group_writer::{BusyGroup, GroupWriter, WriteJob};
use super::pool::SharedConnection;
use crate::notifier::Notifier;
use crate::sync::lock;

/// Changes in one transaction. More would make the first of them wait for the last.
const GROUP_MAX: usize = 256;
/// Changes somebody waits for that may wait before whoever brings the next one waits too.
const QUEUE_MAX: usize = 1_024;
/// Changes nobody waits for that may: reads leave them behind, and shall not wait while another process writes. Some
/// minutes of searches without pause, tens of megabytes.
const LATER_MAX: usize = 32_768;
/// How long a change nobody waits for may stay, so that it can share the sync of one somebody does.
const LINGER: Duration = Duration::from_millis(50);

pub(super) struct Writer {
    queue: Arc<WriteQueue>,
    thread: Option<JoinHandle<()>>,
    synced: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(conn: SharedConnection, news: Arc<Notifier>) -> Result<Writer, StoreError> {
        let synced = Arc::new(AtomicU64::new(0));
        let desk = Mutex::new(GroupWriter::new(conn, news, synced.clone()));
        let office = Arc::new(WriteQueue {
            state: Mutex::default(),
            job_added: Condvar::new(),
            room_freed: Condvar::new(),
            group_writer: desk,
        });
        let works = office.clone();
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || works.run_loop())
            .map_err(|error| StoreError::Unavailable(format!("no thread for the writer: {error}")))?;
        Ok(Writer { queue: office, thread: Some(thread), synced })
    }

    /// Groups committed so far: each waited for the disk once, checkpoints aside.
    pub(super) fn sync_count(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    pub(super) fn commit(&self, change: Change) -> Result<CommitResult, StoreError> {
        self.submit_and_wait(|answer| WriteJob::Commit(Arc::new(change), answer))
    }

    /// Queues it always: whoever brings it has other things to do than to write.
    pub(super) fn submit(&self, change: Arc<Change>, answer: StoreCallback<CommitResult>) {
        self.queue.push_job(WriteJob::Commit(change, answer));
    }

    pub(super) fn commit_later(&self, change: Change) {
        self.queue.push_job(WriteJob::Later(Arc::new(change), None));
    }

    pub(super) fn commit_soon(&self, change: Change, answer: StoreCallback<()>) {
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
        let (answer, waiting) = sync_channel(1);
        // Whoever asked may have gone; the change stands either way.
        let job = job(Box::new(move |done| drop(answer.send(done))));
        match self.queue.try_take_group() {
            Some((mut desk, mut group)) => {
                group.push(job);
                self.queue.process_group(&mut desk, group);
            }
            None => self.queue.push_job(job),
        }
        waiting.recv().map_err(|_| StoreError::Unavailable("the change broke while it was written".to_owned()))?
    }
}

impl Drop for Writer {
    /// What was handed over is still written.
    fn drop(&mut self) {
        lock(&self.queue.state).closed = true;
        self.queue.job_added.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where changes wait, and where they are written. INVARIANT: the desk is taken before the queue.
struct WriteQueue {
    state: Mutex<QueueState>,
    /// Something came that the thread has to look at.
    job_added: Condvar,
    /// The queue was full and is not any more.
    room_freed: Condvar,
    group_writer: Mutex<GroupWriter>,
}

#[derive(Default)]
struct QueueState {
    jobs: Vec<WriteJob>,
    /// How many of them somebody waits for.
    waited_for: usize,
    /// How many somebody listens for, these among them.
    urgent: usize,
    /// Several were waited for in the last group: then the next ones do better together too.
    is_crowded: bool,
    /// Another process held the file when somebody last wrote.
    is_file_busy: bool,
    /// The thread waits to be told.
    asleep: bool,
    closed: bool,
}

impl WriteQueue {
    fn run_loop(&self) {
        while self.wait_for_jobs() {
            self.gather_jobs();
            let mut desk = lock(&self.group_writer);
            let group = self.take_group(&mut lock(&self.state));
            if group.is_empty() {
                // Somebody who wrote for itself took it along.
                continue;
            }
            // A panic leaves its group without an answer, which they hear; the next group rolls back what it left open.
            let held = catch_unwind(AssertUnwindSafe(|| self.process_group(&mut desk, group)));
            drop(desk);
            if held.unwrap_or(false) {
                // However short the wait for the other process is, it is left to write.
                std::thread::sleep(LINGER);
            }
        }
        lock(&self.group_writer).scrub_log();
    }

    /// Waits for work, a little longer if nobody waits for it. False when nobody can bring any more.
    fn wait_for_jobs(&self) -> bool {
        let mut queue = lock(&self.state);
        queue.asleep = true;
        let idle = |queue: &mut QueueState| queue.jobs.is_empty() && !queue.closed;
        queue = self.job_added.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
        let linger = |queue: &mut QueueState| !queue.jobs.is_empty() && !queue.is_urgent();
        let (mut queue, _) =
            self.job_added.wait_timeout_while(queue, LINGER, linger).unwrap_or_else(PoisonError::into_inner);
        queue.asleep = false;
        // Nobody waits for it a second time at the end.
        let given_up = queue.closed && queue.is_file_busy;
        !given_up && (!queue.jobs.is_empty() || !queue.closed)
    }

    /// Lets those run first who are about to bring something, as long as more comes: on a busy machine a group is then
    /// many instead of few, and on an idle one this returns at once.
    fn gather_jobs(&self) {
        let mut seen = 1;
        loop {
            let waiting = lock(&self.state).jobs.len();
            if waiting <= seen || waiting >= GROUP_MAX {
                return;
            }
            seen = waiting;
            std::thread::yield_now();
        }
    }

    fn push_job(&self, job: WriteJob) {
        let is_waited_for = job.is_waited_for();
        let full = |queue: &mut QueueState| queue.is_full(is_waited_for);
        let mut queue = self.room_freed.wait_while(lock(&self.state), full).unwrap_or_else(PoisonError::into_inner);
        queue.waited_for += usize::from(is_waited_for);
        queue.urgent += usize::from(job.is_urgent());
        queue.jobs.push(job);
        // The thread looks for itself once it is done; while it sleeps, it need only hear what cannot linger.
        if queue.asleep && (queue.jobs.len() == 1 || queue.is_urgent()) {
            self.job_added.notify_one();
        }
    }

    /// The desk, and what lingers there, if nobody writes or waits for it.
    fn try_take_group(&self) -> Option<(MutexGuard<'_, GroupWriter>, Vec<WriteJob>)> {
        let desk = self.group_writer.try_lock().ok()?;
        let mut queue = lock(&self.state);
        let free = queue.waited_for == 0 && !queue.is_crowded && queue.jobs.len() < GROUP_MAX;
        free.then(|| (desk, self.take_group(&mut queue)))
    }

    /// Writes a group. While another process holds the file, who waits behind the group waits no longer than it did: all
    /// hear of it, so that nothing is written for somebody who gave up. What nobody waits for stays until it can be
    /// written. True where the file is held.
    fn process_group(&self, desk: &mut GroupWriter, group: Vec<WriteJob>) -> bool {
        let held = desk.process_group(group);
        let mut queue = lock(&self.state);
        queue.is_file_busy = held.is_some();
        let Some(BusyGroup { error, later }) = held else { return false };
        let told = queue.jobs.extract_if(.., |job| job.is_waited_for()).collect::<Vec<_>>();
        queue.jobs.splice(..0, later);
        queue.waited_for = 0;
        queue.urgent = queue.jobs.iter().filter(|job| job.is_urgent()).count();
        drop(queue);
        self.room_freed.notify_all();
        told.into_iter().for_each(|job| job.fail_with(clone_error(&error)));
        true
    }

    fn take_group(&self, queue: &mut QueueState) -> Vec<WriteJob> {
        if queue.is_full(true) || queue.is_full(false) {
            self.room_freed.notify_all();
        }
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
    /// Whether there is no room for one more that somebody waits for, or that nobody does.
    fn is_full(&self, waited_for: bool) -> bool {
        match waited_for {
            true => self.waited_for >= QUEUE_MAX,
            false => self.jobs.len() - self.waited_for >= LATER_MAX,
        }
    }

    /// Somebody waits, or there is enough for a group.
    fn is_urgent(&self) -> bool {
        self.closed || self.urgent > 0 || self.jobs.len() >= GROUP_MAX
    }
}
