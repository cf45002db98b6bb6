//! Memories over HTTP: the main story, conditions in headers, the same save through two doors.

use engine::Remembered;
use engine::model::caller::Caller;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind};
use serde_json::{Value, json};

use crate::house::{House, Reply};

fn draft(path: &str, content: &str) -> Value {
    json!({
        "store": "conversation_memory", "path": path, "kind": "service_context", "content": content,
        "evidence": [{ "kind": "tool_result", "summary": "read in the configuration" }],
    })
}

#[test]
fn the_story_of_one_memory() {
    let house = House::new();
    let key = house.agent("triage");
    let ask = |method: &str, path: &str| house.ask_as(&key, method, path).header("x-conversation-id", "c1");

    let saved = ask("POST", "/v1/memories").json(&draft("services/billing", "billing retries webhooks")).send();
    assert_eq!(saved.status, 201, "{}", saved.body);
    let view = saved.json();
    let id = view["id"].as_str().expect("an id").to_owned();
    assert_eq!(saved.header("location"), Some(format!("/v1/memories/{id}").as_str()));
    assert_eq!(saved.header("etag"), Some(format!("\"{}\"", view["version"].as_str().expect("a version")).as_str()));
    assert_eq!((&view["outcome"], &view["trust"]), (&json!("created"), &json!("agent_draft")));

    let read = ask("GET", &format!("/v1/memories/{id}")).send();
    assert_eq!((read.status, &read.json()["content"]), (200, &json!("billing retries webhooks")));
    assert_eq!(read.header("etag"), saved.header("etag"));

    let found = ask("POST", "/v1/search").json(&json!({ "query": "billing webhooks" })).send().json();
    assert_eq!(found["hits"][0]["memory"]["id"], json!(id));
    assert_eq!(found["hits"][0]["memory"]["recall_count"], json!(1));

    let again = ask("POST", "/v1/memories").json(&draft("services/billing", "billing retries for a day")).send();
    assert_eq!((again.status, &again.json()["outcome"]), (200, &json!("updated")));

    let history = ask("GET", &format!("/v1/memories/{id}/history")).send().json();
    let numbers: Vec<&Value> = history["items"].as_array().expect("versions").iter().map(|v| &v["number"]).collect();
    assert_eq!(numbers, [&json!(2), &json!(1)]);
    let version = history["items"][1]["id"].as_str().expect("a version");
    let old = ask("GET", &format!("/v1/versions/{version}")).send().json();
    assert_eq!(old["memory"]["content"], json!("billing retries webhooks"));

    let pinned = ask("PUT", &format!("/v1/memories/{id}/pin")).json(&json!({ "always_inject": true })).send();
    assert_eq!((pinned.status, &pinned.json()["version_number"]), (200, &json!(3)));

    let forgotten = ask("DELETE", &format!("/v1/memories/{id}?reason=wrong")).send();
    assert_eq!((forgotten.status, &forgotten.json()["state"]), (200, &json!("tombstoned")));
    let patched = ask("PATCH", &format!("/v1/memories/{id}"));
    let patched = patched.json(&json!({ "content": "x", "expected_sha256": "0".repeat(64) })).send();
    assert_eq!(patched.said(), (409, "conflict.state".to_owned()));

    let other = house.ask_as(&key, "GET", &format!("/v1/memories/{id}")).header("x-conversation-id", "c2").send();
    assert_eq!(other.said(), (404, "not_found".to_owned()));
}

#[test]
fn a_crowd_at_one_path_is_all_saved() {
    let house = House::new();
    let agent = house.agent("triage");
    let save = &|saver: usize, number: usize| {
        let ask = house.ask_as(&agent, "POST", "/v1/memories").header("x-conversation-id", "c1");
        ask.json(&draft("hot/path", &format!("saver {saver} says {number}"))).send()
    };
    let saved: Vec<Reply> = std::thread::scope(|scope| {
        let savers: Vec<_> =
            (0..48).map(|saver| scope.spawn(move || [save(saver, 1), save(saver, 2), save(saver, 3)])).collect();
        savers.into_iter().flat_map(|saver| saver.join().expect("answers")).collect()
    });
    let odd: Vec<_> = saved.iter().filter(|reply| !matches!(reply.status, 200 | 201)).map(Reply::said).collect();
    assert_eq!(odd, []);
    let numbers: std::collections::BTreeSet<u64> =
        saved.iter().filter_map(|reply| reply.json()["version_number"].as_u64()).collect();
    assert_eq!(numbers, (1..=48 * 3).collect());
}

