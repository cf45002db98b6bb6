//! Token or key to caller: who asks is settled here, before anybody reads what is asked.

mod grants;
mod jwks;
mod key_cache;
mod token;

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use engine::admin::keys::KEY_MARK;
use engine::gate::check_name;
use engine::model::caller::Caller;
use engine::model::id::TenantId;
use engine::model::key::{Key, Settable};
use engine::model::vocabulary::Role;
use engine::text::digest::content_sha256;

use crate::app::App;
use crate::config::ServerConfig;
use crate::idempotency;
use crate::lock::lock_unpoisoned;
use crate::outbound::OutboundClient;
use crate::problem::Problem;
use crate::rate_limit::RateLimiter;
use grants::Grants;
pub(crate) use key_cache::KEY_CACHE_TTL;
use key_cache::KeyCache;
use token::TokenVerifier;

/// One failed credential is forgiven this often, per second: guessing stays hopeless, a typo costs little.
const FAILURES_FORGIVEN_PER_SECOND: f64 = 1.0 / 3.0;
/// Good credentials remembered as such, so that a flood of bad ones from the same address cannot lock them out.
const KNOWN_GOOD_MAX: usize = 10_000;
/// Longest credential looked at: a token with many claims.
const CREDENTIAL_BYTES_MAX: usize = 8_192;

/// Headers that say more about a caller, where its key may set them.
pub(crate) const IDENTITY_HEADERS: [(&str, Settable); 6] = [
    ("x-agent-id", Settable::Agent),
    ("x-user-id", Settable::User),
    ("x-conversation-id", Settable::Conversation),
    ("x-session-id", Settable::Session),
    ("x-run-id", Settable::Run),
    ("x-pipeline-id", Settable::Pipeline),
];

/// Who asks, settled.
#[derive(Clone)]
pub(crate) struct AuthenticatedCaller {
    pub(crate) caller: Caller,
    /// Runs the installation, not just a tenant of it.
    pub(crate) operator: bool,
    pub(crate) proof: Arc<CallerProof>,
}

#[cfg(test)]
impl AuthenticatedCaller {
    /// Somebody who needed to show nothing.
    pub(crate) fn from_caller(caller: Caller) -> AuthenticatedCaller {
        AuthenticatedCaller { caller, operator: false, proof: Arc::default() }
    }
}

/// What the caller showed: kept so that a long stream can ask again whether it is still good.
#[derive(Default)]
pub(crate) struct CallerProof {
    credential: Option<Credential>,
    identity_headers: Vec<(Settable, String)>,
}

/// A key or a token, and the hash it is known by.
struct Credential {
    text: String,
    sha256: String,
}

/// A caller before its headers are read.
struct CredentialIdentity {
    caller: Caller,
    operator: bool,
    may_set: Vec<Settable>,
}

/// Checks credentials, and how often they fail.
pub(crate) struct Authenticator {
    failures: RateLimiter,
    known_good: Mutex<HashSet<String>>,
    key_cache: KeyCache,
    /// Whether asking for grants may take a while.
    has_grant_resolver: bool,
    tokens: Option<TokenVerifier>,
    grants: Grants,
}

impl Authenticator {
    pub(crate) fn new(config: &ServerConfig) -> Authenticator {
        let outbound = OutboundClient::new(config.private_endpoints);
        Authenticator {
            failures: RateLimiter::with_rate(FAILURES_FORGIVEN_PER_SECOND, config.limits.failures_burst),
            known_good: Mutex::default(),
            key_cache: KeyCache::default(),
            has_grant_resolver: !config.grants_url.is_empty(),
            tokens: (!config.token.issuer.is_empty())
                .then(|| TokenVerifier::new(config.token.clone(), outbound.clone())),
            grants: Grants::new(config, outbound),
        }
    }

    /// Asks the engine or the provider who this is. Blocks.
    pub(crate) fn identify_caller(&self, app: &App, proof: &Arc<CallerProof>) -> Result<AuthenticatedCaller, Problem> {
        let identity = match (&proof.credential, &app.config.local) {
            (None, Some(caller)) => local_operator(caller.clone()),
            (None, None) => return Err(Problem::unauthorized("send a key: `Authorization: Bearer ing_…`")),
            (Some(credential), _) => self.identify_credential(app.entrance.engine(), credential)?,
        };
        let mut caller =
            apply_identity_headers(identity.caller, &identity.may_set, &proof.identity_headers, app.entrance.engine())?;
        if let Some(rules) = app.config.rules.get(&caller.role) {
            caller.rules.read &= rules.read;
            caller.rules.manage &= rules.manage;
        }
        self.grants.add_grants(&mut caller);
        Ok(AuthenticatedCaller { caller, operator: identity.operator, proof: proof.clone() })
    }

