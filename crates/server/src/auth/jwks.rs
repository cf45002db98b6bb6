//! Public keys of the identity provider (JWKS), fetched on demand and cached.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;

use crate::lock::lock_unpoisoned;
use crate::outbound::OutboundClient;

/// How long fetched keys are used before they are fetched again.
const KEY_SET_TTL: Duration = Duration::from_secs(600);
/// Shortest time between two fetches: a token with an unknown key id causes one, and anybody can send such tokens.
const REFETCH_PAUSE: Duration = Duration::from_secs(10);

pub(super) struct KeySet {
    url: String,
    outbound: OutboundClient,
    cache: Mutex<CachedKeySet>,
}

#[derive(Default)]
struct CachedKeySet {
    keys: Vec<Jwk>,
    fetched_at: Option<Instant>,
    tried_at: Option<Instant>,
}

#[derive(Clone, Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    /// The only algorithm the key is meant for, if it names one.
    #[serde(default)]
    alg: Option<String>,
    #[serde(default)]
    key_ops: Option<Vec<String>>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
}

#[derive(Deserialize)]
struct Jwks {
    /// Parsed one by one, so that a key of an unknown type does not make the others unusable.
    keys: Vec<serde_json::Value>,
}

impl KeySet {
    pub(super) fn new(url: String, outbound: OutboundClient) -> KeySet {
        KeySet { url, outbound, cache: Mutex::default() }
    }

    /// Whether one of the provider's keys made this signature. May fetch the key set, which blocks.
    pub(super) fn verify_signature(&self, alg: &str, kid: Option<&str>, signed: &[u8], signature: &[u8]) -> bool {
        let good = |keys: Vec<Jwk>| keys.iter().any(|key| key.verify_signature(alg, signed, signature));
        let matching = |keys: Vec<Jwk>| -> Vec<Jwk> {
            // RFC 7515: the key id is optional, and without it every key is tried.
            keys.into_iter().filter(|key| kid.is_none() || key.kid.as_deref() == kid).collect()
        };
        let matching_keys = matching(self.load_keys(false));
        match matching_keys.is_empty() {
            // The provider may have rotated its keys since the last fetch.
            true => good(matching(self.load_keys(true))),
            false => good(matching_keys),
        }
    }

    /// The cached keys; fetched where they are too old or `refetch` is set.
    fn load_keys(&self, refetch: bool) -> Vec<Jwk> {
        // Held during the fetch: many tokens with a new key id cause one request, not many.
        let mut cached = lock_unpoisoned(&self.cache);
        let fresh = cached.fetched_at.is_some_and(|at| at.elapsed() < KEY_SET_TTL);
        let too_soon = cached.tried_at.is_some_and(|at| at.elapsed() < REFETCH_PAUSE);
        if too_soon || (fresh && !refetch) {
            // Expired keys are not used, even if the provider cannot be reached: they may have been withdrawn.
            return if fresh { cached.keys.clone() } else { Vec::new() };
        }
        // Before the fetch, so that a provider that is down is not asked for each token.
        cached.tried_at = Some(Instant::now());
        match self.outbound.get_json::<Jwks>(&self.url, &[]) {
            Ok(jwks) => {
                cached.keys = jwks.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
                cached.fetched_at = Some(Instant::now());
            }
            Err(reason) => tracing::warn!(%reason, "the key set of the identity provider could not be fetched"),
        }
        match cached.fetched_at.is_some_and(|at| at.elapsed() < KEY_SET_TTL) {
            true => cached.keys.clone(),
            false => Vec::new(),
        }
    }
}

impl Jwk {
    /// The key decides the algorithm, by its type and by the `alg` it names, and `alg` of the token must agree.
    /// Otherwise a token could choose a weaker algorithm than its key is meant for.
    fn verify_signature(&self, alg: &str, signed: &[u8], signature: &[u8]) -> bool {
        if !self.is_meant_for(alg) {
            return false;
        }
        let verified = match (self.kty.as_str(), self.crv.as_deref(), alg) {
            ("RSA", _, "RS256") => self.verify_rsa(&signature::RSA_PKCS1_2048_8192_SHA256, signed, signature),
            ("RSA", _, "RS384") => self.verify_rsa(&signature::RSA_PKCS1_2048_8192_SHA384, signed, signature),
            ("RSA", _, "RS512") => self.verify_rsa(&signature::RSA_PKCS1_2048_8192_SHA512, signed, signature),
            ("RSA", _, "PS256") => self.verify_rsa(&signature::RSA_PSS_2048_8192_SHA256, signed, signature),
            ("EC", Some("P-256"), "ES256") => self.verify_ecdsa(&signature::ECDSA_P256_SHA256_FIXED, signed, signature),
            ("EC", Some("P-384"), "ES384") => self.verify_ecdsa(&signature::ECDSA_P384_SHA384_FIXED, signed, signature),
            ("OKP", Some("Ed25519"), "EdDSA") => {
                let x = self.x.as_deref().and_then(decode_base64url);
                x.map(|x| UnparsedPublicKey::new(&signature::ED25519, x).verify(signed, signature).is_ok())
            }
            // Also `none` and the HMAC algorithms, for which anybody could sign with the public key.
            _ => None,
        };
        verified.unwrap_or(false)
    }

    /// Whether the key is meant for signatures, and for those of this algorithm (RFC 7517, 4.2 to 4.4).
    fn is_meant_for(&self, alg: &str) -> bool {
        self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && self.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|word| word == "verify"))
            && self.alg.as_deref().is_none_or(|named| named == alg)
    }

    fn verify_rsa(
        &self,
        parameters: &'static signature::RsaParameters,
        signed: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        let (n, e) = (decode_base64url(self.n.as_deref()?)?, decode_base64url(self.e.as_deref()?)?);
        Some(RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature).is_ok())
    }

    fn verify_ecdsa(
        &self,
        algorithm: &'static signature::EcdsaVerificationAlgorithm,
        signed: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        /// Prefix of an uncompressed point in SEC 1: both coordinates follow.
        const UNCOMPRESSED: u8 = 4;
        let mut point = vec![UNCOMPRESSED];
        point.extend(decode_base64url(self.x.as_deref()?)?);
        point.extend(decode_base64url(self.y.as_deref()?)?);
        Some(UnparsedPublicKey::new(algorithm, point).verify(signed, signature).is_ok())
    }
}

fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
