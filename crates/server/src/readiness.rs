//! Readiness: whether the server can answer and save now. One check runs at a time, and every answer comes in time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use engine::model::error::Error;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::app::App;
use crate::lock::lock_unpoisoned;
use crate::problem::Problem;

/// Longest wait for the database. Probes usually give up after a few seconds, and a late answer tells them nothing.
const CHECK_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long a successful write counts: anybody may ask, and must not keep the disk busy.
const WRITE_PROBE_TTL: Duration = Duration::from_secs(1);

/// `None` while the check runs.
type Outcome = Option<Result<Value, Problem>>;

#[derive(Default)]
pub(crate) struct Readiness {
    /// The last check. Shared by requests that come while it runs: a database that hangs holds one call, not many.
    last_check: Mutex<Option<watch::Receiver<Outcome>>>,
    written_at: Mutex<Option<Instant>>,
}

impl Readiness {
    /// What `/readyz` answers.
    pub(crate) async fn check(&self, app: &App) -> Result<Value, Problem> {
        let mut outcome = self.join_check(app);
        let checked = tokio::time::timeout(CHECK_TIMEOUT, outcome.wait_for(Option::is_some)).await;
        match checked {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or_else(|| Err(Problem::internal())),
            Ok(Err(_)) => Err(Problem::internal()),
            Err(_) => {
                let secs = CHECK_TIMEOUT.as_secs_f64();
                let detail = format!("the database did not answer within {secs} s");
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store.unavailable", detail))
            }
        }
    }

    /// The check that runs, or a new one.
    fn join_check(&self, app: &App) -> watch::Receiver<Outcome> {
        let mut last_check = lock_unpoisoned(&self.last_check);
        // `has_changed` fails once its sender is gone, as after a panic.
        if let Some(running) = last_check.as_ref().filter(|last| last.borrow().is_none() && last.has_changed().is_ok())
        {
            return running.clone();
        }
        let (sender, receiver) = watch::channel(None);
        *last_check = Some(receiver.clone());
        let app = app.clone();
        // In a task of its own: a client that goes away must not end it.
        tokio::spawn(async move { sender.send_replace(Some(check_database(&app).await)) });
        receiver
    }

    fn is_write_proven(&self) -> bool {
        lock_unpoisoned(&self.written_at).is_some_and(|at| at.elapsed() < WRITE_PROBE_TTL)
    }
}

async fn check_database(app: &App) -> Result<Value, Problem> {
    let is_write_proven = app.readiness.is_write_proven();
    let ready = app.entrance.call("ready", move |engine| {
        let health = engine.database().health().map_err(Error::from)?;
        if !is_write_proven {
            engine.database().probe_write().map_err(Error::from)?;
        }
        Ok(json!({
            "status": "ready", "database": health.backend, "migration": health.migration, "vectors": health.vectors,
            "model": engine.embedder.model(),
        }))
    });
    let ready = ready.await?;
    if !is_write_proven {
        *lock_unpoisoned(&app.readiness.written_at) = Some(Instant::now());
    }
    Ok(ready)
}
