//! Pipelines: which of their agents have memory, and deleting a pipeline with its memories.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use engine::tenant::pipelines::OptIn;
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::pipelines::{ErasedCountView, OptInBody, OptInView};

pub(super) fn pipeline_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/pipelines", "pipelines", list_opt_ins)
            .with_description(
                "pipelines",
                "List opt-ins",
                "The agents of each pipeline that may use memory. Admins only.",
            )
            .with_json_answer::<Page<OptInView>>(StatusCode::OK, "Opt-ins", json!({ "items": [opt_in_example()] })),
        Endpoint::new(Method::PUT, "/v1/pipelines/{pipeline}/agents/{agent}", "set_opt_in", set_opt_in)
            .with_description(
                "pipelines",
                "Turn an agent's memory on or off",
                "Turning it off keeps the saved memories. Admins only.",
            )
            .with_body::<OptInBody>(json!({ "enabled": true, "max_recall": 5 }))
            .with_json_answer::<OptInView>(StatusCode::OK, "The opt-in", opt_in_example()),
        Endpoint::new(Method::DELETE, "/v1/pipelines/{pipeline}", "delete_pipeline", delete_pipeline)
            .with_description(
                "pipelines",
                "Delete a pipeline",
                "Deletes its opt-ins, and its memories with all history. Admins only.",
            )
            .with_json_answer::<ErasedCountView>(StatusCode::OK, "Number of deleted memories", json!({ "erased": 3 }))
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn list_opt_ins(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<OptInView>>, Problem> {
    let opt_ins = app.entrance.call("pipelines", move |engine| Ok(engine.opt_ins(&auth.caller, None)?)).await?;
    Ok(Json(Page::from_items(opt_ins.into_iter().map(OptInView::from).collect())))
}

async fn set_opt_in(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    path: Result<Path<(String, String)>, axum::extract::rejection::PathRejection>,
    JsonBody(body): JsonBody<OptInBody>,
) -> Result<Json<OptInView>, Problem> {
    // `PathParam` takes one segment; this route has two.
    let Path((pipeline, agent)) =
        path.map_err(|_| Problem::bad_request("shape.name", "the names in the address cannot be read"))?;
    let work = move |engine: &engine::Engine| {
        let opt_in = OptIn {
            pipeline,
            agent,
            enabled: body.enabled,
            max_recall: body.max_recall,
            max_content_bytes: body.max_content_bytes,
            changed_at: engine.clock.now(),
        };
        Ok(engine.set_opt_in(&auth.caller, opt_in)?)
    };
    Ok(Json(app.entrance.call("set_opt_in", work).await?.into()))
}

async fn delete_pipeline(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(pipeline): PathParam<String>,
) -> Result<Json<ErasedCountView>, Problem> {
    let erased = app
        .entrance
        .call("delete_pipeline", move |engine| Ok(engine.delete_pipeline(&auth.caller, &pipeline)?))
        .await?;
    Ok(Json(ErasedCountView { erased }))
}

fn opt_in_example() -> Value {
    json!({
        "pipeline": "nightly", "agent": "triage", "enabled": true, "max_recall": 5, "max_content_bytes": null,
        "changed_at": "2026-01-01T00:00:00Z",
    })
}
