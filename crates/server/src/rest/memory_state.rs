//! Forget, pin and confirm: changes of a memory's state that leave its content alone.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::model::memory::Memory;
use engine::{Engine, ForgetOptions, ForgetOutcome, MemoryReference, Pin, TransitionOutcome};
use serde_json::{Value, json};

use super::remember::{IF_MATCH, saved_example};
use super::{CONFLICT, NOT_FOUND, STALE, json_with_etag};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, MemoryIdParam, PathParam, Preconditions, QueryParams};
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::memory_state::{ForgetParams, PinBody, VerifyByBody};
use crate::wire::remember::SavedView;
use crate::wire::reviews::{ProposedView, ReviewBrief};

const TAG: &str = "memories";

pub(super) fn memory_state_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::DELETE, "/v1/memories/{id}", "forget", forget_memory)
            .with_description(
                TAG,
                "Forget a memory",
                "Takes it out of use. Its path is free again and its history is kept. The same text is refused \
                 from now on, unless `may_return` is set. What a person wrote or trusted, an agent only proposes to \
                 forget: 202 with the review in which a person decides.",
            )
            .with_header(IF_MATCH.0, IF_MATCH.1)
            .with_query::<ForgetParams>()
            .with_json_answer::<SavedView>(StatusCode::OK, "Forgotten", saved_example("forgotten"))
            .with_json_answer::<ProposedView>(StatusCode::ACCEPTED, "A person decides", Value::Null)
            .with_problems(&[NOT_FOUND, CONFLICT, STALE])
            .with_idempotency_key(),
        Endpoint::new(Method::PUT, "/v1/memories/{id}/pin", "pin", pin_memory)
            .with_description(
                TAG,
                "Pin or unpin a memory",
                "A pinned memory is always part of the context. A person who pins a draft of an agent confirms it: it \
                 then counts as their own words. That takes the version they have read, in `If-Match` or \
                 `expected_version`.",
            )
            .with_header(IF_MATCH.0, IF_MATCH.1)
            .with_body::<PinBody>(json!({ "always_inject": true }))
            .with_json_answer::<SavedView>(StatusCode::OK, "Pinned or unpinned", saved_example("updated"))
            .with_problems(&[NOT_FOUND, CONFLICT, STALE])
            .with_idempotency_key(),
        Endpoint::new(Method::PUT, "/v1/memories/{id}/verify-by", "verify_by", set_verify_by)
            .with_description(
                TAG,
                "Confirm that a memory is still true",
                "Until a date, after which it has the trust of a draft, or without end. People only.",
            )
            .with_body::<VerifyByBody>(json!({ "until": "2030-01-01T00:00:00Z", "reason": "looked at the cluster" }))
            .with_json_answer::<SavedView>(StatusCode::OK, "Confirmed", saved_example("confirmed"))
            .with_problems(&[NOT_FOUND, CONFLICT])
            .with_idempotency_key(),
    ]
}

async fn forget_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    conditions: Preconditions,
    QueryParams(params): QueryParams<ForgetParams>,
) -> Result<Response, Problem> {
    let forgotten = app
        .entrance
        .call("forget", move |engine| {
            let (reason, may_return) = (params.reason, params.may_return);
            let mut how = ForgetOptions { reason, may_return, ..ForgetOptions::default() };
            if conditions.if_match.is_some() {
                let current = engine.locate(&auth.caller, &MemoryReference::Id(memory))?;
                conditions.check_if_match(&current)?;
                // Checked again inside the commit, as for a save.
                how.expected_version = Some(current.version);
            }
            Ok(engine.forget_with_options(&auth.caller, memory, &how)?)
        })
        .await
        .map_err(Problem::into_precondition_failed)?;
    match forgotten {
        ForgetOutcome::Done(memory) => Ok(changed_response(&memory, "forgotten")),
        ForgetOutcome::Refused(refusal) => Err(refusal.into()),
        ForgetOutcome::Proposed { review, new } => {
            let view = ProposedView { new, review: ReviewBrief { review: *review } };
            Ok((StatusCode::ACCEPTED, Json(view)).into_response())
        }
    }
}

async fn pin_memory(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    conditions: Preconditions,
    JsonBody(body): JsonBody<PinBody>,
) -> Result<Response, Problem> {
    let work = move |engine: &Engine| {
        let mut pin = Pin { always_inject: body.always_inject, expected_version: body.expected_version };
        if conditions.if_match.is_some() {
            let current = engine.locate(&auth.caller, &MemoryReference::Id(memory))?;
            conditions.check_if_match(&current)?;
            pin.expected_version = pin.expected_version.or(Some(current.version));
        }
        memory_or_refusal(engine.pin(&auth.caller, memory, pin)?)
    };
    let pinned = app.entrance.call("pin", work).await.map_err(Problem::into_precondition_failed)?;
    Ok(changed_response(&pinned, "updated"))
}

async fn set_verify_by(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(memory): MemoryIdParam,
    JsonBody(body): JsonBody<VerifyByBody>,
) -> Result<Response, Problem> {
    let work =
        move |engine: &Engine| memory_or_refusal(engine.verify_by(&auth.caller, memory, body.until, body.reason)?);
    Ok(changed_response(&*app.entrance.call("verify_by", work).await?, "confirmed"))
}

fn changed_response(memory: &Memory, outcome: &str) -> Response {
    telemetry::record_memory(memory);
    json_with_etag(StatusCode::OK, memory.version, SavedView::from_memory(memory, outcome))
}

fn memory_or_refusal(forgotten: TransitionOutcome) -> Result<Box<Memory>, Problem> {
    match forgotten {
        TransitionOutcome::Done(memory) => Ok(memory),
        TransitionOutcome::Refused(refusal) => Err(refusal.into()),
    }
}
