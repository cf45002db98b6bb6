//! Redacting, taking back, holding back; and where a memory comes from.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::model::memory::Memory;
use engine::{Engine, Quarantined, Redacted, Redaction, RolledBack};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryName, Named, Sent};
use crate::problem::Problem;
use crate::wire::govern::{
    LineageView, QuarantineBody, QuarantinedView, RedactBody, RedactedView, RollbackBody, RolledBackView,
};
use crate::wire::memory::{MemoryView, SavedView};

const TAG: &str = "governance";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let deed = |endpoint: Endpoint| endpoint.problems(&[NOT_FOUND, CONFLICT]).once();
    vec![
        deed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/redact", "redact", redact)
                .says(TAG, "Redact a memory", "Erases what it said from every version, the index and the vector; who, when and why remain, with a certificate.")
                .body::<RedactBody>(json!({ "reason": "holds a customer's name" }))
                .answer::<RedactedView>(StatusCode::OK, "Redacted", Value::Null),
        ),
        deed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/rollback", "rollback", rollback)
                .says(TAG, "Roll a memory back", "Tombstones an active memory; on request what it replaced stands again: the memories it superseded, or, where it was a new version of what stood there, the version before, in the same memory. `not_restored` says what does not, and why.")
                .body::<RollbackBody>(json!({ "restore": true, "reason": "it was wrong" }))
                .answer::<RolledBackView>(StatusCode::OK, "Rolled back", Value::Null),
        ),
        deed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/quarantine", "quarantine", quarantine)
                .says(TAG, "Hold a memory back", "And, on request, everything derived from it. Reviewers only.")
                .body::<QuarantineBody>(json!({ "derived": true, "reason": "a poisoned source" }))
                .answer::<QuarantinedView>(StatusCode::OK, "Held back", json!({ "memories": [], "reached": [] })),
        ),
        deed(
            Endpoint::new(Method::POST, "/v1/memories/{id}/release", "release", release)
                .says(TAG, "Let go of what was held back", "Reviewers only.")
                .body::<QuarantineBody>(json!({ "reason": "checked" }))
                .answer::<QuarantinedView>(StatusCode::OK, "Let go", json!({ "memories": [], "reached": [] })),
        ),
        Endpoint::new(Method::GET, "/v1/memories/{id}/lineage", "lineage", lineage)
            .says(TAG, "Where a memory comes from", "What it was made from, and what was made from it.")
            .answer::<LineageView>(StatusCode::OK, "Lineage", json!({ "sources": [], "derived": [] }))
            .problems(&[NOT_FOUND]),
    ]
}

fn views(memories: &[Memory], outcome: &str) -> Vec<SavedView> {
    memories.iter().map(|memory| SavedView::changed(memory, outcome)).collect()
}

async fn redact(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<RedactBody>,
) -> Result<Json<RedactedView>, Problem> {
    let redaction = Redaction { memory, versions: body.versions, reason: body.reason, may_return: body.may_return };
    match app.call("redact", move |engine| Ok(engine.redact(&who.caller, &redaction)?)).await? {
        Redacted::Done(done) => Ok(Json(RedactedView {
            memory: SavedView::changed(&done.memory, "redacted"),
            versions: done.versions,
            certificate: done.certificate,
            held_back: done.held_back,
        })),
        Redacted::Refused(refusal) => Err(refusal.into()),
    }
}

async fn rollback(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<RollbackBody>,
) -> Result<Json<RolledBackView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.rollback(&who.caller, memory, body.restore, body.reason.as_deref())?);
    match app.call("rollback", work).await? {
        RolledBack::Done(done) => Ok(Json(RolledBackView {
            memory: SavedView::changed(&done.memory, "rolled_back"),
            restored: views(&done.restored, "restored"),
            not_restored: done.not_restored.iter().map(|(id, why)| format!("{id}: {why}")).collect(),
        })),
        RolledBack::Refused(refusal) => Err(refusal.into()),
    }
}

async fn quarantine(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<QuarantineBody>,
) -> Result<Json<QuarantinedView>, Problem> {
    let work =
        move |engine: &Engine| Ok(engine.quarantine(&who.caller, memory, body.derived, body.reason.as_deref())?);
    held(app.call("quarantine", work).await?, "quarantined")
}

async fn release(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<QuarantineBody>,
) -> Result<Json<QuarantinedView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.release(&who.caller, memory, body.reason.as_deref())?);
    held(app.call("release", work).await?, "released")
}

fn held(quarantined: Quarantined, outcome: &str) -> Result<Json<QuarantinedView>, Problem> {
    match quarantined {
        Quarantined::Done(reach) => {
            Ok(Json(QuarantinedView { memories: views(&reach.memories, outcome), reached: reach.reached }))
        }
        Quarantined::Refused(refusal) => Err(refusal.into()),
    }
}

async fn lineage(State(app): State<App>, who: Who, Named(id): MemoryName) -> Result<Json<LineageView>, Problem> {
    let lineage = app.call("lineage", move |engine| Ok(engine.lineage(&who.caller, id)?)).await?;
    let brief = |memories: Vec<Memory>| memories.into_iter().map(MemoryView::brief).collect();
    Ok(Json(LineageView { sources: brief(lineage.sources), derived: brief(lineage.derived) }))
}
