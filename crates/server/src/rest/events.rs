//! Events: the log by pages, and as a live stream that resumes where it broke off.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::EventVisibility;
use engine::model::event::Event;
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::app::App;
use crate::auth::{AuthenticatedCaller, KEY_CACHE_TTL};
use crate::endpoint::Endpoint;
use crate::event_reader;
use crate::event_reader::{EventBatch, EventReader};
use crate::extract::QueryParams;
use crate::problem::Problem;
use crate::wire::events::{EventParams, EventsView, VerifiedView};

/// A client that lost its stream tries again after this.
const RETRY_MS: u32 = 2_000;
/// Names one stream may ask for.
const NAMES_MAX: usize = 64;

pub(super) fn event_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/events", "events", serve_events)
            .with_description("events", "What happened", "A page of the log, or, with `Accept: text/event-stream`, a live stream of it: each event has its number as id, and a stream that breaks off resumes after `Last-Event-ID` without loss or repetition. You see what you did and what happened where you may look; of a review, only if you may see it. Conversations and runs that are not yours are left out for all but admins and reviewers. A stream that falls too far behind is closed with the event `stream.closed` and a reason.")
            .with_query::<EventParams>()
            .with_header("Last-Event-ID", "The number of the last event you have")
            .with_json_answer::<EventsView>(StatusCode::OK, "A page of the log", json!({ "items": [], "next_after": 12 }))
            .with_plain_answer(StatusCode::OK, "A live stream", "text/event-stream"),
        Endpoint::new(Method::GET, "/v1/verify", "verify", verify_log)
            .with_description("events", "Check the log", "Follows the chain of hashes from the first entry. Admins only.")
            .with_json_answer::<VerifiedView>(
                StatusCode::OK,
                "What was found",
                json!({ "entries": 12, "hash": "…", "broken": null }),
            ),
    ]
}

async fn serve_events(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    headers: HeaderMap,
    QueryParams(params): QueryParams<EventParams>,
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
        true => stream_events(app, auth, asked, params).await,
        false => list_events(&app, auth, asked, params).await.map(IntoResponse::into_response),
    }
}

async fn list_events(
    app: &App,
    auth: AuthenticatedCaller,
    asked: Option<u64>,
    params: EventParams,
) -> Result<Json<EventsView>, Problem> {
    let limits = &app.entrance.engine().settings.limits;
    let limit = params.limit.unwrap_or(limits.list_default.min(limits.list_max));
    let after = asked.unwrap_or(0);
    let wanted = move |event: &Event| matches_names(&params.name, event);
    let (items, next_after) =
        app.entrance.call("events", move |engine| Ok(engine.events(&auth.caller, after, limit, wanted)?)).await?;
    Ok(Json(EventsView { items, next_after }))
}

/// Whether an event has one of the names asked for.
fn matches_names(names: &[String], event: &Event) -> bool {
    let name = event.happening.name.as_str();
    let fits = |asked: &String| match asked.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => asked == name,
    };
    names.is_empty() || names.iter().any(fits)
}

