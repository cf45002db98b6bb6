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

/// A body of so many bytes comes with its head and is read off by the library, so that the connection goes on.
const READ_OFF_BYTES: u64 = 8 * 1024;

/// Whether a body was read to its end; `None` where it does not matter.
pub(crate) struct Reading(Option<Arc<AtomicBool>>);

/// The request with an eye on how far its body is read.
pub(crate) fn watched(request: Request) -> (Request, Reading) {
    let body = request.body();
    if body.is_end_stream() || body.size_hint().upper().is_some_and(|bytes| bytes <= READ_OFF_BYTES) {
        return (request, Reading(None));
    }
    let ended = Arc::new(AtomicBool::new(false));
    let request = request.map(|body| Body::new(Watched { body, ended: ended.clone() }));
    (request, Reading(Some(ended)))
}

impl Reading {
    /// Says that the connection ends, where a part of the request is still under way.
    pub(crate) fn tell(&self, response: &mut Response) {
        if self.0.as_ref().is_some_and(|ended| !ended.load(Ordering::Relaxed)) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

struct Watched {
    body: Body,
    ended: Arc<AtomicBool>,
}

impl HttpBody for Watched {
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
