//! Answers too long to hold in memory: written in pieces, as fast as the client takes them.

use std::time::Duration;

use axum::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::problem::Problem;

/// Pieces written ahead of the client: enough to keep both sides busy.
const PIECES_AHEAD: usize = 4;

/// The sending half of a streamed answer, used from a blocking thread.
pub(crate) struct PieceSender {
    sender: Sender<Result<Bytes, Problem>>,
    runtime: Handle,
    send_timeout: Duration,
}

impl PieceSender {
    /// A channel of pieces. Called on an async thread, whose runtime it keeps for its timer.
    pub(crate) fn new(send_timeout: Duration) -> (PieceSender, Receiver<Result<Bytes, Problem>>) {
        let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
        (PieceSender { sender, runtime: Handle::current(), send_timeout }, receiver)
    }

    /// Blocks until the client takes more. A client that takes nothing for the time of a whole request is dropped.
    pub(crate) fn send_piece(&self, piece: Bytes) -> Result<(), Problem> {
        // A blocking thread has no async context of its own, hence the handle.
        let sent = self.runtime.block_on(self.sender.send_timeout(Ok(piece), self.send_timeout));
        sent.map_err(|_| Problem::busy("http.slow_client", "the client takes no more"))
    }

    /// Sends the error that ends the answer. A client that has gone is no failure.
    pub(crate) fn send_problem(&self, problem: Problem) {
        let _ = self.runtime.block_on(self.sender.send_timeout(Err(problem), self.send_timeout));
    }
}