async fn stream_events(
    app: App,
    auth: AuthenticatedCaller,
    asked: Option<u64>,
    params: EventParams,
) -> Result<Response, Problem> {
    let opened =
        OpenStream::new(&app).ok_or_else(|| Problem::busy("http.streams_full", "too many event streams are open"))?;
    let (starting, mut era) = (app.clone(), app.authenticator.watch_key_generation());
    // The key was looked up before: what changed since counts as news.
    era.mark_changed();
    let follower = app
        .entrance
        .call("stream", move |engine| {
            let witness = engine.event_visibility(&auth.caller)?;
            let tail = event_reader::reader_for_tenant(&starting, auth.caller.tenant)?;
            let end = engine.event_feed().last_event_seq(auth.caller.tenant)?;
            let after = asked.map_or(end, |after| after.min(end));
            let asked = (Instant::now(), *era.borrow());
            Ok(EventFollower {
                closing: starting.closing_signal(),
                last_verified: asked,
                app: starting,
                auth,
                witness,
                key_generation: era,
                names: params.name,
                after,
                tail,
                mode: StreamMode::Greeting,
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

async fn verify_log(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<VerifiedView>, Problem> {
    let verified = app.entrance.call("verify", move |engine| Ok(engine.verify(&auth.caller)?)).await?;
    Ok(Json(VerifiedView { verified }))
}

/// Counts a stream for as long as it is open.
struct OpenStream(App);

impl OpenStream {
    fn new(app: &App) -> Option<OpenStream> {
        app.metrics.try_open_stream(app.config.limits.streams_max).then(|| OpenStream(app.clone()))
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.metrics.close_stream();
    }
}

/// One client's way through the log.
struct EventFollower {
    app: App,
    auth: AuthenticatedCaller,
    witness: EventVisibility,
    /// When it was last asked whether this is still who it was, and in which era of keys.
    last_verified: (Instant, u64),
    key_generation: watch::Receiver<u64>,
    names: Vec<String>,
    /// The number up to which this client has everything.
    after: u64,
    tail: Arc<EventReader>,
    mode: StreamMode,
    closing: watch::Receiver<bool>,
    _opened: OpenStream,
}

enum StreamMode {
    Greeting,
    /// Reading the log; live batches are not listened to yet.
    CatchingUp,
    /// Listening, with one more look at the log to close the gap before it.
    Joining(Receiver<Arc<EventBatch>>),
    Live(Receiver<Arc<EventBatch>>),
    Closed,
}

enum StreamSignal {
    Batch(Arc<EventBatch>),
    Heartbeat,
    /// Some keys are not what they were; perhaps this one.
    KeysChanged,
    Lagged,
    Closing,
}

impl EventFollower {
    /// The next piece for the client; nothing after the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match std::mem::replace(&mut self.mode, StreamMode::Closed) {
                StreamMode::Closed => return None,
                StreamMode::Greeting => {
                    self.mode = StreamMode::CatchingUp;
                    return Some(Bytes::from(format!("retry: {RETRY_MS}\n: ingrain events after {}\n\n", self.after)));
                }
                StreamMode::CatchingUp => {
                    let Ok(batch) = self.read_batch().await else { return Some(closing_frame("unavailable")) };
                    let done = event_reader::is_log_end(&batch);
                    let mode = if done { StreamMode::Joining(self.tail.subscribe()) } else { StreamMode::CatchingUp };
                    if let Some(frames) = self.frames_for_client(&batch, mode).await {
                        return Some(frames);
                    }
                }
                StreamMode::Joining(receiver) => {
                    let Ok(batch) = self.read_batch().await else { return Some(closing_frame("unavailable")) };
                    // A log that grew by a whole batch meanwhile is caught up with first.
                    let mode = if event_reader::is_log_end(&batch) {
                        StreamMode::Live(receiver)
                    } else {
                        StreamMode::CatchingUp
                    };
                    if let Some(frames) = self.frames_for_client(&batch, mode).await {
                        return Some(frames);
                    }
                }
                StreamMode::Live(mut receiver) => match self.next_signal(&mut receiver).await {
                    StreamSignal::Batch(batch) => {
                        if let Some(frames) = self.frames_for_client(&batch, StreamMode::Live(receiver)).await {
                            return Some(frames);
                        }
                    }
                    StreamSignal::KeysChanged => match self.verify_again().await {
                        Ok(()) => self.mode = StreamMode::Live(receiver),
                        Err(reason) => return Some(closing_frame(reason)),
                    },
                    StreamSignal::Heartbeat => match self.verify_again().await {
                        Ok(()) => {
                            self.mode = StreamMode::Live(receiver);
                            // An id without data moves the client's place without an event.
                            return Some(Bytes::from(format!(": alive\nid: {}\n\n", self.after)));
                        }
                        Err(reason) => return Some(closing_frame(reason)),
                    },
                    StreamSignal::Lagged => {
                        self.app.metrics.record_dropped_stream();
                        return Some(closing_frame("too slow: resume with Last-Event-ID"));
                    }
                    StreamSignal::Closing => return Some(closing_frame("the server is closing")),
                },
            }
        }
    }

    async fn next_signal(&mut self, receiver: &mut Receiver<Arc<EventBatch>>) -> StreamSignal {
        if *self.closing.borrow() {
            return StreamSignal::Closing;
        }
        tokio::select! {
            batch = receiver.recv() => match batch {
                Ok(batch) => StreamSignal::Batch(batch),
                Err(RecvError::Lagged(_)) => StreamSignal::Lagged,
                Err(RecvError::Closed) => StreamSignal::Closing,
            },
            () = tokio::time::sleep(self.app.config.limits.heartbeat_interval()) => StreamSignal::Heartbeat,
            _ = self.closing.changed() => StreamSignal::Closing,
            _ = self.key_generation.changed() => StreamSignal::KeysChanged,
        }
    }

    /// What this client may see of a batch and does not have yet, if it is still who it was; else the last word.
    async fn frames_for_client(&mut self, batch: &EventBatch, mode: StreamMode) -> Option<Bytes> {
        if !self.is_recently_verified()
            && let Err(reason) = self.verify_again().await
        {
            return Some(closing_frame(reason));
        }
        self.mode = mode;
        let frames = batch.render_frames(self.after, |event| match matches_names(&self.names, event) {
            true => self.witness.visible_event(event),
            false => None,
        });
        self.after = self.after.max(batch.read_to);
        frames
    }

    /// Whether it was asked so lately who this is that it need not be asked again, and no key changed since.
    fn is_recently_verified(&self) -> bool {
        self.last_verified.0.elapsed() < KEY_CACHE_TTL
            && self.app.authenticator.is_key_fresh(&self.app, &self.auth.proof)
    }

    async fn read_batch(&self) -> Result<EventBatch, Problem> {
        let (tenant, after) = (self.auth.caller.tenant, self.after);
        self.app.entrance.call("events", move |engine| event_reader::read_batch(engine, tenant, after)).await
    }

    /// Asks again who this is: keys end, grants go. Else says why the stream ends.
    async fn verify_again(&mut self) -> Result<(), &'static str> {
        let era = *self.key_generation.borrow_and_update();
        let (app, proof) = (self.app.clone(), self.auth.proof.clone());
        let again = self.app.entrance.call_unqueued("authenticate", move |engine| {
            let auth = app.authenticator.identify_caller(&app, &proof)?;
            Ok(engine.event_visibility(&auth.caller)?)
        });
        match again.await {
            Ok(witness) => {
                (self.witness, self.last_verified) = (witness, (Instant::now(), era));
                Ok(())
            }
            // A database that is away for a moment is no reason to send everybody off, unless keys changed.
            Err(problem) if problem.status.is_server_error() => match era == self.last_verified.1 {
                true => Ok(()),
                false => Err("unavailable"),
            },
            Err(_) => Err("the key is no longer good"),
        }
    }
}

fn closing_frame(reason: &str) -> Bytes {
    Bytes::from(format!("event: stream.closed\ndata: {}\n\n", json!({ "reason": reason })))
}

#[cfg(test)]
mod tests;
