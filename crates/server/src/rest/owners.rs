//! Path owners: who reviews what, a table per store.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::owners::{OwnersBody, OwnersView};

pub(super) fn owner_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/owners", "owners", list_owners)
            .with_description("reviews", "List the owners of paths", "The table of owners of each store.")
            .with_json_answer::<Page<OwnersView>>(StatusCode::OK, "Tables", json!({ "items": [owners_example()] })),
        Endpoint::new(Method::PUT, "/v1/stores/{slug}/owners", "set_owners", set_owners)
            .with_description(
                "reviews",
                "Replace the owners of a store",
                "The last pattern that matches a path applies. With an empty table every reviewer may decide. \
                 Admins only.",
            )
            .with_body::<OwnersBody>(json!({ "rules": [{ "pattern": "nginx/**", "reviewers": ["reviewer:ana"] }] }))
            .with_json_answer::<OwnersView>(StatusCode::OK, "The table", owners_example())
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn list_owners(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<OwnersView>>, Problem> {
    let tables = app.entrance.call("owners", move |engine| Ok(engine.owners(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(tables.into_iter().map(OwnersView::from).collect())))
}

async fn set_owners(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(slug): PathParam<String>,
    JsonBody(body): JsonBody<OwnersBody>,
) -> Result<Json<OwnersView>, Problem> {
    let rules = body.rules.into_iter().map(Into::into).collect();
    let work = move |engine: &Engine| Ok(engine.set_owners(&auth.caller, &slug, rules)?);
    Ok(Json(app.entrance.call("set_owners", work).await?.into()))
}

fn owners_example() -> Value {
    json!({
        "store": "workspace_runbooks", "rules": [{ "pattern": "nginx/**", "reviewers": ["reviewer:ana"] }],
        "changed_at": "2026-01-01T00:00:00Z",
    })
}