#[test]
fn hashes_in_evidence_are_hashes() {
    let house = House::new();
    let agent = house.agent("triage");
    let saved = |field: &str, value: &str| {
        let mut body = draft("a/b", "a fact");
        body["evidence"][0][field] = value.into();
        house.ask_as(&agent, "POST", "/v1/memories").header("x-conversation-id", "c1").json(&body).send()
    };
    for field in ["arguments_sha256", "result_sha256"] {
        assert_eq!(saved(field, "any words at all").said(), (400, "shape.sha256".to_owned()));
        assert!(matches!(saved(field, &"a0".repeat(32)).status, 200 | 201));
    }
}

#[test]
fn conditions_in_headers() {
    let house = House::new();
    let key = house.agent("triage");
    let ask = |method: &str, path: &str| house.ask_as(&key, method, path).header("x-conversation-id", "c1");
    let saved = ask("POST", "/v1/memories").json(&draft("a", "first words")).send().json();
    let (id, version, sha256) = (&saved["id"], &saved["version"], &saved["sha256"]);
    let path = format!("/v1/memories/{}", id.as_str().expect("an id"));
    let quoted = |value: &Value| format!("\"{}\"", value.as_str().expect("text"));
    let stale = format!("\"{}\"", "0".repeat(64));
    let evidence = json!([{ "kind": "tool_result", "summary": "seen" }]);
    let body = |more: Value| {
        let mut body = json!({ "content": "second words", "evidence": evidence });
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        body
    };

    let known = ask("GET", &path).header("if-none-match", &quoted(version)).send();
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    assert_eq!(known.header("etag"), Some(quoted(version).as_str()));
    assert_eq!(ask("GET", &path).header("if-none-match", &stale).send().status, 200);

    let patch = |header: Option<&str>, more: Value| {
        let asked = ask("PATCH", &path).json(&body(more));
        match header {
            Some(tag) => asked.header("if-match", tag).send(),
            None => asked.send(),
        }
    };
    assert_eq!(patch(None, json!({})).said(), (428, "http.precondition_required".to_owned()));
    assert_eq!(patch(Some(&stale), json!({})).said(), (412, "conflict.sha256".to_owned()));
    let conflict = patch(None, json!({ "expected_sha256": "0".repeat(64) }));
    assert_eq!(conflict.said(), (409, "conflict.sha256".to_owned()));
    assert_eq!(conflict.json()["current"]["excerpt"], json!("first words"));
    assert_eq!(&conflict.json()["current"]["sha256"], sha256);
    assert_eq!(patch(Some(&quoted(version)), json!({ "expected_sha256": sha256 })).status, 400);
    assert_eq!(patch(Some(&quoted(sha256)), json!({})).status, 200);
    assert_eq!(patch(Some(&quoted(version)), json!({})).status, 412);

    let create = ask("POST", "/v1/memories").header("if-none-match", "*");
    assert_eq!(create.json(&draft("a", "third words")).send().said(), (412, "conflict.exists".to_owned()));
    let create = ask("POST", "/v1/memories").header("if-none-match", "*");
    assert_eq!(create.json(&draft("b", "third words")).send().status, 201);
    let save = ask("POST", "/v1/memories").header("if-match", &stale).json(&draft("a", "fourth words")).send();
    assert_eq!(save.status, 412);
    let mut expecting = draft("a", "fifth words");
    expecting["expected_sha256"] = json!("0".repeat(64));
    assert_eq!(ask("POST", "/v1/memories").json(&expecting).send().said(), (409, "conflict.sha256".to_owned()));

    assert_eq!(ask("DELETE", &path).header("if-match", &stale).send().status, 412);
    let current = ask("GET", &path).send();
    let tag = current.header("etag").expect("a tag").to_owned();
    assert_eq!(ask("DELETE", &path).header("if-match", &tag).send().status, 200);
}

