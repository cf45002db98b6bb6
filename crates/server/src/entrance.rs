//! The one way into the engine for REST, `/mcp` and stdio: a bounded number of calls, a bounded queue before them, and
//! a duration per verb in the metrics. Nothing else in this crate hands the engine to `spawn_blocking`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use engine::model::caller::Caller;
use engine::model::error::{Error, StoreError};
use engine::model::memory::Draft;
use engine::ports::change::{Change, CommitResult};
use engine::{Engine, Remembered, SaveStep};
use tokio::sync::mpsc::Receiver;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::config::HttpLimits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::streamed_answer::PieceSender;

/// Locks that order saves to one path: enough that two paths seldom share one.
const PATH_LOCK_COUNT: usize = 1_024;

tokio::task_local! {
    /// The engine of a call under an idempotency key: it marks the key as used in the same commit as the call's effect.
    static REQUEST_ENGINE: Engine;
}

fn is_idempotent_call() -> bool {
    REQUEST_ENGINE.try_with(|_| ()).is_ok()
}

/// Runs `call` so that every engine call inside it uses `engine` instead of the shared one.
pub(crate) async fn run_idempotent_call<T>(engine: Engine, call: impl Future<Output = T>) -> T {
    REQUEST_ENGINE.scope(engine, call).await
}

/// Which of the two bounds a call counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    Calls,
    /// Saves have permits of their own: while they wait for another process that holds the database, reads go on.
    Saves,
}

/// The engine behind its bounds, cheap to clone. All clones share the same permits.
#[derive(Clone)]
pub(crate) struct Entrance(Arc<EntranceState>);

struct EntranceState {
    engine: Engine,
    metrics: Arc<Metrics>,
    calls_max: usize,
    waiting_max: usize,
    call_timeout: Duration,
    call_permits: Arc<Semaphore>,
    save_permits: Arc<Semaphore>,
    path_locks: Box<[Mutex<()>]>,
    waiting_count: AtomicUsize,
}

impl Entrance {
    pub(crate) fn new(engine: Engine, metrics: Arc<Metrics>, limits: &HttpLimits) -> Entrance {
        Entrance(Arc::new(EntranceState {
            engine,
            metrics,
            calls_max: limits.calls_max,
            waiting_max: limits.waiting_max,
            call_timeout: limits.request_timeout(),
            call_permits: Arc::new(Semaphore::new(limits.calls_max)),
            save_permits: Arc::new(Semaphore::new(limits.calls_max)),
            path_locks: (0..PATH_LOCK_COUNT).map(|_| Mutex::default()).collect(),
            waiting_count: AtomicUsize::new(0),
        }))
    }

