//! One writes at a time. Who finds nobody else waiting writes at once; otherwise changes queue for the writer's
//! thread, which takes all that wait as one group.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::ports::change::{Change, Committed};
use engine::ports::{Answer, StoreError, Tenant};

use super::fault::same;
use super::group::{Desk, Held, Job};
use super::pool::{Shared, lock};
use crate::bell::Bell;

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
    office: Arc<Office>,
    thread: Option<JoinHandle<()>>,
    synced: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(conn: Shared, news: Arc<Bell>) -> Result<Writer, StoreError> {
        let synced = Arc::new(AtomicU64::new(0));
        let desk = Mutex::new(Desk::new(conn, news, synced.clone()));
        let office = Arc::new(Office { queue: Mutex::default(), came: Condvar::new(), room: Condvar::new(), desk });
        let works = office.clone();
        let thread = std::thread::Builder::new()
            .name("ingrain-writer".to_owned())
            .spawn(move || works.work())
            .map_err(|error| StoreError::Unavailable(format!("no thread for the writer: {error}")))?;
        Ok(Writer { office, thread: Some(thread), synced })
    }

    /// Groups committed so far: each waited for the disk once, checkpoints aside.
    pub(super) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    pub(super) fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        self.ask(|answer| Job::Commit(Arc::new(change), answer))
    }

    /// Queues it always: whoever brings it has other things to do than to write.
    pub(super) fn submit(&self, change: Arc<Change>, answer: Answer<Committed>) {
        self.office.push(Job::Commit(change, answer));
    }

    pub(super) fn commit_later(&self, change: Change) {
        self.office.push(Job::Later(Arc::new(change), None));
    }

    pub(super) fn commit_soon(&self, change: Change, answer: Answer<()>) {
        self.office.push(Job::Later(Arc::new(change), Some(answer)));
    }

    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.ask(Job::Flush)
    }

    pub(super) fn flush_soon(&self, answer: Answer<()>) {
        self.office.push(Job::Flush(answer));
    }

    pub(super) fn ensure_tenant(&self, tenant: Tenant) -> Result<Tenant, StoreError> {
        self.ask(|answer| Job::Tenant(tenant, answer))
    }

    fn ask<T: Send + 'static>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let (answer, waiting) = sync_channel(1);
        // Whoever asked may have gone; the change stands either way.
        let job = job(Box::new(move |done| drop(answer.send(done))));
        match self.office.alone() {
            Some((mut desk, mut group)) => {
                group.push(job);
                self.office.settle(&mut desk, group);
            }
            None => self.office.push(job),
        }
        waiting.recv().map_err(|_| StoreError::Unavailable("the change broke while it was written".to_owned()))?
    }
}

