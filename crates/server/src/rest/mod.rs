//! REST: one file a resource. Each translates a request into the engine's words and its answer back.

mod audit;
mod context;
mod episodes;
mod erasure;
mod events;
mod govern;
mod ingest;
mod keys;
mod layers;
mod memories;
mod owners;
mod pipelines;
mod records;
mod reviews;
mod runs;
mod scan;
mod search;
mod standing;
mod stores;
mod tenants;
mod transfer;
mod upkeep;
mod watch;
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

/// Every endpoint, in the order of the reference.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    [
        memories::endpoints(),
        standing::endpoints(),
        search::endpoints(),
        context::endpoints(),
        episodes::endpoints(),
        audit::endpoints(),
        workflows::endpoints(),
        ingest::endpoints(),
        reviews::endpoints(),
        owners::endpoints(),
        layers::endpoints(),
        govern::endpoints(),
        erasure::endpoints(),
        runs::endpoints(),
        scan::endpoints(),
        stores::endpoints(),
        pipelines::endpoints(),
        events::endpoints(),
        keys::endpoints(),
        tenants::endpoints(),
        upkeep::endpoints(),
        transfer::endpoints(),
        records::endpoints(),
        watch::endpoints(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Problems many endpoints share.
pub(crate) const NOT_FOUND: (StatusCode, &str) = (StatusCode::NOT_FOUND, "Not there, or not for you");
pub(crate) const CONFLICT: (StatusCode, &str) = (StatusCode::CONFLICT, "Something else stands there");
pub(crate) const STALE: (StatusCode, &str) = (StatusCode::PRECONDITION_FAILED, "A condition in a header failed");
pub(crate) const REFUSED: (StatusCode, &str) =
    (StatusCode::UNPROCESSABLE_ENTITY, "Refused by the scanner or for missing evidence");

/// JSON with the version as its tag.
pub(crate) fn tagged<T: Serialize>(status: StatusCode, version: VersionId, view: T) -> Response<Body> {
    let mut response = (status, Json(view)).into_response();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// Addresses that are not ours.
pub(crate) async fn nowhere() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "http.not_found", "there is nothing at this address; see /docs")
}

/// A handler that panicked. Its words may hold content, so they go nowhere.
pub(crate) fn broke(_: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!("a handler panicked");
    Problem::internal().into_response()
}
