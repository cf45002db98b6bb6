//! Path owners: who reviews what, a table per store.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::reviews::{OwnersBody, OwnersView};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/owners", "owners", list)
            .says("reviews", "Who reviews which paths", "Every store's table.")
            .answer::<Page<OwnersView>>(StatusCode::OK, "Tables", json!({ "items": [example()] })),
        Endpoint::new(Method::PUT, "/v1/stores/{slug}/owners", "set_owners", set)
            .says("reviews", "Replace a store's table", "The last pattern that matches a path counts; an empty table leaves reviews to every reviewer. Admins only.")
            .body::<OwnersBody>(json!({ "rules": [{ "pattern": "nginx/**", "reviewers": ["reviewer:ana"] }] }))
            .answer::<OwnersView>(StatusCode::OK, "The table", example())
            .problems(&[NOT_FOUND]),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<OwnersView>>, Problem> {
    let tables = app.call("owners", move |engine| Ok(engine.owners(&who.caller)?)).await?;
    Ok(Json(Page::whole(tables.into_iter().map(OwnersView::from).collect())))
}

async fn set(
    State(app): State<App>,
    who: Who,
    Named(slug): Named<String>,
    Sent(body): Sent<OwnersBody>,
) -> Result<Json<OwnersView>, Problem> {
    let rules = body.rules.into_iter().map(Into::into).collect();
    let work = move |engine: &Engine| Ok(engine.set_owners(&who.caller, &slug, rules)?);
    Ok(Json(app.call("set_owners", work).await?.into()))
}

fn example() -> Value {
    json!({
        "store": "workspace_runbooks", "rules": [{ "pattern": "nginx/**", "reviewers": ["reviewer:ana"] }],
        "changed_at": "2026-01-01T00:00:00Z",
    })
}
