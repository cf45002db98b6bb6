//! Questions to the person behind a client (elicitation), in both generations of the protocol.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult,
};
use rmcp::service::RequestContext;

use super::caller::is_stateless;

/// The person's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    Yes,
    No,
    /// The client cannot ask, or no confirmation was needed.
    NotAsked,
}

pub(super) enum AskOutcome {
    Answered(Confirmation),
    /// Stateless protocol: this answer carries the question, and the client repeats the call with the reply.
    QuestionSent(Box<CallToolResponse>),
}

const CONFIRM_FIELD: &str = "confirm";

/// Asks the person to confirm a call, or reads the reply that came with a repeated call.
pub(super) async fn ask_person(
    context: &RequestContext<RoleServer>,
    request: &CallToolRequestParams,
    question: String,
) -> Result<AskOutcome, ErrorData> {
    if let Some(reply) = request.input_responses.as_ref().and_then(|replies| replies.get(CONFIRM_FIELD)) {
        // An unreadable reply counts as no.
        let result: Option<ElicitResult> = serde_json::from_value(reply.clone()).ok();
        return Ok(AskOutcome::Answered(result.map_or(Confirmation::No, |result| to_confirmation(&result))));
    }
    let can_ask = context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some());
    if !can_ask {
        // No failure: the tool decides, and `memory_forget` then opens a review.
        return Ok(AskOutcome::Answered(Confirmation::NotAsked));
    }
    let schema = ElicitationSchema::builder()
        .required_bool(CONFIRM_FIELD)
        .build()
        .map_err(|error| ErrorData::internal_error(error, None))?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message: question, requested_schema: schema };
    if is_stateless(context) {
        let requests =
            InputRequests::from([(CONFIRM_FIELD.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]);
        let required = InputRequiredResult::from_input_requests(requests);
        return Ok(AskOutcome::QuestionSent(Box::new(CallToolResponse::InputRequired(required))));
    }
    tokio::select! {
        // A cancelled call is not run, whatever the person decides later.
        () = context.ct.cancelled() => Err(ErrorData::invalid_request("the call was cancelled", None)),
        reply = context.peer.create_elicitation(params) => match reply {
            Ok(result) => Ok(AskOutcome::Answered(to_confirmation(&result))),
            // The client declared elicitation but could not ask.
            Err(_) => Ok(AskOutcome::Answered(Confirmation::NotAsked)),
        },
    }
}

fn to_confirmation(result: &ElicitResult) -> Confirmation {
    let confirmed =
        result.content.as_ref().and_then(|content| content.get(CONFIRM_FIELD)).and_then(serde_json::Value::as_bool);
    match (&result.action, confirmed) {
        // `accept` only says that the form was sent; the box in it is the consent.
        (ElicitationAction::Accept, Some(true)) => Confirmation::Yes,
        _ => Confirmation::No,
    }
}
