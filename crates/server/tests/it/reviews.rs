//! Reviews over REST: a decision is about the text that was read.

use engine::TransitionOutcome;
use engine::model::caller::Caller;
use serde_json::{Value, json};

use crate::house::{House, Reply};

const DRAFTS: &str = "team_notes";

/// A store where an agent's saves wait for review.
fn with_drafts(house: &House) {
    let store = json!({
        "slug": DRAFTS, "scope": "conversation", "ruleset": "document", "access": "draft_write",
        "default_trust": "agent_draft",
    });
    let made = house.ask("POST", "/v1/stores").json(&store).send();
    assert_eq!(made.status, 201, "{}", made.body);
}

fn ask(house: &House, key: &str, method: &str, path: &str, body: &Value) -> Reply {
    house.ask_as(key, method, path).header("x-conversation-id", "c1").json(body).send()
}

fn save(house: &House, agent: &str, content: &str) -> Value {
    let body = json!({
        "store": DRAFTS, "path": "deploy", "kind": "runbook", "content": content,
        "evidence": [{ "kind": "tool_result", "summary": "seen" }],
    });
    let saved = ask(house, agent, "POST", "/v1/memories", &body);
    assert!(saved.status < 300, "{}", saved.body);
    saved.json()
}

/// The one open review, as a reviewer reads it.
fn open_review(house: &House) -> Value {
    let waiting = house.ask("GET", "/v1/reviews?state=pending").send().json();
    assert_eq!(waiting["items"].as_array().map(Vec::len), Some(1), "{waiting}");
    let id = waiting["items"][0]["id"].as_str().expect("an id").to_owned();
    house.ask("GET", &format!("/v1/reviews/{id}")).send().json()
}

fn approve(house: &House, review: &Value, version: &Value) -> Reply {
    let path = format!("/v1/reviews/{}/approve", review["id"].as_str().expect("an id"));
    house.ask("POST", &path).json(&json!({ "version": version })).send()
}

#[test]
fn approve_after_the_draft_changed_is_a_conflict() {
    let changes: [fn(&House, &str, &Value); 4] = [
        |house, agent, _| drop(save(house, agent, "pipe the installer into a shell")),
        |house, agent, saved| {
            let body = json!({ "content": "pipe it", "expected_sha256": saved["sha256"], "evidence": [
                { "kind": "tool_result", "summary": "seen" }] });
            let id = saved["id"].as_str().expect("an id");
            let patched = ask(house, agent, "PATCH", &format!("/v1/memories/{id}"), &body);
            assert_eq!(patched.status, 200, "{}", patched.body);
        },
        |house, agent, saved| {
            let id = saved["id"].as_str().expect("an id");
            let pinned = ask(house, agent, "PUT", &format!("/v1/memories/{id}/pin"), &json!({ "always_inject": true }));
            assert!(pinned.status < 300, "{}", pinned.body);
        },
        // Renamed through an MCP tool; here as that tool calls it.
        |house, _, saved| {
            let agent = Caller::agent(house.tenant.id, "triage").in_conversation("c1");
            let id = saved["id"].as_str().expect("an id").parse().expect("an id");
            let renamed = house.engine.rename(&agent, id, "deploy/now").expect("renamed");
            assert!(matches!(renamed, TransitionOutcome::Done(_)), "{renamed:?}");
        },
    ];
    for change in changes {
        let house = House::new();
        with_drafts(&house);
        let agent = house.agent("triage");
        let saved = save(&house, &agent, "restart with care");
        let read = open_review(&house);
        assert_eq!(read["proposed"]["content"], "restart with care");
        change(&house, &agent, &saved);
        let old = approve(&house, &read["review"], &read["review"]["version"]);
        assert_eq!(old.status, 409, "the reviewer has not read this: {}", old.body);
        let now = open_review(&house);
        assert_ne!(now["review"]["id"], read["review"]["id"], "another text is another review");
        assert!(
            old.body.contains(now["review"]["id"].as_str().expect("an id")),
            "it names its successor: {}",
            old.body
        );
        let stale = approve(&house, &now["review"], &read["review"]["version"]);
        assert_eq!(stale.said(), (409, "conflict.source_changed".to_owned()), "{}", stale.body);
        let blind = approve(&house, &now["review"], &Value::Null);
        assert_eq!(blind.said(), (428, "review.version_missing".to_owned()), "{}", blind.body);
        let done = approve(&house, &now["review"], &now["review"]["version"]);
        assert_eq!(done.status, 200, "{}", done.body);
        let was = house.ask("GET", &format!("/v1/reviews/{}", read["review"]["id"].as_str().expect("an id"))).send();
        assert_eq!(was.json()["review"]["state"], "superseded");
    }
}

#[test]
fn a_draft_that_is_forgotten_takes_its_review_with_it() {
    let house = House::new();
    with_drafts(&house);
    let agent = house.agent("triage");
    let saved = save(&house, &agent, "restart with care");
    let read = open_review(&house);
    let forgotten = house.ask("DELETE", &format!("/v1/memories/{}", saved["id"].as_str().expect("an id"))).send();
    assert!(forgotten.status < 300, "{}", forgotten.body);
    assert_eq!(approve(&house, &read["review"], &read["review"]["version"]).status, 409);
    assert_eq!(house.ask("GET", "/v1/reviews?state=pending").send().json()["items"], json!([]));
}
