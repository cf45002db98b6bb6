//! The caller of an MCP request: fixed at start, named by the client, or authenticated per HTTP request. A model never
//! chooses it.

use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use engine::gate::check_name;
use engine::model::caller::Caller;
use engine::model::vocabulary::Role;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;

use super::tool::CallOrigin;
use super::{Door, WriteTools, http};
use crate::auth::AuthenticatedCaller;

/// Longest agent name taken from a client, in characters.
const CLIENT_NAME_CHARS_MAX: usize = 64;

/// Where a door gets its caller from.
#[derive(Clone)]
pub(super) enum CallerSource {
    /// From the command line.
    Fixed,
    /// From the command line, with the agent's name from the client.
    ClientName,
    /// From the key or token of each request.
    Request(HttpSession),
}

/// State of an HTTP session; only the older protocol has sessions.
#[derive(Clone)]
pub(super) struct HttpSession {
    /// Conversation of callers without one of their own, and run of unattended callers without one.
    pub(super) conversation: String,
    /// The credential that opened the session, and whom it stood for. No other may use it.
    pub(super) holder: Arc<OnceLock<String>>,
}

/// The door with the caller and the set-up of this request.
pub(super) fn door_for_request(door: &Door, context: &RequestContext<RoleServer>) -> Result<Door, ErrorData> {
    match &door.caller_source {
        CallerSource::Fixed => Ok(door.clone()),
        CallerSource::ClientName => {
            let name = context.client_info().and_then(|info| sanitize_client_name(&info.name));
            // A client that gives a token as its name keeps the name it was started with.
            let name = name.filter(|name| check_name("client", name, &door.entrance.engine().settings.limits).is_ok());
            Ok(match name {
                Some(name) => Door { caller: Arc::new(with_agent_name(&door.caller, &name)), ..door.clone() },
                None => door.clone(),
            })
        }
        CallerSource::Request(session) => {
            let parts = context.extensions.get::<Parts>();
            let auth = parts.and_then(|parts| Some((parts, parts.extensions.get::<AuthenticatedCaller>()?)));
            // INVARIANT: `guard_request` runs before this service and inserts the caller.
            let (parts, auth) =
                auth.ok_or_else(|| ErrorData::invalid_request("the request is not authenticated", None))?;
            let caller = caller_in_session(auth, session, context)?;
            let setup = http::setup_from_query(&door.setup, parts.uri.query().unwrap_or_default())?;
            let writes_loaded = match is_stateless(context) && setup.write_tools == WriteTools::OnDemand {
                true => door.stateless_loads.flag_of(&caller),
                false => door.writes_loaded.clone(),
            };
            Ok(Door { caller: Arc::new(caller), setup: Arc::new(setup), writes_loaded, ..door.clone() })
        }
    }
}

/// Where a call comes from, in names that a log may hold.
pub(super) fn call_origin(context: &RequestContext<RoleServer>) -> CallOrigin {
    let client = context.client_info().and_then(|info| {
        let name = sanitize_client_name(&info.name)?;
        Some(sanitize_client_name(&info.version).map_or(name.clone(), |version| format!("{name} {version}")))
    });
    CallOrigin { client, request: context.id.to_string().chars().take(CLIENT_NAME_CHARS_MAX).collect() }
}

fn with_agent_name(caller: &Caller, agent: &str) -> Caller {
    match caller.role {
        Role::Agent => Caller { agent: Some(agent.to_owned()), principal: format!("agent:{agent}"), ..caller.clone() },
        // Only an agent is named after its client: a person's name comes from the operator.
        _ => caller.clone(),
    }
}

/// The client's name reduced to letters, digits, `-`, `_` and `.`, in lower case.
fn sanitize_client_name(name: &str) -> Option<String> {
    // `:` and `/` separate the parts of a principal, so a name must not hold them.
    let replace = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.trim().chars().take(CLIENT_NAME_CHARS_MAX).map(replace).collect();
    let name = name.trim_matches('-').to_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Whether a request uses the stateless protocol, from 2026-07-28 on.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    // Versions are dates, which sort as text.
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The caller with the session's conversation and run. The stateless protocol has no sessions: there, only headers name
/// a conversation.
fn caller_in_session(
    auth: &AuthenticatedCaller,
    session: &HttpSession,
    context: &RequestContext<RoleServer>,
) -> Result<Caller, ErrorData> {
    let caller = &auth.caller;
    if is_stateless(context) {
        return Ok(caller.clone());
    }
    let holder = auth.session_holder();
    // A session id is no credential: another caller that learned it must not act as its owner.
    if *session.holder.get_or_init(|| holder.clone()) != holder {
        return Err(ErrorData::invalid_request("this session belongs to another caller", None));
    }
    let conversation = caller.conversation.clone().unwrap_or_else(|| session.conversation.clone());
    let unattended_run = || caller.unattended.then(|| session.conversation.clone());
    // Writes of unattended callers are limited per run, so each needs one.
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