    fn identify_credential(&self, engine: &Engine, credential: &Credential) -> Result<CredentialIdentity, Problem> {
        let unknown = || Problem::unauthorized("this key or token is not good here");
        let text = &credential.text;
        if let Some((tenant, key)) = self.find_key(engine, credential)? {
            let (operator, may_set) = (key.rights.operator, key.rights.may_set.clone());
            return Ok(CredentialIdentity { caller: key.to_caller(tenant), operator, may_set });
        }
        let tokens = self.tokens.as_ref().filter(|_| text.split('.').count() == 3).ok_or_else(unknown)?;
        let (caller, may_set) = tokens.caller_from_token(engine, text)?;
        Ok(CredentialIdentity { caller, operator: false, may_set })
    }

    fn find_key(&self, engine: &Engine, credential: &Credential) -> Result<Option<(TenantId, Arc<Key>)>, Problem> {
        let era = self.key_cache.generation();
        if let Some(believed) = self.key_cache.get(&credential.sha256, engine.clock.now()) {
            return Ok(Some(believed));
        }
        let Some((tenant, key)) = engine.find_key_by_text(&credential.text)? else { return Ok(None) };
        engine.record_key_use(tenant, &key);
        let key = Arc::new(key);
        self.key_cache.insert_key(era, &credential.sha256, tenant, &key);
        Ok(Some((tenant, key)))
    }

    /// Looks every key up anew: some were changed here.
    pub(crate) fn invalidate_keys(&self) {
        self.key_cache.invalidate_keys();
    }

    /// Moves each time keys were changed here.
    pub(crate) fn watch_key_generation(&self) -> tokio::sync::watch::Receiver<u64> {
        self.key_cache.watch_generation()
    }

    /// Whether the key shown was just looked up and is good. What is no key speaks for itself until it is asked again.
    pub(crate) fn is_key_fresh(&self, app: &App, proof: &CallerProof) -> bool {
        let key = proof.credential.as_ref().filter(|credential| credential.text.starts_with(KEY_MARK));
        key.is_none_or(|key| self.key_cache.get(&key.sha256, app.entrance.engine().clock.now()).is_some())
    }

    /// Who this is, where that is known without asking anybody.
    fn identify_from_cache(&self, app: &App, proof: &Arc<CallerProof>) -> Option<Result<AuthenticatedCaller, Problem>> {
        let known = match &proof.credential {
            Some(credential) => self.key_cache.get(&credential.sha256, app.entrance.engine().clock.now()).is_some(),
            None => true,
        };
        (known && !self.has_grant_resolver).then(|| self.identify_caller(app, proof))
    }

    /// Whether an address has failed too often to be believed once more. Good credentials seen before always pass.
    fn check_failure_rate(&self, peer: IpAddr, proof: &CallerProof) -> Result<(), Problem> {
        let Some(credential) = &proof.credential else { return Ok(()) };
        let verdict = self.failures.peek_tokens(&peer.to_string(), Instant::now());
        let known = || self.lock_known_good().contains(&credential.sha256);
        if verdict.allowed || known() {
            return Ok(());
        }
        let secs = verdict.reset.as_secs() + 1;
        let message = "too many keys from this address were not good";
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "auth.throttled", message).with_retry_after(secs))
    }

    fn record_attempt(&self, peer: IpAddr, proof: &CallerProof, good: bool) {
        let Some(credential) = &proof.credential else { return };
        if !good {
            self.failures.take_token(&peer.to_string(), Instant::now());
            return;
        }
        let mut known = self.lock_known_good();
        if known.contains(&credential.sha256) {
            return;
        }
        if known.len() >= KNOWN_GOOD_MAX {
            known.clear();
        }
        known.insert(credential.sha256.clone());
    }

    fn lock_known_good(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        lock_unpoisoned(&self.known_good)
    }
}

