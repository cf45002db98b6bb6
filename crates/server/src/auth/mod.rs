//! Authentication: turns a key or token into a caller, before any handler reads the request.

mod client_address;
mod grants;
mod issued_keys;
mod jwks;
mod key_cache;
mod throttle;
mod token;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use engine::admin::keys::KEY_MARK;
use engine::gate::{check_caller, check_name};
use engine::model::caller::Caller;
use engine::model::id::TenantId;
use engine::model::key::{Key, Settable};
use engine::model::vocabulary::Role;
use engine::text::digest::content_sha256;

use crate::app::App;
use crate::config::ServerConfig;
use crate::idempotency;
use crate::metrics::AnsweredTenant;
use crate::outbound::OutboundClient;
use crate::problem::Problem;
use client_address::client_address;
use grants::Grants;
use issued_keys::IssuedKeys;
pub(crate) use key_cache::KEY_CACHE_TTL;
use key_cache::KeyCache;
use throttle::FailureThrottle;
use token::TokenVerifier;

/// Longest accepted credential: a token with many claims.
const CREDENTIAL_BYTES_MAX: usize = 8_192;

/// Headers that add to a caller's identity, if its key may set them.
pub(crate) const IDENTITY_HEADERS: [(&str, Settable); 7] = [
    ("x-agent-id", Settable::Agent),
    ("x-user-id", Settable::User),
    ("x-project-id", Settable::Project),
    ("x-conversation-id", Settable::Conversation),
    ("x-session-id", Settable::Session),
    ("x-run-id", Settable::Run),
    ("x-pipeline-id", Settable::Pipeline),
];

/// The caller of a request, after authentication.
#[derive(Clone)]
pub(crate) struct AuthenticatedCaller {
    pub(crate) caller: Caller,
    /// May manage the installation, not just its own tenant.
    pub(crate) operator: bool,
    pub(crate) proof: Arc<CallerProof>,
    /// Name of the credential: id of a key, or tenant and subject of a token. Its calls are charged to it. `None`: the
    /// local operator, who is not limited.
    credential_name: Option<String>,
}

impl AuthenticatedCaller {
    /// What a session belongs to: the credential, and whom it stands for in this request. Two keys of one agent are two
    /// holders, because they may act for different people, or with different rights.
    pub(crate) fn session_holder(&self) -> String {
        let Caller { tenant, principal, user, project, may_confirm, .. } = &self.caller;
        // As JSON, so that no value can imitate the boundary to the next.
        serde_json::json!([tenant, self.credential_name, principal, user, project, may_confirm]).to_string()
    }
}

#[cfg(test)]
impl AuthenticatedCaller {
    /// A caller without a credential.
    pub(crate) fn from_caller(caller: Caller) -> AuthenticatedCaller {
        AuthenticatedCaller { caller, operator: false, proof: Arc::default(), credential_name: None }
    }
}

/// Credential and identity headers of a request, kept so that a long stream can verify them again.
#[derive(Default)]
pub(crate) struct CallerProof {
    credential: Option<Credential>,
    identity_headers: Vec<(Settable, String)>,
}

/// A key or token, and its hash, by which it is cached.
struct Credential {
    text: String,
    sha256: String,
}

/// The identity of a credential, before the identity headers are applied.
struct CredentialIdentity {
    caller: Caller,
    operator: bool,
    may_set: Vec<Settable>,
    /// As in [`AuthenticatedCaller`]. Named after the credential, never after a header: the caller may vary those.
    credential_name: Option<String>,
}

/// Verifies credentials and limits how often an address may fail.
pub(crate) struct Authenticator {
    throttle: FailureThrottle,
    issued_keys: IssuedKeys,
    key_cache: KeyCache,
    /// Whether grants come from an external endpoint, so that identifying a caller may block.
    has_grant_resolver: bool,
    tokens: Option<TokenVerifier>,
    grants: Grants,
}

impl Authenticator {
    pub(crate) fn new(config: &ServerConfig) -> Authenticator {
        let outbound = OutboundClient::new(config.private_endpoints);
        Authenticator {
            throttle: FailureThrottle::new(config.limits.failures_burst),
            issued_keys: IssuedKeys::default(),
            key_cache: KeyCache::default(),
            has_grant_resolver: !config.grants_url.is_empty(),
            tokens: (!config.token.issuer.is_empty())
                .then(|| TokenVerifier::new(config.token.clone(), outbound.clone())),
            grants: Grants::new(config, outbound),
        }
    }

