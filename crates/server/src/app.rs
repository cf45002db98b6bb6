//! What every handler shares, and the one way into the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use engine::model::caller::Caller;
use engine::model::error::{Error, StoreError};
use engine::model::memory::Draft;
use engine::ports::change::{Change, CommitResult};
use engine::{Engine, Remembered, SaveStep};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::event_reader::EventReaders;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::rate_limit::RateLimiter;

/// Queues for saves at one path: enough that two paths seldom share one.
const PATH_LOCK_COUNT: usize = 1_024;

/// The server's state, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppState>);

tokio::task_local! {
    /// The engine of a call under an idempotency key, which notes that the call was done with what it writes.
    static REQUEST_ENGINE: Engine;
}

fn is_idempotent_call() -> bool {
    REQUEST_ENGINE.try_with(|_| ()).is_ok()
}

/// Does all that is done by this call of the server with an engine of its own.
pub(crate) async fn run_idempotent_call<T>(engine: Engine, call: impl Future<Output = T>) -> T {
    REQUEST_ENGINE.scope(engine, call).await
}

pub struct AppState {
    pub(crate) engine: Engine,
    pub(crate) config: ServerConfig,
    pub(crate) metrics: Metrics,
    pub(crate) authenticator: Authenticator,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) event_readers: EventReaders,
    call_permits: Arc<Semaphore>,
    /// Saves have turns of their own: while they wait for another process that writes, reads go on.
    save_permits: Arc<Semaphore>,
    /// Saves at one path go on one at a time: light ones once they met others, the rest from the start.
    path_locks: Box<[Mutex<()>]>,
    waiting_count: AtomicUsize,
    closing: watch::Sender<bool>,
}

impl std::ops::Deref for App {
    type Target = AppState;
    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl App {
    pub fn new(engine: Engine, config: ServerConfig) -> App {
        let limits = &config.limits;
        App(Arc::new(AppState {
            metrics: Metrics::default(),
            authenticator: Authenticator::new(&config),
            rate_limiter: RateLimiter::new(limits.rate_per_second, limits.rate_burst),
            event_readers: EventReaders::default(),
            call_permits: Arc::new(Semaphore::new(limits.calls_max)),
            save_permits: Arc::new(Semaphore::new(limits.calls_max)),
            path_locks: (0..PATH_LOCK_COUNT).map(|_| Mutex::default()).collect(),
            waiting_count: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
            engine,
            config,
        }))
    }

    /// Runs a verb off the async threads. A client that leaves does not stop it half-way.
    pub(crate) async fn call_engine<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let turn = self.acquire_call_permit().await?;
        self.run_blocking(verb, turn, work).await
    }

    /// As [`App::call`], however many wait: for streams, whose number is bounded where they are opened. All of them ask
    /// at the same event, and neither they nor others shall be turned away for that.
    pub(crate) async fn call_engine_unqueued<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let turn = Arc::clone(&self.call_permits).acquire_owned().await.map_err(|_| Problem::internal())?;
        self.run_blocking(verb, turn, work).await
    }

    /// Saves. A light save holds no thread while it waits for the disk.
    pub(crate) async fn remember(&self, caller: Caller, draft: Box<Draft>) -> Result<Remembered, Problem> {
        const VERB: &str = "remember";
        if is_idempotent_call() || !self.engine.is_cheap_save(&caller, &draft) {
            let _alone = match draft.path {
                Some(_) => Some(self.path_lock(&caller, &draft).lock().await),
                None => None,
            };
            let turn = self.acquire_permit(&self.save_permits).await?;
            return Box::pin(self.run_blocking(VERB, turn, move |engine| Ok(engine.remember(&caller, *draft)?))).await;
        }
        let _turn = self.acquire_permit(&self.save_permits).await?;
        let started = Instant::now();
        let remembered = self.remember_in_steps(&caller, draft).await;
        self.metrics.record_call(VERB, started.elapsed());
        Ok(remembered?)
    }

    async fn remember_in_steps(&self, caller: &Caller, draft: Box<Draft>) -> Result<Remembered, Error> {
        let crowd = self.path_lock(caller, &draft);
        let mut step = self.engine.begin_remember(caller, *draft)?;
        let (mut tried, mut alone) = (false, None);
        loop {
            let (change, saving) = match step {
                SaveStep::Write(change, saving) => (change, saving),
                SaveStep::Done(remembered) => return Ok(remembered),
            };
            // Of a crowd one wins each time; in a queue nobody loses for long.
            if tried && alone.is_none() {
                alone = Some(crowd.lock().await);
            }
            tried = true;
            step = self.engine.resume_save(caller, saving, self.submit_change(change).await)?;
        }
    }

    /// Where those wait who save at the path of this draft.
    fn path_lock(&self, caller: &Caller, draft: &Draft) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        (caller.tenant, &draft.store, &draft.path).hash(&mut hasher);
        &self.path_locks[hasher.finish() as usize % PATH_LOCK_COUNT]
    }

    /// A client that has left hears no answer; the change is written all the same.
    async fn submit_change(&self, change: Change) -> Result<CommitResult, StoreError> {
        let (answer, written) = oneshot::channel();
        let change = Arc::new(change);
        self.engine.backend.submit(change.clone(), Box::new(move |done| drop(answer.send(done))));
        let broken = |_| Err(StoreError::Unavailable("the change broke while it was written".to_owned()));
        let done = written.await.unwrap_or_else(broken);
        drop(change);
        done
    }

    async fn run_blocking<T, F>(&self, verb: &'static str, turn: OwnedSemaphorePermit, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let app = self.clone();
        let marking = REQUEST_ENGINE.try_with(Engine::clone).ok();
        let done = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            let answer = work(marking.as_ref().unwrap_or(&app.engine));
            app.metrics.record_call(verb, started.elapsed());
            drop(turn);
            answer
        });
        done.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Leave to enter the engine, after a wait in the queue.
    pub(crate) async fn acquire_call_permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.acquire_permit(&self.call_permits).await
    }

    async fn acquire_permit(&self, turns: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        let _waiting = self.enter_queue()?;
        Arc::clone(turns).acquire_owned().await.map_err(|_| Problem::internal())
    }

    /// A place in the queue, or the word that it is full.
    fn enter_queue(&self) -> Result<QueueSlot<'_>, Problem> {
        let waiting = QueueSlot(&self.waiting_count);
        if self.waiting_count.fetch_add(1, Ordering::Relaxed) >= self.config.limits.waiting_max {
            self.metrics.record_turned_away();
            return Err(Problem::busy("http.busy", "too many calls are waiting"));
        }
        Ok(waiting)
    }

    /// Calls waiting for a turn.
    pub(crate) fn queue_depth(&self) -> usize {
        self.waiting_count.load(Ordering::Relaxed)
    }

    /// Calls inside the engine now.
    pub(crate) fn running_count(&self) -> usize {
        2 * self.config.limits.calls_max - self.call_permits.available_permits() - self.save_permits.available_permits()
    }

    /// Tells every open stream to end.
    pub fn close_streams(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn closing_signal(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}

struct QueueSlot<'a>(&'a AtomicUsize);

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
