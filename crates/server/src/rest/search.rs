//! Search, and why a memory was or was not found.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::{NOT_FOUND, memories};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::Sent;
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::search::{DiagnosisView, FoundView, SearchBody};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/search", "search", search)
            .says("search", "Search", "The best memories for a query, among those you may see, with the parts of each score. `explain` names a memory and asks why it was or was not returned.")
            .body::<SearchBody>(json!({ "query": "how long does billing retry webhooks", "limit": 6 }))
            .answer::<FoundView>(StatusCode::OK, "Hits, best first", json!({
                "hits": [{ "score": 0.7, "parts": { "text": 0.8, "trust": 0.45 }, "memory": memories::memory_example(true) }],
                "ranker": "operational", "considered": 1, "warnings": [],
            }))
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::POST, "/v1/why-not", "diagnose", why_not)
            .says("search", "Why a memory did not come", "For the memory `explain` names: in a search, and as a candidate for the turn's context. Asking leaves no trace.")
            .body::<SearchBody>(json!({ "query": "how long does billing retry webhooks", "explain": memories::EXAMPLE_ID }))
            .answer::<DiagnosisView>(StatusCode::OK, "Why", Value::Null)
            .problems(&[NOT_FOUND]),
    ]
}

async fn search(State(app): State<App>, who: Who, Sent(body): Sent<SearchBody>) -> Result<Json<FoundView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.search(&who.caller, &body.query(engine, &who.caller)?)?);
    let answer = app.call("search", work).await?;
    telemetry::found(answer.hits.len());
    Ok(Json(answer.into()))
}

async fn why_not(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<SearchBody>,
) -> Result<Json<DiagnosisView>, Problem> {
    let missing = || Problem::bad_request("shape.explain", "name the memory in `explain`");
    let memory = body.explain.ok_or_else(missing)?;
    let work = move |engine: &Engine| Ok(engine.diagnose(&who.caller, &body.query(engine, &who.caller)?, memory)?);
    Ok(Json(DiagnosisView { diagnosis: app.call("diagnose", work).await? }))
}
