//! Runs: open, list, close.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::row::Paging;
use engine::{CloseRunOutcome, Engine};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND, REFUSED};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::runs::{CloseRunBody, ClosedRunView, OpenRunBody, RunParams, RunView};

const TAG: &str = "runs";

pub(super) fn run_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/runs", "runs", list_runs)
            .with_description(TAG, "List runs", "Runs that the caller opened or may read, newest first.")
            .with_query::<RunParams>()
            .with_json_answer::<Page<RunView>>(StatusCode::OK, "Runs", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/runs", "open_run", open_run)
            .with_description(TAG, "Open a run", "Its working memory lasts until it closes.")
            .with_body::<OpenRunBody>(json!({ "goal": "find out why billing stopped", "workflow": "triage" }))
            .with_json_answer::<RunView>(StatusCode::CREATED, "The run", Value::Null)
            .with_problems(&[CONFLICT]),
        Endpoint::new(Method::POST, "/v1/runs/{run}/close", "close_run", close_run)
            .with_description(
                TAG,
                "Close a run",
                "Tombstones its working memory and saves one episode; of a successful run also its procedure.",
            )
            .with_body::<CloseRunBody>(json!({ "outcome": "success", "summary": "a webhook had moved" }))
            .with_json_answer::<ClosedRunView>(StatusCode::OK, "The closed run", Value::Null)
            .with_problems(&[NOT_FOUND, CONFLICT, REFUSED]),
    ]
}

async fn list_runs(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<RunParams>,
) -> Result<Json<Page<RunView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let work = move |engine: &Engine| Ok(engine.runs(&auth.caller, params.open, &paging)?);
    Ok(Json(Page::from_record_page(app.entrance.call("runs", work).await?, |run| RunView { run })))
}

async fn open_run(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<OpenRunBody>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.open_run(&auth.caller, body.id, body.goal, body.workflow)?);
    Ok((StatusCode::CREATED, Json(RunView { run: app.entrance.call("open_run", work).await? })))
}

async fn close_run(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(run): PathParam<String>,
    JsonBody(body): JsonBody<CloseRunBody>,
) -> Result<Json<ClosedRunView>, Problem> {
    let closing = body.into_closing(run);
    match app.entrance.call("close_run", move |engine| Ok(engine.close_run(&auth.caller, &closing)?)).await? {
        CloseRunOutcome::Done(closed) => Ok(Json((*closed).into())),
        CloseRunOutcome::Refused(refusal) => Err(refusal.into()),
    }
}