impl Drop for Writer {
    /// What was handed over is still written.
    fn drop(&mut self) {
        lock(&self.office.queue).closed = true;
        self.office.came.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where changes wait, and where they are written. INVARIANT: the desk is taken before the queue.
struct Office {
    queue: Mutex<Queue>,
    /// Something came that the thread has to look at.
    came: Condvar,
    /// The queue was full and is not any more.
    room: Condvar,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    /// How many of them somebody waits for.
    waited_for: usize,
    /// How many somebody listens for, these among them.
    pressing: usize,
    /// Several were waited for in the last group: then the next ones do better together too.
    crowded: bool,
    /// Another process held the file when somebody last wrote.
    held: bool,
    /// The thread waits to be told.
    asleep: bool,
    closed: bool,
}

impl Office {
    fn work(&self) {
        while self.wait() {
            self.gather();
            let mut desk = lock(&self.desk);
            let group = self.take(&mut lock(&self.queue));
            if group.is_empty() {
                // Somebody who wrote for itself took it along.
                continue;
            }
            // A panic leaves its group without an answer, which they hear; the next group rolls back what it left open.
            let held = catch_unwind(AssertUnwindSafe(|| self.settle(&mut desk, group)));
            drop(desk);
            if held.unwrap_or(false) {
                // However short the wait for the other process is, it is left to write.
                std::thread::sleep(LINGER);
            }
        }
        lock(&self.desk).scrub();
    }

    /// Waits for work, a little longer if nobody waits for it. False when nobody can bring any more.
    fn wait(&self) -> bool {
        let mut queue = lock(&self.queue);
        queue.asleep = true;
        let idle = |queue: &mut Queue| queue.jobs.is_empty() && !queue.closed;
        queue = self.came.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
        let linger = |queue: &mut Queue| !queue.jobs.is_empty() && !queue.is_pressing();
        let (mut queue, _) =
            self.came.wait_timeout_while(queue, LINGER, linger).unwrap_or_else(PoisonError::into_inner);
        queue.asleep = false;
        // Nobody waits for it a second time at the end.
        let given_up = queue.closed && queue.held;
        !given_up && (!queue.jobs.is_empty() || !queue.closed)
    }

    /// Lets those run first who are about to bring something, as long as more comes: on a busy machine a group is then
    /// many instead of few, and on an idle one this returns at once.
    fn gather(&self) {
        let mut seen = 1;
        loop {
            let waiting = lock(&self.queue).jobs.len();
            if waiting <= seen || waiting >= GROUP_MAX {
                return;
            }
            seen = waiting;
            std::thread::yield_now();
        }
    }

    fn push(&self, job: Job) {
        let is_waited_for = job.is_waited_for();
        let full = |queue: &mut Queue| queue.is_full(is_waited_for);
        let mut queue = self.room.wait_while(lock(&self.queue), full).unwrap_or_else(PoisonError::into_inner);
        queue.waited_for += usize::from(is_waited_for);
        queue.pressing += usize::from(job.is_pressing());
        queue.jobs.push(job);
        // The thread looks for itself once it is done; while it sleeps, it need only hear what cannot linger.
        if queue.asleep && (queue.jobs.len() == 1 || queue.is_pressing()) {
            self.came.notify_one();
        }
    }

    /// The desk, and what lingers there, if nobody writes or waits for it.
    fn alone(&self) -> Option<(MutexGuard<'_, Desk>, Vec<Job>)> {
        let desk = self.desk.try_lock().ok()?;
        let mut queue = lock(&self.queue);
        let free = queue.waited_for == 0 && !queue.crowded && queue.jobs.len() < GROUP_MAX;
        free.then(|| (desk, self.take(&mut queue)))
    }

    /// Writes a group. While another process holds the file, who waits behind the group waits no longer than it did: all
    /// hear of it, so that nothing is written for somebody who gave up. What nobody waits for stays until it can be
    /// written. True where the file is held.
    fn settle(&self, desk: &mut Desk, group: Vec<Job>) -> bool {
        let held = desk.settle(group);
        let mut queue = lock(&self.queue);
        queue.held = held.is_some();
        let Some(Held { error, later }) = held else { return false };
        let told = queue.jobs.extract_if(.., |job| job.is_waited_for()).collect::<Vec<_>>();
        queue.jobs.splice(..0, later);
        queue.waited_for = 0;
        queue.pressing = queue.jobs.iter().filter(|job| job.is_pressing()).count();
        drop(queue);
        self.room.notify_all();
        told.into_iter().for_each(|job| job.fail(same(&error)));
        true
    }

    fn take(&self, queue: &mut Queue) -> Vec<Job> {
        if queue.is_full(true) || queue.is_full(false) {
            self.room.notify_all();
        }
        let rest = queue.jobs.split_off(queue.jobs.len().min(GROUP_MAX));
        let group = std::mem::replace(&mut queue.jobs, rest);
        let waited_for = group.iter().filter(|job| job.is_waited_for()).count();
        queue.waited_for -= waited_for;
        queue.pressing -= group.iter().filter(|job| job.is_pressing()).count();
        queue.crowded = waited_for > 1;
        group
    }
}

impl Queue {
    /// Whether there is no room for one more that somebody waits for, or that nobody does.
    fn is_full(&self, waited_for: bool) -> bool {
        match waited_for {
            true => self.waited_for >= QUEUE_MAX,
            false => self.jobs.len() - self.waited_for >= LATER_MAX,
        }
    }

    /// Somebody waits, or there is enough for a group.
    fn is_pressing(&self) -> bool {
        self.closed || self.pressing > 0 || self.jobs.len() >= GROUP_MAX
    }
}
