//! Memories: save, read, list, patch; their history.

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, LOCATION};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::model::id::VersionId;
use engine::model::memory::Draft;
use engine::ports::Order;
use engine::{Engine, Outcome, Patch, Patched, Reference, Remembered, Saved};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND, REFUSED, STALE, tagged};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryName, Named, Params, Preconditions, Sent, SentOften};
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::Page;
use crate::wire::listing::{HistoryParams, ListParams, ReadParams};
use crate::wire::memory::{MemoryView, SavedView, VersionView};
use crate::wire::remember::{PatchBody, RememberBody};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![remembering(), listing(), reading(), patching(), histories(), versions()]
}

const TAG: &str = "memories";
pub(super) const IF_MATCH: (&str, &str) =
    ("If-Match", "The version id (the ETag) or the content's sha256 that must stand there");

fn remembering() -> Endpoint {
    Endpoint::new(Method::POST, "/v1/memories", "remember", remember)
        .says(TAG, "Remember", "Saves what was learnt. The same path again makes a new version; the answer says what happened. Policy refuses with 403, the scanner and missing evidence with 422, and what was refused is kept nowhere.")
        .header("If-None-Match", "`*`: only where nothing stands yet")
        .header(IF_MATCH.0, IF_MATCH.1)
        .body::<RememberBody>(json!({
            "store": "conversation_memory", "path": "services/billing", "kind": "service_context",
            "content": "billing retries failed webhooks for 24 hours",
            "evidence": [{ "kind": "tool_result", "summary": "read in the service's configuration" }],
        }))
        .answer::<SavedView>(StatusCode::CREATED, "Created", saved_example("created"))
        .answer::<SavedView>(StatusCode::OK, "Updated, or known already", saved_example("updated"))
        .problems(&[NOT_FOUND, CONFLICT, STALE, REFUSED])
        .once()
}

async fn remember(
    State(app): State<App>,
    who: Who,
    conditions: Preconditions,
    SentOften(body): SentOften<RememberBody>,
) -> Result<Response, Problem> {
    let create_only = conditions.create_only();
    let in_headers = create_only || conditions.if_match.is_some();
    // In a box: what waits for the disk is carried about.
    let draft = Box::new(Draft { create_only, ..Draft::from(body) });
    let saved = save(&app, who, conditions, draft)
        .await
        .map_err(|problem| if in_headers { problem.into_precondition() } else { problem })?;
    telemetry::about(&saved.memory);
    let status = if saved.outcome == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = tagged(status, saved.memory.version, SavedView::new(&saved));
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/memories/{}", saved.memory.id)) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

async fn save(app: &App, who: Who, conditions: Preconditions, mut draft: Box<Draft>) -> Result<Box<Saved>, Problem> {
    if conditions.if_match.is_some() {
        let path = draft
            .path
            .clone()
            .ok_or_else(|| Problem::bad_request("shape.path", "`If-Match` on a save needs a path to compare at"))?;
        let reference = Reference::Path { store: Some(draft.store.clone()), path };
        let nothing =
            |_| Problem::new(StatusCode::PRECONDITION_FAILED, "conflict.nothing_there", "nothing stands at this path");
        let caller = who.caller.clone();
        let read = move |engine: &Engine| engine.locate(&caller, &reference).map_err(nothing);
        let current = Box::pin(app.call("read", read)).await?;
        conditions.check(&current)?;
        draft.expected_sha256 = Some(current.sha256);
    }
    match app.remember(who.caller, draft).await? {
        Remembered::Saved(saved) => Ok(saved),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

fn listing() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories", "list", list)
        .says(TAG, "List memories", "The memories you may see, a page at a time.")
        .query::<ListParams>()
        .answer::<Page<MemoryView>>(StatusCode::OK, "A page", json!({ "items": [memory_example(false)] }))
}

async fn list(
    State(app): State<App>,
    who: Who,
    Params(params): Params<ListParams>,
) -> Result<Json<Page<MemoryView>>, Problem> {
    let (order, after) = (Order::from(params.sort), params.after()?);
    let view = if params.content { MemoryView::whole } else { MemoryView::brief };
    // A summary may be all there is to read.
    let listing = app
        .call("list", move |engine| Ok(engine.read_list(&who.caller, params.filter(), order, after, params.limit)?))
        .await?;
    let next_cursor = listing.next.map(|next| next.word(order));
    Ok(Json(Page { items: listing.memories.into_iter().map(view).collect(), next_cursor }))
}

fn reading() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories/{id}", "read", read)
        .says(TAG, "Read a memory", "In whatever state it is, or as it stood at a past time. The ETag is its version.")
        .query::<ReadParams>()
        .header("If-None-Match", "The version you have: 304 where it still stands")
        .answer::<MemoryView>(StatusCode::OK, "The memory", memory_example(true))
        .plain(StatusCode::NOT_MODIFIED, "You have it", "")
        .problems(&[NOT_FOUND])
}

async fn read(
    State(app): State<App>,
    who: Who,
    Named(id): MemoryName,
    Params(params): Params<ReadParams>,
    conditions: Preconditions,
) -> Result<Response, Problem> {
    let reference = Reference::Id(id);
    let work = move |engine: &Engine| match params.as_of {
        Some(at) => Ok(engine.read_as_of(&who.caller, &reference, at)?),
        None => Ok(engine.read(&who.caller, &reference)?),
    };
    let memory = app.call("read", work).await?;
    telemetry::about(&memory);
    let version = memory.version;
    if conditions.is_known(version) {
        let mut response = tagged(StatusCode::NOT_MODIFIED, version, ());
        *response.body_mut() = axum::body::Body::empty();
        response.headers_mut().retain_only(&ETAG);
        return Ok(response);
    }
    Ok(tagged(StatusCode::OK, version, MemoryView::whole(memory)))
}

/// Drops what describes a body from an answer that has none.
trait RetainOnly {
    fn retain_only(&mut self, name: &axum::http::HeaderName);
}

impl RetainOnly for axum::http::HeaderMap {
    fn retain_only(&mut self, name: &axum::http::HeaderName) {
        let kept = self.remove(name);
        self.clear();
        if let Some(value) = kept {
            self.insert(name.clone(), value);
        }
    }
}

fn patching() -> Endpoint {
    Endpoint::new(Method::PATCH, "/v1/memories/{id}", "patch", patch)
        .says(TAG, "Patch a memory", "New content, if what you read still stands. Say what you read in `If-Match` (412 where it changed) or `expected_sha256` (409 with what stands there now).")
        .header(IF_MATCH.0, IF_MATCH.1)
        .body::<PatchBody>(json!({
            "content": "billing retries failed webhooks for 48 hours", "summary": "the window grew",
            "expected_sha256": "0".repeat(64),
            "evidence": [{ "kind": "tool_result", "summary": "read in the service's configuration" }],
        }))
        .answer::<SavedView>(StatusCode::OK, "Patched", saved_example("updated"))
        .problems(&[NOT_FOUND, CONFLICT, STALE, REFUSED, (StatusCode::PRECONDITION_REQUIRED, "Neither `If-Match` nor `expected_sha256`")])
        .once()
}

async fn patch(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    conditions: Preconditions,
    Sent(body): Sent<PatchBody>,
) -> Result<Response, Problem> {
    let in_headers = conditions.if_match.is_some();
    let patched = app
        .call("patch", move |engine| {
            let expected_sha256 = match (body.expected_sha256, in_headers) {
                (Some(_), true) => {
                    return Err(Problem::bad_request(
                        "shape.precondition",
                        "say what you read once: in `If-Match` or in `expected_sha256`",
                    ));
                }
                (Some(expected), false) => expected,
                (None, true) => {
                    let current = engine.locate(&who.caller, &Reference::Id(memory))?;
                    conditions.check(&current)?;
                    current.sha256
                }
                (None, false) => {
                    let message = "say what you read: `If-Match` with its ETag, or `expected_sha256`";
                    return Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "http.precondition_required", message));
                }
            };
            let evidence = body.evidence.into_iter().map(Into::into).collect();
            let patch = Patch { memory, expected_sha256, content: body.content, summary: body.summary, evidence };
            match engine.patch(&who.caller, patch)? {
                Patched::Saved(memory) => Ok(memory),
                Patched::Refused(refusal) => Err(refusal.into()),
            }
        })
        .await
        .map_err(|problem| if in_headers { problem.into_precondition() } else { problem })?;
    telemetry::about(&patched);
    Ok(tagged(StatusCode::OK, patched.version, SavedView::changed(&patched, "updated")))
}

