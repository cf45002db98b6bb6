//! Asking the person behind a client, in the way of its era; where the client cannot, nobody was asked.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult,
};
use rmcp::service::RequestContext;

use super::caller::is_stateless;

/// What the person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    Yes,
    No,
    /// The client cannot ask, or there was nothing to ask.
    NotAsked,
}

pub(super) enum AskOutcome {
    Answered(Confirmation),
    /// The question goes out with this answer; the client calls again with the reply.
    QuestionSent(Box<CallToolResponse>),
}

const CONFIRM_FIELD: &str = "confirm";

pub(super) async fn ask_person(
    context: &RequestContext<RoleServer>,
    request: &CallToolRequestParams,
    question: String,
) -> Result<AskOutcome, ErrorData> {
    if let Some(reply) = request.input_responses.as_ref().and_then(|replies| replies.get(CONFIRM_FIELD)) {
        let result: Option<ElicitResult> = serde_json::from_value(reply.clone()).ok();
        return Ok(AskOutcome::Answered(result.map_or(Confirmation::No, |result| to_confirmation(&result))));
    }
    let can = context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some());
    if !can {
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
        // What was called off is not done, whatever is said to it later.
        () = context.ct.cancelled() => Err(ErrorData::invalid_request("the call was called off", None)),
        said = context.peer.create_elicitation(params) => match said {
            Ok(result) => Ok(AskOutcome::Answered(to_confirmation(&result))),
            // A client that says it can and then cannot has asked nobody.
            Err(_) => Ok(AskOutcome::Answered(Confirmation::NotAsked)),
        },
    }
}

fn to_confirmation(result: &ElicitResult) -> Confirmation {
    let confirmed =
        result.content.as_ref().and_then(|content| content.get(CONFIRM_FIELD)).and_then(serde_json::Value::as_bool);
    match (&result.action, confirmed) {
        (ElicitationAction::Accept, Some(true)) => Confirmation::Yes,
        _ => Confirmation::No,
    }
}
