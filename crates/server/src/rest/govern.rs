//! Redaction, rollback and quarantine of a memory, and its lineage.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::model::memory::Memory;
use engine::{Engine, QuarantineOutcome, RedactionOutcome, RedactionRequest, RollbackOutcome};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, MemoryIdParam, PathParam};
use crate::problem::Problem;
use crate::wire::govern::{
    LineageView, QuarantineBody, QuarantinedView, RedactBody, RedactedView, RollbackBody, RolledBackView,
};
use crate::wire::memories::MemoryView;
use crate::wire::remember::SavedView;

const TAG: &str = "governance";

pub(super) fn governance_endpoints() -> Vec<Endpoint> {
    // All four change a memory that must exist and be in the right state.
    let governed = |endpoint: Endpoint| endpoint.with_problems(&[NOT_FOUND, CONFLICT]).with_idempotency_key();
    vec![
        governed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/redact", "redact", redact_memory)
                .with_description(
                    TAG,
                    "Redact a memory",
                    "Erases its text from every version, the word index and the vector. Author, time and reason \
                 remain, with a certificate.",
                )
                .with_body::<RedactBody>(json!({ "reason": "holds a customer's name" }))
                .with_json_answer::<RedactedView>(StatusCode::OK, "Redacted", Value::Null),
        ),
        governed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/rollback", "rollback", roll_back_memory)
                .with_description(
                    TAG,
                    "Roll a memory back",
                    "Tombstones an active memory. With `restore`, restores what it replaced: the memories it \
                 superseded, or its own previous version. `not_restored` lists what could not be restored, and \
                 why.",
                )
                .with_body::<RollbackBody>(json!({ "restore": true, "reason": "it was wrong" }))
                .with_json_answer::<RolledBackView>(StatusCode::OK, "Rolled back", Value::Null),
        ),
        governed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/quarantine", "quarantine", quarantine_memory)
                .with_description(
                    TAG,
                    "Quarantine a memory",
                    "With `derived`, also all memories derived from it. Reviewers only.",
                )
                .with_body::<QuarantineBody>(json!({ "derived": true, "reason": "a poisoned source" }))
                .with_json_answer::<QuarantinedView>(
                    StatusCode::OK,
                    "Quarantined memories",
                    json!({ "memories": [], "reached": [] }),
                ),
        ),
        governed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/release", "release", release_memory)
                .with_description(TAG, "Release a quarantine", "Reviewers only.")
                .with_body::<QuarantineBody>(json!({ "reason": "checked" }))
                .with_json_answer::<QuarantinedView>(
                    StatusCode::OK,
                    "Released memories",
                    json!({ "memories": [], "reached": [] }),
                ),
        ),
        Endpoint::new(Method::GET, "/v1/memories/{id}/lineage", "lineage", show_lineage)
            .with_description(TAG, "Lineage of a memory", "Its sources and the memories derived from it.")
            .with_json_answer::<LineageView>(StatusCode::OK, "Lineage", json!({ "sources": [], "derived": [] }))
            .with_problems(&[NOT_FOUND]),
    ]
}

fn saved_views(memories: &[Memory], outcome: &str) -> Vec<SavedView> {
    memories.iter().map(|memory| SavedView::from_memory(memory, outcome)).collect()
}

async fn redact_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    JsonBody(body): JsonBody<RedactBody>,
) -> Result<Json<RedactedView>, Problem> {
    let redaction =
        RedactionRequest { memory, versions: body.versions, reason: body.reason, may_return: body.may_return };
    match app.entrance.call("redact", move |engine| Ok(engine.redact(&auth.caller, &redaction)?)).await? {
        RedactionOutcome::Done(done) => Ok(Json(RedactedView {
            memory: SavedView::from_memory(&done.memory, "redacted"),
            versions: done.versions,
            certificate: done.certificate,
            held_back: done.held_back,
        })),
        RedactionOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

async fn roll_back_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    JsonBody(body): JsonBody<RollbackBody>,
) -> Result<Json<RolledBackView>, Problem> {
    let work =
        move |engine: &Engine| Ok(engine.rollback(&auth.caller, memory, body.restore, body.reason.as_deref())?);
    match app.entrance.call("rollback", work).await? {
        RollbackOutcome::Done(done) => Ok(Json(RolledBackView {
            memory: SavedView::from_memory(&done.memory, "rolled_back"),
            restored: saved_views(&done.restored, "restored"),
            not_restored: done.not_restored.iter().map(|(id, why)| format!("{id}: {why}")).collect(),
        })),
        RollbackOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

async fn quarantine_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    JsonBody(body): JsonBody<QuarantineBody>,
) -> Result<Json<QuarantinedView>, Problem> {
    let work =
        move |engine: &Engine| Ok(engine.quarantine(&auth.caller, memory, body.derived, body.reason.as_deref())?);
    to_quarantined_view(app.entrance.call("quarantine", work).await?, "quarantined")
}

async fn release_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    JsonBody(body): JsonBody<QuarantineBody>,
) -> Result<Json<QuarantinedView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.release(&auth.caller, memory, body.reason.as_deref())?);
    to_quarantined_view(app.entrance.call("release", work).await?, "released")
}

fn to_quarantined_view(quarantined: QuarantineOutcome, outcome: &str) -> Result<Json<QuarantinedView>, Problem> {
    match quarantined {
        QuarantineOutcome::Done(reach) => {
            Ok(Json(QuarantinedView { memories: saved_views(&reach.memories, outcome), reached: reach.reached }))
        }
        QuarantineOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

async fn show_lineage(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): MemoryIdParam,
) -> Result<Json<LineageView>, Problem> {
    let lineage = app.entrance.call("lineage", move |engine| Ok(engine.lineage(&auth.caller, id)?)).await?;
    let brief = |memories: Vec<Memory>| memories.into_iter().map(MemoryView::without_content).collect();
    Ok(Json(LineageView { sources: brief(lineage.sources), derived: brief(lineage.derived) }))
}
