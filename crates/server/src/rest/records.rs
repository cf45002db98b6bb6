//! The read-only surface of layered memory: a record by id, and search by the `layered` ranker.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::model::vocabulary::{Layer, Ranker, State as Standing};
use engine::ports::Filter;
use engine::{Query, Reference};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{NOT_FOUND, memories};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryName, Named, Params};
use crate::problem::Problem;
use crate::wire::memory::MemoryView;
use crate::wire::search::FoundView;
use crate::wire::{LayerWord, StateWord, bounded};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/memory/records/{id}", "record", record)
            .says("records", "A record", "As `GET /v1/memories/{id}`, for readers of layered memory.")
            .answer::<MemoryView>(StatusCode::OK, "The record", memories::memory_example(true))
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/memory/search", "record_search", search)
            .says("records", "Search records", "Ranked as layers are: by summary, metadata and state.")
            .query::<RecordParams>()
            .answer::<FoundView>(
                StatusCode::OK,
                "Hits, best first",
                json!({ "hits": [], "ranker": "layered", "considered": 0, "warnings": [] }),
            ),
    ]
}

/// What to look for among layered records.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RecordParams {
    query: String,
    #[schemars(with = "Vec<LayerWord>")]
    layer: Vec<Layer>,
    /// Active ones only, where none is named.
    #[schemars(with = "Vec<StateWord>")]
    state: Vec<Standing>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

async fn record(State(app): State<App>, who: Who, Named(id): MemoryName) -> Result<Json<MemoryView>, Problem> {
    let memory = app.call("read", move |engine| Ok(engine.read(&who.caller, &Reference::Id(id))?)).await?;
    Ok(Json(MemoryView::whole(memory)))
}

async fn search(
    State(app): State<App>,
    who: Who,
    Params(params): Params<RecordParams>,
) -> Result<Json<FoundView>, Problem> {
    let filter = Filter { layers: params.layer, states: params.state, ..Filter::default() };
    let query =
        Query { text: params.query, filter, limit: params.limit, ranker: Some(Ranker::Layered), ..Query::default() };
    let answer = app.call("search", move |engine| Ok(engine.search(&who.caller, &query)?)).await?;
    Ok(Json(answer.into()))
}
