//! What every handler shares, and the one way into the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::memory::Draft;
use engine::ports::StoreError;
use engine::ports::change::{Change, Committed};
use engine::{Engine, Remembered, Step};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::auth::Doorman;
use crate::config::ServerConfig;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::rate::Rates;
use crate::stream::Tails;

/// Queues for saves at one path: enough that two paths seldom share one.
const CROWDS: usize = 1_024;

/// The server's state, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

tokio::task_local! {
    /// The engine of a call under an idempotency key, which notes that the call was done with what it writes.
    static MARKING: Engine;
}

fn is_marked() -> bool {
    MARKING.try_with(|_| ()).is_ok()
}

/// Does all that is done by this call of the server with an engine of its own.
pub(crate) async fn marked<T>(engine: Engine, call: impl Future<Output = T>) -> T {
    MARKING.scope(engine, call).await
}

pub struct Inner {
    pub(crate) engine: Engine,
    pub(crate) config: ServerConfig,
    pub(crate) metrics: Metrics,
    pub(crate) doorman: Doorman,
    pub(crate) rates: Rates,
    pub(crate) tails: Tails,
    turns: Arc<Semaphore>,
    /// Saves have turns of their own: while they wait for another process that writes, reads go on.
    saves: Arc<Semaphore>,
    /// Saves at one path go on one at a time: light ones once they met others, the rest from the start.
    crowds: Box<[Mutex<()>]>,
    waiting: AtomicUsize,
    closing: watch::Sender<bool>,
}

impl std::ops::Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    pub fn new(engine: Engine, config: ServerConfig) -> App {
        let limits = &config.limits;
        App(Arc::new(Inner {
            metrics: Metrics::default(),
            doorman: Doorman::new(&config),
            rates: Rates::new(limits.rate_per_second, limits.rate_burst),
            tails: Tails::default(),
            turns: Arc::new(Semaphore::new(limits.calls_max)),
            saves: Arc::new(Semaphore::new(limits.calls_max)),
            crowds: (0..CROWDS).map(|_| Mutex::default()).collect(),
            waiting: AtomicUsize::new(0),
            closing: watch::Sender::new(false),
            engine,
            config,
        }))
    }

    /// Runs a verb off the async threads. A client that leaves does not stop it half-way.
    pub(crate) async fn call<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let turn = self.turn().await?;
        self.run(verb, turn, work).await
    }

    /// As [`App::call`], however many wait: for streams, whose number is bounded where they are opened. All of them ask
    /// at the same event, and neither they nor others shall be turned away for that.
    pub(crate) async fn call_in_turn<T, F>(&self, verb: &'static str, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Problem::internal())?;
        self.run(verb, turn, work).await
    }

    /// Saves. A light save holds no thread while it waits for the disk.
    pub(crate) async fn remember(&self, caller: Caller, draft: Box<Draft>) -> Result<Remembered, Problem> {
        const VERB: &str = "remember";
        if is_marked() || !self.engine.is_light(&caller, &draft) {
            let _alone = match draft.path {
                Some(_) => Some(self.crowd(&caller, &draft).lock().await),
                None => None,
            };
            let turn = self.turn_of(&self.saves).await?;
            return Box::pin(self.run(VERB, turn, move |engine| Ok(engine.remember(&caller, *draft)?))).await;
        }
        let _turn = self.turn_of(&self.saves).await?;
        let started = Instant::now();
        let remembered = self.remember_in_steps(&caller, draft).await;
        self.metrics.called(VERB, started.elapsed());
        Ok(remembered?)
    }

    async fn remember_in_steps(&self, caller: &Caller, draft: Box<Draft>) -> Result<Remembered, Error> {
        let crowd = self.crowd(caller, &draft);
        let mut step = self.engine.begin(caller, *draft)?;
        let (mut tried, mut alone) = (false, None);
        loop {
            let (change, saving) = match step {
                Step::Write(change, saving) => (change, saving),
                Step::Done(remembered) => return Ok(remembered),
            };
            // Of a crowd one wins each time; in a queue nobody loses for long.
            if tried && alone.is_none() {
                alone = Some(crowd.lock().await);
            }
            tried = true;
            step = self.engine.hear(caller, saving, self.written(change).await)?;
        }
    }

    /// Where those wait who save at the path of this draft.
    fn crowd(&self, caller: &Caller, draft: &Draft) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        (caller.tenant, &draft.store, &draft.path).hash(&mut hasher);
        &self.crowds[hasher.finish() as usize % CROWDS]
    }

    /// A client that has left hears no answer; the change is written all the same.
    async fn written(&self, change: Change) -> Result<Committed, StoreError> {
        let (answer, written) = oneshot::channel();
        let change = Arc::new(change);
        self.engine.backend.submit(change.clone(), Box::new(move |done| drop(answer.send(done))));
        let broken = |_| Err(StoreError::Unavailable("the change broke while it was written".to_owned()));
        let done = written.await.unwrap_or_else(broken);
        drop(change);
        done
    }

    async fn run<T, F>(&self, verb: &'static str, turn: OwnedSemaphorePermit, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    {
        let app = self.clone();
        let marking = MARKING.try_with(Engine::clone).ok();
        let done = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            let answer = work(marking.as_ref().unwrap_or(&app.engine));
            app.metrics.called(verb, started.elapsed());
            drop(turn);
            answer
        });
        done.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Leave to enter the engine, after a wait in the queue.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.turn_of(&self.turns).await
    }

    async fn turn_of(&self, turns: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        let _waiting = self.queue()?;
        Arc::clone(turns).acquire_owned().await.map_err(|_| Problem::internal())
    }

    /// A place in the queue, or the word that it is full.
    fn queue(&self) -> Result<Waiting<'_>, Problem> {
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.config.limits.waiting_max {
            self.metrics.turned_away();
            return Err(Problem::busy("http.busy", "too many calls are waiting"));
        }
        Ok(waiting)
    }

    /// Calls waiting for a turn.
    pub(crate) fn queue_depth(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Calls inside the engine now.
    pub(crate) fn running(&self) -> usize {
        2 * self.config.limits.calls_max - self.turns.available_permits() - self.saves.available_permits()
    }

    /// Tells every open stream to end.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
