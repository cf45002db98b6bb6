//! Reviews: propose, list, read and decide.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::review::{Decision, DecisionOutcome, QueueFilter, QueuePage, ReadReview};
use engine::{Engine, ProposalOutcome};
use serde_json::{Value, json};

use super::remember::EXAMPLE_ID;
use super::{CONFLICT, NOT_FOUND, REFUSED};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::remember::SavedView;
use crate::wire::reviews::{
    DecideAllBody, DecideBody, DecidedAllView, DecidedView, ProposeBody, ProposeForgetBody, ProposedView,
    RequestChangesBody, ReviewBrief, ReviewDetail, ReviewParams,
};

const TAG: &str = "reviews";
/// A decision that does not name the version that was read.
const VERSION_MISSING: (StatusCode, &str) =
    (StatusCode::PRECONDITION_REQUIRED, "The decision does not name the version that was read");

pub(super) fn review_endpoints() -> Vec<Endpoint> {
    let decided = |method: Endpoint| {
        method.with_json_answer::<DecidedView>(StatusCode::OK, "Decided", Value::Null).with_problems(&[
            NOT_FOUND,
            CONFLICT,
            REFUSED,
            VERSION_MISSING,
        ])
    };
    vec![
        Endpoint::new(Method::GET, "/v1/reviews", "reviews", list_reviews)
            .with_description(TAG, "List reviews", "The proposals the caller may see, oldest first.")
            .with_query::<ReviewParams>()
            .with_json_answer::<Page<ReviewBrief>>(StatusCode::OK, "Reviews", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/reviews", "propose", propose_promotion)
            .with_description(
                TAG,
                "Propose a promotion",
                "Proposes a copy of a memory in a store of the workspace. Nothing is copied before a person \
                 approves.",
            )
            .with_body::<ProposeBody>(json!({
                "memory": EXAMPLE_ID, "target_store": "workspace_runbooks", "target_path": "services/billing",
                "rationale": "seen in three incidents", "risk": "low",
            }))
            .with_json_answer::<ProposedView>(StatusCode::CREATED, "The new review", Value::Null)
            .with_json_answer::<ProposedView>(StatusCode::OK, "The same proposal is open already", Value::Null)
            .with_problems(&[NOT_FOUND, CONFLICT, REFUSED]),
        Endpoint::new(Method::POST, "/v1/reviews/forget", "propose_forget", propose_forget)
            .with_description(
                TAG,
                "Propose to forget a memory",
                "For a memory that the caller may read but not forget. It stays until a person approves.",
            )
            .with_body::<ProposeForgetBody>(json!({ "memory": EXAMPLE_ID, "rationale": "the service is gone" }))
            .with_json_answer::<ProposedView>(StatusCode::CREATED, "The new review", Value::Null)
            .with_json_answer::<ProposedView>(StatusCode::OK, "The same proposal is open already", Value::Null)
            .with_problems(&[NOT_FOUND, CONFLICT, REFUSED]),
        Endpoint::new(Method::POST, "/v1/reviews/decisions", "decide_all", decide_all)
            .with_description(
                TAG,
                "Decide many reviews",
                "The listed reviews, each at the version that was read. Each is checked by itself; one that cannot \
                 be decided does not stop the others. Reviewers only.",
            )
            .with_body::<DecideAllBody>(
                json!({ "approve": true, "reviews": [{ "id": EXAMPLE_ID, "version": EXAMPLE_ID }] }),
            )
            .with_json_answer::<DecidedAllView>(StatusCode::OK, "Results", json!({ "decided": 2, "not_decided": [] })),
        Endpoint::new(Method::GET, "/v1/reviews/{id}", "review", show_review)
            .with_description(
                TAG,
                "One review",
                "With the proposed text, the current text, the reasons why approval would fail, and the past turns \
                 that would have been shown it.",
            )
            .with_json_answer::<ReviewDetail>(StatusCode::OK, "The review", Value::Null)
            .with_problems(&[NOT_FOUND]),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/approve", "approve", approve_review)
                .with_description(
                    TAG,
                    "Approve",
                    "Checks the proposal again, applies and records it in one transaction. `version` is that of the \
                     review as it was read; a proposal that changed since is a conflict. Reviewers only.",
                )
                .with_body::<DecideBody>(json!({ "version": EXAMPLE_ID, "comment": "verified" })),
        ),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/reject", "reject", reject_review)
                .with_description(TAG, "Reject", "For reviewers and the proposer.")
                .with_body::<DecideBody>(json!({ "version": EXAMPLE_ID, "comment": "not so any more" })),
        ),
        decided(
            Endpoint::new(Method::POST, "/v1/reviews/{id}/request-changes", "request_changes", request_changes)
                .with_description(
                    TAG,
                    "Request changes",
                    "Returns the proposal to its author with a comment. Reviewers only.",
                )
                .with_body::<RequestChangesBody>(json!({ "version": EXAMPLE_ID, "comment": "say which release" })),
        ),
    ]
}

