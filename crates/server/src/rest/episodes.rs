//! Episodes: saving the turns of conversations, listing sessions, and recall from four sources.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::Engine;
use engine::model::error::Error;
use serde_json::json;

use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::episodes::{RecallBody, RecalledView, SessionReportView, SessionView, TurnsBody, TurnsView};

const TAG: &str = "sessions";

pub(super) fn episode_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/episodes", "remember_turns", remember_turns)
            .with_description(
                TAG,
                "Save a conversation",
                "Saves turns in order, each through the gate; a refused turn does not stop the others. For agents.",
            )
            .with_body::<TurnsBody>(json!({
                "session": "s-1",
                "turns": [
                    { "role": "user", "speaker": "Ana", "content": "which port does the cache use?" },
                    { "role": "assistant", "content": "we decided on 6380" },
                ],
            }))
            .with_json_answer::<TurnsView>(
                StatusCode::OK,
                "Result of each turn",
                json!({ "session": "s-1", "saved": 2, "refused": 0, "turns": [] }),
            )
            .with_idempotency_key(),
        Endpoint::new(Method::GET, "/v1/sessions", "sessions", list_sessions)
            .with_description(TAG, "List sessions", "Sessions with turns the caller may see, latest first.")
            .with_json_answer::<Page<SessionView>>(StatusCode::OK, "Sessions", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/sessions/{session}/diagnosis", "diagnose_session", diagnose_session)
            .with_description(
                TAG,
                "Diagnose a session",
                "The turns that are stored and can still be found, and the memories shown to them. Nothing is \
                 recorded.",
            )
            .with_json_answer::<SessionReportView>(
                StatusCode::OK,
                "The report",
                json!({ "session": "s-1", "memories": [], "receipts": [] }),
            ),
        Endpoint::new(Method::POST, "/v1/recall", "recall", recall_from_sources)
            .with_description(
                TAG,
                "Search four sources",
                "The caller's own episodes, the audit log, workflow steps and documents, best first, without \
                 duplicates. A source that fails is named in `failed`.",
            )
            .with_body::<RecallBody>(json!({ "query": "how did the last billing deploy end?" }))
            .with_json_answer::<RecalledView>(StatusCode::OK, "Results", json!({ "recollections": [], "failed": [] })),
    ]
}

async fn remember_turns(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<TurnsBody>,
) -> Result<Json<TurnsView>, Problem> {
    let work = move |engine: &Engine| {
        let missing = || Error::invalid("scope.session_missing", "name the session these turns belong to");
        // The body wins over the `X-Session-Id` header.
        let session = body.session.or_else(|| auth.caller.session.clone()).ok_or_else(missing)?;
        let turns: Vec<engine::Turn> = body.turns.into_iter().map(Into::into).collect();
        let answers = engine.remember_turns(&auth.caller, &session, &turns)?;
        Ok(TurnsView::new(session, &answers))
    };
    Ok(Json(app.entrance.call("remember_turns", work).await?))
}

async fn list_sessions(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<SessionView>>, Problem> {
    let sessions = app.entrance.call("sessions", move |engine| Ok(engine.sessions(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(sessions.into_iter().map(SessionView::from).collect())))
}

async fn diagnose_session(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(session): PathParam<String>,
) -> Result<Json<SessionReportView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.diagnose_session(&auth.caller, &session)?);
    Ok(Json(SessionReportView { report: app.entrance.call("diagnose_session", work).await? }))
}

async fn recall_from_sources(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<RecallBody>,
) -> Result<Json<RecalledView>, Problem> {
    let work = move |engine: &Engine| Ok(engine.search_my_memories(&auth.caller, &body.into())?);
    Ok(Json(RecalledView { recalled: app.entrance.call("recall", work).await? }))
}
