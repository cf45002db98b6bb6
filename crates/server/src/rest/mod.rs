//! REST handlers, one file per resource, each with its shapes in the file of the same name under `wire/`. A handler
//! translates a request into one engine call and the answer back.

mod audit;
mod context;
mod documents;
mod episodes;
mod erasure;
mod events;
mod govern;
mod health;
mod keys;
mod layers;
mod memories;
mod memory_state;
mod owners;
mod pipelines;
mod projects;
mod records;
mod remember;
mod reviews;
mod runs;
mod scan;
mod search;
mod stores;
mod tenants;
mod transfer;
mod upkeep;
mod workflows;

use std::any::Any;

use axum::Json;
use axum::body::Body;
use axum::http::header::ETAG;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use engine::model::id::VersionId;
use serde::Serialize;

use crate::endpoint::Endpoint;
use crate::problem::Problem;

/// Every endpoint. The reference sorts them by path.
pub(crate) fn all_endpoints() -> Vec<Endpoint> {
    [
        remember::remember_endpoints(),
        memories::memory_endpoints(),
        memory_state::memory_state_endpoints(),
        search::search_endpoints(),
        context::context_endpoints(),
        episodes::episode_endpoints(),
        audit::audit_endpoints(),
        workflows::workflow_endpoints(),
        documents::document_endpoints(),
        reviews::review_endpoints(),
        owners::owner_endpoints(),
        layers::layer_endpoints(),
        govern::governance_endpoints(),
        erasure::erasure_endpoints(),
        runs::run_endpoints(),
        scan::scan_endpoints(),
        stores::store_endpoints(),
        pipelines::pipeline_endpoints(),
        projects::project_endpoints(),
        events::event_endpoints(),
        keys::key_endpoints(),
        tenants::tenant_endpoints(),
        upkeep::upkeep_endpoints(),
        transfer::transfer_endpoints(),
        records::record_endpoints(),
        health::health_endpoints(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

// Problems that many endpoints share, as the reference describes them.
pub(crate) const NOT_FOUND: (StatusCode, &str) = (StatusCode::NOT_FOUND, "Not found, or not visible to the caller");
pub(crate) const CONFLICT: (StatusCode, &str) = (StatusCode::CONFLICT, "Conflicts with the current state");
pub(crate) const STALE: (StatusCode, &str) = (StatusCode::PRECONDITION_FAILED, "A precondition in a header failed");
pub(crate) const REFUSED: (StatusCode, &str) =
    (StatusCode::UNPROCESSABLE_ENTITY, "Refused by the scanner or for missing evidence");

/// A JSON answer with the version id as its ETag.
pub(crate) fn json_with_etag<T: Serialize>(status: StatusCode, version: VersionId, view: T) -> Response<Body> {
    let mut response = (status, Json(view)).into_response();
    // A version id is always a valid header value, and an answer without an ETag beats a panic.
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// Fallback for paths without a route.
pub(crate) async fn unknown_address() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "http.not_found", "no endpoint at this address; see /docs")
}

/// Answer for a handler that panicked. The panic message may hold content, so it is neither logged nor sent.
pub(crate) fn handle_panic(_: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!("a handler panicked");
    Problem::internal().into_response()
}
