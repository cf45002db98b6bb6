//! Reviews: propose, look, decide.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::review::{Decided, QueueFilter};
use engine::{Engine, Proposed};
use serde_json::{Value, json};

use super::memories::EXAMPLE_ID;
use super::{CONFLICT, NOT_FOUND, REFUSED};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Named, Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::govern::{
    ChangesBody, DecideBody, DecidedView, ProposeBody, ProposedView, ReviewBrief, ReviewDetail, ReviewParams,
    queue_after, queue_cursor,
};
use crate::wire::memory::SavedView;

const TAG: &str = "reviews";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let decided = |method: Endpoint| {
        method.answer::<DecidedView>(StatusCode::OK, "Decided", Value::Null).problems(&[NOT_FOUND, CONFLICT, REFUSED])
    };
    vec![
        Endpoint::new(Method::GET, "/v1/reviews", "reviews", list)
            .says(TAG, "List reviews", "The proposals you may see, oldest first.")
            .query::<ReviewParams>()
            .answer::<Page<ReviewBrief>>(StatusCode::OK, "Reviews", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/reviews", "propose", propose)
            .says(
                TAG,
                "Propose a promotion",
                "A copy of a memory in a store of the workspace; nothing stands there before a person approves.",
            )
            .body::<ProposeBody>(json!({
                "memory": EXAMPLE_ID, "target_store": "workspace_runbooks", "target_path": "services/billing",
                "rationale": "seen in three incidents", "risk": "low",
            }))
            .answer::<ProposedView>(StatusCode::CREATED, "Waiting", Value::Null)
            .answer::<ProposedView>(StatusCode::OK, "The same waits already", Value::Null)
            .problems(&[NOT_FOUND, CONFLICT, REFUSED]),
        Endpoint::new(Method::GET, "/v1/reviews/{id}", "review", show)
            .says(TAG, "One review", "With the proposed text, what stands there now, and what approval would meet.")
            .answer::<ReviewDetail>(StatusCode::OK, "The review", Value::Null)
            .problems(&[NOT_FOUND]),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/approve", "approve", approve)
                .says(TAG, "Approve", "Checked again, applied and recorded in one go. Reviewers only.")
                .body::<DecideBody>(json!({ "comment": "verified" })),
        ),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/reject", "reject", reject)
                .says(TAG, "Reject", "Reviewers, or whoever proposed it.")
                .body::<DecideBody>(json!({ "comment": "not so any more" })),
        ),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/request-changes", "request_changes", request_changes)
                .says(TAG, "Ask for changes", "Back to the proposer, saying what is missing. Reviewers only.")
                .body::<ChangesBody>(json!({ "comment": "say which version" })),
        ),
    ]
}

async fn list(
    State(app): State<App>,
    who: Who,
    Params(params): Params<ReviewParams>,
) -> Result<Json<Page<ReviewBrief>>, Problem> {
    let after = params.cursor.as_deref().map(queue_after).transpose()?;
    let filter =
        QueueFilter { state: params.state, action: params.action, store: params.store, after, limit: params.limit };
    let queue = app.call("reviews", move |engine| Ok(engine.reviews(&who.caller, &filter)?)).await?;
    let next_cursor = queue_cursor(&queue);
    Ok(Json(Page { items: queue.reviews.into_iter().map(|review| ReviewBrief { review }).collect(), next_cursor }))
}

async fn propose(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<ProposeBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    match app.call("propose", move |engine| Ok(engine.propose(&who.caller, body.into())?)).await? {
        Proposed::Waiting { review, new } => {
            let status = if new { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(ProposedView { new, review: ReviewBrief { review: *review } })))
        }
        Proposed::Refused(refusal) => Err(refusal.into()),
    }
}

async fn show(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<ReviewDetail>, Problem> {
    let view = app.call("review", move |engine| Ok(engine.review(&who.caller, &id.to_string())?)).await?;
    Ok(Json(view.into()))
}

async fn approve(
    State(app): State<App>,
    who: Who,
    Named(id): Named<uuid::Uuid>,
    Sent(body): Sent<DecideBody>,
) -> Result<Json<DecidedView>, Problem> {
    let work = move |engine: &Engine| decided(engine.approve(&who.caller, &id.to_string(), body.comment.as_deref())?);
    Ok(Json(app.call("approve", work).await?))
}

async fn reject(
    State(app): State<App>,
    who: Who,
    Named(id): Named<uuid::Uuid>,
    Sent(body): Sent<DecideBody>,
) -> Result<Json<DecidedView>, Problem> {
    let work = move |engine: &Engine| decided(engine.reject(&who.caller, &id.to_string(), body.comment.as_deref())?);
    Ok(Json(app.call("reject", work).await?))
}

async fn request_changes(
    State(app): State<App>,
    who: Who,
    Named(id): Named<uuid::Uuid>,
    Sent(body): Sent<ChangesBody>,
) -> Result<Json<DecidedView>, Problem> {
    let work = move |engine: &Engine| decided(engine.request_changes(&who.caller, &id.to_string(), &body.comment)?);
    Ok(Json(app.call("request_changes", work).await?))
}

fn decided(decided: Decided) -> Result<DecidedView, Problem> {
    match decided {
        Decided::Approved(approval) => Ok(DecidedView {
            memory: Some(SavedView::changed(&approval.memory, "approved")),
            review: ReviewBrief { review: approval.review },
        }),
        Decided::Closed(review) => Ok(DecidedView { review: ReviewBrief { review: *review }, memory: None }),
        Decided::Refused(refusal) => Err(refusal.into()),
    }
}
