//! The audit log of external events: append-only, readable by the whole tenant.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::SortOrder;
use engine::{Engine, Listing, Remembered};
use serde_json::json;

use super::{REFUSED, remember};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::audit::{AuditBody, EntryParams, LogEntryView};
use crate::wire::remember::SavedView;

pub(super) fn audit_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/audit", "record_audit", record_audit)
            .with_description(
                "logs",
                "Add an audit entry",
                "The whole tenant finds it with `POST /v1/recall`; ordinary searches leave it out. Entries cannot \
                 be changed.",
            )
            .with_body::<AuditBody>(json!({
                "action": "deploy.finished", "message": "billing 4.2 is live in prod", "meta": { "version": "4.2" },
            }))
            .with_json_answer::<SavedView>(StatusCode::CREATED, "Recorded", remember::saved_example("created"))
            .with_problems(&[REFUSED])
            .with_idempotency_key(),
        Endpoint::new(Method::GET, "/v1/audit", "audit", list_audit_entries)
            .with_description(
                "logs",
                "Read the audit log",
                "Entries that callers sent, newest first. Ingrain's own events are at `GET /v1/events`.",
            )
            .with_query::<EntryParams>()
            .with_json_answer::<Page<LogEntryView>>(StatusCode::OK, "Entries", json!({ "items": [] })),
    ]
}

async fn record_audit(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<AuditBody>,
) -> Result<(StatusCode, Json<SavedView>), Problem> {
    let answer =
        app.entrance.call("record_audit", move |engine| Ok(engine.record_audit(&auth.caller, body.into())?)).await?;
    to_saved_response(answer)
}

/// 201 with the saved entry, or the refusal as a problem.
pub(super) fn to_saved_response(answer: Remembered) -> Result<(StatusCode, Json<SavedView>), Problem> {
    match answer {
        Remembered::Saved(saved) => Ok((StatusCode::CREATED, Json(SavedView::new(&saved)))),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

async fn list_audit_entries(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<EntryParams>,
) -> Result<Json<Page<LogEntryView>>, Problem> {
    let after = params.parse_cursor()?;
    let work = move |engine: &Engine| Ok(engine.audit_entries(&auth.caller, after, params.limit)?);
    Ok(Json(to_entry_page(app.entrance.call("audit", work).await?)))
}

/// A page of log entries, newest first.
pub(super) fn to_entry_page(listing: Listing) -> Page<LogEntryView> {
    let next_cursor = listing.next.as_ref().map(|next| next.to_token(SortOrder::Newest));
    Page { items: listing.memories.into_iter().map(LogEntryView::from).collect(), next_cursor }
}
