//! Stores: list, create and archive.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::stores::{NewStoreBody, StoreView};

pub(super) fn store_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/stores", "stores", list_stores)
            .with_description("stores", "List stores", "All stores, including archived ones.")
            .with_json_answer::<Page<StoreView>>(StatusCode::OK, "Stores", json!({ "items": [store_example()] })),
        Endpoint::new(Method::POST, "/v1/stores", "create_store", create_store)
            .with_description("stores", "Create a store", "Admins only.")
            .with_body::<NewStoreBody>(json!({
                "slug": "team_runbooks", "title": "Runbooks of the team", "scope": "workspace", "ruleset": "document",
                "default_trust": "admin_approved", "access": "read_only",
            }))
            .with_json_answer::<StoreView>(StatusCode::CREATED, "The store", store_example())
            .with_problems(&[CONFLICT])
            .with_idempotency_key(),
        Endpoint::new(Method::POST, "/v1/stores/{slug}/archive", "archive_store", archive_store)
            .with_description(
                "stores",
                "Archive a store",
                "Closes it to reading and writing; nothing in it is deleted. Admins only.",
            )
            .with_json_answer::<StoreView>(StatusCode::OK, "The store", store_example())
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn list_stores(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<StoreView>>, Problem> {
    let stores = app.entrance.call("stores", move |engine| Ok(engine.stores(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(stores.into_iter().map(StoreView::from).collect())))
}

async fn create_store(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<NewStoreBody>,
) -> Result<(StatusCode, Json<StoreView>), Problem> {
    let work = move |engine: &engine::Engine| Ok(engine.create_store(&auth.caller, body.into())?);
    let store = app.entrance.call("create_store", work).await?;
    Ok((StatusCode::CREATED, Json(store.into())))
}

async fn archive_store(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(slug): PathParam<String>,
) -> Result<Json<StoreView>, Problem> {
    let store =
        app.entrance.call("archive_store", move |engine| Ok(engine.archive_store(&auth.caller, &slug)?)).await?;
    Ok(Json(store.into()))
}

fn store_example() -> Value {
    json!({
        "id": "01980000-0000-7000-8000-000000000003", "slug": "team_runbooks", "title": "Runbooks of the team",
        "scope": "workspace", "ruleset": "document", "default_trust": "admin_approved", "access": "read_only",
        "owner": "admin", "created_at": "2026-01-01T00:00:00Z", "archived_at": null,
    })
}