/// The layer before every guarded route: who, then how often, then whether it was done before. One layer for all of it,
/// as each copies those below it for every call.
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
    let principal = format!("{}/{}", auth.caller.tenant, auth.caller.principal);
    // The person at this machine is not rationed.
    let verdict = (app.config.local.is_none() || auth.proof.credential.is_some())
        .then(|| app.rate_limiter.take_token(&principal, Instant::now()));
    tracing::Span::current().record("principal", auth.caller.principal.as_str());
    request.extensions_mut().insert(auth);
    let mut response = match verdict {
        Some(verdict) if !verdict.allowed => {
            let secs = verdict.reset.as_secs() + 1;
            let message = "too many calls; slow down";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "http.rate_limited", message)
                .with_retry_after(secs)
                .into_response()
        }
        _ => idempotency::run_once(&app, request, next).await,
    };
    if let Some(verdict) = verdict {
        let policy = format!("\"principal\";q={};w=1", app.rate_limiter.burst());
        let left = format!("\"principal\";r={};t={}", verdict.remaining, verdict.reset.as_secs() + 1);
        for (name, value) in [("ratelimit-policy", policy), ("ratelimit", left)] {
            if let Ok(value) = value.parse() {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
    }
    response
}

pub(crate) async fn authenticate_request(
    app: &App,
    peer: IpAddr,
    headers: &HeaderMap,
) -> Result<AuthenticatedCaller, Problem> {
    let proof = Arc::new(CallerProof::from_headers(headers)?);
    app.authenticator.check_failure_rate(peer, &proof)?;
    let auth = match app.authenticator.identify_from_cache(app, &proof) {
        Some(auth) => auth,
        None => {
            let (doorman, shown) = (app.clone(), proof.clone());
            app.entrance.call("authenticate", move |_| doorman.authenticator.identify_caller(&doorman, &shown)).await
        }
    };
    match &auth {
        Ok(_) => app.authenticator.record_attempt(peer, &proof, true),
        Err(problem) if problem.status == StatusCode::UNAUTHORIZED => {
            app.metrics.record_failed_credential();
            app.authenticator.record_attempt(peer, &proof, false);
        }
        Err(_) => {}
    }
    auth
}

impl CallerProof {
    fn from_headers(headers: &HeaderMap) -> Result<CallerProof, Problem> {
        let unreadable = || Problem::unauthorized("the credential cannot be read: `Authorization: Bearer ing_…`");
        let credential = match (headers.get("authorization"), headers.get("x-api-key")) {
            (Some(value), _) => {
                let (scheme, text) =
                    value.to_str().ok().and_then(|v| v.trim().split_once(' ')).ok_or_else(unreadable)?;
                Some(text.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer")).ok_or_else(unreadable).map(Some)?
            }
            (None, Some(value)) => Some(value.to_str().map_err(|_| unreadable())?),
            (None, None) => None,
        };
        if credential.is_some_and(|text| text.is_empty() || text.len() > CREDENTIAL_BYTES_MAX) {
            return Err(unreadable());
        }
        let mut said = Vec::new();
        for (name, settable) in IDENTITY_HEADERS {
            let mut values = headers.get_all(name).iter();
            let Some(value) = values.next() else { continue };
            if values.next().is_some() {
                return Err(Problem::bad_request("shape.name", format!("header `{name}` is sent twice")));
            }
            let text = std::str::from_utf8(value.as_bytes())
                .map_err(|_| Problem::bad_request("shape.name", format!("header `{name}` is not UTF-8")))?;
            said.push((settable, text.to_owned()));
        }
        let credential = credential.map(|text| Credential { text: text.to_owned(), sha256: content_sha256(text) });
        Ok(CallerProof { credential, identity_headers: said })
    }
}

/// What the headers say, where they may.
fn apply_identity_headers(
    mut caller: Caller,
    may_set: &[Settable],
    said: &[(Settable, String)],
    engine: &Engine,
) -> Result<Caller, Problem> {
    for (settable, name) in said {
        if !may_set.contains(settable) {
            let message = format!("this key may not say its {settable}; an admin makes one with `may_set`");
            return Err(Problem::forbidden("auth.header_not_allowed", message));
        }
        check_name(settable.as_str(), name, &engine.settings.limits)?;
        let name = Some(name.clone());
        match settable {
            Settable::Agent => caller.agent = name,
            Settable::User => caller.user = name,
            Settable::Conversation => caller.conversation = name,
            Settable::Session => caller.session = name,
            Settable::Run => caller.run = name,
            Settable::Pipeline => caller.pipeline = name,
        }
    }
    // A program is called what its header says: versions and events name who did it, not whose key it was.
    let own_name = match caller.role {
        Role::Agent | Role::Service => caller.agent.as_ref(),
        Role::User => caller.user.as_ref(),
        Role::Admin | Role::Reviewer => None,
    };
    if let Some(name) = own_name {
        caller.principal = format!("{}:{name}", caller.role);
    }
    Ok(caller)
}

/// The operator at this machine, who may be whoever he says.
fn local_operator(caller: Caller) -> CredentialIdentity {
    CredentialIdentity { caller, operator: true, may_set: Settable::ALL.to_vec() }
}

impl<S: Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<AuthenticatedCaller, Problem> {
        // INVARIANT: every guarded route passed the gatekeeper, which put this here.
        parts.extensions.get::<AuthenticatedCaller>().cloned().ok_or_else(Problem::internal)
    }
}
