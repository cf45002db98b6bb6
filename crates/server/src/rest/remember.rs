//! Saves and patches of memories.

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use engine::model::memory::Draft;
use engine::{Engine, MemoryReference, Patch, PatchOutcome, Remembered, SaveOutcome, SavedMemory};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND, REFUSED, STALE, json_with_etag};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{FastJsonBody, JsonBody, MemoryIdParam, PathParam, Preconditions};
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::remember::{PatchBody, RememberBody, SavedView};

pub(super) fn remember_endpoints() -> Vec<Endpoint> {
    vec![remember_endpoint(), patch_endpoint()]
}

const TAG: &str = "memories";
pub(super) const IF_MATCH: (&str, &str) =
    ("If-Match", "Expected current version id (the ETag) or content sha256; 412 if it differs");

fn remember_endpoint() -> Endpoint {
    Endpoint::new(Method::POST, "/v1/memories", "remember", remember_memory)
        .with_description(
            TAG,
            "Save a memory",
            "Saving to the same path again makes a new version; `outcome` is `created`, `updated` or `unchanged`. \
             Policy refuses with 403, the scanner and missing evidence with 422. Refused content is not stored.",
        )
        .with_header("If-None-Match", "`*`: save only if no memory exists at the path")
        .with_header(IF_MATCH.0, IF_MATCH.1)
        .with_body::<RememberBody>(json!({
            "store": "conversation_memory", "path": "services/billing", "kind": "service_context",
            "content": "billing retries failed webhooks for 24 hours",
            "evidence": [{ "kind": "tool_result", "summary": "read in the service's configuration" }],
        }))
        .with_json_answer::<SavedView>(StatusCode::CREATED, "Created", saved_example("created"))
        .with_json_answer::<SavedView>(StatusCode::OK, "Updated or unchanged", saved_example("updated"))
        .with_problems(&[NOT_FOUND, CONFLICT, STALE, REFUSED])
        .with_idempotency_key()
}

