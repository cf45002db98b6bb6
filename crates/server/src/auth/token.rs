//! Tokens (JWT) of an identity provider: checks signature, issuer, audience and times, then maps claims to a caller.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::Engine;
use engine::gate::check_name;
use engine::model::caller::{Caller, Grant, MemoryPermissions};
use engine::model::key::Settable;
use engine::model::vocabulary::Role;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::jwks::KeySet;
use crate::config::TokenConfig;
use crate::outbound::OutboundClient;
use crate::problem::Problem;

/// Tolerated difference between the clocks of two machines, in seconds.
const LEEWAY_SECS: i64 = 30;

pub(super) struct TokenVerifier {
    config: TokenConfig,
    key_set: KeySet,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// Extensions the verifier must understand. None are, so such a token is refused.
    #[serde(default)]
    crit: Option<Value>,
}

impl TokenVerifier {
    pub(super) fn new(config: TokenConfig, outbound: OutboundClient) -> TokenVerifier {
        let key_set = KeySet::new(config.jwks_url.clone(), outbound);
        TokenVerifier { config, key_set }
    }

    /// The caller a token stands for, and the identity headers its holder may set.
    pub(super) fn caller_from_token(&self, engine: &Engine, text: &str) -> Result<(Caller, Vec<Settable>), Problem> {
        // One message for every defect, so that a forger learns nothing.
        let claims = self.verify_token(text).ok_or_else(|| invalid_token("this token is not valid here"))?;
        self.check_claims(&claims, engine.clock.now().as_second())?;
        let caller = self.caller_from_claims(engine, &claims)?;
        Ok((caller, self.config.may_set.clone()))
    }

    /// The claims of a token with a valid signature.
    fn verify_token(&self, text: &str) -> Option<Map<String, Value>> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: TokenHeader = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        // RFC 7515: a critical extension that is not understood makes the token invalid.
        if header.crit.is_some() {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.key_set
            .verify_signature(&header.alg, header.kid.as_deref(), signed.as_bytes(), &signature)
            .then_some(())?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }

    /// Checks issuer, audience and times.
    fn check_claims(&self, claims: &Map<String, Value>, now: i64) -> Result<(), Problem> {
        // RFC 7519 allows fractions of a second.
        let time = |name: &str| claims.get(name).and_then(Value::as_f64).map(|secs| secs as i64);
        // RFC 7519: one text, or a list of them.
        let audience = match claims.get("aud") {
            Some(Value::String(one)) => *one == self.config.audience,
            Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(&self.config.audience)),
            _ => false,
        };
        match () {
            () if claims.get("iss").and_then(Value::as_str) != Some(&self.config.issuer) => {
                Err(invalid_token("the token comes from another issuer"))
            }
            () if !audience => Err(invalid_token("the token is for another audience")),
            // `exp` is required: a token that never expires cannot be taken back.
            () if time("exp").is_none_or(|exp| exp + LEEWAY_SECS <= now) => Err(invalid_token("the token has expired")),
            () if time("nbf").is_some_and(|nbf| nbf - LEEWAY_SECS > now) => {
                Err(invalid_token("the token is not valid yet"))
            }
            () => Ok(()),
        }
    }

    fn caller_from_claims(&self, engine: &Engine, claims: &Map<String, Value>) -> Result<Caller, Problem> {
        let names = &self.config.claims;
        let text = |path: &str| find_claim(claims, path).and_then(Value::as_str);
        let subject = text(&names.subject).ok_or_else(|| invalid_token("the token names no subject"))?;
        check_name("subject", subject, &engine.settings.limits)?;
        let slug = text(&names.tenant).or(Some(self.config.tenant.as_str())).filter(|slug| !slug.is_empty());
        let slug = slug.ok_or_else(|| invalid_token("the token names no tenant"))?;
        // A token never creates a tenant: outsiders must not be able to fill the database.
        let tenants = engine.database().list_tenants().map_err(engine::model::error::Error::from)?;
        let tenant = tenants.into_iter().find(|tenant| tenant.slug == slug || tenant.id.to_string() == slug);
        let tenant = tenant.ok_or_else(|| invalid_token("the token names an unknown tenant"))?;
        let role = match text(&names.role) {
            Some(word) => match self.config.roles.get(word) {
                Some(role) => *role,
                None => word.parse().map_err(|_| invalid_token("the token names an unknown role"))?,
            },
            None => self.config.role,
        };
        let caller = match role {
            // The principal names the subject: log entries must show which admin acted.
            Role::Admin => Caller {
                principal: format!("admin:{subject}"),
                person: Some(subject.to_owned()),
                ..Caller::admin(tenant.id)
            },
            Role::Reviewer => Caller::reviewer(tenant.id, subject),
            Role::User => Caller::user(tenant.id, subject),
            Role::Agent => Caller::agent(tenant.id, text(&names.agent).unwrap_or(subject)),
            Role::Service => Caller::service(tenant.id, text(&names.agent).unwrap_or(subject)),
        };
        let (rules, grants) =
            (rules_from_claim(find_claim(claims, &names.rules)), grants_from_claim(find_claim(claims, &names.grants)));
        Ok(Caller { rules, grants, ..caller })
    }
}

fn invalid_token(detail: &str) -> Problem {
    Problem::unauthorized(detail)
}

/// A claim by its dotted path. A claim whose own name contains dots, such as a URL, is found first.
fn find_claim<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    find_claim(claims.get(first)?.as_object()?, rest)
}

/// The permissions in a claim, a list or a space-separated text; all of them if there is no claim.
fn rules_from_claim(claim: Option<&Value>) -> MemoryPermissions {
    let Some(claim) = claim else { return MemoryPermissions::default() };
    let has_rule = |rule: &str| match claim {
        Value::Array(words) => words.iter().any(|word| word.as_str() == Some(rule)),
        Value::String(words) => words.split_whitespace().any(|word| word == rule),
        // A claim of another shape permits nothing, unlike a missing one.
        _ => false,
    };
    MemoryPermissions { read: has_rule("memory.read"), manage: has_rule("memory.manage") }
}

/// The grants in a claim; unknown words grant nothing.
fn grants_from_claim(claim: Option<&Value>) -> BTreeMap<String, Grant> {
    let pairs = claim.and_then(Value::as_object).into_iter().flatten();
    let granted = pairs.filter_map(|(system, word)| {
        let grant = match word.as_str()? {
            "read" => Grant::Read,
            "manage" => Grant::Manage,
            _ => return None,
        };
        Some((system.clone(), grant))
    });
    granted.collect()
}
