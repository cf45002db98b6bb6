//! API keys: create, list, rotate and revoke. Admins only.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::admin::keys::KEY_RANDOM_BYTES;
use jiff::SignedDuration;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::keys::{IssuedKeyView, KeyView, NewKeyBody, RotateBody};

pub(super) fn key_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/keys", "keys", list_keys)
            .with_description("keys", "List keys", "Without the keys themselves, newest first. Admins only.")
            .with_json_answer::<Page<KeyView>>(StatusCode::OK, "Keys", json!({ "items": [key_example()] })),
        Endpoint::new(Method::POST, "/v1/keys", "create_key", create_key)
            .with_description("keys", "Create a key", "The key is shown only in this answer. Admins only.")
            .with_body::<NewKeyBody>(
                json!({ "name": "triage", "role": "agent", "agent": "triage", "may_set": ["conversation", "run"] }),
            )
            .with_json_answer::<IssuedKeyView>(StatusCode::CREATED, "The key and its text", issued_example()),
        Endpoint::new(Method::POST, "/v1/keys/{id}/rotate", "rotate_key", rotate_key)
            .with_description(
                "keys",
                "Rotate a key",
                "Creates a key with the same rights; the old one expires after the overlap. Admins only.",
            )
            .with_body::<RotateBody>(json!({ "overlap_seconds": 3600 }))
            .with_json_answer::<IssuedKeyView>(StatusCode::CREATED, "The new key and its text", issued_example())
            .with_problems(&[NOT_FOUND, CONFLICT]),
        Endpoint::new(Method::DELETE, "/v1/keys/{id}", "revoke_key", revoke_key)
            .with_description("keys", "Revoke a key", "It is invalid at once. Admins only.")
            .with_json_answer::<KeyView>(StatusCode::OK, "The key", key_example())
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn list_keys(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<KeyView>>, Problem> {
    let keys = app.entrance.call("keys", move |engine| Ok(engine.keys(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(keys.into_iter().map(KeyView::from).collect())))
}

async fn create_key(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<NewKeyBody>,
) -> Result<(StatusCode, Json<IssuedKeyView>), Problem> {
    let random = random_key_bytes()?;
    let issued = app
        .entrance
        .call("create_key", move |engine| Ok(engine.create_key(&auth.caller, body.into(), random)?))
        .await?;
    app.authenticator.admit_new_keys().await;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

async fn rotate_key(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
    JsonBody(body): JsonBody<RotateBody>,
) -> Result<(StatusCode, Json<IssuedKeyView>), Problem> {
    let random = random_key_bytes()?;
    let overlap = SignedDuration::from_secs(body.overlap_seconds.unwrap_or(0) as i64);
    let work = move |engine: &engine::Engine| Ok(engine.rotate_key(&auth.caller, &id.to_string(), overlap, random)?);
    let issued = app.entrance.call("rotate_key", work).await?;
    // The old key may end at once, and cached keys are not looked up again for a while.
    app.authenticator.invalidate_keys();
    Ok((StatusCode::CREATED, Json(issued.into())))
}

async fn revoke_key(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<KeyView>, Problem> {
    let key =
        app.entrance.call("revoke_key", move |engine| Ok(engine.revoke_key(&auth.caller, &id.to_string())?)).await?;
    // After the commit: a look-up in between would cache the key again.
    app.authenticator.invalidate_keys();
    Ok(Json(key.into()))
}

/// Random bytes for the text of a new key.
pub(super) fn random_key_bytes() -> Result<[u8; KEY_RANDOM_BYTES], Problem> {
    let mut bytes = [0; KEY_RANDOM_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Problem::internal())?;
    Ok(bytes)
}

fn key_example() -> Value {
    json!({
        "id": "01980000-0000-7000-8000-000000000004", "name": "triage", "prefix": "ing_AbCdEfGh", "role": "agent",
        "agent": "triage", "user": null, "pipeline": null, "unattended": false,
        "rules": { "read": true, "manage": true }, "grants": {}, "may_set": ["conversation", "run"],
        "may_confirm": false, "created_by": "admin", "created_at": "2026-01-01T00:00:00Z", "expires_at": null,
        "last_used_at": null,
        "revoked_at": null, "rotated_from": null,
    })
}

pub(super) fn issued_example() -> Value {
    json!({ "text": "ing_…", "key": key_example() })
}
