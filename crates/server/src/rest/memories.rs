//! Memories: list and read them, their history and versions.

use axum::Json;
use axum::extract::State;
use axum::http::header::ETAG;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use engine::model::id::VersionId;
use engine::ports::SortOrder;
use engine::{Engine, MemoryReference};
use serde_json::{Value, json};

use super::remember::{EXAMPLE_ID, EXAMPLE_SHA256, EXAMPLE_VERSION};
use super::{NOT_FOUND, json_with_etag};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryIdParam, PathParam, Preconditions, QueryParams};
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::Page;
use crate::wire::memories::{HistoryParams, ListParams, MemoryView, ReadParams, VersionView};

pub(super) fn memory_endpoints() -> Vec<Endpoint> {
    vec![list_endpoint(), read_endpoint(), history_endpoint(), version_endpoint()]
}

const TAG: &str = "memories";

fn list_endpoint() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories", "list", list_memories)
        .with_description(TAG, "List memories", "The memories the caller may see, in pages.")
        .with_query::<ListParams>()
        .with_json_answer::<Page<MemoryView>>(StatusCode::OK, "A page", json!({ "items": [memory_example(false)] }))
}

async fn list_memories(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<ListParams>,
) -> Result<Json<Page<MemoryView>>, Problem> {
    let (order, after) = (SortOrder::from(params.sort), params.parse_cursor()?);
    let view = if params.content { MemoryView::with_content } else { MemoryView::without_content };
    // `read_list`, not `list`: a summary counts as reading the memory.
    let listing = app
        .entrance
        .call("list", move |engine| {
            Ok(engine.read_list(&auth.caller, params.to_filter(), order, after, params.limit)?)
        })
        .await?;
    let next_cursor = listing.next.map(|next| next.to_token(order));
    Ok(Json(Page { items: listing.memories.into_iter().map(view).collect(), next_cursor }))
}

fn read_endpoint() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories/{id}", "read", read_memory)
        .with_description(
            TAG,
            "Read a memory",
            "A memory in any state, or with `as_of` as it was at a past time. The ETag is its version.",
        )
        .with_query::<ReadParams>()
        .with_header("If-None-Match", "ETag of the caller's copy; 304 if it is still current")
        .with_json_answer::<MemoryView>(StatusCode::OK, "The memory", memory_example(true))
        .with_plain_answer(StatusCode::NOT_MODIFIED, "Not modified", "")
        .with_problems(&[NOT_FOUND])
}

async fn read_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): MemoryIdParam,
    QueryParams(params): QueryParams<ReadParams>,
    conditions: Preconditions,
) -> Result<Response, Problem> {
    let reference = MemoryReference::Id(id);
    let work = move |engine: &Engine| match params.as_of {
        Some(at) => Ok(engine.read_as_of(&auth.caller, &reference, at)?),
        None => Ok(engine.read(&auth.caller, &reference)?),
    };
    let memory = app.entrance.call("read", work).await?;
    telemetry::record_memory(&memory);
    let version = memory.version;
    if conditions.is_not_modified(version) {
        let mut response = json_with_etag(StatusCode::NOT_MODIFIED, version, ());
        // RFC 9110: a 304 has no body, and its headers describe none.
        *response.body_mut() = axum::body::Body::empty();
        response.headers_mut().retain_only(&ETAG);
        return Ok(response);
    }
    Ok(json_with_etag(StatusCode::OK, version, MemoryView::with_content(memory)))
}

/// Drops the headers that describe a body from an answer without one.
trait RetainOnly {
    fn retain_only(&mut self, name: &axum::http::HeaderName);
}

impl RetainOnly for axum::http::HeaderMap {
    fn retain_only(&mut self, name: &axum::http::HeaderName) {
        let value = self.remove(name);
        self.clear();
        if let Some(value) = value {
            self.insert(name.clone(), value);
        }
    }
}

fn history_endpoint() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories/{id}/history", "history", show_history)
        .with_description(TAG, "A memory's history", "Its versions, newest first.")
        .with_query::<HistoryParams>()
        .with_json_answer::<Page<VersionView>>(StatusCode::OK, "Versions", json!({ "items": [] }))
        .with_problems(&[NOT_FOUND])
}

async fn show_history(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): MemoryIdParam,
    QueryParams(params): QueryParams<HistoryParams>,
) -> Result<Json<Page<VersionView>>, Problem> {
    // A number beyond `u32` is above every version, so it bounds nothing.
    let below = params.below.and_then(|number| u32::try_from(number).ok());
    let work =
        move |engine: &Engine| Ok(engine.history(&auth.caller, &MemoryReference::Id(id), below, params.limit)?);
    let versions = app.entrance.call("history", work).await?;
    Ok(Json(Page::from_items(versions.into_iter().map(VersionView::from).collect())))
}

fn version_endpoint() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/versions/{id}", "version", show_version)
        .with_description(TAG, "One version", "The memory in this version, its author and the reason.")
        .with_json_answer::<VersionView>(StatusCode::OK, "The version", Value::Null)
        .with_problems(&[NOT_FOUND])
}

async fn show_version(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<VersionId>,
) -> Result<Response, Problem> {
    let version = app.entrance.call("version", move |engine| Ok(engine.version(&auth.caller, id)?)).await?;
    Ok(json_with_etag(StatusCode::OK, version.id, VersionView::from(version)))
}

pub(super) fn memory_example(content: bool) -> Value {
    let mut memory = json!({
        "summary": "Billing", "id": EXAMPLE_ID, "store": "conversation_memory",
        "scope": { "kind": "conversation", "conversation": "c-1" }, "layer": "semantic", "kind": "service_context",
        "path": "services/billing", "title": "Billing", "recall_hint": null, "sha256": EXAMPLE_SHA256,
        "size_bytes": 44, "tags": [], "metadata": {}, "state": "active", "trust": "agent_draft", "confidence": 0.8,
        "importance": 0.5, "always_inject": false, "expires_at": null, "recall_count": 0, "version": EXAMPLE_VERSION,
        "version_number": 1, "author": "agent:triage", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    });
    if content {
        memory["content"] = json!("billing retries failed webhooks for 24 hours");
    }
    memory
}
