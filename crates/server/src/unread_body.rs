//! A request that is answered before its body was read: the connection ends with the answer, and the answer says so.

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

/// What is said of a body that broke off.
pub(crate) const BODY_BROKEN: &str = "the body ended early, or is not what its head says";

/// A body of so many bytes is read before anybody answers, so that the connection goes on whatever the answer is.
const SMALL_BODY_BYTES_MAX: u64 = 8 * 1024;

/// Whether a body was read to its end; `None` where there is none.
pub(crate) struct BodyProgress(Option<Arc<AtomicBool>>);

/// The request with an eye on how far its body is read.
pub(crate) fn watch_body(request: Request) -> (Request, BodyProgress) {
    if request.body().is_end_stream() {
        return (request, BodyProgress(None));
    }
    let ended = Arc::new(AtomicBool::new(false));
    let reading = BodyProgress(Some(ended.clone()));
    match is_small(&request) {
        true => (request, reading),
        false => (request.map(|body| Body::new(WatchedBody { body, ended })), reading),
    }
}

fn is_small(request: &Request) -> bool {
    request.body().size_hint().upper().is_some_and(|bytes| bytes <= SMALL_BODY_BYTES_MAX)
}

impl BodyProgress {
    /// Reads a small body.
    pub(crate) async fn read_small_body(&self, request: Request) -> Result<Request, Problem> {
        let Some(ended) = self.0.as_ref().filter(|_| is_small(&request)) else { return Ok(request) };
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, SMALL_BODY_BYTES_MAX as usize).await;
        let bytes = bytes.map_err(|_| Problem::bad_request("http.body", BODY_BROKEN))?;
        ended.store(true, Ordering::Relaxed);
        Ok(Request::from_parts(parts, Body::from(bytes)))
    }

    /// Says that the connection ends, where a part of the request is still under way.
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
