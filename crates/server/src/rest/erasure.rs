//! Erasing for good, the proof of it, and what may not return.

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
use crate::wire::erasure::{BanView, CertificateView, CheckedView, EraseBody};

const TAG: &str = "erasure";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let checked = |endpoint: Endpoint| {
        endpoint.answer::<CheckedView>(
            StatusCode::OK,
            "What was found",
            json!({ "valid": true, "sealed": true, "logged": true, "gone": true }),
        )
    };
    vec![
        Endpoint::new(Method::POST, "/v1/erasures", "erase", erase)
            .says(TAG, "Erase a user, a pipeline or the tenant", "Memories go with all their history, and a certificate stays. What a user had saved may not return, unless you say so. Admins only.")
            .body::<EraseBody>(json!({ "what": "user", "name": "ada", "reason": "asked to be forgotten" }))
            .answer::<CertificateView>(StatusCode::CREATED, "The certificate", Value::Null)
            .problems(&[NOT_FOUND])
            .once(),
        Endpoint::new(Method::GET, "/v1/certificates", "certificates", certificates)
            .says(TAG, "List certificates", "Newest first. Reviewers only.")
            .answer::<Page<CertificateView>>(StatusCode::OK, "Certificates", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/certificates/{id}", "certificate", certificate)
            .says(TAG, "One certificate", "Reviewers only.")
            .answer::<CertificateView>(StatusCode::OK, "The certificate", Value::Null)
            .problems(&[NOT_FOUND]),
        checked(Endpoint::new(Method::GET, "/v1/certificates/{id}/check", "check_certificate", check).says(
            TAG,
            "Check a certificate",
            "Against itself, the log and what can be read now. Reviewers only.",
        ))
        .problems(&[NOT_FOUND]),
        checked(
            Endpoint::new(Method::POST, "/v1/certificates/check", "check_kept_certificate", check_kept)
                .says(TAG, "Check a certificate you kept", "As it was given to you. Reviewers only.")
                .body::<CertificateView>(kept_example()),
        ),
        Endpoint::new(Method::GET, "/v1/bans", "bans", bans)
            .says(TAG, "What may not return", "When, why and where, never what; newest first. Admins only.")
            .answer::<Page<BanView>>(StatusCode::OK, "Bans", json!({ "items": [] })),
        Endpoint::new(Method::DELETE, "/v1/bans/{digest}", "lift_ban", lift)
            .says(TAG, "Let a value return", "Admins only.")
            .answer::<BanView>(StatusCode::OK, "The ban that stood", Value::Null)
            .problems(&[NOT_FOUND]),
    ]
}

async fn erase(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<EraseBody>,
) -> Result<(StatusCode, Json<CertificateView>), Problem> {
    let work =
        move |engine: &Engine| Ok(engine.erase(&who.caller, &body.what(), body.reason.clone(), body.may_return)?);
    let certificate = app.call("erase", work).await?;
    // A tenant's keys end with it.
    app.doorman.keys_changed();
    Ok((StatusCode::CREATED, Json(CertificateView { certificate })))
}

async fn certificates(State(app): State<App>, who: Who) -> Result<Json<Page<CertificateView>>, Problem> {
    let found = app.call("certificates", move |engine| Ok(engine.certificates(&who.caller)?)).await?;
    Ok(Json(Page::whole(found.into_iter().map(|certificate| CertificateView { certificate }).collect())))
}

async fn certificate(
    State(app): State<App>,
    who: Who,
    Named(id): Named<uuid::Uuid>,
) -> Result<Json<CertificateView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.certificate(&who.caller, &id.to_string())?);
    Ok(Json(CertificateView { certificate: app.call("certificate", work).await? }))
}

async fn check(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<CheckedView>, Problem> {
    let work = move |engine: &Engine| {
        let certificate = engine.certificate(&who.caller, &id.to_string())?;
        Ok(engine.verify_certificate(&who.caller, &certificate)?)
    };
    Ok(Json(CheckedView { verified: app.call("check_certificate", work).await? }))
}

async fn check_kept(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<CertificateView>,
) -> Result<Json<CheckedView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.verify_certificate(&who.caller, &body.certificate)?);
    Ok(Json(CheckedView { verified: app.call("check_certificate", work).await? }))
}

async fn bans(State(app): State<App>, who: Who) -> Result<Json<Page<BanView>>, Problem> {
    let found = app.call("bans", move |engine| Ok(engine.bans(&who.caller)?)).await?;
    Ok(Json(Page::whole(found.into_iter().map(|ban| BanView { ban }).collect())))
}

async fn lift(State(app): State<App>, who: Who, Named(digest): Named<String>) -> Result<Json<BanView>, Problem> {
    let ban = app.call("lift_ban", move |engine| Ok(engine.lift_ban(&who.caller, &digest)?)).await?;
    Ok(Json(BanView { ban }))
}

fn kept_example() -> Value {
    let digest = "0".repeat(64);
    json!({
        "id": "01980000-0000-7000-8000-000000000006", "erasure": "user", "subject": "ada", "memories": 0, "versions": 0,
        "by": "admin", "role": "admin", "why": "asked to be forgotten", "at": "2026-01-01T00:00:00Z", "erased": [],
        "digests": [], "root": digest, "seal": digest,
    })
}
