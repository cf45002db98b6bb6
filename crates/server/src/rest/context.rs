//! Turn context and its ledger: receipts, replay, blame, reach, and the check of the log.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ContextRequest;
use engine::ports::row::Paging;
use engine::recall::usage::Usage;
use jiff::Timestamp;
use serde_json::json;

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryName, Named, Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::context::{
    ContextAnswer, ContextBody, ContextFormat, ContextView, ReceiptParams, ReceiptView, ReplayView, TouchView,
    TouchesView, VerifiedView, WindowView,
};

const TAG: &str = "context";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/context", "context", context)
            .says(
                TAG,
                "Context for a turn",
                "The memories for the latest message, within a budget, trusted apart from unverified, with a receipt. `for` \
                 asks what helped at similar decision points; `format: messages` adds ready chat messages. With `window`, the answer is all messages of the model's next \
                 call, cut to fit in a fixed order: `messages`, `tokens`, `cuts`, `receipt`, `notes`.",
            )
            .body::<ContextBody>(json!({ "message": "why did billing stop retrying?" }))
            .answer::<ContextAnswer>(
                StatusCode::OK,
                "What to put before the turn",
                json!({ "text": "", "tokens": 0, "candidates": [], "receipt": null, "skipped": [] }),
            ),
        Endpoint::new(Method::GET, "/v1/receipts", "receipts", receipts)
            .says(TAG, "List receipts", "Your own, newest first; all of the tenant's for admins.")
            .query::<ReceiptParams>()
            .answer::<Page<ReceiptView>>(StatusCode::OK, "Receipts", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/receipts/{id}", "receipt", receipt)
            .says(TAG, "One receipt", "Every candidate with its score parts, and why it was or was not shown.")
            .answer::<ReceiptView>(StatusCode::OK, "The receipt", json!({}))
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/receipts/{id}/replay", "replay", replay)
            .says(TAG, "Replay a receipt", "Rebuilds the injected block from the exact versions it was made of.")
            .answer::<ReplayView>(StatusCode::OK, "The block", json!({ "text": "", "exact": true, "redacted": [], "missing": [] }))
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/runs/{run}/blame", "blame", blame)
            .says(TAG, "What reached a run", "The memories that touched it, newest first. Admins only.")
            .answer::<TouchesView>(StatusCode::OK, "Touches", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/memories/{id}/reach", "reach", reach)
            .says(TAG, "What a memory reached", "The runs and conversations it touched, newest first. Admins only.")
            .answer::<TouchesView>(StatusCode::OK, "Touches", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/verify", "verify", verify)
            .says("events", "Check the log", "Follows the chain of hashes from the first entry. Admins only.")
            .answer::<VerifiedView>(
                StatusCode::OK,
                "What was found",
                json!({ "entries": 12, "hash": "…", "broken": null }),
            ),
    ]
}

async fn context(
    State(app): State<App>,
    who: Who,
    Sent(mut body): Sent<ContextBody>,
) -> Result<Json<ContextAnswer>, Problem> {
    let work = move |engine: &engine::Engine| match body.window.take() {
        Some(_) if body.is_of_turn() => {
            let message =
                "a window stands alone: filters, budgets, `for`, `as_of` and `format` are of a turn's context";
            Err(Problem::bad_request("shape.window", message))
        }
        Some(window) => {
            let window = engine.working_memory(&who.caller, &window.with(body.message))?;
            Ok(ContextAnswer::Window(Box::new(WindowView { window })))
        }
        None => {
            let format = body.format;
            let request = ContextRequest::from(body);
            let context = engine.context(&who.caller, &request)?;
            let messages = (format == ContextFormat::Messages).then(|| context.messages(&request.message));
            Ok(ContextAnswer::Turn(Box::new(ContextView::new(context, messages))))
        }
    };
    Ok(Json(app.call("context", work).await?))
}

async fn receipts(
    State(app): State<App>,
    who: Who,
    Params(params): Params<ReceiptParams>,
) -> Result<Json<Page<ReceiptView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let work = move |engine: &engine::Engine| Ok(engine.receipts(&who.caller, params.run.as_deref(), &paging)?);
    Ok(Json(Page::of(app.call("receipts", work).await?, |receipt| ReceiptView { receipt })))
}

async fn receipt(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<ReceiptView>, Problem> {
    let receipt = app.call("receipt", move |engine| Ok(engine.receipt(&who.caller, &id.to_string())?)).await?;
    Ok(Json(ReceiptView { receipt }))
}

async fn replay(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<ReplayView>, Problem> {
    let replay = app.call("replay", move |engine| Ok(engine.replay(&who.caller, &id.to_string())?)).await?;
    Ok(Json(ReplayView { replay }))
}

async fn blame(State(app): State<App>, who: Who, Named(run): Named<String>) -> Result<Json<TouchesView>, Problem> {
    let work = move |engine: &engine::Engine| Ok((engine.blame(&who.caller, &run)?, engine.kept_since(&who.caller)?));
    Ok(Json(touches(app.call("blame", work).await?)))
}

async fn reach(State(app): State<App>, who: Who, Named(id): MemoryName) -> Result<Json<TouchesView>, Problem> {
    let work = move |engine: &engine::Engine| Ok((engine.reach(&who.caller, id)?, engine.kept_since(&who.caller)?));
    Ok(Json(touches(app.call("reach", work).await?)))
}

fn touches((usages, kept_since): (Vec<Usage>, Option<Timestamp>)) -> TouchesView {
    TouchesView { items: usages.into_iter().map(|usage| TouchView { usage }).collect(), kept_since }
}

async fn verify(State(app): State<App>, who: Who) -> Result<Json<VerifiedView>, Problem> {
    let verified = app.call("verify", move |engine| Ok(engine.verify(&who.caller)?)).await?;
    Ok(Json(VerifiedView { verified }))
}
