//! Who is asking: keys, their rights, their end.

use engine::admin::keys::{KEY_RANDOM_BYTES, encode_key};
use engine::model::caller::{Caller, MemoryPermissions};
use engine::model::key::{Key, KeyRights, Settable};
use engine::model::vocabulary::Role;
use serde_json::json;
use server::{HttpLimits, ServerConfig};

use crate::house::House;

#[test]
fn doors_by_role() {
    let house = House::new();
    let user = house.key(KeyRights { user: Some("ada".to_owned()), ..KeyRights::for_role(Role::User) }).text;
    let agent = house.agent("triage");
    let blind =
        KeyRights { rules: MemoryPermissions { read: false, manage: true }, ..KeyRights::for_role(Role::Admin) };
    let blind = house.key(blind).text;
    #[rustfmt::skip]
    let table = [
        // method, path, nobody, user, agent, admin, without memory.read
        ("GET",  "/healthz",       200, 200, 200, 200, 200),
        ("GET",  "/readyz",        200, 200, 200, 200, 200),
        ("GET",  "/openapi.json",  200, 200, 200, 200, 200),
        ("GET",  "/docs",          200, 200, 200, 200, 200),
        ("GET",  "/metrics",       401, 403, 403, 200, 200),
        ("GET",  "/v1/memories",   401, 200, 200, 200, 403),
        ("GET",  "/v1/events",     401, 200, 200, 200, 403),
        ("GET",  "/v1/stores",     401, 200, 200, 200, 200),
        ("GET",  "/v1/keys",       401, 403, 403, 200, 200),
        ("GET",  "/v1/pipelines",  401, 403, 403, 200, 200),
        ("GET",  "/v1/tenants",    401, 200, 200, 200, 200),
        ("GET",  "/v1/usage",      401, 403, 403, 200, 200),
        ("POST", "/v1/upkeep",     401, 403, 403, 200, 200),
        ("GET",  "/memory/search", 401, 200, 200, 200, 403),
        ("GET",  "/v1/nothing",    404, 404, 404, 404, 404),
    ];
    for (method, path, nobody, by_user, by_agent, by_admin, by_blind) in table {
        let statuses = [
            house.stranger(method, path).send().status,
            house.ask_as(&user, method, path).send().status,
            house.ask_as(&agent, method, path).send().status,
            house.ask(method, path).send().status,
            house.ask_as(&blind, method, path).send().status,
        ];
        assert_eq!(statuses, [nobody, by_user, by_agent, by_admin, by_blind], "{method} {path}");
    }
}

#[test]
fn bad_credentials() {
    let house = House::new();
    let good = house.admin.clone();
    let flipped = format!("{}{}", &good[..good.len() - 40], "A".repeat(40));
    for value in ["", "Bearer", "Bearer ", "Basic abc", "Bearer nonsense", "Bearer a.b.c", &format!("Bearer {flipped}")]
    {
        let reply = house.stranger("GET", "/v1/stores").header("authorization", value).send();
        assert_eq!(reply.said(), (401, "auth.required".to_owned()), "{value}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"ingrain\""));
    }
    assert_eq!(house.stranger("GET", "/v1/stores").header("x-api-key", &good).send().status, 200);
}

