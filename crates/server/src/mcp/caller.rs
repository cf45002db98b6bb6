//! Who asks through a door: settled at start, by the client's name for itself, or by each HTTP request. Never by a
//! model.

use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use engine::model::caller::Caller;
use engine::model::vocabulary::Role;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;

use super::{Door, http};
use crate::auth::AuthenticatedCaller;

/// Longest name taken from a client, in characters: names of agents are short.
const CLIENT_NAME_CHARS_MAX: usize = 64;

/// Where a door learns who asks.
#[derive(Clone)]
pub(super) enum CallerSource {
    /// The flags said so.
    Fixed,
    /// The flags said all but the agent's name.
    ClientName,
    /// The key or token of each request does.
    Request(HttpSession),
}

/// What a session of the older era keeps.
#[derive(Clone)]
pub(super) struct HttpSession {
    /// The conversation of callers that name none, and the run of those among them that nobody watches.
    pub(super) conversation: String,
    /// The principal that opened it: a session is not shared.
    pub(super) holder: Arc<OnceLock<String>>,
}

/// The door as this request's caller stands before it.
pub(super) fn door_for_request(door: &Door, context: &RequestContext<RoleServer>) -> Result<Door, ErrorData> {
    match &door.caller_source {
        CallerSource::Fixed => Ok(door.clone()),
        CallerSource::ClientName => {
            let name = context.client_info().and_then(|info| sanitize_client_name(&info.name));
            Ok(match name {
                Some(name) => Door { caller: Arc::new(with_agent_name(&door.caller, &name)), ..door.clone() },
                None => door.clone(),
            })
        }
        CallerSource::Request(session) => {
            let parts = context.extensions.get::<Parts>();
            let auth = parts.and_then(|parts| Some((parts, parts.extensions.get::<AuthenticatedCaller>()?)));
            // INVARIANT: the gatekeeper stands before this door; a request without a caller is nobody's.
            let (parts, auth) = auth.ok_or_else(|| ErrorData::invalid_request("nobody is asking", None))?;
            let caller = caller_in_session(&auth.caller, session, context)?;
            let setup = http::setup_from_query(&door.setup, parts.uri.query().unwrap_or_default())?;
            Ok(Door { caller: Arc::new(caller), setup: Arc::new(setup), ..door.clone() })
        }
    }
}

fn with_agent_name(caller: &Caller, agent: &str) -> Caller {
    match caller.role {
        Role::Agent => Caller { agent: Some(agent.to_owned()), principal: format!("agent:{agent}"), ..caller.clone() },
        _ => caller.clone(),
    }
}

/// Letters, digits and a few marks of what a client calls itself.
fn sanitize_client_name(name: &str) -> Option<String> {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.trim().chars().take(CLIENT_NAME_CHARS_MAX).map(kept).collect();
    let name = name.trim_matches('-').to_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Whether a request is of the newer era.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Sessions are of the older era; the newer has none, and there a conversation is named by header or not at all.
fn caller_in_session(
    caller: &Caller,
    session: &HttpSession,
    context: &RequestContext<RoleServer>,
) -> Result<Caller, ErrorData> {
    if is_stateless(context) {
        return Ok(caller.clone());
    }
    let holder = format!("{}/{}", caller.tenant, caller.principal);
    if *session.holder.get_or_init(|| holder.clone()) != holder {
        return Err(ErrorData::invalid_request("this session belongs to another caller", None));
    }
    let conversation = caller.conversation.clone().unwrap_or_else(|| session.conversation.clone());
    let unattended_run = || caller.unattended.then(|| session.conversation.clone());
    let run = caller.run.clone().or_else(unattended_run);
    Ok(Caller { conversation: Some(conversation), run, ..caller.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_names_become_plain() {
        for (given, name) in [
            ("Claude Code", Some("claude-code")),
            ("a/b:c\n", Some("a-b-c")),
            (" ", None),
            ("::", None),
            ("ümlaut_1.2", Some("ümlaut_1.2")),
        ] {
            assert_eq!(sanitize_client_name(given).as_deref(), name, "{given:?}");
        }
        assert_eq!(sanitize_client_name(&"x".repeat(500)).map(|name| name.len()), Some(CLIENT_NAME_CHARS_MAX));
    }
}