async fn remember_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    conditions: Preconditions,
    FastJsonBody(body): FastJsonBody<RememberBody>,
) -> Result<Response, Problem> {
    let create_only = conditions.is_create_only();
    // A condition that came in a header fails with 412, one that came in the body with 409.
    let in_headers = create_only || conditions.if_match.is_some();
    // Boxed: the draft lives across awaits, and a large future would be copied at each of them.
    let draft = Box::new(Draft { create_only, ..Draft::from(body) });
    let saved = save_draft(&app, auth, conditions, draft)
        .await
        .map_err(|problem| if in_headers { problem.into_precondition_failed() } else { problem })?;
    telemetry::record_memory(&saved.memory);
    let status = if saved.outcome == SaveOutcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json_with_etag(status, saved.memory.version, SavedView::new(&saved));
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/memories/{}", saved.memory.id)) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

async fn save_draft(
    app: &App,
    auth: AuthenticatedCaller,
    conditions: Preconditions,
    mut draft: Box<Draft>,
) -> Result<Box<SavedMemory>, Problem> {
    if conditions.if_match.is_some() {
        let path = draft
            .path
            .clone()
            .ok_or_else(|| Problem::bad_request("shape.path", "`If-Match` on a save needs a path to compare at"))?;
        let reference = MemoryReference::Path { store: Some(draft.store.clone()), path };
        // `If-Match` on a path that does not exist fails as a condition, not as 404.
        let nothing =
            |_| Problem::new(StatusCode::PRECONDITION_FAILED, "conflict.nothing_there", "nothing stands at this path");
        let caller = auth.caller.clone();
        let read = move |engine: &Engine| engine.locate(&caller, &reference).map_err(nothing);
        let current = Box::pin(app.entrance.call("read", read)).await?;
        conditions.check_if_match(&current)?;
        // Checked again inside the commit: the memory may change between this read and the save.
        draft.expected_sha256 = Some(current.sha256);
    }
    match app.entrance.remember(auth.caller, draft).await? {
        Remembered::Saved(saved) => Ok(saved),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

fn patch_endpoint() -> Endpoint {
    Endpoint::new(Method::PATCH, "/v1/memories/{id}", "patch", patch_memory)
        .with_description(
            TAG,
            "Patch a memory",
            "Replaces the content if it is still what the caller read. Send the ETag in `If-Match` (412 if it \
                 changed) or the hash in `expected_sha256` (409 with the current memory).",
        )
        .with_header(IF_MATCH.0, IF_MATCH.1)
        .with_body::<PatchBody>(json!({
            "content": "billing retries failed webhooks for 48 hours", "summary": "the window grew",
            "expected_sha256": "0".repeat(64),
            "evidence": [{ "kind": "tool_result", "summary": "read in the service's configuration" }],
        }))
        .with_json_answer::<SavedView>(StatusCode::OK, "Patched", saved_example("updated"))
        .with_problems(&[
            NOT_FOUND,
            CONFLICT,
            STALE,
            REFUSED,
            (StatusCode::PRECONDITION_REQUIRED, "Neither `If-Match` nor `expected_sha256`"),
        ])
        .with_idempotency_key()
}

async fn patch_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    conditions: Preconditions,
    JsonBody(body): JsonBody<PatchBody>,
) -> Result<Response, Problem> {
    let in_headers = conditions.if_match.is_some();
    let (patched, view) = app
        .entrance
        .call("patch", move |engine| {
            let expected_sha256 = match (body.expected_sha256, in_headers) {
                // Two conditions could contradict each other.
                (Some(_), true) => {
                    return Err(Problem::bad_request(
                        "shape.precondition",
                        "say what you read once: in `If-Match` or in `expected_sha256`",
                    ));
                }
                (Some(expected), false) => expected,
                // An ETag is turned into the sha256 that the engine checks.
                (None, true) => {
                    let current = engine.locate(&auth.caller, &MemoryReference::Id(memory))?;
                    conditions.check_if_match(&current)?;
                    current.sha256
                }
                // 428 (RFC 6585): without a condition a patch could overwrite a version that the caller never saw.
                (None, false) => {
                    let message = "say what you read: `If-Match` with its ETag, or `expected_sha256`";
                    return Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "http.precondition_required", message));
                }
            };
            let evidence = body.evidence.into_iter().map(Into::into).collect();
            let patch = Patch { memory, expected_sha256, content: body.content, summary: body.summary, evidence };
            match engine.patch(&auth.caller, patch)? {
                PatchOutcome::Saved(memory) => {
                    let view = SavedView::from_memory(&memory, "updated");
                    Ok((memory, view))
                }
                PatchOutcome::Proposed(saved) => {
                    let view = SavedView::new(&saved);
                    Ok((Box::new(saved.memory), view))
                }
                PatchOutcome::Refused(refusal) => Err(refusal.into()),
            }
        })
        .await
        .map_err(|problem| if in_headers { problem.into_precondition_failed() } else { problem })?;
    telemetry::record_memory(&patched);
    Ok(json_with_etag(StatusCode::OK, patched.version, view))
}

pub(super) const EXAMPLE_ID: &str = "01980000-0000-7000-8000-000000000001";
pub(super) const EXAMPLE_VERSION: &str = "01980000-0000-7000-8000-000000000002";
pub(super) const EXAMPLE_SHA256: &str = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e";

pub(super) fn saved_example(outcome: &str) -> Value {
    json!({
        "outcome": outcome, "id": EXAMPLE_ID, "version": EXAMPLE_VERSION, "version_number": 1,
        "store": "conversation_memory", "scope": { "kind": "conversation", "conversation": "c-1" },
        "path": "services/billing", "sha256": EXAMPLE_SHA256, "state": "active", "trust": "agent_draft",
        "expires_at": null, "deduped_by": null, "near": null, "warnings": [],
    })
}
