//! The audit log from outside: appended to, readable by the whole tenant.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::{Cursor, Order};
use engine::{Engine, Listing, Remembered};
use serde_json::json;

use super::{REFUSED, memories};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::episodic::{AuditBody, EntryParams, EntryView};
use crate::wire::memory::SavedView;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/audit", "record_audit", record)
            .says(
                "logs",
                "Tell the audit log",
                "An entry that the whole tenant finds with `POST /v1/recall`. Never changed; ordinary searches leave it out.",
            )
            .body::<AuditBody>(json!({
                "action": "deploy.finished", "message": "billing 4.2 is live in prod", "meta": { "version": "4.2" },
            }))
            .answer::<SavedView>(StatusCode::CREATED, "Recorded", memories::saved_example("created"))
            .problems(&[REFUSED])
            .once(),
        Endpoint::new(Method::GET, "/v1/audit", "audit", list)
            .says("logs", "Read the audit log", "Entries from outside, the last recorded first. Our own are `GET /v1/events`.")
            .query::<EntryParams>()
            .answer::<Page<EntryView>>(StatusCode::OK, "Entries", json!({ "items": [] })),
    ]
}

async fn record(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<AuditBody>,
) -> Result<(StatusCode, Json<SavedView>), Problem> {
    let answer = app.call("record_audit", move |engine| Ok(engine.record_audit(&who.caller, body.into())?)).await?;
    recorded(answer)
}

/// What was recorded, or why not.
pub(super) fn recorded(answer: Remembered) -> Result<(StatusCode, Json<SavedView>), Problem> {
    match answer {
        Remembered::Saved(saved) => Ok((StatusCode::CREATED, Json(SavedView::new(&saved)))),
        Remembered::Refused(refusal) => Err(refusal.into()),
    }
}

async fn list(
    State(app): State<App>,
    who: Who,
    Params(params): Params<EntryParams>,
) -> Result<Json<Page<EntryView>>, Problem> {
    let after = params.cursor.as_deref().map(|text| Cursor::read(Order::Newest, text)).transpose()?;
    let work = move |engine: &Engine| Ok(engine.audit_entries(&who.caller, after, params.limit)?);
    Ok(Json(page(app.call("audit", work).await?)))
}

/// A stretch of a log.
pub(super) fn page(listing: Listing) -> Page<EntryView> {
    let next_cursor = listing.next.as_ref().map(|next| next.word(Order::Newest));
    Page { items: listing.memories.into_iter().map(EntryView::from).collect(), next_cursor }
}
