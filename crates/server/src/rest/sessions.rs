//! Sessions: conversations in, turn by turn; what is kept of them and why it does not come.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use serde_json::json;

use super::REFUSED;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::search::SessionReportView;
use crate::wire::sessions::{SessionView, TurnsBody, TurnsView};

const TAG: &str = "sessions";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/sessions", "sessions", list)
            .says(
                TAG,
                "List sessions",
                "The ones you can see, the latest first. Their turns are memories of the store `episodes`.",
            )
            .answer::<Page<SessionView>>(StatusCode::OK, "Sessions", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/sessions/{session}/turns", "remember_turns", turns)
            .says(
                TAG,
                "Save turns of a conversation",
                "Each goes through the gate; one that is refused does not hold up the others.",
            )
            .body::<TurnsBody>(json!({ "turns": [
                { "role": "user", "content": "billing stopped retrying", "speaker": "ada" },
                { "role": "assistant", "content": "its webhook had moved" },
            ] }))
            .answer::<TurnsView>(
                StatusCode::OK,
                "What became of each",
                json!({ "saved": 0, "refused": 0, "turns": [] }),
            )
            .problems(&[REFUSED])
            .once(),
        Endpoint::new(Method::GET, "/v1/sessions/{session}/diagnosis", "diagnose_session", diagnosis)
            .says(
                TAG,
                "What is kept of a session",
                "What of it can still come, and what its turns were shown. Asking leaves no trace.",
            )
            .answer::<SessionReportView>(
                StatusCode::OK,
                "The report",
                json!({ "session": "s-1", "memories": [], "receipts": [] }),
            ),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<SessionView>>, Problem> {
    let sessions = app.call("sessions", move |engine| Ok(engine.sessions(&who.caller)?)).await?;
    Ok(Json(Page::whole(sessions.into_iter().map(SessionView::from).collect())))
}

async fn turns(
    State(app): State<App>,
    who: Who,
    Named(session): Named<String>,
    Sent(body): Sent<TurnsBody>,
) -> Result<Json<TurnsView>, Problem> {
    let turns = body.turns.into_iter().map(Into::into).collect();
    let work = move |engine: &Engine| Ok(engine.remember_turns(&who.caller, &session, turns)?);
    Ok(Json(app.call("remember_turns", work).await?.into()))
}

async fn diagnosis(
    State(app): State<App>,
    who: Who,
    Named(session): Named<String>,
) -> Result<Json<SessionReportView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.diagnose_session(&who.caller, &session)?);
    Ok(Json(SessionReportView { report: app.call("diagnose_session", work).await? }))
}