    /// The engine without bounds: for its clock and settings, and for threads whose number is bounded elsewhere.
    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Runs a verb on a blocking thread, after a wait for a permit. It runs to its end even if the client disconnects.
    pub(crate) async fn call<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let permit = self.acquire_permit(Pool::Calls).await?;
        self.run_blocking(verb, permit, work).await
    }

    /// As [`Entrance::call`], with no limit on the queue. For event streams, whose number is bounded where they are
    /// opened: all of them call at the same event, and must not be refused for that, nor fill the queue for others.
    pub(crate) async fn call_unqueued<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let permit = self.permits(Pool::Calls).acquire_owned().await.map_err(|_| Problem::internal())?;
        self.run_blocking(verb, permit, work).await
    }

    /// As [`Entrance::call`], and fails with `http.timeout` after the time of one request. For MCP: its answer begins
    /// before the call ends, so the request timer of the HTTP edge does not cover the call.
    pub(crate) async fn call_within_timeout<T, F>(&self, verb: &'static str, pool: Pool, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let call = async {
            let permit = self.acquire_permit(pool).await?;
            self.run_blocking(verb, permit, work).await
        };
        // A call that still waits is dropped from the queue; one that runs goes on and keeps its permit.
        tokio::time::timeout(self.0.call_timeout, call).await.unwrap_or_else(|_| Err(Problem::timeout()))
    }

    /// Runs a verb on the thread of the caller, if a permit is free now; else gives `work` back. A panic ends this call
    /// alone, as it does on a blocking thread.
    pub(crate) fn try_call_inline<T, F>(&self, verb: &'static str, pool: Pool, work: F) -> Result<Result<T, Problem>, F>
    where
        F: FnOnce(&Engine) -> T,
    {
        let Ok(_permit) = self.permits(pool).try_acquire_owned() else { return Err(work) };
        let started = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| work(&self.0.engine)));
        self.0.metrics.record_call(verb, started.elapsed());
        Ok(answer.map_err(|_| Problem::internal()))
    }

    /// As [`Entrance::call`], for a verb that answers in pieces. An error is sent as the last piece.
    pub(crate) async fn stream<F>(
        &self,
        verb: &'static str,
        work: F,
    ) -> Result<Receiver<Result<Bytes, Problem>>, Problem>
    where
        F: FnOnce(&Engine, &PieceSender) -> Result<(), Problem> + Send + 'static,
    {
        let permit = self.acquire_permit(Pool::Calls).await?;
        let (sender, receiver) = PieceSender::new(self.0.call_timeout);
        // Not awaited: the pieces are read while the work goes on.
        drop(self.spawn_blocking(verb, permit, move |engine| {
            if let Err(problem) = work(engine, &sender) {
                sender.send_problem(problem);
            }
        }));
        Ok(receiver)
    }

    /// Saves. A cheap save holds no thread while it waits for the disk.
    pub(crate) async fn remember(&self, caller: Caller, draft: Box<Draft>) -> Result<Remembered, Problem> {
        const VERB: &str = "remember";
        if is_idempotent_call() || !self.0.engine.is_cheap_save(&caller, &draft) {
            let _path_guard = match draft.path {
                Some(_) => Some(self.path_lock(&caller, &draft).lock().await),
                None => None,
            };
            let permit = self.acquire_permit(Pool::Saves).await?;
            return Box::pin(self.run_blocking(VERB, permit, move |engine| Ok(engine.remember(&caller, *draft)?)))
                .await;
        }
        let _permit = self.acquire_permit(Pool::Saves).await?;
        let started = Instant::now();
        let remembered = self.remember_in_steps(&caller, draft).await;
        self.0.metrics.record_call(VERB, started.elapsed());
        Ok(remembered?)
    }

    async fn remember_in_steps(&self, caller: &Caller, draft: Box<Draft>) -> Result<Remembered, Error> {
        let path_lock = self.path_lock(caller, &draft);
        let mut step = self.0.engine.begin_remember(caller, *draft)?;
        let (mut tried, mut path_guard) = (false, None);
        loop {
            let (change, saving) = match step {
                SaveStep::Write(change, saving) => (change, saving),
                SaveStep::Done(remembered) => return Ok(remembered),
            };
            // The first try takes no lock. After a lost race saves to this path go one at a time: among many that race
            // again, a save could lose for long.
            if tried && path_guard.is_none() {
                path_guard = Some(path_lock.lock().await);
            }
            tried = true;
            step = self.0.engine.resume_save(caller, saving, self.submit_change(change).await)?;
        }
    }

    /// The lock of saves to the path of this draft.
    fn path_lock(&self, caller: &Caller, draft: &Draft) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        (caller.tenant, &draft.store, &draft.path).hash(&mut hasher);
        &self.0.path_locks[hasher.finish() as usize % PATH_LOCK_COUNT]
    }

    /// Waits for the commit without a thread. The change is written even if this future is dropped.
    async fn submit_change(&self, change: Change) -> Result<CommitResult, StoreError> {
        let (answer, written) = oneshot::channel();
        let change = Arc::new(self.0.engine.scan_change(change));
        self.0.engine.submit_save(change.clone(), Box::new(move |done| drop(answer.send(done))));
        let broken = |_| Err(StoreError::Unavailable("the change broke while it was written".to_owned()));
        let done = written.await.unwrap_or_else(broken);
        // Held until here, so that this thread frees what it allocated, not the writer.
        drop(change);
        done
    }

    /// Waits until every acknowledged write is on disk. Needs no permit: at shutdown calls may still hold all of them.
    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        let engine = self.0.engine.clone();
        let flushed = tokio::task::spawn_blocking(move || engine.database().flush()).await;
        flushed.unwrap_or_else(|_| Err(StoreError::Unavailable("the flush panicked".to_owned())))
    }

    async fn run_blocking<T, F>(&self, verb: &'static str, permit: OwnedSemaphorePermit, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        // A panic: its message is on stderr, and the client gets an internal error.
        self.spawn_blocking(verb, permit, work).await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    fn spawn_blocking<T, F>(&self, verb: &'static str, permit: OwnedSemaphorePermit, work: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> T + Send + 'static,
    {
        let entrance = self.clone();
        // Read here: task-locals do not reach a blocking thread.
        let request_engine = REQUEST_ENGINE.try_with(Engine::clone).ok();
        tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            let answer = work(request_engine.as_ref().unwrap_or(&entrance.0.engine));
            entrance.0.metrics.record_call(verb, started.elapsed());
            // The permit goes back when the work ends, also if nobody waits for the answer any more.
            drop(permit);
            answer
        })
    }

    fn permits(&self, pool: Pool) -> Arc<Semaphore> {
        Arc::clone(match pool {
            Pool::Calls => &self.0.call_permits,
            Pool::Saves => &self.0.save_permits,
        })
    }

    /// A permit to enter the engine, after a wait in the queue.
    async fn acquire_permit(&self, pool: Pool) -> Result<OwnedSemaphorePermit, Problem> {
        let _slot = self.enter_queue()?;
        self.permits(pool).acquire_owned().await.map_err(|_| Problem::internal())
    }

    /// A slot in the queue; `http.busy` if the queue is full.
    fn enter_queue(&self) -> Result<QueueSlot<'_>, Problem> {
        let slot = QueueSlot(&self.0.waiting_count);
        if self.0.waiting_count.fetch_add(1, Ordering::Relaxed) >= self.0.waiting_max {
            self.0.metrics.record_turned_away();
            return Err(Problem::busy("http.busy", "too many calls are waiting"));
        }
        Ok(slot)
    }

    /// Calls waiting for a permit.
    pub(crate) fn queue_depth(&self) -> usize {
        self.0.waiting_count.load(Ordering::Relaxed)
    }

    /// Calls inside the engine now.
    pub(crate) fn running_count(&self) -> usize {
        2 * self.0.calls_max - self.0.call_permits.available_permits() - self.0.save_permits.available_permits()
    }
}

/// Counts one waiting call until dropped, also when the wait is cancelled.
struct QueueSlot<'a>(&'a AtomicUsize);

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
