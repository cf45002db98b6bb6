//! Outputs of workflow steps: append-only, readable by the whole tenant.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::json;

use super::audit::{to_entry_page, to_saved_response};
use super::{REFUSED, remember};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::audit::{EntryParams, LogEntryView};
use crate::wire::remember::SavedView;
use crate::wire::workflows::WorkflowStepBody;

pub(super) fn workflow_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/workflows/{workflow}/steps", "record_step", record_step)
            .with_description(
                "logs",
                "Record the output of a step",
                "The whole tenant finds it with `POST /v1/recall`; ordinary searches leave it out. Steps cannot be \
                 changed.",
            )
            .with_body::<WorkflowStepBody>(json!({
                "step": "verify", "output": "all checks passed", "completed_at": "2026-01-01T00:00:00Z",
            }))
            .with_json_answer::<SavedView>(StatusCode::CREATED, "Recorded", remember::saved_example("created"))
            .with_problems(&[REFUSED])
            .with_idempotency_key(),
        Endpoint::new(Method::GET, "/v1/workflows/{workflow}/steps", "workflow_steps", list_workflow_steps)
            .with_description("logs", "List the steps of a workflow", "Steps with their outputs, newest first.")
            .with_query::<EntryParams>()
            .with_json_answer::<Page<LogEntryView>>(StatusCode::OK, "Steps", json!({ "items": [] })),
    ]
}

async fn record_step(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(workflow): PathParam<String>,
    JsonBody(body): JsonBody<WorkflowStepBody>,
) -> Result<(StatusCode, Json<SavedView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.record_step(&auth.caller, body.into_step_output(workflow))?);
    to_saved_response(app.entrance.call("record_step", work).await?)
}

async fn list_workflow_steps(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(workflow): PathParam<String>,
    QueryParams(params): QueryParams<EntryParams>,
) -> Result<Json<Page<LogEntryView>>, Problem> {
    let after = params.parse_cursor()?;
    let work = move |engine: &Engine| Ok(engine.workflow_steps(&auth.caller, Some(&workflow), after, params.limit)?);
    Ok(Json(to_entry_page(app.entrance.call("workflow_steps", work).await?)))
}
