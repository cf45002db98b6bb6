//! `Idempotency-Key`: a call sent again with the same key is not run again but gets the stored answer.

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request};
use axum::http::header::{CONTENT_TYPE, ETAG, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use engine::text::digest::to_hex;
use engine::write::idempotency::{IdempotencyClaim, IdempotentCall};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint;
use crate::entrance::run_idempotent_call;
use crate::extract::read_body;
use crate::problem::Problem;

const KEY_BYTES_MAX: usize = 256;
/// Largest stored answer. Calls that take a key answer with ids and codes, of 1,000 turns at most.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Headers stored with an answer; the others are set anew for each response.
const STORED_HEADERS: [HeaderName; 3] = [CONTENT_TYPE, ETAG, LOCATION];

/// An answer as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// Runs a request, under its key if it has one and the route honours it.
pub(crate) async fn run_once(app: &App, request: Request, next: Next) -> Response {
    let key = request.headers().get("idempotency-key").cloned();
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    match key.filter(|_| endpoint::takes_idempotency_key(request.method(), path)) {
        Some(key) => Box::pin(run_with_key(app, key, request, next)).await.unwrap_or_else(Problem::into_response),
        None => next.run(request).await,
    }
}

async fn run_with_key(app: &App, key: HeaderValue, request: Request, next: Next) -> Result<Response, Problem> {
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let key = key.ok_or_else(|| {
        Problem::bad_request("idempotency.key", "an idempotency key has 1 to 256 visible ASCII characters")
    })?;
    let auth = request.extensions().get::<AuthenticatedCaller>().cloned().ok_or_else(Problem::internal)?;
    // The query string is part of the request, so it is part of its identity.
    let door = format!("{} {}", request.method(), request.uri());
    let (parts, body) = request.into_parts();
    let bytes = read_body(Request::new(body), app).await?;
    let call = IdempotentRequest { door, key: key.to_owned(), digest: request_digest(&parts.headers, &bytes) };
    // A task of its own, spawned before the key is claimed: if the client disconnects, the call still ends and stores
    // its answer for the retry.
    let request = Request::from_parts(parts, Body::from(bytes));
    tokio::spawn(claim_and_run(app.clone(), auth, call, request, next)).await.map_err(|_| Problem::internal())?
}

/// A request as its key identifies it.
struct IdempotentRequest {
    door: String,
    key: String,
    digest: String,
}

async fn claim_and_run(
    app: App,
    auth: AuthenticatedCaller,
    call: IdempotentRequest,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let caller = auth.caller.clone();
    let begin =
        move |engine: &Engine| Ok(engine.claim_idempotency_key(&caller, &call.door, &call.key, &call.digest)?);
    match app.entrance.call("idempotency", begin).await? {
        IdempotencyClaim::Answered(answer) => {
            let stored: StoredAnswer = serde_json::from_value(answer).map_err(|_| Problem::internal())?;
            Ok(stored.into_replay())
        }
        IdempotencyClaim::Claimed(claimed) => {
            let engine = app.entrance.engine().with_idempotency_mark(auth.caller.tenant, &claimed);
            let response = run_idempotent_call(engine, next.run(request)).await;
            store_answer(&app, auth, claimed, response).await
        }
    }
}

/// Digest of the body and the preconditions: the same key with another digest is a misuse of the key.
fn request_digest(headers: &HeaderMap, body: &Bytes) -> String {
    let mut hash = Sha256::new();
    for name in ["if-match", "if-none-match"] {
        hash.update(headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default());
        // A separator, so that no header value can imitate the other one.
        hash.update([0]);
    }
    hash.update(body);
    to_hex(&hash.finalize())
}

/// Stores a successful answer under the key, or frees the key.
async fn store_answer(
    app: &App,
    auth: AuthenticatedCaller,
    claimed: IdempotentCall,
    response: Response,
) -> Result<Response, Problem> {
    // Only success is stored: after a refusal or a failure the key may be used again.
    let (response, stored) = match response.status().is_success() {
        true => {
            let (parts, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(|_| Problem::internal())?;
            let stored = StoredAnswer::from_response(parts.status, &parts.headers, &bytes);
            if bytes.len() > ANSWER_BYTES_MAX {
                // The key stays marked as used; a retry gets `idempotency.answer_lost`.
                return Ok(Response::from_parts(parts, Body::from(bytes)));
            }
            (Response::from_parts(parts, Body::from(bytes)), serde_json::to_value(stored).ok())
        }
        false => (response, None),
    };
    // Outside the queue limit: a full queue must not leave the key claimed.
    app.entrance
        .call_unqueued("idempotency", move |engine| Ok(engine.finish_idempotent_call(&auth.caller, claimed, stored)?))
        .await?;
    Ok(response)
}

impl StoredAnswer {
    fn from_response(status: StatusCode, headers: &HeaderMap, body: &Bytes) -> StoredAnswer {
        let stored = |name: &HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        };
        StoredAnswer {
            status: status.as_u16(),
            headers: STORED_HEADERS.iter().filter_map(stored).collect(),
            body: String::from_utf8_lossy(body).into_owned(),
        }
    }

    fn into_replay(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
                response.headers_mut().insert(name, value);
            }
        }
        // Clients can tell a stored answer from a new one.
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
        response
    }
}