fn histories() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/memories/{id}/history", "history", history)
        .says(TAG, "A memory's history", "Its versions, newest first.")
        .query::<HistoryParams>()
        .answer::<Page<VersionView>>(StatusCode::OK, "Versions", json!({ "items": [] }))
        .problems(&[NOT_FOUND])
}

async fn history(
    State(app): State<App>,
    who: Who,
    Named(id): MemoryName,
    Params(params): Params<HistoryParams>,
) -> Result<Json<Page<VersionView>>, Problem> {
    let below = params.below.and_then(|number| u32::try_from(number).ok());
    let work = move |engine: &Engine| Ok(engine.history(&who.caller, &Reference::Id(id), below, params.limit)?);
    let versions = app.call("history", work).await?;
    Ok(Json(Page::whole(versions.into_iter().map(VersionView::from).collect())))
}

fn versions() -> Endpoint {
    Endpoint::new(Method::GET, "/v1/versions/{id}", "version", version)
        .says(TAG, "One version", "A memory as it stood, who changed it and why.")
        .answer::<VersionView>(StatusCode::OK, "The version", Value::Null)
        .problems(&[NOT_FOUND])
}

async fn version(State(app): State<App>, who: Who, Named(id): Named<VersionId>) -> Result<Response, Problem> {
    let version = app.call("version", move |engine| Ok(engine.version(&who.caller, id)?)).await?;
    Ok(tagged(StatusCode::OK, version.id, VersionView::from(version)).into_response())
}

pub(super) const EXAMPLE_ID: &str = "01980000-0000-7000-8000-000000000001";
const EXAMPLE_VERSION: &str = "01980000-0000-7000-8000-000000000002";
const EXAMPLE_SHA256: &str = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e";

pub(super) fn saved_example(outcome: &str) -> Value {
    json!({
        "outcome": outcome, "id": EXAMPLE_ID, "version": EXAMPLE_VERSION, "version_number": 1,
        "store": "conversation_memory", "scope": { "kind": "conversation", "conversation": "c-1" },
        "path": "services/billing", "sha256": EXAMPLE_SHA256, "state": "active", "trust": "agent_draft",
        "expires_at": null, "deduped_by": null, "near": null, "warnings": [],
    })
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
