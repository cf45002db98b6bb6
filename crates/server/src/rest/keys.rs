//! Keys: create, list, rotate, revoke. Admins only.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::admin::keys::KEY_RANDOM_BYTES;
use jiff::SignedDuration;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use super::{CONFLICT, NOT_FOUND};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::keys::{IssuedView, KeyBody, KeyView, RotateBody};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/keys", "keys", list)
            .says("keys", "List keys", "Without their texts, newest first. Admins only.")
            .answer::<Page<KeyView>>(StatusCode::OK, "Keys", json!({ "items": [example()] })),
        Endpoint::new(Method::POST, "/v1/keys", "create_key", create)
            .says("keys", "Create a key", "The key's text is in the answer, this once. Admins only.")
            .body::<KeyBody>(
                json!({ "name": "triage", "role": "agent", "agent": "triage", "may_set": ["conversation", "run"] }),
            )
            .answer::<IssuedView>(StatusCode::CREATED, "The key and its text", issued_example()),
        Endpoint::new(Method::POST, "/v1/keys/{id}/rotate", "rotate_key", rotate)
            .says(
                "keys",
                "Rotate a key",
                "A new key with the same rights; the old one ends after the overlap. Admins only.",
            )
            .body::<RotateBody>(json!({ "overlap_seconds": 3600 }))
            .answer::<IssuedView>(StatusCode::CREATED, "The new key and its text", issued_example())
            .problems(&[NOT_FOUND, CONFLICT]),
        Endpoint::new(Method::DELETE, "/v1/keys/{id}", "revoke_key", revoke)
            .says("keys", "Revoke a key", "It ends now. Admins only.")
            .answer::<KeyView>(StatusCode::OK, "The key", example())
            .problems(&[NOT_FOUND]),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<KeyView>>, Problem> {
    let keys = app.call("keys", move |engine| Ok(engine.keys(&who.caller)?)).await?;
    Ok(Json(Page::whole(keys.into_iter().map(KeyView::from).collect())))
}

async fn create(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<KeyBody>,
) -> Result<(StatusCode, Json<IssuedView>), Problem> {
    let random = dice()?;
    let issued = app.call("create_key", move |engine| Ok(engine.create_key(&who.caller, body.into(), random)?)).await?;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

async fn rotate(
    State(app): State<App>,
    who: Who,
    Named(id): Named<uuid::Uuid>,
    Sent(body): Sent<RotateBody>,
) -> Result<(StatusCode, Json<IssuedView>), Problem> {
    let random = dice()?;
    let overlap = SignedDuration::from_secs(body.overlap_seconds.unwrap_or(0) as i64);
    let work = move |engine: &engine::Engine| Ok(engine.rotate_key(&who.caller, &id.to_string(), overlap, random)?);
    let issued = app.call("rotate_key", work).await?;
    app.doorman.keys_changed();
    Ok((StatusCode::CREATED, Json(issued.into())))
}

async fn revoke(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<KeyView>, Problem> {
    let key = app.call("revoke_key", move |engine| Ok(engine.revoke_key(&who.caller, &id.to_string())?)).await?;
    app.doorman.keys_changed();
    Ok(Json(key.into()))
}

/// Fresh random bytes for a key.
pub(super) fn dice() -> Result<[u8; KEY_RANDOM_BYTES], Problem> {
    let mut bytes = [0; KEY_RANDOM_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Problem::internal())?;
    Ok(bytes)
}

fn example() -> Value {
    json!({
        "id": "01980000-0000-7000-8000-000000000004", "name": "triage", "prefix": "ing_AbCdEfGh", "role": "agent",
        "agent": "triage", "user": null, "pipeline": null, "unattended": false,
        "rules": { "read": true, "manage": true }, "grants": {}, "may_set": ["conversation", "run"],
        "created_by": "admin", "created_at": "2026-01-01T00:00:00Z", "expires_at": null, "last_used_at": null,
        "revoked_at": null, "rotated_from": null,
    })
}

pub(super) fn issued_example() -> Value {
    json!({ "text": "ing_…", "key": example() })
}
