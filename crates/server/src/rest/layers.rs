//! Layered memory: facts to confirm, and one memory instead of many. Always through review.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::reviews::proposed;
use super::{CONFLICT, REFUSED};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::Sent;
use crate::problem::Problem;
use crate::wire::layers::{GroupingBody, GroupsView, LayerContextView, PlanBody, ProfileBody};
use crate::wire::reviews::ProposedView;

const TAG: &str = "layers";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let grouping = |endpoint: Endpoint| {
        endpoint.body::<GroupingBody>(json!({ "create_proposals": false })).answer::<GroupsView>(
            StatusCode::OK,
            "What was found",
            json!({ "dry_run": true, "groups": [], "proposed": 0 }),
        )
    };
    vec![
        Endpoint::new(Method::POST, "/v1/layers/profile", "propose_profile", propose_profile)
            .says(
                TAG,
                "Propose a fact that should stand",
                "Confirmed, it takes the place of the one with the same key.",
            )
            .body::<ProfileBody>(json!({ "key": "editor", "value": "helix", "reason": "said so twice" }))
            .answer::<ProposedView>(StatusCode::CREATED, "Waiting", Value::Null)
            .answer::<ProposedView>(StatusCode::OK, "The same waits already", Value::Null)
            .problems(&[CONFLICT, REFUSED]),
        grouping(Endpoint::new(Method::POST, "/v1/layers/compact", "compact", compact).says(
            TAG,
            "Find semantic memories that say the same",
            "By summary, then by topic. Writes only where asked to propose.",
        )),
        grouping(Endpoint::new(Method::POST, "/v1/layers/dedup", "dedup", dedup).says(
            TAG,
            "Find procedures of one workflow",
            "The canonical one is the most confident, then the oldest. Writes only where asked to propose.",
        )),
        Endpoint::new(Method::POST, "/v1/layers/context", "layer_context", context)
            .says(TAG, "What planning is given", "A few memories of each lasting layer for a goal.")
            .body::<PlanBody>(json!({ "goal": "move billing to the new cluster" }))
            .answer::<LayerContextView>(
                StatusCode::OK,
                "The memories",
                json!({ "profile": [], "procedural": [], "semantic": [] }),
            ),
    ]
}

async fn propose_profile(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<ProfileBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    let work = move |engine: &Engine| Ok(engine.propose_profile(&who.caller, body.into())?);
    proposed(app.call("propose_profile", work).await?)
}

async fn compact(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<GroupingBody>,
) -> Result<Json<GroupsView>, Problem> {
    let propose = body.create_proposals;
    let work = move |engine: &Engine| Ok(engine.compact(&who.caller, body.store.as_deref(), propose)?);
    Ok(Json(GroupsView::new(app.call("compact", work).await?, propose)))
}

async fn dedup(State(app): State<App>, who: Who, Sent(body): Sent<GroupingBody>) -> Result<Json<GroupsView>, Problem> {
    let propose = body.create_proposals;
    let work = move |engine: &Engine| Ok(engine.dedup(&who.caller, body.store.as_deref(), propose)?);
    Ok(Json(GroupsView::new(app.call("dedup", work).await?, propose)))
}

async fn context(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<PlanBody>,
) -> Result<Json<LayerContextView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.layer_context(&who.caller, &body.goal)?);
    Ok(Json(app.call("layer_context", work).await?.into()))
}
