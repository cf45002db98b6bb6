//! Stores: list, create, archive.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::stores::{StoreBody, StoreView};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/stores", "stores", list)
            .says("stores", "List stores", "All of them, archived ones too.")
            .answer::<Page<StoreView>>(StatusCode::OK, "Stores", json!({ "items": [example()] })),
        Endpoint::new(Method::POST, "/v1/stores", "create_store", create)
            .says("stores", "Create a store", "Admins only.")
            .body::<StoreBody>(json!({
                "slug": "team_runbooks", "title": "Runbooks of the team", "scope": "workspace", "ruleset": "document",
                "default_trust": "admin_approved", "access": "read_only",
            }))
            .answer::<StoreView>(StatusCode::CREATED, "The store", example())
            .problems(&[CONFLICT])
            .once(),
        Endpoint::new(Method::POST, "/v1/stores/{slug}/archive", "archive_store", archive)
            .says(
                "stores",
                "Archive a store",
                "Closes it to reading and writing; nothing in it is deleted. Admins only.",
            )
            .answer::<StoreView>(StatusCode::OK, "The store", example())
            .problems(&[NOT_FOUND]),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<StoreView>>, Problem> {
    let stores = app.call("stores", move |engine| Ok(engine.stores(&who.caller)?)).await?;
    Ok(Json(Page::whole(stores.into_iter().map(StoreView::from).collect())))
}

async fn create(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<StoreBody>,
) -> Result<(StatusCode, Json<StoreView>), Problem> {
    let work = move |engine: &engine::Engine| Ok(engine.create_store(&who.caller, body.into())?);
    let store = app.call("create_store", work).await?;
    Ok((StatusCode::CREATED, Json(store.into())))
}

async fn archive(State(app): State<App>, who: Who, Named(slug): Named<String>) -> Result<Json<StoreView>, Problem> {
    let store = app.call("archive_store", move |engine| Ok(engine.archive_store(&who.caller, &slug)?)).await?;
    Ok(Json(store.into()))
}

fn example() -> Value {
    json!({
        "id": "01980000-0000-7000-8000-000000000003", "slug": "team_runbooks", "title": "Runbooks of the team",
        "scope": "workspace", "ruleset": "document", "default_trust": "admin_approved", "access": "read_only",
        "owner": "admin", "created_at": "2026-01-01T00:00:00Z", "archived_at": null,
    })
}