    /// Identifies the caller by the engine's keys or the identity provider. Blocks.
    pub(crate) fn identify_caller(&self, app: &App, proof: &Arc<CallerProof>) -> Result<AuthenticatedCaller, Problem> {
        // A credential is checked even in local mode: a wrong key must not silently act as the operator.
        let identity = match (&proof.credential, &app.config.local) {
            (None, Some(caller)) => local_operator(caller.clone()),
            (None, None) => return Err(Problem::unauthorized("send a key: `Authorization: Bearer ing_…`")),
            (Some(credential), _) => self.identify_credential(app.entrance.engine(), credential)?,
        };
        let mut caller =
            apply_identity_headers(identity.caller, &identity.may_set, &proof.identity_headers, app.entrance.engine())?;
        if let Some(rules) = app.config.rules.get(&caller.role) {
            // Configuration can only take permissions away.
            caller.rules.read &= rules.read;
            caller.rules.manage &= rules.manage;
        }
        // After the headers, which may name it.
        caller = app.entrance.engine().resolve_project(caller)?;
        // After the headers, because grants belong to the principal that these may change.
        self.grants.add_grants(&mut caller);
        // Before anything of it is logged or stored, whichever of key, token, headers and grants named it.
        check_caller(&caller, &app.entrance.engine().settings.limits)?;
        let (operator, credential_name) = (identity.operator, identity.credential_name);
        Ok(AuthenticatedCaller { caller, operator, proof: proof.clone(), credential_name })
    }

    fn identify_credential(&self, engine: &Engine, credential: &Credential) -> Result<CredentialIdentity, Problem> {
        let unknown = || Problem::unauthorized("this key or token is not valid here");
        let text = &credential.text;
        if let Some((tenant, key)) = self.find_key(engine, credential)? {
            let (operator, may_set) = (key.rights.operator, key.rights.may_set.clone());
            let credential_name = Some(key.id.clone());
            return Ok(CredentialIdentity { caller: key.to_caller(tenant), operator, may_set, credential_name });
        }
        let tokens = self.tokens.as_ref().filter(|_| is_token_shaped(text)).ok_or_else(unknown)?;
        let (caller, may_set) = tokens.caller_from_token(engine, text)?;
        // An identity provider cannot name operators: only a key manages the installation.
        // By tenant and subject, not by the token: its holder gets a new one at will.
        let credential_name = Some(format!("{}/{}", caller.tenant, caller.principal));
        Ok(CredentialIdentity { caller, operator: false, may_set, credential_name })
    }

    fn find_key(&self, engine: &Engine, credential: &Credential) -> Result<Option<(TenantId, Arc<Key>)>, Problem> {
        // Read before the look-up: a key that is revoked meanwhile must not be cached.
        let generation = self.key_cache.generation();
        if let Some(cached) = self.key_cache.get(&credential.sha256, engine.clock.now()) {
            return Ok(Some(cached));
        }
        let Some((tenant, key)) = engine.find_key_by_text(&credential.text)? else { return Ok(None) };
        // Only on a look-up, not on a cache hit: `last_used_at` needs no more precision than the cache time.
        engine.record_key_use(tenant, &key);
        let key = Arc::new(key);
        self.key_cache.insert_key(generation, &credential.sha256, tenant, &key);
        Ok(Some((tenant, key)))
    }

    /// Empties the key cache: keys were changed on this server.
    pub(crate) fn invalidate_keys(&self) {
        self.key_cache.invalidate_keys();
    }

    /// Called after a new key was made on this server. The key cache stays: it holds valid keys only, and a new key
    /// changes none of them.
    pub(crate) async fn admit_new_keys(&self) {
        self.issued_keys.reset().await;
    }

    /// Changes each time keys are changed on this server.
    pub(crate) fn watch_key_generation(&self) -> tokio::sync::watch::Receiver<u64> {
        self.key_cache.watch_generation()
    }

    /// Whether the key is cached and valid. Other credentials (tokens, local callers) count as fresh: they are verified
    /// again only when their time is up.
    pub(crate) fn is_key_fresh(&self, app: &App, proof: &CallerProof) -> bool {
        let key = proof.credential.as_ref().filter(|credential| credential.text.starts_with(KEY_MARK));
        key.is_none_or(|key| self.key_cache.get(&key.sha256, app.entrance.engine().clock.now()).is_some())
    }

