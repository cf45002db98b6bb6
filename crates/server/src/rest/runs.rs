//! Runs: open, list, close.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::row::Paging;
use engine::{Engine, RunClosed};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND, REFUSED};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::runs::{CloseRunBody, ClosedView, OpenRunBody, RunParams, RunView};

const TAG: &str = "runs";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/runs", "runs", list)
            .says(TAG, "List runs", "Those you opened or may look into, newest first.")
            .query::<RunParams>()
            .answer::<Page<RunView>>(StatusCode::OK, "Runs", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/runs", "open_run", open)
            .says(TAG, "Open a run", "Its working memory lasts until it closes.")
            .body::<OpenRunBody>(json!({ "goal": "find out why billing stopped", "workflow": "triage" }))
            .answer::<RunView>(StatusCode::CREATED, "The run", Value::Null)
            .problems(&[CONFLICT]),
        Endpoint::new(Method::POST, "/v1/runs/{run}/close", "close_run", close)
            .says(
                TAG,
                "Close a run",
                "Its working memory goes, one episode stays, and of a success also how it was done.",
            )
            .body::<CloseRunBody>(json!({ "outcome": "success", "summary": "a webhook had moved" }))
            .answer::<ClosedView>(StatusCode::OK, "What it left", Value::Null)
            .problems(&[NOT_FOUND, CONFLICT, REFUSED]),
    ]
}

async fn list(
    State(app): State<App>,
    who: Who,
    Params(params): Params<RunParams>,
) -> Result<Json<Page<RunView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let work = move |engine: &Engine| Ok(engine.runs(&who.caller, params.open, &paging)?);
    Ok(Json(Page::of(app.call("runs", work).await?, |run| RunView { run })))
}

async fn open(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<OpenRunBody>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.open_run(&who.caller, body.id, body.goal, body.workflow)?);
    Ok((StatusCode::CREATED, Json(RunView { run: app.call("open_run", work).await? })))
}

async fn close(
    State(app): State<App>,
    who: Who,
    Named(run): Named<String>,
    Sent(body): Sent<CloseRunBody>,
) -> Result<Json<ClosedView>, Problem> {
    let closing = body.closing(run);
    match app.call("close_run", move |engine| Ok(engine.close_run(&who.caller, &closing)?)).await? {
        RunClosed::Done(closed) => Ok(Json((*closed).into())),
        RunClosed::Refused(refusal) => Err(refusal.into()),
    }
}
