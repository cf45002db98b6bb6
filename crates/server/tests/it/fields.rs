//! Trust per field over REST: what an agent wrote beside a person's text stays the agent's.

use engine::model::caller::Caller;
use engine::model::key::KeyRights;
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::house::House;

/// The fields an agent fills, each with a word of its own.
const AGENT_WORDS: [&str; 5] = ["agenttitle", "agenthint", "agenttag", "agentmeta", "agentpath"];

struct Desk {
    house: House,
    agent: String,
    ann: String,
}

impl Desk {
    fn new() -> Desk {
        let house = House::new();
        let agent = house.agent("triage");
        let ann = house.key(KeyRights { user: Some("ann".to_owned()), ..KeyRights::for_role(Role::User) }).text;
        Desk { house, agent, ann }
    }

    fn as_agent(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(&self.agent, method, path, body)
    }

    fn as_ann(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(&self.ann, method, path, body)
    }

    fn send(&self, key: &str, method: &str, path: &str, body: &Value) -> Value {
        let mut ask = self.house.ask_as(key, method, path);
        if key == self.agent {
            ask = ask.header("x-user-id", "ann");
        }
        let reply = if method == "GET" { ask.send() } else { ask.json(body).send() };
        assert!((200..300).contains(&reply.status), "{method} {path}: {}", reply.body);
        reply.json()
    }

    /// An agent's note about Ann, with every field filled.
    fn agent_note(&self, store: &str) -> Value {
        let body = json!({
            "store": store, "path": "tea/agentpath", "kind": "user_preference", "content": "drinks tea at noon",
            "title": "agenttitle", "recall_hint": "tea at noon agenthint", "tags": ["agenttag"],
            "metadata": { "k": "agentmeta" }, "always_inject": true,
            "evidence": [{ "kind": "user_statement", "summary": "said so" }],
        });
        self.as_agent("POST", "/v1/memories", &body)
    }

    fn read(&self, id: &Value) -> Value {
        self.as_ann("GET", &format!("/v1/memories/{}", id.as_str().expect("an id")), &Value::Null)
    }

    /// The trusted block that the agent gets in Ann's name, and Ann herself.
    fn trusted_blocks(&self) -> String {
        let body = json!({ "message": "tea at noon or in the evening" });
        let texts = [self.as_agent("POST", "/v1/context", &body), self.as_ann("POST", "/v1/context", &body)];
        let trusted = texts.iter().map(|answer| {
            let text = answer["text"].as_str().expect("a text");
            text.split("<ingrain_untrusted").next().unwrap_or_default().to_owned()
        });
        trusted.collect()
    }

    fn check_lower_fields(&self, id: &Value, lower: &[&str]) {
        let memory = self.read(id);
        assert_eq!(memory["trust"], json!("user_authored"), "{memory}");
        for field in ["title", "recall_hint", "tags", "metadata", "always_inject", "path"] {
            let expected = if lower.contains(&field) { json!("agent_draft") } else { Value::Null };
            assert_eq!(memory["field_trust"][field], expected, "{field}: {memory}");
        }
        if lower.contains(&"title") {
            assert!(!memory["summary"].as_str().expect("a line").contains("agenttitle"), "{memory}");
        }
    }
}

#[test]
fn a_persons_save_at_an_agents_path_does_not_lift_the_agents_fields() {
    let desk = Desk::new();
    let note = desk.agent_note("user_memory");
    let body = json!({
        "store": "user_memory", "path": "tea/agentpath", "kind": "user_preference", "content": "tea in the evening",
    });
    let saved = desk.as_ann("POST", "/v1/memories", &body);
    assert_eq!(saved["id"], note["id"]);
    desk.check_lower_fields(&note["id"], &["title", "recall_hint", "tags", "metadata", "always_inject"]);
    let trusted = desk.trusted_blocks();
    assert!(trusted.contains("tea in the evening"), "found by its words: {trusted}");
    assert!(!trusted.contains("agenttitle"), "{trusted}");
    // Her own title is hers.
    let mut body = body;
    body["title"] = json!("Evening tea");
    desk.as_ann("POST", "/v1/memories", &body);
    desk.check_lower_fields(&note["id"], &["recall_hint", "tags", "metadata", "always_inject"]);
    assert!(desk.trusted_blocks().contains("title: Evening tea"));
}

#[test]
fn a_persons_patch_of_an_agents_note_does_not_lift_the_agents_fields() {
    let desk = Desk::new();
    let note = desk.agent_note("user_memory");
    let path = format!("/v1/memories/{}", note["id"].as_str().expect("an id"));
    let patch = json!({ "content": "tea in the evening", "expected_sha256": note["sha256"] });
    desk.as_ann("PATCH", &path, &patch);
    desk.check_lower_fields(&note["id"], &["title", "recall_hint", "tags", "metadata", "always_inject", "path"]);
    let trusted = desk.trusted_blocks();
    assert!(trusted.contains("tea in the evening"), "{trusted}");
    for word in AGENT_WORDS {
        assert!(!trusted.contains(word), "{word}: {trusted}");
    }
}

#[test]
fn a_persons_note_with_a_similar_hint_does_not_lift_the_agents_fields() {
    let desk = Desk::new();
    let note = desk.agent_note("user_notes");
    let body = json!({
        "store": "user_notes", "recall_hint": "tea at noon agenthint", "content": "drinks tea at noon, no sugar",
    });
    let saved = desk.as_ann("POST", "/v1/memories", &body);
    assert_eq!(saved["id"], note["id"], "the hint is the same: {saved}");
    desk.check_lower_fields(&note["id"], &["title", "tags", "metadata", "always_inject", "path"]);
    let trusted = desk.trusted_blocks();
    assert!(trusted.contains("no sugar") && !trusted.contains("agenttitle"), "{trusted}");
}

