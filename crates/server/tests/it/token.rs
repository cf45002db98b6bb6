//! Tokens of an identity provider: good ones map to callers, bad ones to nobody; resolvers fail closed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair, RsaPublicKeyComponents};
use serde_json::{Value, json};
use server::{ClaimNames, ServerConfig, TokenConfig};

use crate::house::House;

/// Answers every request with what it is told to.
fn provider(answer: Arc<Mutex<(u16, String)>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection");
            let _ = socket.read(&mut [0; 4096]);
            let (status, body) = answer.lock().expect("unpoisoned").clone();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = socket.write_all((head + &body).as_bytes());
        }
    });
    url
}

struct Signer(Ed25519KeyPair);

impl Signer {
    fn new(seed: u8) -> Signer {
        Signer(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a key pair"))
    }

    fn jwks(&self) -> String {
        let x = URL_SAFE_NO_PAD.encode(self.0.public_key());
        json!({
            "keys": [
                { "kty": "strange" , "n": 1 }, { "kty": "OKP", "crv": "Ed25519", "kid": "k1", "use": "sig", "x": x },
            ],
        })
        .to_string()
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }
}

fn config(url: &str) -> ServerConfig {
    let token = TokenConfig {
        issuer: "https://id.example".to_owned(),
        audience: "ingrain".to_owned(),
        jwks_url: url.to_owned(),
        tenant: "default".to_owned(),
        role: engine::model::vocabulary::Role::User,
        roles: [("boss".to_owned(), engine::model::vocabulary::Role::Admin)].into(),
        claims: ClaimNames { role: "realm.role".to_owned(), ..ClaimNames::default() },
        may_set: Vec::new(),
    };
    ServerConfig { token, private_endpoints: true, ..ServerConfig::default() }
}

/// 2026-01-01 in seconds: where the tests' clock starts.
const START: i64 = 1_767_225_600;

#[test]
fn good_and_bad_tokens() {
    let signer = Signer::new(1);
    let url = provider(Arc::new(Mutex::new((200, signer.jwks()))));
    let house = House::with(config(&url));
    let header = json!({ "alg": "EdDSA", "kid": "k1" });
    let claims = json!({ "iss": "https://id.example", "aud": ["ingrain"], "sub": "ada", "exp": START + 600 });
    let with = |more: Value| {
        let mut claims = claims.clone();
        claims.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        claims
    };
    let ask = |token: &str, path: &str| house.ask_as(token, "GET", path).send().status;
    let good = signer.token(&header, &claims);
    assert_eq!((ask(&good, "/v1/stores"), ask(&good, "/v1/keys")), (200, 403), "a user is no admin");
    let boss = signer.token(&header, &with(json!({ "realm": { "role": "boss" } })));
    assert_eq!(ask(&boss, "/v1/keys"), 200);
    let blind = signer.token(&header, &with(json!({ "rules": ["memory.manage"] })));
    assert_eq!(ask(&blind, "/v1/memories"), 403);
    for (what, token) in [
        ("other issuer", signer.token(&header, &with(json!({ "iss": "https://evil.example" })))),
        ("other audience", signer.token(&header, &with(json!({ "aud": "other" })))),
        ("expired", signer.token(&header, &with(json!({ "exp": START - 600 })))),
        ("endless", signer.token(&header, &with(json!({ "exp": null })))),
        ("not yet", signer.token(&header, &with(json!({ "nbf": START + 600 })))),
        ("unknown role", signer.token(&header, &with(json!({ "realm": { "role": "king" } })))),
        ("unknown tenant", signer.token(&header, &with(json!({ "tenant": "acme" })))),
        ("other signer", Signer::new(2).token(&header, &claims)),
        ("unsigned", signer.token(&json!({ "alg": "none" }), &claims)),
        ("other algorithm", signer.token(&json!({ "alg": "HS256", "kid": "k1" }), &claims)),
        ("other key", signer.token(&json!({ "alg": "EdDSA", "kid": "k2" }), &claims)),
        ("critical", signer.token(&json!({ "alg": "EdDSA", "kid": "k1", "crit": ["x"] }), &claims)),
    ] {
        assert_eq!(ask(&token, "/v1/stores"), 401, "{what}");
    }
}

/// A pair made for these tests, and known to everybody who reads them.
const RSA_KEY: &str = include_str!("keys/rsa.b64");

#[test]
fn every_algorithm_with_its_own_key_and_no_other() {
    let random = SystemRandom::new();
    let der = STANDARD.decode(RSA_KEY.replace('\n', "")).expect("base64");
    let rsa = RsaKeyPair::from_der(&der).expect("a key pair");
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(rsa.public());
    let curve = |algorithm: &'static signature::EcdsaSigningAlgorithm| {
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key pair")
    };
    let p256 = curve(&signature::ECDSA_P256_SHA256_FIXED_SIGNING);
    let p384 = curve(&signature::ECDSA_P384_SHA384_FIXED_SIGNING);
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let point = |pair: &EcdsaKeyPair, name: &str, kid: &str| {
        // The first byte says that both coordinates follow whole.
        let (x, y) = pair.public_key().as_ref()[1..].split_at((pair.public_key().as_ref().len() - 1) / 2);
        json!({ "kty": "EC", "crv": name, "kid": kid, "x": text(x), "y": text(y) })
    };
    let jwks = json!({ "keys": [
        { "kty": "RSA", "kid": "rsa", "n": text(&public.n), "e": text(&public.e) },
        { "kty": "RSA", "kid": "pss-only", "alg": "PS256", "n": text(&public.n), "e": text(&public.e) },
        { "kty": "RSA", "kid": "hmac", "alg": "HS256", "n": text(&public.n), "e": text(&public.e) },
        { "kty": "RSA", "kid": "encrypts", "use": "enc", "n": text(&public.n), "e": text(&public.e) },
        { "kty": "RSA", "kid": "wraps", "key_ops": ["wrapKey"], "n": text(&public.n), "e": text(&public.e) },
        { "kty": "RSA", "kid": "verifies", "key_ops": ["verify"], "n": text(&public.n), "e": text(&public.e) },
        point(&p256, "P-256", "p256"), point(&p384, "P-384", "p384"),
    ] });
    let url = provider(Arc::new(Mutex::new((200, jwks.to_string()))));
    // More bad tokens come from here than an address may send by default.
    let limits = server::HttpLimits { failures_burst: 100, ..server::HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..config(&url) });
    let sign = |alg: &str, kid: &str, signed: &[u8]| -> Vec<u8> {
        let by_rsa = |padding: &'static dyn signature::RsaEncoding| {
            let mut signature = vec![0; rsa.public().modulus_len()];
            rsa.sign(padding, &random, signed, &mut signature).expect("signed");
            signature
        };
        match (kid, alg) {
            ("p256", _) => p256.sign(&random, signed).expect("signed").as_ref().to_vec(),
            ("p384", _) => p384.sign(&random, signed).expect("signed").as_ref().to_vec(),
            (_, "RS384") => by_rsa(&signature::RSA_PKCS1_SHA384),
            (_, "RS512") => by_rsa(&signature::RSA_PKCS1_SHA512),
            (_, "PS256") => by_rsa(&signature::RSA_PSS_SHA256),
            _ => by_rsa(&signature::RSA_PKCS1_SHA256),
        }
    };
    for (alg, kid, status) in [
        ("RS256", "rsa", 200),
        ("RS384", "rsa", 200),
        ("RS512", "rsa", 200),
        ("PS256", "rsa", 200),
        ("ES256", "p256", 200),
        ("ES384", "p384", 200),
        ("ES256", "p384", 401),
        ("ES256", "rsa", 401),
        ("RS256", "p256", 401),
        ("HS256", "rsa", 401),
        ("none", "rsa", 401),
        ("PS256", "pss-only", 200),
        ("RS256", "pss-only", 401),
        ("RS256", "hmac", 401),
        ("HS256", "hmac", 401),
        ("RS256", "encrypts", 401),
        ("RS256", "wraps", 401),
        ("RS256", "verifies", 200),
    ] {
        let claims = json!({ "iss": "https://id.example", "aud": "ingrain", "sub": "ada", "exp": START + 600 });
        let header = json!({ "alg": alg, "kid": kid }).to_string();
        let signed = format!("{}.{}", text(header.as_bytes()), text(claims.to_string().as_bytes()));
        let token = format!("{signed}.{}", text(&sign(alg, kid, signed.as_bytes())));
        assert_eq!(house.ask_as(&token, "GET", "/v1/stores").send().status, status, "{alg} by {kid}");
    }
}

