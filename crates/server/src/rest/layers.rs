//! Layered memory: proposals of profile facts and of merged memories, and the context for planning. Proposals change
//! nothing until a review approves them.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::reviews::to_proposed_response;
use super::{CONFLICT, REFUSED};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::JsonBody;
use crate::problem::Problem;
use crate::wire::layers::{GroupingBody, GroupsView, LayerContextBody, LayerContextView, ProfileBody};
use crate::wire::reviews::ProposedView;

const TAG: &str = "layers";

pub(super) fn layer_endpoints() -> Vec<Endpoint> {
    // Compact and dedup take the same body and give the same answer.
    let grouping = |endpoint: Endpoint| {
        endpoint.with_body::<GroupingBody>(json!({ "create_proposals": false })).with_json_answer::<GroupsView>(
            StatusCode::OK,
            "The result",
            json!({ "dry_run": true, "groups": [], "proposed": 0 }),
        )
    };
    vec![
        Endpoint::new(Method::POST, "/v1/layers/profile", "propose_profile", propose_profile)
            .with_description(TAG, "Propose a profile fact", "Once approved, it replaces the fact with the same key.")
            .with_body::<ProfileBody>(json!({ "key": "editor", "value": "helix", "reason": "said so twice" }))
            .with_json_answer::<ProposedView>(StatusCode::CREATED, "The new review", Value::Null)
            .with_json_answer::<ProposedView>(StatusCode::OK, "The same proposal is open already", Value::Null)
            .with_problems(&[CONFLICT, REFUSED]),
        grouping(Endpoint::new(Method::POST, "/v1/layers/compact", "compact", compact_memories).with_description(
            TAG,
            "Find semantic memories that state the same",
            "Grouped by summary, then by topic. Writes only with `create_proposals`.",
        )),
        grouping(Endpoint::new(Method::POST, "/v1/layers/dedup", "dedup", dedup_procedures).with_description(
            TAG,
            "Find procedures of the same workflow",
            "The most confident one is kept; of equals, the oldest. Writes only with `create_proposals`.",
        )),
        Endpoint::new(Method::POST, "/v1/layers/context", "layer_context", layer_context)
            .with_description(
                TAG,
                "Context for planning",
                "A few memories of the profile, procedural and semantic layers for a goal.",
            )
            .with_body::<LayerContextBody>(json!({ "goal": "move billing to the new cluster" }))
            .with_json_answer::<LayerContextView>(
                StatusCode::OK,
                "The memories",
                json!({ "profile": [], "procedural": [], "semantic": [] }),
            ),
    ]
}

async fn propose_profile(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<ProfileBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.propose_profile(&auth.caller, body.into())?);
    to_proposed_response(app.entrance.call("propose_profile", work).await?)
}

async fn compact_memories(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<GroupingBody>,
) -> Result<Json<GroupsView>, Problem> {
    let propose = body.create_proposals;
    let work = move |engine: &Engine| Ok(engine.compact(&auth.caller, body.store.as_deref(), propose)?);
    Ok(Json(GroupsView::new(app.entrance.call("compact", work).await?, propose)))
}

async fn dedup_procedures(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<GroupingBody>,
) -> Result<Json<GroupsView>, Problem> {
    let propose = body.create_proposals;
    let work = move |engine: &Engine| Ok(engine.dedup(&auth.caller, body.store.as_deref(), propose)?);
    Ok(Json(GroupsView::new(app.entrance.call("dedup", work).await?, propose)))
}

async fn layer_context(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<LayerContextBody>,
) -> Result<Json<LayerContextView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.layer_context(&auth.caller, &body.goal)?);
    Ok(Json(app.entrance.call("layer_context", work).await?.into()))
}
