//! What agents went through: whole conversations in, sessions out, and the recall over four sources.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use engine::model::error::Error;
use serde_json::json;

use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::episodic::{RecallBody, RecalledView, SessionView, TurnsBody, TurnsView};
use crate::wire::search::SessionReportView;

const TAG: &str = "sessions";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/episodes", "remember_turns", remember)
            .says(
                TAG,
                "Save a conversation",
                "Its turns in their order, each through the gate: one that is refused does not hold up the others. For agents.",
            )
            .body::<TurnsBody>(json!({
                "session": "s-1",
                "turns": [
                    { "role": "user", "speaker": "Ana", "content": "which port does the cache use?" },
                    { "role": "assistant", "content": "we decided on 6380" },
                ],
            }))
            .answer::<TurnsView>(
                StatusCode::OK,
                "What became of each",
                json!({ "session": "s-1", "saved": 2, "refused": 0, "turns": [] }),
            )
            .once(),
        Endpoint::new(Method::GET, "/v1/sessions", "sessions", sessions)
            .says(TAG, "List sessions", "Those whose turns you can see, the latest first.")
            .answer::<Page<SessionView>>(StatusCode::OK, "Sessions", json!({ "items": [] })),
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
        Endpoint::new(Method::POST, "/v1/recall", "recall", recall)
            .says(
                TAG,
                "Search four sources",
                "Your own episodes, the audit log, workflow steps and documents, best first, each thing once. A source that fails is named in `failed`.",
            )
            .body::<RecallBody>(json!({ "query": "how did the last billing deploy end?" }))
            .answer::<RecalledView>(StatusCode::OK, "Recollections", json!({ "recollections": [], "failed": [] })),
    ]
}

async fn remember(State(app): State<App>, who: Who, Sent(body): Sent<TurnsBody>) -> Result<Json<TurnsView>, Problem> {
    let work = move |engine: &Engine| {
        let missing = || Error::invalid("scope.session_missing", "name the session these turns belong to");
        let session = body.session.or_else(|| who.caller.session.clone()).ok_or_else(missing)?;
        let turns: Vec<engine::Turn> = body.turns.into_iter().map(Into::into).collect();
        let answers = engine.remember_turns(&who.caller, &session, &turns)?;
        Ok(TurnsView::new(session, &answers))
    };
    Ok(Json(app.call("remember_turns", work).await?))
}

async fn sessions(State(app): State<App>, who: Who) -> Result<Json<Page<SessionView>>, Problem> {
    let sessions = app.call("sessions", move |engine| Ok(engine.sessions(&who.caller)?)).await?;
    Ok(Json(Page::whole(sessions.into_iter().map(SessionView::from).collect())))
}

async fn diagnosis(
    State(app): State<App>,
    who: Who,
    Named(session): Named<String>,
) -> Result<Json<SessionReportView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.diagnose_session(&who.caller, &session)?);
    Ok(Json(SessionReportView { report: app.call("diagnose_session", work).await? }))
}

async fn recall(State(app): State<App>, who: Who, Sent(body): Sent<RecallBody>) -> Result<Json<RecalledView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.search_my_memories(&who.caller, &body.into())?);
    Ok(Json(RecalledView { recalled: app.call("recall", work).await? }))
}