#[test]
fn a_key_lives_turns_and_ends() {
    let house = House::new();
    let body = json!({ "name": "night shift", "role": "agent", "agent": "triage", "may_set": ["conversation"] });
    let made = house.ask("POST", "/v1/keys").json(&body).send();
    assert_eq!(made.status, 201);
    let (text, id) = (made.json()["text"].as_str().expect("a key").to_owned(), made.json()["key"]["id"].clone());
    let id = id.as_str().expect("an id").to_owned();
    assert!(text.starts_with(made.json()["key"]["prefix"].as_str().expect("a prefix")));
    assert_eq!(house.ask_as(&text, "GET", "/v1/stores").send().status, 200);

    house.engine.database().flush().expect("flushed");
    let listed = house.ask("GET", "/v1/keys").send();
    assert!(!listed.body.contains(&text), "a listing never shows a key");
    let own = listed.json()["items"].as_array().expect("keys").iter().find(|key| key["id"] == id.as_str()).cloned();
    assert!(own.expect("the key")["last_used_at"].is_string());

    let turned = house.ask("POST", &format!("/v1/keys/{id}/rotate")).json(&json!({ "overlap_seconds": 60 })).send();
    assert_eq!(turned.status, 201);
    let new = turned.json()["text"].as_str().expect("a key").to_owned();
    assert_eq!(house.ask_as(&text, "GET", "/v1/stores").send().status, 200, "both work during the overlap");
    assert_eq!(house.ask_as(&new, "GET", "/v1/stores").send().status, 200);
    house.clock.pass(61);
    assert_eq!(house.ask_as(&text, "GET", "/v1/stores").send().status, 401, "the old one has ended");

    let new_id = turned.json()["key"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(house.ask("DELETE", &format!("/v1/keys/{new_id}")).send().status, 200);
    assert_eq!(house.ask_as(&new, "GET", "/v1/stores").send().status, 401);
    assert_eq!(house.ask("DELETE", "/v1/keys/01980000-0000-7000-8000-000000000001").send().status, 404);
}

#[test]
fn headers_only_where_the_key_may() {
    let house = House::new();
    let rights = KeyRights {
        agent: Some("triage".to_owned()),
        may_set: vec![Settable::Conversation],
        ..KeyRights::for_role(Role::Agent)
    };
    let key = house.key(rights).text;
    let check = |header: &str, value: &str, status: u16| {
        let reply = house.ask_as(&key, "GET", "/v1/memories").header(header, value).send();
        assert_eq!(reply.status, status, "{header}: {value}");
    };
    check("x-conversation-id", "c1", 200);
    check("x-conversation-id", "", 400);
    check("x-conversation-id", &"x".repeat(300), 400);
    for header in ["x-agent-id", "x-user-id", "x-session-id", "x-run-id", "x-pipeline-id"] {
        check(header, "other", 403);
        let denied = house.ask_as(&key, "GET", "/v1/memories").header(header, "other").send();
        assert!(denied.body.contains(&format!("this key may not set `{header}`")), "{}", denied.body);
    }
    let twice =
        house.ask_as(&key, "GET", "/v1/memories").header("x-conversation-id", "c1").header("x-conversation-id", "c2");
    assert_eq!(twice.send().said(), (400, "shape.name".to_owned()));
}

#[test]
fn tenants_do_not_meet() {
    let house = House::new();
    let made = house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send();
    assert_eq!(made.status, 201, "{}", made.body);
    let acme = made.json()["admin_key"]["text"].as_str().expect("a key").to_owned();
    assert_eq!(house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().status, 409);
    let denied = house.ask_as(&acme, "POST", "/v1/tenants").json(&json!({ "slug": "other" })).send();
    assert_eq!(denied.said(), (403, "policy.operators_only".to_owned()));
    let own = house.ask_as(&acme, "GET", "/v1/tenants").send().json();
    assert_eq!(own["items"].as_array().map(Vec::len), Some(1));
    let here = house.ask("GET", "/v1/memories").send().json();
    let id = here["items"][0]["id"].as_str().expect("a seeded document").to_owned();
    assert_eq!(house.ask_as(&acme, "GET", &format!("/v1/memories/{id}")).send().status, 404);
    let other = house.engine.database().list_tenants().expect("tenants").into_iter().find(|t| t.slug == "acme");
    let caller = Caller::admin(other.expect("acme").id);
    let events = house.ask_as(&acme, "GET", "/v1/events?limit=1000").send().json();
    let (all, _) = house.engine.events(&caller, 0, 1000, |_| true).expect("events");
    assert_eq!(events["items"].as_array().map(Vec::len), Some(all.len()));
}

#[test]
fn the_first_admin_of_a_tenant_may_speak_for_its_people() {
    let house = House::new();
    let made = house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().json();
    let acme = made["admin_key"]["text"].as_str().expect("a key").to_owned();
    assert_eq!(made["admin_key"]["key"]["may_set"].as_array().map(Vec::len), Some(7), "{made}");
    let note = json!({ "store": "user_notes", "recall_hint": "tea", "content": "ada takes her tea black" });
    let saved = house.ask_as(&acme, "POST", "/v1/memories").header("x-user-id", "ada").json(&note).send();
    assert_eq!(saved.status, 201, "{}", saved.body);
}

#[test]
fn an_erased_tenant_says_so_and_its_keys_end() {
    let house = House::new();
    let made = house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().json();
    let acme = made["admin_key"]["text"].as_str().expect("a key").to_owned();
    let erased = |slug: &str| {
        let page = house.ask("GET", "/v1/tenants").send().json();
        let items = page["items"].as_array().expect("tenants").clone();
        items.into_iter().find(|tenant| tenant["slug"] == slug).expect("listed")["erased_at"].is_string()
    };
    assert!(!erased("acme"));
    assert_eq!(house.ask_as(&acme, "GET", "/v1/stores").send().status, 200);
    let body = json!({ "what": "tenant", "name": "acme" });
    assert_eq!(house.ask_as(&acme, "POST", "/v1/erasures").json(&body).send().status, 201);
    let unknown = house.ask_as("ing_nobody", "GET", "/v1/stores").send().said();
    assert_eq!(house.ask_as(&acme, "GET", "/v1/stores").send().said(), unknown);
    assert_eq!((erased("acme"), erased("default")), (true, false));
}

#[test]
fn rates_and_brute_force() {
    let limits = HttpLimits { rate_per_second: 1, rate_burst: 3, failures_burst: 3, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let replies: Vec<_> = (0..5).map(|_| house.ask("GET", "/v1/stores").send()).collect();
    assert_eq!(replies[0].header("ratelimit"), Some("\"key\";r=2;t=2"));
    assert_eq!(replies[0].header("ratelimit-policy"), Some("\"key\";q=3;w=1"));
    let limited = replies.iter().find(|reply| reply.status == 429).expect("one too many");
    assert_eq!(limited.said(), (429, "http.rate_limited".to_owned()));
    assert!(limited.header("retry-after").is_some());

    let agent = house.agent("triage");
    assert_eq!(house.ask_as(&agent, "GET", "/v1/stores").send().status, 200);
    let bad = |n: usize| house.ask_as(&format!("ing_{n}"), "GET", "/v1/stores").send().said();
    let said: Vec<_> = (0..5).map(bad).collect();
    assert_eq!(said[0], (401, "auth.required".to_owned()));
    assert_eq!(said[4], (429, "auth.throttled".to_owned()));
    assert_ne!(house.ask_as(&agent, "GET", "/v1/stores").send().said().1, "auth.throttled", "a good key still works");
}

#[test]
fn rates_go_by_key_whatever_headers_the_caller_varies() {
    let limits = HttpLimits { rate_per_second: 1, rate_burst: 3, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let rights = KeyRights { may_set: Settable::ALL.to_vec(), ..KeyRights::for_role(Role::Service) };
    let key = house.key(rights).text;
    let statuses: Vec<u16> = (0..6)
        .map(|n| {
            let name = n.to_string();
            let ask = house.ask_as(&key, "GET", "/v1/stores").header("x-forwarded-for", &format!("192.0.2.{n}"));
            let headers = ["x-agent-id", "x-user-id", "x-conversation-id", "x-session-id", "x-run-id"];
            headers.iter().fold(ask, |ask, header| ask.header(header, &name)).send().status
        })
        .collect();
    assert!(statuses[..3] == [200; 3] && statuses[3..].contains(&429), "{statuses:?}");
    let other = house.agent("triage");
    assert_eq!(house.ask_as(&other, "GET", "/v1/stores").send().status, 200, "another key has its own rate");
}

/// A key of the right form that nobody issued.
fn invented_key(house: &House, n: u8) -> String {
    encode_key(house.tenant.id, [n; KEY_RANDOM_BYTES])
}

#[test]
fn wrong_keys_of_one_address_do_not_lock_out_a_good_new_key() {
    let limits = HttpLimits { failures_burst: 2, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let unused = house.agent("triage");
    let said: Vec<_> =
        (0..40).map(|n| house.ask_as(&invented_key(&house, n), "GET", "/v1/stores").send().said()).collect();
    assert_eq!(said[0], (401, "auth.required".to_owned()));
    assert_eq!(said[39], (429, "auth.throttled".to_owned()));
    assert_eq!(house.ask_as(&unused, "GET", "/v1/stores").send().status, 200, "a good key that was never used");
    let body = json!({ "name": "night shift", "role": "agent", "agent": "triage" });
    let new = house.ask("POST", "/v1/keys").json(&body).send().json()["text"].as_str().expect("a key").to_owned();
    assert_eq!(house.ask_as(&new, "GET", "/v1/stores").send().status, 200, "a good key that is new");
    let other_tenant = encode_key(engine::model::id::TenantId(uuid::Uuid::from_u128(7)), [7; KEY_RANDOM_BYTES]);
    assert_eq!(house.ask_as(&other_tenant, "GET", "/v1/stores").send().status, 429, "a tenant that does not exist");
}

#[test]
fn an_old_key_that_is_tried_again_and_again_throttles_only_itself() {
    let limits = HttpLimits { failures_burst: 2, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let status = |n: u8| house.ask_as(&invented_key(&house, n), "GET", "/v1/stores").send().status;
    assert_eq!([status(1), status(1), status(1), status(2)], [401, 401, 429, 401]);
}

#[test]
fn behind_a_trusted_proxy_the_address_it_saw_is_throttled() {
    let limits = HttpLimits { failures_burst: 2, ..HttpLimits::default() };
    let guess = |house: &House, forwarded: &str| {
        house.ask_as("ing_wrong", "GET", "/v1/stores").header("x-forwarded-for", forwarded).send().status
    };
    let house = House::with(ServerConfig { limits: limits.clone(), proxy_hops: 1, ..ServerConfig::default() });
    let of = |last: &str| [0, 1, 2].map(|n| guess(&house, &format!("198.51.100.{n}, {last}")));
    assert_eq!(of("192.0.2.1"), [401, 401, 429], "what a client wrote itself does not count");
    assert_eq!(of("192.0.2.2"), [401, 401, 429], "another client of the same proxy");
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let direct = [0, 1, 2].map(|n| guess(&house, &format!("192.0.2.{n}")));
    assert_eq!(direct, [401, 401, 429], "without a trusted proxy the header is not read");
}

#[test]
fn metrics_show_the_admin_of_a_tenant_that_tenant_only() {
    let house = House::new();
    let made = house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().json();
    let acme = made["admin_key"]["text"].as_str().expect("a key").to_owned();
    house.ask("GET", "/v1/memories").send();
    house.ask("GET", "/v1/reviews/unknown").send();
    assert_eq!(house.ask_as(&acme, "GET", "/v1/stores").send().status, 200);
    let live = |key: &str| -> u64 {
        let usage = house.ask_as(key, "GET", "/v1/usage").send().json();
        usage["stores"].as_array().expect("stores").iter().filter_map(|store| store["live"].as_u64()).sum()
    };
    let page = |key: &str| house.ask_as(key, "GET", "/metrics").send().body;
    let (own, whole) = (page(&acme), page(&house.admin));
    assert!(own.contains("ingrain_answers_total{verb=\"stores\",status=\"200\"} 1\n"), "{own}");
    assert!(own.contains(&format!("\ningrain_memories {}\n", live(&acme))), "{own}");
    for foreign in ["verb=\"list\"", "status=\"404\"", "not_found", "ingrain_store_bytes", "ingrain_verb_seconds"] {
        assert!(!own.contains(foreign), "{foreign}: {own}");
        assert!(whole.contains(foreign), "{foreign}: {whole}");
    }
}

#[test]
fn a_clock_set_back_blocks_no_key_and_no_save() {
    /// Ten years, in seconds.
    const AHEAD: i64 = 315_360_000;
    let house = House::new();
    let made = house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().json();
    let acme = made["admin_key"]["text"].as_str().expect("a key").to_owned();
    let admin = Caller::admin(house.tenant.id);
    let used = house.key(KeyRights { agent: Some("triage".to_owned()), ..KeyRights::for_role(Role::Agent) }).key;
    let record_use = || {
        let stored = |key: &Key| key.id == used.id;
        let key = house.engine.keys(&admin).expect("keys").into_iter().find(stored).expect("the key");
        house.engine.record_key_use(house.tenant.id, &key);
        house.engine.database().flush().expect("flushed");
        house.engine.keys(&admin).expect("keys").into_iter().find(stored).and_then(|key| key.last_used_at)
    };
    house.clock.pass(AHEAD);
    let ahead = record_use();
    let erasure = json!({ "what": "tenant", "name": "acme" });
    assert_eq!(house.ask_as(&acme, "POST", "/v1/erasures").json(&erasure).send().status, 201);
    house.clock.pass(-AHEAD);
    let tenant = house.engine.database().list_tenants().expect("tenants").into_iter().find(|t| t.slug == "acme");
    let caller = Caller { user: Some("ada".to_owned()), ..Caller::admin(tenant.expect("acme").id) };
    for content in ["ada takes her tea black", "ada takes her tea with milk"] {
        let draft = engine::model::memory::Draft {
            store: "user_notes".to_owned(),
            recall_hint: Some("tea".to_owned()),
            content: content.to_owned(),
            ..Default::default()
        };
        house.engine.remember(&caller, draft).expect("an erasure in the future forbids nothing");
    }
    assert!(record_use() < ahead, "the last use does not stay in the future");
}

#[test]
fn local_mode_is_for_this_machine() {
    let house = House::local();
    assert_eq!(house.stranger("GET", "/v1/keys").send().status, 200);
    assert_eq!(house.stranger("GET", "/metrics").send().status, 200);
    assert_eq!(house.ask_as("ing_wrong", "GET", "/v1/keys").send().status, 401, "a bad key is not no key");
    assert_eq!(house.stranger("GET", "/v1/keys").host("10.0.0.7").send().said(), (421, "http.host".to_owned()));
}