#[test]
fn the_same_save_through_two_doors() {
    let house = House::new();
    let key = house.agent("triage");
    let over_http = house.ask_as(&key, "POST", "/v1/memories").header("x-conversation-id", "c1");
    assert_eq!(over_http.json(&draft("x", "the same words")).send().status, 201);
    let direct = Draft {
        store: "conversation_memory".to_owned(),
        path: Some("x".to_owned()),
        kind: Some(Kind::ServiceContext),
        content: "the same words".to_owned(),
        evidence: vec![Evidence::new(EvidenceKind::ToolResult, "read in the configuration")],
        ..Draft::default()
    };
    let other = Caller::agent(house.tenant.id, "triage").in_conversation("c2");
    assert!(matches!(house.engine.remember(&other, direct), Ok(Remembered::Saved(_))));

    let admin = Caller::admin(house.tenant.id);
    let (events, _) = house.engine.events(&admin, 0, 1000, |_| true).expect("events");
    let told: Vec<Value> = events
        .iter()
        .filter(|event| event.happening.name.as_str() == "memory.write.created" && event.happening.role.is_program())
        .map(|event| {
            without(
                serde_json::to_value(event).expect("JSON"),
                &["seq", "hash", "at", "memory", "version", "scope", "conversation"],
            )
        })
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0], told[1]);

    let filter = engine::ports::Filter { stores: vec!["conversation_memory".to_owned()], ..Default::default() };
    let listing = house.engine.list(&admin, filter, engine::ports::SortOrder::Oldest, None, None).expect("memories");
    let plain = |memory: &engine::model::memory::Memory| {
        let own = ["id", "scope", "version", "created_at", "updated_at", "expires_at"];
        without(serde_json::to_value(memory).expect("JSON"), &own)
    };
    assert_eq!(plain(&listing.memories[0]), plain(&listing.memories[1]));
}

fn without(mut value: Value, fields: &[&str]) -> Value {
    let object = value.as_object_mut().expect("an object");
    fields.iter().for_each(|field| drop(object.remove(*field)));
    value
}

#[test]
fn pages_hold_together() {
    let house = House::new();
    let key = house.agent("triage");
    let ask = |method: &str, path: &str| house.ask_as(&key, method, path).header("x-conversation-id", "c1");
    for n in 0..7 {
        assert_eq!(ask("POST", "/v1/memories").json(&draft(&format!("p/{n}"), &format!("word{n}"))).send().status, 201);
    }
    for sort in ["path", "newest", "oldest"] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/memories?store=conversation_memory&limit=3&sort={sort}{cursor}");
            let page = ask("GET", &path).send().json();
            seen.extend(page["items"].as_array().expect("items").iter().map(|item| item["path"].to_string()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let mut sorted = seen.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((seen.len(), sorted.len()), (7, 7), "{sort}: {seen:?}");
    }
    for bad in ["cursor=nonsense", "sort=path&cursor=eyJuIjpbXX0", "limit=x", "unknown=1", "kind=nothing"] {
        assert_eq!(ask("GET", &format!("/v1/memories?{bad}")).send().status, 400, "{bad}");
    }
}

#[test]
fn refusals_say_why_and_never_what() {
    let house = House::new();
    let key = house.agent("triage");
    let ask = || house.ask_as(&key, "POST", "/v1/memories").header("x-conversation-id", "c1");
    let secret = format!("{}_{}", "ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx");
    let blocked = ask().json(&draft("s", &format!("the token is {secret}"))).send();
    assert_eq!(blocked.said(), (422, "safety.secret_found".to_owned()));
    assert!(!blocked.body.contains(&secret));
    assert_eq!(blocked.json()["findings"][0]["field"], json!("content"));
    let mut unproven = draft("s", "no evidence at all");
    unproven["evidence"] = json!([]);
    assert_eq!(ask().json(&unproven).send().status, 422);
    let mut elsewhere = draft("s", "for everybody");
    elsewhere["store"] = json!("workspace_runbooks");
    let denied = ask().json(&elsewhere).send();
    assert_eq!(denied.said(), (403, "policy.needs_promotion".to_owned()));
    assert!(denied.json()["hint"].is_string());
    let large = ask().json(&draft("s", &"x y ".repeat(30_000))).send();
    assert_eq!(large.said(), (413, "shape.too_large".to_owned()));
    let huge = ask().json(&draft("s", &"x y ".repeat(300_000))).send();
    assert_eq!(huge.said(), (413, "http.body_too_large".to_owned()));
}