    /// The caller, if it can be identified without blocking.
    fn identify_from_cache(&self, app: &App, proof: &Arc<CallerProof>) -> Option<Result<AuthenticatedCaller, Problem>> {
        let engine = app.entrance.engine();
        let caller = match (&proof.credential, &app.config.local) {
            (Some(credential), _) => {
                let (tenant, key) = self.key_cache.get(&credential.sha256, engine.clock.now())?;
                key.to_caller(tenant)
            }
            (None, Some(local)) => local.clone(),
            // Refused without a look-up: a flood of such requests must not take the blocking threads.
            (None, None) => return Some(self.identify_caller(app, proof)),
        };
        let project = proof.named(Settable::Project).or(caller.project.as_deref()).map(str::to_owned);
        let is_cached = engine.is_project_cached(&Caller { project, ..caller });
        (is_cached && !self.has_grant_resolver).then(|| self.identify_caller(app, proof))
    }

    /// Refuses credentials after too many failures, unless they turn out to be good without a look-up in the database.
    async fn check_failure_rate(&self, app: &App, address: IpAddr, proof: &CallerProof) -> Result<(), Problem> {
        let Some(credential) = &proof.credential else { return Ok(()) };
        let Some(wait) = self.throttle.find_wait(address, credential) else { return Ok(()) };
        // A token reaches the database only once its signature is verified, so it always gets that far.
        let is_token = self.tokens.is_some() && is_token_shaped(&credential.text);
        if is_token || self.issued_keys.contains(app, self.key_cache.generation(), credential).await? {
            return Ok(());
        }
        // Rounded up, so that a client that waits exactly this long does not come too early.
        let secs = wait.as_secs() + 1;
        let message = "too many invalid keys from this address; wait before the next try";
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "auth.throttled", message).with_retry_after(secs))
    }
}

/// A JWT has three parts; anything else is no token.
fn is_token_shaped(text: &str) -> bool {
    text.split('.').count() == 3
}

