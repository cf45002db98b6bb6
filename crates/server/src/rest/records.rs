//! Layered records, read only: one by id, and search with the `layered` ranker.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::model::vocabulary::Ranker;
use engine::ports::Filter;
use engine::{MemoryReference, SearchQuery};
use serde_json::json;

use super::{NOT_FOUND, memories};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryIdParam, PathParam, QueryParams};
use crate::problem::Problem;
use crate::wire::memories::MemoryView;
use crate::wire::records::RecordParams;
use crate::wire::search::SearchResultView;

pub(super) fn record_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/memory/records/{id}", "record", show_record)
            .with_description("records", "A record", "As `GET /v1/memories/{id}`, for clients of layered memory.")
            .with_json_answer::<MemoryView>(StatusCode::OK, "The record", memories::memory_example(true))
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/memory/search", "record_search", search_records)
            .with_description("records", "Search records", "Ranked by summary, metadata and state.")
            .with_query::<RecordParams>()
            .with_json_answer::<SearchResultView>(
                StatusCode::OK,
                "Hits, best first",
                json!({ "hits": [], "ranker": "layered", "considered": 0, "warnings": [] }),
            ),
    ]
}

async fn show_record(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): MemoryIdParam,
) -> Result<Json<MemoryView>, Problem> {
    let memory =
        app.entrance.call("read", move |engine| Ok(engine.read(&auth.caller, &MemoryReference::Id(id))?)).await?;
    Ok(Json(MemoryView::with_content(memory)))
}

async fn search_records(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<RecordParams>,
) -> Result<Json<SearchResultView>, Problem> {
    let filter = Filter { layers: params.layer, states: params.state, ..Filter::default() };
    let query = SearchQuery {
        text: params.query,
        filter,
        limit: params.limit,
        // The ranker is fixed: this search is for readers of layered memory.
        ranker: Some(Ranker::Layered),
        ..SearchQuery::default()
    };
    let answer = app.entrance.call("search", move |engine| Ok(engine.search(&auth.caller, &query)?)).await?;
    Ok(Json(answer.into()))
}
