//! State shared by all HTTP handlers: configuration, the entrance to the engine, authentication and event streams.

use std::sync::Arc;

use engine::Engine;
use tokio::sync::watch;

use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::entrance::Entrance;
use crate::event_reader::EventReaders;
use crate::mcp::SessionSeal;
use crate::metrics::Metrics;
use crate::rate_limit::RateLimiter;
use crate::readiness::Readiness;

/// The server's state, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppState>);

pub struct AppState {
    pub(crate) entrance: Entrance,
    pub(crate) config: ServerConfig,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) authenticator: Authenticator,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) event_readers: EventReaders,
    pub(crate) readiness: Readiness,
    pub(crate) session_seal: SessionSeal,
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
        // Shared: the entrance counts engine calls, the edge layer counts answers.
        let metrics = Arc::new(Metrics::default());
        App(Arc::new(AppState {
            entrance: Entrance::new(engine, metrics.clone(), limits),
            metrics,
            authenticator: Authenticator::new(&config),
            rate_limiter: RateLimiter::new(limits.rate_per_second, limits.rate_burst),
            event_readers: EventReaders::default(),
            readiness: Readiness::default(),
            session_seal: SessionSeal::new(),
            closing: watch::Sender::new(false),
            config,
        }))
    }

    /// Tells every open stream to end.
    pub fn close_streams(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn closing_signal(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}
