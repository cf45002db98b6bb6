//! Questions to the person behind a client (elicitation), in both generations of the protocol. The engine issues them
//! and decides which answers count; here they only travel.

use engine::{Answer, AskedQuestion};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult,
};
use rmcp::service::RequestContext;

use super::caller::is_stateless;

/// What is known of the person's reply when a tool runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// Whether the person can still be asked.
    pub(super) can_ask: bool,
    pub(super) said: Option<Said>,
}

/// What the person is said to have answered to the question with this id. A client can claim any, so the engine looks
/// it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes(String),
    No(String),
}

/// The person's decision, as a tool sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// Yes to the question with this id.
    Yes(String),
    No,
    /// Nobody could be asked.
    NotAsked,
}

impl Confirmation {
    /// The answer for the engine; `None`: the person said no.
    pub(super) fn to_answer(&self) -> Option<Answer> {
        match self {
            Confirmation::Yes(question) => Some(Answer::To(question.clone())),
            Confirmation::NotAsked => Some(Answer::Missing),
            Confirmation::No => None,
        }
    }
}

pub(super) enum AskOutcome {
    Answered(Reply),
    /// Stateless protocol: this answer carries the question, and the client repeats the call with the reply.
    QuestionSent(Box<CallToolResponse>),
}

const CONFIRM_FIELD: &str = "confirm";

/// The reply that comes with a call. In the stateless protocol the client repeats the call with the state it was given,
/// which names the question; anything else in a call is no reply.
pub(super) fn reply_in_call(context: &RequestContext<RoleServer>, request: &CallToolRequestParams) -> Reply {
    // Without it no failure: the tool goes on, and `memory_forget` then opens a review.
    let can_ask = context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some());
    let reply = request.input_responses.as_ref().and_then(|replies| replies.get(CONFIRM_FIELD));
    let said = match (is_stateless(context), &request.request_state, reply) {
        (true, Some(question), Some(reply)) => {
            // An unreadable reply counts as no.
            let result: Option<ElicitResult> = serde_json::from_value(reply.clone()).ok();
            Some(read_result(result.as_ref(), question.clone()))
        }
        _ => None,
    };
    Reply { can_ask, said }
}

/// Sends a question to the person, and waits for the reply where the protocol has sessions.
pub(super) async fn ask_person(
    context: &RequestContext<RoleServer>,
    question: AskedQuestion,
) -> Result<AskOutcome, ErrorData> {
    let schema = ElicitationSchema::builder()
        .required_bool(CONFIRM_FIELD)
        .build()
        .map_err(|error| ErrorData::internal_error(error, None))?;
    let AskedQuestion { id, text: message } = question;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema };
    if is_stateless(context) {
        let requests =
            InputRequests::from([(CONFIRM_FIELD.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]);
        let required = InputRequiredResult::new(Some(requests), Some(id));
        return Ok(AskOutcome::QuestionSent(Box::new(CallToolResponse::InputRequired(required))));
    }
    tokio::select! {
        // A cancelled call is not run, whatever the person decides later.
        () = context.ct.cancelled() => Err(ErrorData::invalid_request("the call was cancelled", None)),
        reply = context.peer.create_elicitation(params) => match reply {
            // Asked once a call: an answer that does not count leads to a review.
            Ok(result) => {
                Ok(AskOutcome::Answered(Reply { can_ask: false, said: Some(read_result(Some(&result), id)) }))
            }
            // The client declared elicitation but could not ask.
            Err(_) => Ok(AskOutcome::Answered(Reply::default())),
        },
    }
}

fn read_result(result: Option<&ElicitResult>, question: String) -> Said {
    let confirmed = result
        // `accept` only says that the form was sent; the box in it is the consent.
        .filter(|result| result.action == ElicitationAction::Accept)
        .and_then(|result| result.content.as_ref()?.get(CONFIRM_FIELD)?.as_bool());
    if confirmed == Some(true) { Said::Yes(question) } else { Said::No(question) }
}
