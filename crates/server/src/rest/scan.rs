//! The safety scanner: scan a text without saving it, scan stored memories again, and allow single values.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::ListCursor;
use engine::safety::{ScanVerdict, Strictness};
use engine::{Engine, RESCAN_ORDER, safety};
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::scan::{AllowBody, AllowedView, RescanBody, RescannedView, ScanBody, ScannedView};

pub(super) fn scan_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/scan", "scan", scan_text)
            .with_description(
                "search",
                "Scan a text",
                "Looks for secrets, planted instructions and raw logs. The text is not stored.",
            )
            .with_body::<ScanBody>(json!({ "text": "billing retries failed webhooks for 24 hours" }))
            .with_json_answer::<ScannedView>(
                StatusCode::OK,
                "The result",
                json!({ "verdict": "clean", "verdict_in_conversation": "clean", "findings": [] }),
            ),
        Endpoint::new(Method::POST, "/v1/scan/all", "scan_all", scan_all)
            .with_description(
                "search",
                "Scan stored memories again",
                "Scans one page of memories with the current rules; repeat with `next_cursor` until it is absent. \
                 With `propose`, each memory that would be refused gets a review whose approval redacts it. Admins \
                 only.",
            )
            .with_body::<RescanBody>(json!({ "propose": false }))
            .with_json_answer::<RescannedView>(
                StatusCode::OK,
                "Findings with memory and rule, never the text",
                json!({ "rules_version": 2, "scanned": 0, "proposed": 0, "findings": [] }),
            ),
        Endpoint::new(Method::POST, "/v1/scan/allowed", "allow", allow_value)
            .with_description(
                "search",
                "Allow one exact value or text",
                "A secret that a rule found, given by its SHA-256 or in a text with no other finding; or a text with \
                 planted instructions, which then passes as a whole and in one field only. Valid until a time and in \
                 this tenant only. Only a keyed digest is stored. Admins only.",
            )
            .with_body::<AllowBody>(json!({
                "digest": "0".repeat(64), "reason": "a published test key", "expires_at": "2999-01-01T00:00:00Z",
            }))
            .with_json_answer::<AllowedView>(StatusCode::CREATED, "The new entry", Value::Null),
        Endpoint::new(Method::GET, "/v1/scan/allowed", "allowed", list_allowed)
            .with_description(
                "search",
                "List allowed values",
                "Each with its keyed digest, reason and expiry; newest first. Admins only.",
            )
            .with_json_answer::<Page<AllowedView>>(StatusCode::OK, "Values", json!({ "items": [] })),
        Endpoint::new(Method::DELETE, "/v1/scan/allowed/{digest}", "disallow", disallow_value)
            .with_description(
                "search",
                "Stop allowing a value",
                "The digest is the one in the list of allowed values. Admins only.",
            )
            .with_json_answer::<AllowedView>(StatusCode::OK, "The removed entry", Value::Null)
            .with_problems(&[NOT_FOUND]),
    ]
}

async fn scan_text(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<ScanBody>,
) -> Result<Json<ScannedView>, Problem> {
    let word = |verdict| match verdict {
        ScanVerdict::Clean => "clean",
        ScanVerdict::Flagged => "flagged",
        ScanVerdict::Blocked => "blocked",
    };
    let scanned = app
        .entrance
        .call("scan", move |engine| {
            let findings = engine.scan(&auth.caller, &body.text)?;
            Ok(ScannedView {
                // The same findings weigh less inside a conversation.
                verdict: word(safety::decide_verdict(&findings, Strictness::Strict)),
                verdict_in_conversation: word(safety::decide_verdict(&findings, Strictness::Conversation)),
                findings,
            })
        })
        .await?;
    Ok(Json(scanned))
}

async fn scan_all(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<RescanBody>,
) -> Result<Json<RescannedView>, Problem> {
    let after = body.cursor.as_deref().map(|token| ListCursor::from_token(RESCAN_ORDER, token)).transpose()?;
    let rescanned =
        app.entrance.call("scan_all", move |engine| Ok(engine.rescan(&auth.caller, after, body.propose)?)).await?;
    Ok(Json(rescanned.into()))
}

async fn allow_value(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<AllowBody>,
) -> Result<(StatusCode, Json<AllowedView>), Problem> {
    let work = move |engine: &Engine| {
        let (target, expires_at) = (body.to_allow_target()?, body.expires_at);
        Ok(engine.allow(&auth.caller, &target, &body.reason, expires_at)?)
    };
    Ok((StatusCode::CREATED, Json(AllowedView { allowed: app.entrance.call("allow", work).await? })))
}

async fn list_allowed(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<AllowedView>>, Problem> {
    let values = app.entrance.call("allowed", move |engine| Ok(engine.allowed_values(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(values.into_iter().map(|allowed| AllowedView { allowed }).collect())))
}

async fn disallow_value(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(digest): PathParam<String>,
) -> Result<Json<AllowedView>, Problem> {
    let allowed = app.entrance.call("disallow", move |engine| Ok(engine.disallow(&auth.caller, &digest)?)).await?;
    Ok(Json(AllowedView { allowed }))
}
