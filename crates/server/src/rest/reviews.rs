//! Reviews: propose, look, decide.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::review::{Decided, Queue, QueueFilter};
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
use crate::wire::memory::SavedView;
use crate::wire::reviews::{
    ChangesBody, DecideAllBody, DecideBody, DecidedAllView, DecidedView, ProposeBody, ProposeForgetBody, ProposedView,
    ReviewBrief, ReviewDetail, ReviewParams,
};

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
        Endpoint::new(Method::POST, "/v1/reviews/forget", "propose_forget", propose_forget)
            .says(TAG, "Propose to forget a memory", "One that you see and may not take away; it stays until a person approves.")
            .body::<ProposeForgetBody>(json!({ "memory": EXAMPLE_ID, "rationale": "the service is gone" }))
            .answer::<ProposedView>(StatusCode::CREATED, "Waiting", Value::Null)
            .answer::<ProposedView>(StatusCode::OK, "The same waits already", Value::Null)
            .problems(&[NOT_FOUND, CONFLICT, REFUSED]),
        Endpoint::new(Method::POST, "/v1/reviews/decisions", "decide_all", decide_all)
            .says(TAG, "Decide many at once", "Those named, or all that wait; each is checked as if it were alone, and one that cannot be decided does not hold up the others. Reviewers only.")
            .body::<DecideAllBody>(json!({ "approve": true, "all": true, "store": "workspace_runbooks" }))
            .answer::<DecidedAllView>(StatusCode::OK, "What was decided", json!({ "decided": 2, "not_decided": [] })),
        Endpoint::new(Method::GET, "/v1/reviews/{id}", "review", show)
            .says(TAG, "One review", "With the proposed text, what stands there now, what approval would meet, and which past turns would have been shown it.")
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
    let after = params.cursor.as_deref().map(Queue::read_word).transpose()?;
    let filter =
        QueueFilter { state: params.state, action: params.action, store: params.store, after, limit: params.limit };
    let queue = app.call("reviews", move |engine| Ok(engine.reviews(&who.caller, &filter)?)).await?;
    let next_cursor = queue.next_word();
    Ok(Json(Page { items: queue.reviews.into_iter().map(|review| ReviewBrief { review }).collect(), next_cursor }))
}

async fn propose(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<ProposeBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    proposed(app.call("propose", move |engine| Ok(engine.propose(&who.caller, body.into())?)).await?)
}

async fn propose_forget(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<ProposeForgetBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    let work = move |engine: &Engine| {
        Ok(engine.propose_forget(&who.caller, &engine::Reference::Id(body.memory), body.rationale)?)
    };
    proposed(app.call("propose_forget", work).await?)
}

pub(super) fn proposed(proposed: Proposed) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    match proposed {
        Proposed::Waiting { review, new } => {
            let status = if new { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(ProposedView { new, review: ReviewBrief { review: *review } })))
        }
        Proposed::Refused(refusal) => Err(refusal.into()),
    }
}

async fn decide_all(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<DecideAllBody>,
) -> Result<Json<DecidedAllView>, Problem> {
    let work = move |engine: &Engine| {
        let ids = match body.all {
            true => engine.waiting(&who.caller, body.action, body.store)?,
            false => body.reviews.iter().map(ToString::to_string).collect(),
        };
        Ok(engine.decide_all(&who.caller, &ids, body.approve, body.comment.as_deref())?)
    };
    Ok(Json(app.call("decide_all", work).await?.into()))
}

async fn show(State(app): State<App>, who: Who, Named(id): Named<uuid::Uuid>) -> Result<Json<ReviewDetail>, Problem> {
    let work = move |engine: &Engine| {
        let view = engine.review(&who.caller, &id.to_string())?;
        let impact = engine.review_impact(&who.caller, &view)?;
        Ok(ReviewDetail::new(view, impact))
    };
    Ok(Json(app.call("review", work).await?))
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
