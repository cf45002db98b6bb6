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
pub(super) enum Said {
    Yes,
    No,
    /// The client cannot ask, or there was nothing to ask.
    NotAsked,
}

pub(super) enum Word {
    Said(Said),
    /// The question goes out with this answer; the client calls again with the reply.
    Asked(Box<CallToolResponse>),
}

const QUESTION: &str = "confirm";

pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    request: &CallToolRequestParams,
    question: String,
) -> Result<Word, ErrorData> {
    if let Some(reply) = request.input_responses.as_ref().and_then(|replies| replies.get(QUESTION)) {
        let result: Option<ElicitResult> = serde_json::from_value(reply.clone()).ok();
        return Ok(Word::Said(result.map_or(Said::No, |result| judge(&result))));
    }
    let can = context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some());
    if !can {
        return Ok(Word::Said(Said::NotAsked));
    }
    let schema = ElicitationSchema::builder()
        .required_bool(QUESTION)
        .build()
        .map_err(|error| ErrorData::internal_error(error, None))?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message: question, requested_schema: schema };
    if is_stateless(context) {
        let requests =
            InputRequests::from([(QUESTION.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]);
        let required = InputRequiredResult::from_input_requests(requests);
        return Ok(Word::Asked(Box::new(CallToolResponse::InputRequired(required))));
    }
    tokio::select! {
        // What was called off is not done, whatever is said to it later.
        () = context.ct.cancelled() => Err(ErrorData::invalid_request("the call was called off", None)),
        said = context.peer.create_elicitation(params) => match said {
            Ok(result) => Ok(Word::Said(judge(&result))),
            // A client that says it can and then cannot has asked nobody.
            Err(_) => Ok(Word::Said(Said::NotAsked)),
        },
    }
}

fn judge(result: &ElicitResult) -> Said {
    let confirmed =
        result.content.as_ref().and_then(|content| content.get(QUESTION)).and_then(serde_json::Value::as_bool);
    match (&result.action, confirmed) {
        (ElicitationAction::Accept, Some(true)) => Said::Yes,
        _ => Said::No,
    }
}