async fn list_reviews(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<ReviewParams>,
) -> Result<Json<Page<ReviewBrief>>, Problem> {
    let after = params.cursor.as_deref().map(QueuePage::mark_from_token).transpose()?;
    let filter =
        QueueFilter { state: params.state, action: params.action, store: params.store, after, limit: params.limit };
    let queue = app.entrance.call("reviews", move |engine| Ok(engine.reviews(&auth.caller, &filter)?)).await?;
    let next_cursor = queue.next_token();
    Ok(Json(Page { items: queue.reviews.into_iter().map(|review| ReviewBrief { review }).collect(), next_cursor }))
}

async fn propose_promotion(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<ProposeBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    to_proposed_response(
        app.entrance.call("propose", move |engine| Ok(engine.propose(&auth.caller, body.into())?)).await?,
    )
}

async fn propose_forget(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<ProposeForgetBody>,
) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    let work = move |engine: &Engine| {
        Ok(engine.propose_forget(&auth.caller, &engine::MemoryReference::Id(body.memory), body.rationale)?)
    };
    to_proposed_response(app.entrance.call("propose_forget", work).await?)
}

pub(super) fn to_proposed_response(proposed: ProposalOutcome) -> Result<(StatusCode, Json<ProposedView>), Problem> {
    match proposed {
        ProposalOutcome::Waiting { review, new } => {
            // A proposal that is pending already is answered again with 200.
            let status = if new { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(ProposedView { new, review: ReviewBrief { review: *review } })))
        }
        ProposalOutcome::Refused(refusal) => Err(refusal.into()),
    }
}

async fn decide_all(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<DecideAllBody>,
) -> Result<Json<DecidedAllView>, Problem> {
    let work = move |engine: &Engine| {
        let reviews: Vec<ReadReview> = body.reviews.iter().map(ReadReview::from).collect();
        Ok(engine.decide_all(&auth.caller, &reviews, body.approve, body.comment.as_deref())?)
    };
    Ok(Json(app.entrance.call("decide_all", work).await?.into()))
}

async fn show_review(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
) -> Result<Json<ReviewDetail>, Problem> {
    let work = move |engine: &Engine| {
        let view = engine.review(&auth.caller, &id.to_string())?;
        let impact = engine.review_impact(&auth.caller, &view)?;
        Ok(ReviewDetail::new(view, impact))
    };
    Ok(Json(app.entrance.call("review", work).await?))
}

async fn approve_review(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
    JsonBody(body): JsonBody<DecideBody>,
) -> Result<Json<DecidedView>, Problem> {
    let work = move |engine: &Engine| to_decided_view(engine.approve(&auth.caller, &id.to_string(), &body.into())?);
    Ok(Json(app.entrance.call("approve", work).await?))
}

async fn reject_review(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
    JsonBody(body): JsonBody<DecideBody>,
) -> Result<Json<DecidedView>, Problem> {
    let work = move |engine: &Engine| to_decided_view(engine.reject(&auth.caller, &id.to_string(), &body.into())?);
    Ok(Json(app.entrance.call("reject", work).await?))
}

async fn request_changes(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(id): PathParam<uuid::Uuid>,
    JsonBody(body): JsonBody<RequestChangesBody>,
) -> Result<Json<DecidedView>, Problem> {
    let decision = Decision { version: body.version, comment: Some(body.comment) };
    let work =
        move |engine: &Engine| to_decided_view(engine.request_changes(&auth.caller, &id.to_string(), &decision)?);
    Ok(Json(app.entrance.call("request_changes", work).await?))
}

fn to_decided_view(decided: DecisionOutcome) -> Result<DecidedView, Problem> {
    match decided {
        DecisionOutcome::Approved(approval) => Ok(DecidedView {
            memory: Some(SavedView::from_memory(&approval.memory, "approved")),
            review: ReviewBrief { review: approval.review },
        }),
        DecisionOutcome::Closed(review) => Ok(DecidedView { review: ReviewBrief { review: *review }, memory: None }),
        DecisionOutcome::Refused(refusal) => Err(refusal.into()),
    }
}
