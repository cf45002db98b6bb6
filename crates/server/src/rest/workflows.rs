//! What steps of workflows came to: appended to, readable by the whole tenant.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use engine::ports::{Cursor, Order};
use serde_json::json;

use super::audit::{page, recorded};
use super::{REFUSED, memories};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::episodic::{EntryParams, EntryView, StepBody};
use crate::wire::memory::SavedView;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/workflows/{workflow}/steps", "record_step", record)
            .says(
                "logs",
                "Tell what a step came to",
                "The whole tenant finds it with `POST /v1/recall`. Never changed; ordinary searches leave it out.",
            )
            .body::<StepBody>(json!({
                "step": "verify", "output": "all checks passed", "completed_at": "2026-01-01T00:00:00Z",
            }))
            .answer::<SavedView>(StatusCode::CREATED, "Recorded", memories::saved_example("created"))
            .problems(&[REFUSED])
            .once(),
        Endpoint::new(Method::GET, "/v1/workflows/{workflow}/steps", "workflow_steps", list)
            .says("logs", "Read a workflow's steps", "What they came to, the last recorded first.")
            .query::<EntryParams>()
            .answer::<Page<EntryView>>(StatusCode::OK, "Steps", json!({ "items": [] })),
    ]
}

async fn record(
    State(app): State<App>,
    who: Who,
    Named(workflow): Named<String>,
    Sent(body): Sent<StepBody>,
) -> Result<(StatusCode, Json<SavedView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.record_step(&who.caller, body.of(workflow))?);
    recorded(app.call("record_step", work).await?)
}

async fn list(
    State(app): State<App>,
    who: Who,
    Named(workflow): Named<String>,
    Params(params): Params<EntryParams>,
) -> Result<Json<Page<EntryView>>, Problem> {
    let after = params.cursor.as_deref().map(|text| Cursor::read(Order::Newest, text)).transpose()?;
    let work = move |engine: &Engine| Ok(engine.workflow_steps(&who.caller, Some(&workflow), after, params.limit)?);
    Ok(Json(page(app.call("workflow_steps", work).await?)))
}
