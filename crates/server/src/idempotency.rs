//! `Idempotency-Key`: a call sent twice is done once and answered twice.

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
/// Largest answer kept: answers of calls that can be repeated hold ids and codes, of a thousand turns at most.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Headers of an answer that belong to it.
const STORED_HEADERS: [HeaderName; 3] = [CONTENT_TYPE, ETAG, LOCATION];

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// Around every guarded route.
pub(crate) async fn run_once(app: &App, request: Request, next: Next) -> Response {
    let given = request.headers().get("idempotency-key").cloned();
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    match given.filter(|_| endpoint::takes_idempotency_key(request.method(), path)) {
        Some(key) => Box::pin(run_with_key(app, key, request, next)).await.unwrap_or_else(Problem::into_response),
        None => next.run(request).await,
    }
}

async fn run_with_key(app: &App, key: HeaderValue, request: Request, next: Next) -> Result<Response, Problem> {
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let key =
        key.ok_or_else(|| Problem::bad_request("idempotency.key", "an idempotency key is 1 to 256 plain characters"))?;
    let auth = request.extensions().get::<AuthenticatedCaller>().cloned().ok_or_else(Problem::internal)?;
    let door = format!("{} {}", request.method(), request.uri());
    let (parts, body) = request.into_parts();
    let bytes = read_body(Request::new(body), app).await?;
    let asked = IdempotentRequest { door, key: key.to_owned(), digest: request_digest(&parts.headers, &bytes) };
    // On its own from before the key is taken, so that a client that leaves finds the answer when it asks again.
    let request = Request::from_parts(parts, Body::from(bytes));
    tokio::spawn(claim_and_run(app.clone(), auth, asked, request, next)).await.map_err(|_| Problem::internal())?
}

/// What a key stands for.
struct IdempotentRequest {
    door: String,
    key: String,
    digest: String,
}

async fn claim_and_run(
    app: App,
    auth: AuthenticatedCaller,
    asked: IdempotentRequest,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let caller = auth.caller.clone();
    let begin =
        move |engine: &Engine| Ok(engine.claim_idempotency_key(&caller, &asked.door, &asked.key, &asked.digest)?);
    match app.entrance.call("idempotency", begin).await? {
        IdempotencyClaim::Answered(answer) => {
            let kept: StoredAnswer = serde_json::from_value(answer).map_err(|_| Problem::internal())?;
            Ok(kept.into_replay())
        }
        IdempotencyClaim::Claimed(repeat) => {
            let engine = app.entrance.engine().with_idempotency_mark(auth.caller.tenant, &repeat);
            let response = run_idempotent_call(engine, next.run(request)).await;
            store_answer(&app, auth, repeat, response).await
        }
    }
}

/// What makes two requests the same: the body and the conditions it came with.
fn request_digest(headers: &HeaderMap, body: &Bytes) -> String {
    let mut hash = Sha256::new();
    for name in ["if-match", "if-none-match"] {
        hash.update(headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default());
        hash.update([0]);
    }
    hash.update(body);
    to_hex(&hash.finalize())
}

async fn store_answer(
    app: &App,
    auth: AuthenticatedCaller,
    repeat: IdempotentCall,
    response: Response,
) -> Result<Response, Problem> {
    // Only what was done is kept: a refusal or a failure may be tried again.
    let (response, kept) = match response.status().is_success() {
        true => {
            let (parts, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(|_| Problem::internal())?;
            let kept = StoredAnswer::from_response(parts.status, &parts.headers, &bytes);
            if bytes.len() > ANSWER_BYTES_MAX {
                // It was done, which stays noted: who asks again hears that the answer is lost.
                return Ok(Response::from_parts(parts, Body::from(bytes)));
            }
            (Response::from_parts(parts, Body::from(bytes)), serde_json::to_value(kept).ok())
        }
        false => (response, None),
    };
    // However many wait: a key must not stay taken because others came.
    app.entrance
        .call_unqueued("idempotency", move |engine| Ok(engine.finish_idempotent_call(&auth.caller, repeat, kept)?))
        .await?;
    Ok(response)
}

impl StoredAnswer {
    fn from_response(status: StatusCode, headers: &HeaderMap, body: &Bytes) -> StoredAnswer {
        let kept = |name: &HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        };
        StoredAnswer {
            status: status.as_u16(),
            headers: STORED_HEADERS.iter().filter_map(kept).collect(),
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
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
        response
    }
}
