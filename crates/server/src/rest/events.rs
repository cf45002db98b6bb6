//! Events: the log by pages, and as a live stream that resumes where it broke off.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::Witness;
use engine::model::event::Event;
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::app::App;
use crate::auth::{BELIEVED, Who};
use crate::endpoint::Endpoint;
use crate::extract::Params;
use crate::problem::Problem;
use crate::stream::{self as tails, Batch, Tail};
use crate::wire::events::{EventParams, EventsView};

/// A client that lost its stream tries again after this.
const RETRY_MS: u32 = 2_000;
/// Names one stream may ask for.
const NAMES_MAX: usize = 64;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/events", "events", events)
            .says("events", "What happened", "A page of the log, or, with `Accept: text/event-stream`, a live stream of it: each event has its number as id, and a stream that breaks off resumes after `Last-Event-ID` without loss or repetition. You see what you did and what happened where you may look; of a review, only if you may see it. Conversations and runs that are not yours are left out for all but admins and reviewers. A stream that falls too far behind is closed with the event `stream.closed` and a reason.")
            .query::<EventParams>()
            .header("Last-Event-ID", "The number of the last event you have")
            .answer::<EventsView>(StatusCode::OK, "A page of the log", json!({ "items": [], "next_after": 12 }))
            .plain(StatusCode::OK, "A live stream", "text/event-stream"),
    ]
}

async fn events(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Params(params): Params<EventParams>,
) -> Result<Response, Problem> {
    if params.name.len() > NAMES_MAX {
        return Err(Problem::bad_request("shape.query", format!("at most {NAMES_MAX} names")));
    }
    let last_id = headers.get("last-event-id").map(|value| {
        let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| Problem::bad_request("shape.query", "`Last-Event-ID` is the number of an event"))
    });
    let asked: Option<u64> = last_id.transpose()?.or(params.after);
    let live =
        headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|v| v.contains("text/event-stream"));
    match live {
        true => stream(app, who, asked, params).await,
        false => page(&app, who, asked, params).await.map(IntoResponse::into_response),
    }
}

async fn page(app: &App, who: Who, asked: Option<u64>, params: EventParams) -> Result<Json<EventsView>, Problem> {
    let limits = &app.engine.settings.limits;
    let limit = params.limit.unwrap_or(limits.list_default.min(limits.list_max));
    let after = asked.unwrap_or(0);
    let wanted = move |event: &Event| is_named(&params.name, event);
    let (items, next_after) =
        app.call("events", move |engine| Ok(engine.events(&who.caller, after, limit, wanted)?)).await?;
    Ok(Json(EventsView { items, next_after }))
}

/// Whether an event has one of the names asked for.
fn is_named(names: &[String], event: &Event) -> bool {
    let name = event.happening.name.as_str();
    let fits = |asked: &String| match asked.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => asked == name,
    };
    names.is_empty() || names.iter().any(fits)
}

async fn stream(app: App, who: Who, asked: Option<u64>, params: EventParams) -> Result<Response, Problem> {
    let opened =
        Opened::new(&app).ok_or_else(|| Problem::busy("http.streams_full", "too many event streams are open"))?;
    let (starting, mut era) = (app.clone(), app.doorman.era());
    // The key was looked up before: what changed since counts as news.
    era.mark_changed();
    let follower = app
        .call("stream", move |engine| {
            let witness = engine.witness(&who.caller)?;
            let tail = tails::tail(&starting, who.caller.tenant)?;
            let end = engine.backend.last_event(who.caller.tenant).map_err(engine::model::error::Error::from)?;
            let after = asked.map_or(end, |after| after.min(end));
            let asked = (Instant::now(), *era.borrow());
            Ok(Follower {
                closing: starting.closing(),
                asked,
                app: starting,
                who,
                witness,
                era,
                names: params.name,
                after,
                tail,
                mode: Mode::Greeting,
                _opened: opened,
            })
        })
        .await?;
    // Fused: whoever compresses an answer may ask once more after its end.
    let frames = stream::unfold(follower, |mut follower| async move {
        let frame = follower.next().await?;
        Some((Ok::<Bytes, std::convert::Infallible>(frame), follower))
    })
    .fuse();
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        ("x-accel-buffering".parse().map_err(|_| Problem::internal())?, "no"),
    ];
    Ok((headers, Body::from_stream(frames)).into_response())
}

/// Counts a stream for as long as it is open.
struct Opened(App);

impl Opened {
    fn new(app: &App) -> Option<Opened> {
        app.metrics.stream_opened(app.config.limits.streams_max).then(|| Opened(app.clone()))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.metrics.stream_closed();
    }
}

/// One client's way through the log.
struct Follower {
    app: App,
    who: Who,
    witness: Witness,
    /// When it was last asked whether this is still who it was, and in which era of keys.
    asked: (Instant, u64),
    era: watch::Receiver<u64>,
    names: Vec<String>,
    /// The number up to which this client has everything.
    after: u64,
    tail: Arc<Tail>,
    mode: Mode,
    closing: watch::Receiver<bool>,
    _opened: Opened,
}

