//! Events: the log as pages and as a live stream that resumes after a disconnect, and the check of its hash chain.

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
use crate::event_reader::{self, EventBatch, EventReader};
use crate::extract::QueryParams;
use crate::problem::Problem;
use crate::wire::events::{EventParams, EventsView, VerifiedView};

/// Reconnect delay that a stream tells its client, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// Most names one request may filter by: each event is matched against all of them.
const NAMES_MAX: usize = 64;

pub(super) fn event_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/events", "events", serve_events)
            .with_description(
                "events",
                "List or stream events",
                "A page of the log, or, with `Accept: text/event-stream`, a live stream of it. The id of \
                 each event is its number, and a broken stream resumes after `Last-Event-ID` without loss or \
                 repetition. Callers see their own events and those of scopes and reviews they may read. Events of \
                 other callers' conversations and runs are for admins and reviewers only. A stream that falls too far \
                 behind is closed with the event `stream.closed` and a reason.",
            )
            .with_query::<EventParams>()
            .with_header("Last-Event-ID", "Number of the last received event")
            .with_json_answer::<EventsView>(
                StatusCode::OK,
                "A page of the log",
                json!({ "items": [], "next_after": 12 }),
            )
            .with_plain_answer(StatusCode::OK, "A live stream", "text/event-stream"),
        Endpoint::new(Method::GET, "/v1/verify", "verify", verify_log)
            .with_description(
                "events",
                "Check the data against the log",
                "Follows the chain of hashes from the first entry and compares versions, memories, keys, reviews, \
                 receipts and all other records with what the log says was written. `broken` names the first entry \
                 that does not fit, `findings` everything stored that differs, `verdict` is the result in one word. \
                 Admins only.",
            )
            .with_json_answer::<VerifiedView>(
                StatusCode::OK,
                "The result",
                json!({ "entries": 12, "hash": "…", "broken": null, "findings": [], "uncovered": 0 }),
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
    // The header wins: a browser reconnects to the same URL, where `after` is still that of its first request.
    let requested_after: Option<u64> = last_id.transpose()?.or(params.after);
    let live =
        headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|v| v.contains("text/event-stream"));
    match live {
        true => stream_events(app, auth, requested_after, params).await,
        false => list_events(&app, auth, requested_after, params).await.map(IntoResponse::into_response),
    }
}

async fn list_events(
    app: &App,
    auth: AuthenticatedCaller,
    requested_after: Option<u64>,
    params: EventParams,
) -> Result<Json<EventsView>, Problem> {
    let limits = &app.entrance.engine().settings.limits;
    let limit = params.limit.unwrap_or(limits.list_default.min(limits.list_max));
    // A page without a number starts at the first event; a stream starts at the end.
    let after = requested_after.unwrap_or(0);
    let wanted = move |event: &Event| matches_names(&params.name, event);
    let (items, next_after) =
        app.entrance.call("events", move |engine| Ok(engine.events(&auth.caller, after, limit, wanted)?)).await?;
    Ok(Json(EventsView { items, next_after }))
}

/// Whether an event has one of the requested names; `*` at the end matches any rest.
fn matches_names(names: &[String], event: &Event) -> bool {
    let name = event.happening.name.as_str();
    let fits = |wanted: &String| match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => wanted == name,
    };
    names.is_empty() || names.iter().any(fits)
}

async fn stream_events(
    app: App,
    auth: AuthenticatedCaller,
    requested_after: Option<u64>,
    params: EventParams,
) -> Result<Response, Problem> {
    // Counted before the log is read: a refused stream must cost nothing.
    let opened =
        OpenStream::new(&app).ok_or_else(|| Problem::busy("http.streams_full", "too many event streams are open"))?;
    let (stream_app, mut generation) = (app.clone(), app.authenticator.watch_key_generation());
    // The key was looked up before this subscription. Keys that changed in between must be checked too.
    generation.mark_changed();
    let follower = app
        .entrance
        .call("stream", move |engine| {
            let visibility = engine.event_visibility(&auth.caller)?;
            let reader = event_reader::reader_for_tenant(&stream_app, auth.caller.tenant)?;
            let end = engine.event_feed().last_event_seq(auth.caller.tenant)?;
            // A number beyond the end, such as one of another database, would wait for events that never come.
            let after = requested_after.map_or(end, |after| after.min(end));
            let last_verified = (Instant::now(), *generation.borrow());
            Ok(EventFollower {
                closing: stream_app.closing_signal(),
                last_verified,
                app: stream_app,
                auth,
                visibility,
                key_generation: generation,
                names: params.name,
                after,
                reader,
                mode: StreamMode::Greeting,
                _opened: opened,
            })
        })
        .await?;
    // Fused, because the compression layer polls once more after the end.
    let frames = stream::unfold(follower, |mut follower| async move {
        let frame = follower.next().await?;
        Some((Ok::<Bytes, std::convert::Infallible>(frame), follower))
    })
    .fuse();
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        // nginx would hold events back in its buffer.
        ("x-accel-buffering".parse().map_err(|_| Problem::internal())?, "no"),
    ];
    Ok((headers, Body::from_stream(frames)).into_response())
}

