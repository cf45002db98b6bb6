//! Refusals and errors over HTTP: problem documents (RFC 9457) with a stable code, never with content.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::model::error::{Error, StoreError};
use engine::model::refusal::Refusal;
use engine::safety::redact_identifier;
use serde_json::{Map, Value, json};

/// Seconds for `retry-after`: the server is full, the database is busy, or the first call under a key still runs.
pub(crate) const RETRY_SECS: u64 = 1;
pub(crate) const PROBLEM_TYPE: &str = "application/problem+json";

/// A refusal or an error, as HTTP shows it.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    detail: String,
    extensions: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (code, detail) = (code.into(), detail.into());
        Problem { status, code, detail, extensions: Map::new(), headers: Vec::new() }
    }

    pub(crate) fn bad_request(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub(crate) fn forbidden(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, code, detail)
    }

    pub(crate) fn unauthorized(detail: &str) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "auth.required", detail)
            .with_header(WWW_AUTHENTICATE, "Bearer realm=\"ingrain\"")
    }

    pub(crate) fn internal() -> Problem {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "an internal error; the server's log has it under the request id",
        )
    }

    pub(crate) fn busy(code: &str, detail: &str) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).with_retry_after(RETRY_SECS)
    }

    pub(crate) fn timeout() -> Problem {
        Problem::new(StatusCode::GATEWAY_TIMEOUT, "http.timeout", "this took too long")
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Seconds of its `retry-after` header.
    pub(crate) fn retry_after_secs(&self) -> Option<u64> {
        let (_, value) = self.headers.iter().find(|(name, _)| *name == RETRY_AFTER)?;
        value.to_str().ok()?.parse().ok()
    }

    pub(crate) fn with_retry_after(self, secs: u64) -> Problem {
        self.with_header(RETRY_AFTER, &secs.to_string())
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: &str) -> Problem {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub(crate) fn with_field(mut self, key: &str, value: impl serde::Serialize) -> Problem {
        self.extensions.insert(key.to_owned(), serde_json::to_value(value).unwrap_or(Value::Null));
        self
    }

    /// The same problem with status 412, if it is a failed condition: the client sent its condition in a header.
    pub(crate) fn into_precondition_failed(self) -> Problem {
        let failed =
            self.code == "conflict.sha256" || self.code == "conflict.exists" || self.code == "conflict.nothing_there";
        Problem { status: if failed { StatusCode::PRECONDITION_FAILED } else { self.status }, ..self }
    }

    /// The same problem with status 503, if it is a server error: for readiness probes.
    pub(crate) fn into_unavailable(self) -> Problem {
        let failed = self.status.is_server_error();
        Problem { status: if failed { StatusCode::SERVICE_UNAVAILABLE } else { self.status }, ..self }
    }

    /// The JSON document.
    pub(crate) fn to_document(&self, request_id: &str) -> Value {
        let mut document = json!({
            "type": format!("urn:ingrain:problem:{}", self.code),
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
            "request_id": request_id,
        });
        if let Some(object) = document.as_object_mut() {
            object.extend(self.extensions.clone());
        }
        document
    }

    /// The response with its body.
    pub(crate) fn into_response_for(self, request_id: &str) -> Response {
        let mut response = Response::new(Body::from(self.to_document(request_id).to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().extend(self.headers);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_TYPE));
        response
    }
}

impl IntoResponse for Problem {
    /// Without a body: the outermost layer writes it, because only that knows the request id.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let status = match refusal.code {
            "shape.too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            // 403 for what the caller may never do, 422 for content that can be corrected.
            _ if refusal.is_policy() => StatusCode::FORBIDDEN,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let problem = Problem::new(status, refusal.code, refusal.message);
        let problem = match refusal.hint {
            Some(hint) => problem.with_field("hint", hint),
            None => problem,
        };
        match refusal.findings.is_empty() {
            true => problem,
            false => problem.with_field("findings", refusal.findings),
        }
    }
}

/// The identity header that a caller left out.
fn identity_header_for(code: &str) -> Option<&'static str> {
    Some(match code {
        "scope.user_missing" => "x-user-id",
        "scope.conversation_missing" => "x-conversation-id",
        "scope.agent_missing" => "x-agent-id",
        "scope.project_missing" => "x-project-id",
        "scope.pipeline_missing" => "x-pipeline-id` and `x-agent-id",
        "scope.run_missing" => "x-run-id",
        _ => return None,
    })
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        // A message may name what was asked for, such as a store that does not exist.
        let (code, detail) = (error.code(), redact_identifier(error.to_string()));
        match error {
            Error::Invalid { code: "idempotency.other_request", .. } => {
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
            }
            Error::Invalid { code: "review.version_missing", .. } => {
                Problem::new(StatusCode::PRECONDITION_REQUIRED, code, detail)
            }
            Error::Invalid { code: "shape.too_large", .. } => Problem::new(StatusCode::PAYLOAD_TOO_LARGE, code, detail),
            Error::Invalid { code, .. } if code.starts_with("policy.") => Problem::forbidden(code, detail),
            Error::Invalid { .. } => {
                let problem = Problem::bad_request(code, detail);
                match identity_header_for(code) {
                    Some(header) => problem.with_field("hint", format!("send `{header}`, if your key may set it")),
                    None => problem,
                }
            }
            Error::NotFound { .. } => Problem::new(StatusCode::NOT_FOUND, code, detail),
            Error::Conflict(conflict) => {
                let problem = Problem::new(StatusCode::CONFLICT, code, detail);
                // The only conflict that a later, unchanged call can pass.
                let problem = match code {
                    "idempotency.in_progress" => problem.with_retry_after(RETRY_SECS),
                    _ => problem,
                };
                match conflict.current {
                    Some(current) => problem.with_field("current", current),
                    None => problem,
                }
            }
            // A guard of the commit failed; the transaction was rolled back.
            Error::Store(StoreError::Guard(_)) => Problem::new(StatusCode::CONFLICT, code, detail),
            Error::Store(error) => {
                // Logged once, here. The driver's message is not for callers.
                tracing::error!(code, %error, "the database failed");
                match error {
                    StoreError::Corrupt(_) => {
                        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, code, "the database is damaged")
                    }
                    // Names the memory, which the caller may see, and nothing of its text.
                    StoreError::Altered(_) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, code, detail),
                    StoreError::FileReplaced => {
                        let detail =
                            "the database file was removed or replaced while the server runs: restart the server";
                        Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
                    }
                    StoreError::Busy(_) => Problem::busy(
                        code,
                        "another process is writing to the database; the request was not completed; try again",
                    ),
                    StoreError::Unwritable(_) => Problem::busy(code, "the database is full or cannot be written"),
                    StoreError::SchemaTooNew { .. } => {
                        Problem::busy(code, "the database was written by a newer version of ingrain: upgrade ingrain")
                    }
                    StoreError::Unavailable(_) | StoreError::Guard(_) => {
                        Problem::busy(code, "the database is not reachable; try again")
                    }
                }
            }
        }
    }
}
