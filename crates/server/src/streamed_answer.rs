//! Answers too long to hold: made piece by piece, as fast as somebody takes them.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use engine::Engine;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::app::App;
use crate::problem::Problem;

/// Pieces made ahead of the client: enough to keep both sides busy.
const PIECES_AHEAD: usize = 4;

/// Where long work puts what it has.
pub(crate) struct PieceSender {
    sender: Sender<Result<Bytes, Problem>>,
    runtime: Handle,
    send_timeout: Duration,
}

impl PieceSender {
    /// Waits until the client takes more. One that takes nothing for the time of a whole request is let go.
    pub(crate) fn send_piece(&self, piece: Bytes) -> Result<(), Problem> {
        let sent = self.runtime.block_on(self.sender.send_timeout(Ok(piece), self.send_timeout));
        sent.map_err(|_| Problem::busy("http.slow_client", "the client takes no more"))
    }
}

impl App {
    /// As [`App::call`], for a verb that answers in pieces. What breaks it is the last piece.
    pub(crate) async fn stream_from_engine<F>(
        &self,
        verb: &'static str,
        work: F,
    ) -> Result<Receiver<Result<Bytes, Problem>>, Problem>
    where
        F: FnOnce(&Engine, &PieceSender) -> Result<(), Problem> + Send + 'static,
    {
        let turn = self.acquire_call_permit().await?;
        let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
        let app = self.clone();
        let outlet =
            PieceSender { sender, runtime: Handle::current(), send_timeout: app.config.limits.request_timeout() };
        tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            if let Err(problem) = work(&app.engine, &outlet) {
                // Nobody left to tell is no failure.
                let _ = outlet.runtime.block_on(outlet.sender.send_timeout(Err(problem), outlet.send_timeout));
            }
            app.metrics.record_call(verb, started.elapsed());
            drop(turn);
        });
        Ok(receiver)
    }
}
