//! Erasure of users, projects, pipelines and tenants, its certificates, and bans on erased values.

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
use crate::wire::erasure::{BanView, CertificateView, CheckedCertificateView, EraseBody};

const TAG: &str = "erasure";

pub(super) fn erasure_endpoints() -> Vec<Endpoint> {
    // Both checks give the same answer.
    let checked = |endpoint: Endpoint| {
        endpoint.with_json_answer::<CheckedCertificateView>(
            StatusCode::OK,
            "The result",
            json!({ "valid": true, "sealed": true, "logged": true, "gone": true }),
        )
    };
    vec![
        Endpoint::new(Method::POST, "/v1/erasures", "erase", erase_subject)
            .with_description(
                TAG,
                "Erase a user, a project, a pipeline or the tenant",
                "Deletes memories with all their history and keeps a certificate. The texts of a user are banned, \
                 unless `may_return` is set. Admins only.",
            )
            .with_body::<EraseBody>(json!({ "what": "user", "name": "ada", "reason": "asked to be forgotten" }))
            .with_json_answer::<CertificateView>(StatusCode::CREATED, "The certificate", Value::Null)
            .with_problems(&[NOT_FOUND])
            .with_idempotency_key(),
        Endpoint::new(Method::GET, "/v1/certificates", "certificates", list_certificates)
            .with_description(TAG, "List certificates", "Newest first. Reviewers only.")
            .with_json_answer::<Page<CertificateView>>(StatusCode::OK, "Certificates", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/certificates/{id}", "certificate", show_certificate)
            .with_description(TAG, "One certificate", "Reviewers only.")
            .with_json_answer::<CertificateView>(StatusCode::OK, "The certificate", Value::Null)
            .with_problems(&[NOT_FOUND]),
        checked(
            Endpoint::new(Method::GET, "/v1/certificates/{id}/check", "check_certificate", check_certificate)
                .with_description(
                    TAG,
                    "Check a certificate",
                    "Compares it with its seal, the event log and the stored content. Reviewers only.",
                ),
        )
        .with_problems(&[NOT_FOUND]),
        checked(
            Endpoint::new(Method::POST, "/v1/certificates/check", "check_kept_certificate", check_kept_certificate)
                .with_description(
                    TAG,
                    "Check a certificate from a file",
                    "Send the certificate unchanged. Reviewers only.",
                )
                .with_body::<CertificateView>(certificate_example()),
        ),
        Endpoint::new(Method::GET, "/v1/bans", "bans", list_bans)
            .with_description(
                TAG,
                "List bans",
                "Each with its time, reason and scope, never the text; newest first. Admins only.",
            )
            .with_json_answer::<Page<BanView>>(StatusCode::OK, "Bans", json!({ "items": [] })),
        Endpoint::new(Method::DELETE, "/v1/bans/{digest}", "lift_ban", lift_ban)
            .with_description(TAG, "Lift a ban", "Admins only.")
            .with_json_answer::<BanView>(StatusCode::OK, "The lifted ban", Value::Null)
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn erase_subject(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<EraseBody>,
) -> Result<(StatusCode, Json<CertificateView>), Problem> {
    let work = move |engine: &Engine| {
        Ok(engine.erase(&auth.caller, &body.to_erase_target(), body.reason.clone(), body.may_return)?)
    };
    let certificate = app.entrance.call("erase", work).await?;
    // Erasing a tenant revokes its keys, which may still be cached.
    app.authenticator.invalidate_keys();
    Ok((StatusCode::CREATED, Json(CertificateView { certificate })))
}

async fn list_certificates(
    State(app): State<App>,
    auth: AuthenticatedCaller,
) -> Result<Json<Page<CertificateView>>, Problem> {
    let found = app.entrance.call("certificates", move |engine| Ok(engine.certificates(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(found.into_iter().map(|certificate| CertificateView { certificate }).collect())))
}

async fn show_certificate(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<CertificateView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.certificate(&auth.caller, &id.to_string())?);
    Ok(Json(CertificateView { certificate: app.entrance.call("certificate", work).await? }))
}

async fn check_certificate(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<CheckedCertificateView>, Problem> {
    let work = move |engine: &Engine| {
        let certificate = engine.certificate(&auth.caller, &id.to_string())?;
        Ok(engine.verify_certificate(&auth.caller, &certificate)?)
    };
    Ok(Json(CheckedCertificateView { verified: app.entrance.call("check_certificate", work).await? }))
}

async fn check_kept_certificate(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<CertificateView>,
) -> Result<Json<CheckedCertificateView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.verify_certificate(&auth.caller, &body.certificate)?);
    Ok(Json(CheckedCertificateView { verified: app.entrance.call("check_certificate", work).await? }))
}

async fn list_bans(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<BanView>>, Problem> {
    let found = app.entrance.call("bans", move |engine| Ok(engine.bans(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(found.into_iter().map(|ban| BanView { ban }).collect())))
}

async fn lift_ban(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(digest): PathParam<String>,
) -> Result<Json<BanView>, Problem> {
    let ban = app.entrance.call("lift_ban", move |engine| Ok(engine.lift_ban(&auth.caller, &digest)?)).await?;
    Ok(Json(BanView { ban }))
}

fn certificate_example() -> Value {
    let digest = "0".repeat(64);
    json!({
        "id": "01980000-0000-7000-8000-000000000006", "erasure": "user", "subject": "ada", "memories": 0, "versions": 0,
        "by": "admin", "role": "admin", "why": "asked to be forgotten", "at": "2026-01-01T00:00:00Z", "erased": [],
        "digests": [], "root": digest, "seal": digest,
    })
}
