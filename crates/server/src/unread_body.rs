//! Requests answered before their body was read to the end: the connection closes after the answer, and a
//! `connection: close` header announces it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use crate::problem::Problem;

/// Message for a body that could not be read to its end.
pub(crate) const BODY_BROKEN: &str = "the body ended early, or does not match its headers";

/// A body up to this size is read before the request is handled, so that the connection stays open even if the answer
/// is a refusal.
const SMALL_BODY_BYTES_MAX: u64 = 8 * 1024;

/// Whether the body was read to its end; `None` if the request has no body.
pub(crate) struct BodyProgress(Option<Arc<AtomicBool>>);

/// Wraps the request's body to notice when it was read to its end.
pub(crate) fn watch_body(request: Request) -> (Request, BodyProgress) {
    if request.body().is_end_stream() {
        return (request, BodyProgress(None));
    }
    let ended = Arc::new(AtomicBool::new(false));
    let reading = BodyProgress(Some(ended.clone()));
    match is_small(&request) {
        // Read in full by `read_small_body`, so there is nothing to watch.
        true => (request, reading),
        false => (request.map(|body| Body::new(WatchedBody { body, ended })), reading),
    }
}

fn is_small(request: &Request) -> bool {
    request.body().size_hint().upper().is_some_and(|bytes| bytes <= SMALL_BODY_BYTES_MAX)
}

impl BodyProgress {
    /// Reads a small body into memory; leaves a larger one to the handler.
    pub(crate) async fn read_small_body(&self, request: Request) -> Result<Request, Problem> {
        let Some(ended) = self.0.as_ref().filter(|_| is_small(&request)) else { return Ok(request) };
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, SMALL_BODY_BYTES_MAX as usize).await;
        let bytes = bytes.map_err(|_| Problem::bad_request("http.body", BODY_BROKEN))?;
        ended.store(true, Ordering::Relaxed);
        Ok(Request::from_parts(parts, Body::from(bytes)))
    }

    /// Adds `connection: close` if part of the body is unread.
    pub(crate) fn announce_close(&self, response: &mut Response) {
        if self.0.as_ref().is_some_and(|ended| !ended.load(Ordering::Relaxed)) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

struct WatchedBody {
    body: Body,
    ended: Arc<AtomicBool>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.ended.store(true, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
