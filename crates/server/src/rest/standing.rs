//! Forget, pin, confirm: what changes how a memory stands, and not what it says.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use engine::model::memory::Memory;
use engine::{Engine, Forgetting, Forgotten, Reference};
use serde_json::json;

use super::memories::{IF_MATCH, saved_example};
use super::{CONFLICT, NOT_FOUND, STALE, tagged};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{MemoryName, Named, Params, Preconditions, Sent};
use crate::problem::Problem;
use crate::telemetry;
use crate::wire::memory::SavedView;
use crate::wire::remember::{ForgetParams, PinBody, VerifyByBody};

const TAG: &str = "memories";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::DELETE, "/v1/memories/{id}", "forget", forget)
            .says(TAG, "Forget a memory", "Takes it out of use; its path is free again, its history stays, and its value may not come back unless you say so.")
            .header(IF_MATCH.0, IF_MATCH.1)
            .query::<ForgetParams>()
            .answer::<SavedView>(StatusCode::OK, "Forgotten", saved_example("forgotten"))
            .problems(&[NOT_FOUND, CONFLICT, STALE])
            .once(),
        Endpoint::new(Method::PUT, "/v1/memories/{id}/pin", "pin", pin)
            .says(TAG, "Pin or unpin a memory", "A pinned memory is always part of the context.")
            .body::<PinBody>(json!({ "always_inject": true }))
            .answer::<SavedView>(StatusCode::OK, "Switched", saved_example("updated"))
            .problems(&[NOT_FOUND, CONFLICT])
            .once(),
        Endpoint::new(Method::PUT, "/v1/memories/{id}/verify-by", "verify_by", verify_by)
            .says(TAG, "Confirm that a memory still holds", "Until a date, after which it counts as a draft, or for good. People only.")
            .body::<VerifyByBody>(json!({ "until": "2030-01-01T00:00:00Z", "reason": "looked at the cluster" }))
            .answer::<SavedView>(StatusCode::OK, "Confirmed", saved_example("confirmed"))
            .problems(&[NOT_FOUND, CONFLICT])
            .once(),
    ]
}

async fn forget(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    conditions: Preconditions,
    Params(params): Params<ForgetParams>,
) -> Result<Response, Problem> {
    let forgotten = app
        .call("forget", move |engine| {
            let mut how = Forgetting { reason: params.reason, may_return: params.may_return, expected: None };
            if conditions.if_match.is_some() {
                let current = engine.locate(&who.caller, &Reference::Id(memory))?;
                conditions.check(&current)?;
                how.expected = Some(current.version);
            }
            done(engine.forget_as(&who.caller, memory, &how)?)
        })
        .await
        .map_err(Problem::into_precondition)?;
    Ok(changed(&forgotten, "forgotten"))
}

async fn pin(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<PinBody>,
) -> Result<Response, Problem> {
    let work = move |engine: &Engine| done(engine.pin(&who.caller, memory, body.always_inject)?);
    Ok(changed(&*app.call("pin", work).await?, "updated"))
}

async fn verify_by(
    State(app): State<App>,
    who: Who,
    Named(memory): MemoryName,
    Sent(body): Sent<VerifyByBody>,
) -> Result<Response, Problem> {
    let work = move |engine: &Engine| done(engine.verify_by(&who.caller, memory, body.until, body.reason)?);
    Ok(changed(&*app.call("verify_by", work).await?, "confirmed"))
}

fn changed(memory: &Memory, outcome: &str) -> Response {
    telemetry::about(memory);
    tagged(StatusCode::OK, memory.version, SavedView::changed(memory, outcome))
}

fn done(forgotten: Forgotten) -> Result<Box<Memory>, Problem> {
    match forgotten {
        Forgotten::Done(memory) => Ok(memory),
        Forgotten::Refused(refusal) => Err(refusal.into()),
    }
}