/// The layer before every guarded route: authentication, rate limit, then idempotency. One layer for all three, because
/// axum clones the inner service of each layer for every request.
pub(crate) async fn guard_request(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let auth = match authenticate_request(&app, peer.ip(), request.headers()).await {
        Ok(auth) => auth,
        Err(problem) => return problem.into_response(),
    };
    let tenant = auth.caller.tenant;
    let decision = auth.credential_name.as_ref().map(|name| app.rate_limiter.take_token(name, Instant::now()));
    tracing::Span::current().record("principal", auth.caller.principal.as_str());
    request.extensions_mut().insert(auth);
    let mut response = match decision {
        Some(decision) if !decision.allowed => {
            let secs = decision.reset.as_secs() + 1;
            let message = "too many calls; wait for `retry-after`";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "http.rate_limited", message)
                .with_retry_after(secs)
                .into_response()
        }
        _ => idempotency::run_once(&app, request, next).await,
    };
    if let Some(decision) = decision {
        // Structured fields, as in the IETF draft for RateLimit headers.
        let policy = format!("\"key\";q={};w=1", app.rate_limiter.burst());
        let left = format!("\"key\";r={};t={}", decision.remaining, decision.reset.as_secs() + 1);
        for (name, value) in [("ratelimit-policy", policy), ("ratelimit", left)] {
            if let Ok(value) = value.parse() {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
    }
    response.extensions_mut().insert(AnsweredTenant(tenant));
    response
}

pub(crate) async fn authenticate_request(
    app: &App,
    peer: IpAddr,
    headers: &HeaderMap,
) -> Result<AuthenticatedCaller, Problem> {
    let proof = Arc::new(CallerProof::from_headers(headers)?);
    let address = client_address(peer, headers, app.config.proxy_hops);
    // A cached key needs no blocking thread, so a busy caller does not queue for one. Nor is it checked for failures of
    // its address: it is good.
    let identified = match app.authenticator.identify_from_cache(app, &proof) {
        Some(identified) => identified,
        None => {
            app.authenticator.check_failure_rate(app, address, &proof).await?;
            let (identifying_app, proof) = (app.clone(), proof.clone());
            let identify = move |_: &Engine| identifying_app.authenticator.identify_caller(&identifying_app, &proof);
            app.entrance.call("authenticate", identify).await
        }
    };
    // Only wrong credentials count. A busy server or a forbidden header is no guess.
    if identified.as_ref().is_err_and(|problem| problem.status == StatusCode::UNAUTHORIZED) {
        app.metrics.record_failed_credential();
        if let Some(credential) = &proof.credential {
            app.authenticator.throttle.record_failure(address, credential);
        }
    }
    identified
}

impl CallerProof {
    /// The name that a header gives to this field of the caller.
    fn named(&self, field: Settable) -> Option<&str> {
        self.identity_headers.iter().find(|(settable, _)| *settable == field).map(|(_, name)| name.as_str())
    }

    fn from_headers(headers: &HeaderMap) -> Result<CallerProof, Problem> {
        let unreadable = || Problem::unauthorized("the credential cannot be read: `Authorization: Bearer ing_…`");
        let credential = match (headers.get("authorization"), headers.get("x-api-key")) {
            // `Authorization` wins even if it is wrong: the other header could stand for another caller.
            (Some(value), _) => {
                let (scheme, text) =
                    value.to_str().ok().and_then(|v| v.trim().split_once(' ')).ok_or_else(unreadable)?;
                Some(text.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer")).ok_or_else(unreadable).map(Some)?
            }
            (None, Some(value)) => Some(value.to_str().map_err(|_| unreadable())?),
            (None, None) => None,
        };
        // Before the hash, so that an oversized header costs nothing.
        if credential.is_some_and(|text| text.is_empty() || text.len() > CREDENTIAL_BYTES_MAX) {
            return Err(unreadable());
        }
        let mut identity_headers = Vec::new();
        for (name, settable) in IDENTITY_HEADERS {
            // Two values could be read differently by a proxy and by this server.
            let mut values = headers.get_all(name).iter();
            let Some(value) = values.next() else { continue };
            if values.next().is_some() {
                return Err(Problem::bad_request("shape.name", format!("header `{name}` is sent twice")));
            }
            let text = std::str::from_utf8(value.as_bytes())
                .map_err(|_| Problem::bad_request("shape.name", format!("header `{name}` is not UTF-8")))?;
            identity_headers.push((settable, text.to_owned()));
        }
        let credential = credential.map(|text| Credential { text: text.to_owned(), sha256: content_sha256(text) });
        Ok(CallerProof { credential, identity_headers })
    }
}

/// The caller with the identity headers applied, if its credential may set them.
fn apply_identity_headers(
    mut caller: Caller,
    may_set: &[Settable],
    identity_headers: &[(Settable, String)],
    engine: &Engine,
) -> Result<Caller, Problem> {
    for (settable, name) in identity_headers {
        if !may_set.contains(settable) {
            let header = IDENTITY_HEADERS.iter().find(|(_, of)| of == settable).map_or("", |(header, _)| *header);
            let message = format!("this key may not set `{header}`; an admin can create one with `may_set`");
            return Err(Problem::forbidden("auth.header_not_allowed", message));
        }
        check_name(settable.as_str(), name, &engine.settings.limits)?;
        let name = Some(name.clone());
        match settable {
            Settable::Agent => caller.agent = name,
            Settable::User => caller.user = name,
            Settable::Project => caller.project = name,
            Settable::Conversation => caller.conversation = name,
            Settable::Session => caller.session = name,
            Settable::Run => caller.run = name,
            Settable::Pipeline => caller.pipeline = name,
        }
    }
    // The principal follows the header: versions and events name the agent or user that acted, not the key's owner.
    let own_name = match caller.role {
        Role::Agent | Role::Service => caller.agent.as_ref(),
        Role::User => caller.user.as_ref(),
        // Their decisions stay under the name of the credential, whatever header they set.
        Role::Admin | Role::Reviewer => None,
    };
    if caller.role == Role::User {
        caller.person.clone_from(&caller.user);
    }
    if let Some(name) = own_name {
        caller.principal = format!("{}:{name}", caller.role);
    }
    Ok(caller)
}

/// The local operator, who may set every identity header.
fn local_operator(caller: Caller) -> CredentialIdentity {
    CredentialIdentity { caller, operator: true, may_set: Settable::ALL.to_vec(), credential_name: None }
}

impl<S: Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<AuthenticatedCaller, Problem> {
        // INVARIANT: `guard_request` runs before every guarded route and inserts the caller.
        parts.extensions.get::<AuthenticatedCaller>().cloned().ok_or_else(Problem::internal)
    }
}