async fn verify_log(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<VerifiedView>, Problem> {
    let verified = app.entrance.call("verify", move |engine| Ok(engine.verify(&auth.caller)?)).await?;
    Ok(Json(VerifiedView { verdict: verified.verdict(), verified }))
}

/// Holds one of the `streams_max` places until dropped.
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

/// State of one client's stream.
struct EventFollower {
    app: App,
    auth: AuthenticatedCaller,
    visibility: EventVisibility,
    /// When the credential was last verified, and the key generation at that time.
    last_verified: (Instant, u64),
    key_generation: watch::Receiver<u64>,
    names: Vec<String>,
    /// Sequence number up to which the client has every event it may see.
    after: u64,
    reader: Arc<EventReader>,
    mode: StreamMode,
    closing: watch::Receiver<bool>,
    _opened: OpenStream,
}

enum StreamMode {
    Greeting,
    /// Reads the log. Not subscribed to live batches yet: they would pile up and drop the stream as too slow.
    CatchingUp,
    /// Subscribed, with one more read of the log to close the gap between the last read and the subscription.
    Joining(Receiver<Arc<EventBatch>>),
    Live(Receiver<Arc<EventBatch>>),
    Closed,
}

enum StreamSignal {
    Batch(Arc<EventBatch>),
    Heartbeat,
    /// Keys were changed on this server, perhaps the one of this stream.
    KeysChanged,
    Lagged,
    Closing,
}

impl EventFollower {
    /// The next frames for the client; `None` after the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Closed unless an arm sets a mode, so that a return with a closing frame ends the stream.
            match std::mem::replace(&mut self.mode, StreamMode::Closed) {
                StreamMode::Closed => return None,
                StreamMode::Greeting => {
                    self.mode = StreamMode::CatchingUp;
                    return Some(Bytes::from(format!("retry: {RETRY_MS}\n: ingrain events after {}\n\n", self.after)));
                }
                StreamMode::CatchingUp => {
                    let Ok(batch) = self.read_batch().await else { return Some(closing_frame("unavailable")) };
                    let done = event_reader::is_log_end(&batch);
                    let mode = if done { StreamMode::Joining(self.reader.subscribe()) } else { StreamMode::CatchingUp };
                    if let Some(frames) = self.frames_for_client(&batch, mode).await {
                        return Some(frames);
                    }
                }
                StreamMode::Joining(receiver) => {
                    let Ok(batch) = self.read_batch().await else { return Some(closing_frame("unavailable")) };
                    // The log grew by a whole batch meanwhile: drop the subscription and catch up first.
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
                            // An `id` without data moves the client's `Last-Event-ID` without an event.
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
        // `changed` below reports new values only; the server may have begun to close before this stream opened.
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

    /// The new events of a batch that this client may see; or the closing frame if its credential is no longer valid.
    async fn frames_for_client(&mut self, batch: &EventBatch, mode: StreamMode) -> Option<Bytes> {
        if !self.is_recently_verified()
            && let Err(reason) = self.verify_again().await
        {
            return Some(closing_frame(reason));
        }
        self.mode = mode;
        let frames = batch.render_frames(self.after, |event| match matches_names(&self.names, event) {
            true => self.visibility.visible_event(event),
            false => None,
        });
        // Also past events that this client may not see, so that they are not read again.
        self.after = self.after.max(batch.read_to);
        frames
    }

    /// Whether the credential was verified within the cache time and its key has not changed since.
    fn is_recently_verified(&self) -> bool {
        self.last_verified.0.elapsed() < KEY_CACHE_TTL
            && self.app.authenticator.is_key_fresh(&self.app, &self.auth.proof)
    }

    async fn read_batch(&self) -> Result<EventBatch, Problem> {
        let (tenant, after) = (self.auth.caller.tenant, self.after);
        self.app.entrance.call("events", move |engine| event_reader::read_batch(engine, tenant, after)).await
    }

    /// Verifies the credential again: keys expire and grants are withdrawn. An error is the reason to close the stream.
    async fn verify_again(&mut self) -> Result<(), &'static str> {
        // Before the check, so that keys that change during it raise the next signal.
        let generation = *self.key_generation.borrow_and_update();
        let (app, proof) = (self.app.clone(), self.auth.proof.clone());
        let again = self.app.entrance.call_unqueued("authenticate", move |engine| {
            let auth = app.authenticator.identify_caller(&app, &proof)?;
            Ok(engine.event_visibility(&auth.caller)?)
        });
        match again.await {
            Ok(visibility) => {
                (self.visibility, self.last_verified) = (visibility, (Instant::now(), generation));
                Ok(())
            }
            // A database that is unavailable for a moment does not end every stream, unless keys changed.
            Err(problem) if problem.status.is_server_error() => match generation == self.last_verified.1 {
                true => Ok(()),
                false => Err("unavailable"),
            },
            Err(_) => Err("the key is no longer valid"),
        }
    }
}

fn closing_frame(reason: &str) -> Bytes {
    Bytes::from(format!("event: stream.closed\ndata: {}\n\n", json!({ "reason": reason })))
}

#[cfg(test)]
mod tests;