#[test]
fn an_agents_pin_of_a_persons_note_stays_out_of_the_trusted_block() {
    let desk = Desk::new();
    let body = json!({ "store": "user_memory", "path": "own/rule", "content": "feeds the cat at nine" });
    let note = desk.as_ann("POST", "/v1/memories", &body);
    let path = format!("/v1/memories/{}/pin", note["id"].as_str().expect("an id"));
    desk.as_agent("PUT", &path, &json!({ "always_inject": true }));
    let memory = desk.read(&note["id"]);
    let trust = (&memory["trust"], &memory["field_trust"]["always_inject"]);
    assert_eq!(trust, (&json!("user_authored"), &json!("agent_draft")), "{memory}");
    assert!(!desk.trusted_blocks().contains("feeds the cat"), "nothing in the question is about it");
    // Found by its words it is what it is: her own text.
    let asked = desk.as_ann("POST", "/v1/context", &json!({ "message": "when does she feed the cat" }));
    let text = asked["text"].as_str().expect("a text");
    assert!(text.split("<ingrain_untrusted").next().is_some_and(|trusted| trusted.contains("feeds the cat")), "{text}");
    // Her own pin is hers.
    desk.as_ann("PUT", &path, &json!({ "always_inject": false }));
    desk.as_ann("PUT", &path, &json!({ "always_inject": true }));
    assert!(desk.trusted_blocks().contains("feeds the cat"));
}

#[test]
fn a_rename_by_a_person_does_not_raise_the_agents_text() {
    let desk = Desk::new();
    let note = desk.agent_note("user_memory");
    let id = note["id"].as_str().expect("an id").parse().expect("an id");
    let ann = Caller::user(desk.house.tenant.id, "ann");
    desk.house.engine.rename(&ann, id, "tea/renamed").expect("renames");
    let memory = desk.read(&note["id"]);
    let trust = (&memory["trust"], &memory["field_trust"]);
    assert_eq!(trust, (&json!("agent_draft"), &json!({ "path": "user_authored" })), "{memory}");
}

#[test]
fn the_author_is_who_wrote_the_text_and_a_persons_earlier_text_needs_a_person_to_forget() {
    let desk = Desk::new();
    let id = desk.agent_note("user_memory")["id"].clone();
    assert_eq!(desk.read(&id)["author"], json!("agent:triage"));
    let note = |content: &str| {
        let evidence = json!([{ "kind": "user_statement", "summary": "said so" }]);
        json!({ "store": "user_memory", "path": "tea/agentpath", "content": content, "evidence": evidence })
    };
    desk.as_ann("POST", "/v1/memories", &note("tea in the evening"));
    assert_eq!(desk.read(&id)["author"], json!("user:ann"));
    desk.as_agent("POST", "/v1/memories", &note("tea in the morning"));
    let path = format!("/v1/memories/{}", id.as_str().expect("an id"));
    let forget = desk.house.ask_as(&desk.agent, "DELETE", &path).header("x-user-id", "ann").send();
    assert_eq!(forget.status, 202, "a proposal: {}", forget.body);
    let now = desk.read(&id);
    let (author, content) = (now["author"].as_str(), now["content"].as_str());
    let written = [("user:ann", "tea in the evening"), ("agent:triage", "tea in the morning")];
    assert!(written.iter().any(|pair| author == Some(pair.0) && content == Some(pair.1)), "{now}");
}

#[test]
fn a_persons_rule_does_not_take_over_the_expiry_and_sources_of_an_agents_note() {
    let desk = Desk::new();
    let source = desk.agent_note("user_memory");
    let body = json!({
        "store": "user_memory", "path": "rules/pay", "kind": "user_preference", "content": "pays by card",
        "expires_at": "2998-01-01T00:00:00Z", "verify_by": "2997-01-01T00:00:00Z", "confidence": 0.1,
        "importance": 0.1, "derived_from": [source["version"]],
        "evidence": [{ "kind": "user_statement", "summary": "said so" }],
    });
    let id = desk.as_agent("POST", "/v1/memories", &body)["id"].clone();
    let before = desk.read(&id);
    assert_eq!((&before["confidence"], before["expires_at"].is_null()), (&json!(0.1), false), "{before}");
    let rule = json!({ "store": "user_memory", "path": "rules/pay", "content": "never pays without an invoice" });
    desk.as_ann("POST", "/v1/memories", &rule);
    let after = desk.read(&id);
    assert!(after["expires_at"].is_null() && after["verify_by"].is_null(), "{after}");
    assert!(after["derived_from"].as_array().is_none_or(Vec::is_empty), "{after}");
    assert_eq!((&after["confidence"], &after["importance"]), (&json!(0.8), &json!(0.5)), "{after}");
    // Who is trusted as much keeps what was set.
    let expiring = json!({ "store": "user_memory", "path": "rules/pay", "content": "never pays without an order",
        "expires_at": "2998-01-01T00:00:00Z" });
    desk.as_ann("POST", "/v1/memories", &expiring);
    desk.as_ann("POST", "/v1/memories", &rule);
    assert!(!desk.read(&id)["expires_at"].is_null());
}
