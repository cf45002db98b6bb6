//! Search, and why a memory was or was not found.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::{NOT_FOUND, memories, remember};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::JsonBody;
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::search::{DiagnosisView, SearchBody, SearchResultView};

pub(super) fn search_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/search", "search", search_memories)
            .with_description(
                "search",
                "Search",
                "The best memories for a query among those the caller may see, with the parts of each score. \
                 `explain` takes the id of a memory and tells why it was returned or not.",
            )
            .with_body::<SearchBody>(json!({ "query": "how long does billing retry webhooks", "limit": 6 }))
            .with_json_answer::<SearchResultView>(
                StatusCode::OK,
                "Hits, best first",
                json!({
                    "hits": [{
                        "score": 0.7, "parts": { "text": 0.8, "trust": 0.45 }, "memory": memories::memory_example(true),
                    }],
                    "ranker": "operational", "considered": 1, "warnings": [],
                }),
            )
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::POST, "/v1/why-not", "diagnose", diagnose_memory)
            .with_description(
                "search",
                "Explain why a memory is not shown",
                "For the memory in `explain`: its place in a search, and as a candidate for the context of a turn. \
                 Nothing is recorded.",
            )
            .with_body::<SearchBody>(json!({
                "query": "how long does billing retry webhooks", "explain": remember::EXAMPLE_ID,
            }))
            .with_json_answer::<DiagnosisView>(StatusCode::OK, "The explanation", Value::Null)
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn search_memories(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Json<SearchResultView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.search(&auth.caller, &body.into_query(engine, &auth.caller)?)?);
    let answer = app.entrance.call("search", work).await?;
    telemetry::record_hit_count(answer.hits.len());
    Ok(Json(answer.into()))
}

async fn diagnose_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Json<DiagnosisView>, Problem> {
    let missing = || Problem::bad_request("shape.explain", "name the memory in `explain`");
    let memory = body.explain.ok_or_else(missing)?;
    let work =
        move |engine: &Engine| Ok(engine.diagnose(&auth.caller, &body.into_query(engine, &auth.caller)?, memory)?);
    Ok(Json(DiagnosisView { diagnosis: app.entrance.call("diagnose", work).await? }))
}