#[test]
fn private_endpoints_are_not_called_unless_allowed() {
    let signer = Signer::new(1);
    let url = provider(Arc::new(Mutex::new((200, signer.jwks()))));
    let house = House::with(ServerConfig { private_endpoints: false, ..config(&url) });
    let claims = json!({ "iss": "https://id.example", "aud": "ingrain", "sub": "ada", "exp": START + 600 });
    let token = signer.token(&json!({ "alg": "EdDSA", "kid": "k1" }), &claims);
    assert_eq!(house.ask_as(&token, "GET", "/v1/stores").send().status, 401);
}

#[test]
fn grants_come_from_a_resolver_and_go_with_it() {
    let answer = Arc::new(Mutex::new((200, json!({ "grants": { "billing": "read" } }).to_string())));
    let url = provider(answer.clone());
    let mut config = ServerConfig { grants_url: url, private_endpoints: true, ..ServerConfig::default() };
    config.limits.grants_cache_secs = 0;
    let house = House::with(config);
    let rights = engine::model::key::KeyRights {
        user: Some("ada".to_owned()),
        ..engine::model::key::KeyRights::for_role(engine::model::vocabulary::Role::User)
    };
    let key = house.key(rights).text;
    let save = || {
        let body = json!({
            "store": "system_notes", "system": "billing", "recall_hint": "billing restarts",
            "content": "restart it at night",
        });
        house.ask_as(&key, "POST", "/v1/memories").json(&body).send()
    };
    let saved = save();
    assert_eq!(saved.status, 201, "{}", saved.body);
    let path = format!("/v1/memories/{}", saved.json()["id"].as_str().expect("an id"));
    assert_eq!(house.ask_as(&key, "GET", &path).send().status, 200);
    for broken in [(500, String::new()), (200, "nonsense".to_owned()), (302, String::new())] {
        *answer.lock().expect("unpoisoned") = broken;
        assert_eq!(house.ask_as(&key, "GET", &path).send().status, 404, "an author who loses access loses sight");
        assert_eq!(save().said(), (403, "policy.system_not_readable".to_owned()));
    }
}
