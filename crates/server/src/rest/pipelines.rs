//! Pipelines: which agent of which has memory.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use engine::tenant::pipelines::OptIn;
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::pipelines::{ErasedView, OptInBody, OptInView};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/pipelines", "pipelines", list)
            .says("pipelines", "List opt-ins", "Which agent of which pipeline has memory. Admins only.")
            .answer::<Page<OptInView>>(StatusCode::OK, "Opt-ins", json!({ "items": [example()] })),
        Endpoint::new(Method::PUT, "/v1/pipelines/{pipeline}/agents/{agent}", "set_opt_in", set)
            .says("pipelines", "Turn an agent's memory on or off", "Turning it off keeps what was saved. Admins only.")
            .body::<OptInBody>(json!({ "enabled": true, "max_recall": 5 }))
            .answer::<OptInView>(StatusCode::OK, "The opt-in", example()),
        Endpoint::new(Method::DELETE, "/v1/pipelines/{pipeline}", "delete_pipeline", delete)
            .says("pipelines", "Delete a pipeline", "Its opt-ins and, with all history, its memories. Admins only.")
            .answer::<ErasedView>(StatusCode::OK, "How many memories went", json!({ "erased": 3 }))
            .problems(&[NOT_FOUND]),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<OptInView>>, Problem> {
    let opt_ins = app.call("pipelines", move |engine| Ok(engine.opt_ins(&who.caller, None)?)).await?;
    Ok(Json(Page::whole(opt_ins.into_iter().map(OptInView::from).collect())))
}

async fn set(
    State(app): State<App>,
    who: Who,
    path: Result<Path<(String, String)>, axum::extract::rejection::PathRejection>,
    Sent(body): Sent<OptInBody>,
) -> Result<Json<OptInView>, Problem> {
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
        Ok(engine.set_opt_in(&who.caller, opt_in)?)
    };
    Ok(Json(app.call("set_opt_in", work).await?.into()))
}

async fn delete(State(app): State<App>, who: Who, Named(pipeline): Named<String>) -> Result<Json<ErasedView>, Problem> {
    let erased = app.call("delete_pipeline", move |engine| Ok(engine.delete_pipeline(&who.caller, &pipeline)?)).await?;
    Ok(Json(ErasedView { erased }))
}

fn example() -> Value {
    json!({
        "pipeline": "nightly", "agent": "triage", "enabled": true, "max_recall": 5, "max_content_bytes": null,
        "changed_at": "2026-01-01T00:00:00Z",
    })
}
