//! Turn context and its receipts: list, replay, and which memories reached which runs.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ContextRequest;
use engine::ports::row::Paging;
use engine::recall::usage::MemoryUsage;
use jiff::Timestamp;
use serde_json::json;

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, MemoryIdParam, PathParam, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::context::{
    ContextAnswer, ContextBody, ContextFormat, ContextView, MemoryUseView, MemoryUsesView, ReceiptParams, ReceiptView,
    ReplayView, WindowView,
};

const TAG: &str = "context";

pub(super) fn context_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/context", "context", build_context)
            .with_description(
                TAG,
                "Context for a turn",
                "The memories for the latest message within a token budget, in a trusted and an unverified block, \
                 with a receipt. `for` searches with the preset of a decision point; `format: messages` adds chat \
                 messages. With `window`, the answer is all messages of the next model call, cut to fit in a fixed \
                 order: `messages`, `tokens`, `cuts`, `receipt`, `notes`.",
            )
            .with_body::<ContextBody>(json!({ "message": "why did billing stop retrying?" }))
            .with_json_answer::<ContextAnswer>(
                StatusCode::OK,
                "The context",
                json!({ "text": "", "tokens": 0, "candidates": [], "receipt": null, "skipped": [] }),
            ),
        Endpoint::new(Method::GET, "/v1/receipts", "receipts", list_receipts)
            .with_description(TAG, "List receipts", "The caller's own, newest first; for admins all of the tenant.")
            .with_query::<ReceiptParams>()
            .with_json_answer::<Page<ReceiptView>>(StatusCode::OK, "Receipts", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/receipts/{id}", "receipt", show_receipt)
            .with_description(
                TAG,
                "One receipt",
                "All candidates with the parts of their scores, and why each was shown or not.",
            )
            .with_json_answer::<ReceiptView>(StatusCode::OK, "The receipt", json!({}))
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/receipts/{id}/replay", "replay", replay_receipt)
            .with_description(
                TAG,
                "Replay a receipt",
                "Rebuilds the context from the versions of the memories it was made of.",
            )
            .with_json_answer::<ReplayView>(
                StatusCode::OK,
                "The block",
                json!({ "text": "", "exact": true, "redacted": [], "missing": [] }),
            )
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/runs/{run}/blame", "blame", blame_run)
            .with_description(
                TAG,
                "List the memories of a run",
                "Memories the run was shown, read or wrote, newest first. Admins only.",
            )
            .with_json_answer::<MemoryUsesView>(StatusCode::OK, "Uses", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/memories/{id}/reach", "reach", show_memory_reach)
            .with_description(
                TAG,
                "List the runs a memory reached",
                "Runs and conversations that used it, newest first. Admins only.",
            )
            .with_json_answer::<MemoryUsesView>(StatusCode::OK, "Uses", json!({ "items": [] })),
    ]
}

async fn build_context(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(mut body): JsonBody<ContextBody>,
) -> Result<Json<ContextAnswer>, Problem> {
    // `take` leaves the other options in place for the check below.
    let work = move |engine: &engine::Engine| match body.window.take() {
        Some(_) if body.has_turn_options() => {
            let message =
                "`window` excludes filters, budgets, `for`, `as_of` and `format`: these belong to a turn's context";
            Err(Problem::bad_request("shape.window", message))
        }
        Some(window) => {
            let window = engine.working_memory(&auth.caller, &window.into_window_request(body.message))?;
            Ok(ContextAnswer::Window(Box::new(WindowView { window })))
        }
        None => {
            let format = body.format;
            let request = ContextRequest::from(body);
            let context = engine.context(&auth.caller, &request)?;
            let messages = (format == ContextFormat::Messages).then(|| context.to_messages(&request.message));
            Ok(ContextAnswer::Turn(Box::new(ContextView::new(context, messages))))
        }
    };
    Ok(Json(app.entrance.call("context", work).await?))
}

async fn list_receipts(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<ReceiptParams>,
) -> Result<Json<Page<ReceiptView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let work = move |engine: &engine::Engine| Ok(engine.receipts(&auth.caller, params.run.as_deref(), &paging)?);
    Ok(Json(Page::from_record_page(app.entrance.call("receipts", work).await?, |receipt| ReceiptView { receipt })))
}

async fn show_receipt(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<ReceiptView>, Problem> {
    let receipt =
        app.entrance.call("receipt", move |engine| Ok(engine.receipt(&auth.caller, &id.to_string())?)).await?;
    Ok(Json(ReceiptView { receipt }))
}

async fn replay_receipt(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<ReplayView>, Problem> {
    let replay = app.entrance.call("replay", move |engine| Ok(engine.replay(&auth.caller, &id.to_string())?)).await?;
    Ok(Json(ReplayView { replay }))
}

async fn blame_run(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(run): PathParam<String>,
) -> Result<Json<MemoryUsesView>, Problem> {
    let work = move |engine: &engine::Engine| {
        Ok((engine.blame(&auth.caller, &run)?, engine.receipts_kept_since(&auth.caller)?))
    };
    Ok(Json(to_touches_view(app.entrance.call("blame", work).await?)))
}

async fn show_memory_reach(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): MemoryIdParam,
) -> Result<Json<MemoryUsesView>, Problem> {
    let work =
        move |engine: &engine::Engine| Ok((engine.reach(&auth.caller, id)?, engine.receipts_kept_since(&auth.caller)?));
    Ok(Json(to_touches_view(app.entrance.call("reach", work).await?)))
}

fn to_touches_view((usages, kept_since): (Vec<MemoryUsage>, Option<Timestamp>)) -> MemoryUsesView {
    MemoryUsesView { items: usages.into_iter().map(|usage| MemoryUseView { usage }).collect(), kept_since }
}