enum Mode {
    Greeting,
    /// Reading the log; live batches are not listened to yet.
    Catching,
    /// Listening, with one more look at the log to close the gap before it.
    Joining(Receiver<Arc<Batch>>),
    Live(Receiver<Arc<Batch>>),
    Over,
}

enum News {
    Batch(Arc<Batch>),
    Quiet,
    /// Some keys are not what they were; perhaps this one.
    Keys,
    Slow,
    Closing,
}

impl Follower {
    /// The next piece for the client; nothing after the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match std::mem::replace(&mut self.mode, Mode::Over) {
                Mode::Over => return None,
                Mode::Greeting => {
                    self.mode = Mode::Catching;
                    return Some(Bytes::from(format!("retry: {RETRY_MS}\n: ingrain events after {}\n\n", self.after)));
                }
                Mode::Catching => {
                    let Ok(batch) = self.read().await else { return Some(closed("unavailable")) };
                    let done = tails::is_last(&batch);
                    let mode = if done { Mode::Joining(self.tail.listen()) } else { Mode::Catching };
                    if let Some(frames) = self.handed(&batch, mode).await {
                        return Some(frames);
                    }
                }
                Mode::Joining(receiver) => {
                    let Ok(batch) = self.read().await else { return Some(closed("unavailable")) };
                    // A log that grew by a whole batch meanwhile is caught up with first.
                    let mode = if tails::is_last(&batch) { Mode::Live(receiver) } else { Mode::Catching };
                    if let Some(frames) = self.handed(&batch, mode).await {
                        return Some(frames);
                    }
                }
                Mode::Live(mut receiver) => match self.news(&mut receiver).await {
                    News::Batch(batch) => {
                        if let Some(frames) = self.handed(&batch, Mode::Live(receiver)).await {
                            return Some(frames);
                        }
                    }
                    News::Keys => match self.still_good().await {
                        Ok(()) => self.mode = Mode::Live(receiver),
                        Err(reason) => return Some(closed(reason)),
                    },
                    News::Quiet => match self.still_good().await {
                        Ok(()) => {
                            self.mode = Mode::Live(receiver);
                            // An id without data moves the client's place without an event.
                            return Some(Bytes::from(format!(": alive\nid: {}\n\n", self.after)));
                        }
                        Err(reason) => return Some(closed(reason)),
                    },
                    News::Slow => {
                        self.app.metrics.stream_dropped();
                        return Some(closed("too slow: resume with Last-Event-ID"));
                    }
                    News::Closing => return Some(closed("the server is closing")),
                },
            }
        }
    }

    async fn news(&mut self, receiver: &mut Receiver<Arc<Batch>>) -> News {
        if *self.closing.borrow() {
            return News::Closing;
        }
        tokio::select! {
            batch = receiver.recv() => match batch {
                Ok(batch) => News::Batch(batch),
                Err(RecvError::Lagged(_)) => News::Slow,
                Err(RecvError::Closed) => News::Closing,
            },
            () = tokio::time::sleep(self.app.config.limits.heartbeat()) => News::Quiet,
            _ = self.closing.changed() => News::Closing,
            _ = self.era.changed() => News::Keys,
        }
    }

    /// What this client may see of a batch and does not have yet, if it is still who it was; else the last word.
    async fn handed(&mut self, batch: &Batch, mode: Mode) -> Option<Bytes> {
        if !self.is_believed()
            && let Err(reason) = self.still_good().await
        {
            return Some(closed(reason));
        }
        self.mode = mode;
        let frames = batch.frames(self.after, |event| match is_named(&self.names, event) {
            true => self.witness.shown(event),
            false => None,
        });
        self.after = self.after.max(batch.read_to);
        frames
    }

    /// Whether it was asked so lately who this is that it need not be asked again, and no key changed since.
    fn is_believed(&self) -> bool {
        self.asked.0.elapsed() < BELIEVED && self.app.doorman.believes(&self.app, &self.who.proof)
    }

    async fn read(&self) -> Result<Batch, Problem> {
        let (app, tenant, after) = (self.app.clone(), self.who.caller.tenant, self.after);
        self.app.call("events", move |_| tails::read(&app, tenant, after)).await
    }

    /// Asks again who this is: keys end, grants go. Else says why the stream ends.
    async fn still_good(&mut self) -> Result<(), &'static str> {
        let era = *self.era.borrow_and_update();
        let (app, proof) = (self.app.clone(), self.who.proof.clone());
        let again = self.app.call_in_turn("authenticate", move |engine| {
            let who = app.doorman.identify(&app, &proof)?;
            Ok(engine.witness(&who.caller)?)
        });
        match again.await {
            Ok(witness) => {
                (self.witness, self.asked) = (witness, (Instant::now(), era));
                Ok(())
            }
            // A database that is away for a moment is no reason to send everybody off, unless keys changed.
            Err(problem) if problem.status.is_server_error() => match era == self.asked.1 {
                true => Ok(()),
                false => Err("unavailable"),
            },
            Err(_) => Err("the key is no longer good"),
        }
    }
}

fn closed(reason: &str) -> Bytes {
    Bytes::from(format!("event: stream.closed\ndata: {}\n\n", json!({ "reason": reason })))
}

#[cfg(test)]
mod tests;
