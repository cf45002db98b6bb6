//! Reviews over REST: a decision is about the text that was read.

use engine::TransitionOutcome;
use engine::model::caller::Caller;
use engine::model::key::{Key, KeyRights, Settable};
use engine::model::row::SideRecord as _;
use engine::model::vocabulary::Role;
use engine::ports::change::{Change, Write};
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

fn person_key(house: &House, role: Role, name: &str) -> String {
    let may_set = vec![Settable::Conversation, Settable::User];
    house.key(KeyRights { user: Some(name.to_owned()), may_set, ..KeyRights::for_role(role) }).text
}

/// Saves a note in conversation c1 and proposes its promotion with the same key.
fn propose_own(house: &House, key: &str, path: &str) -> Value {
    propose_text_of(house, key, key, "conversation_memory", path)
}

/// Saves a note with one key and proposes its promotion with another.
fn propose_text_of(house: &House, author: &str, key: &str, store: &str, path: &str) -> Value {
    let evidence = json!([{ "kind": "user_statement", "summary": "said so" }]);
    let body = json!({
        "store": store, "path": path, "recall_hint": path, "kind": "runbook", "content": format!("how to {path}"),
        "evidence": evidence,
    });
    let id = ask(house, author, "POST", "/v1/memories", &body).json()["id"].clone();
    let body = json!({
        "memory": id, "target_store": "workspace_runbooks", "target_path": path, "rationale": "mine",
        "evidence": evidence,
    });
    let proposed = ask(house, key, "POST", "/v1/reviews", &body);
    assert_eq!(proposed.status, 201, "{}", proposed.body);
    proposed.json()["review"].clone()
}

fn approve_as(house: &House, key: &str, review: &Value) -> (u16, String) {
    let path = format!("/v1/reviews/{}/approve", review["id"].as_str().expect("an id"));
    // The header changes whom the key acts for, not who decides.
    let ask = house.ask_as(key, "POST", &path).header("x-user-id", "somebody-else");
    let reply = ask.json(&json!({ "version": review["version"] })).send();
    if reply.status == 200 { (200, String::new()) } else { reply.said() }
}

#[test]
fn two_keys_of_one_person_are_one_reviewer() {
    let house = House::new();
    let ana = person_key(&house, Role::Reviewer, "ana");
    let refused = (403, "policy.own_proposal".to_owned());
    let review = propose_own(&house, &ana, "web/one");
    for second in [Role::Reviewer, Role::Admin] {
        assert_eq!(approve_as(&house, &person_key(&house, second, "ana"), &review), refused, "{second}");
    }
    assert_eq!(approve_as(&house, &person_key(&house, Role::Reviewer, "ben"), &review), (200, String::new()));
    // What an agent proposes for ana is the agent's words: ana decides.
    let agent = house.agent("triage");
    let review = propose_own(&house, &agent, "web/two");
    assert_eq!(approve_as(&house, &ana, &review), (200, String::new()));
}

#[test]
fn a_persons_own_text_that_their_agent_proposed_is_decided_by_somebody_else() {
    let house = House::new();
    let (rita, ben) = (person_key(&house, Role::Reviewer, "rita"), person_key(&house, Role::Reviewer, "ben"));
    let (name, user) = (Some("helper".to_owned()), Some("rita".to_owned()));
    let may_set = vec![Settable::Conversation];
    let agent = house.key(KeyRights { agent: name, user, may_set, ..KeyRights::for_role(Role::Agent) }).text;
    for (store, path) in [("user_notes", "web/one"), ("conversation_memory", "web/two")] {
        let review = propose_text_of(&house, &rita, &agent, store, path);
        for own in [&rita, &person_key(&house, Role::Admin, "rita")] {
            assert_eq!(approve_as(&house, own, &review), (403, "policy.own_proposal".to_owned()), "{store}");
        }
        assert_eq!(approve_as(&house, &ben, &review), (200, String::new()), "{store}");
    }
    // The agent's own words are not hers.
    let review = propose_own(&house, &agent, "web/three");
    assert_eq!(approve_as(&house, &rita, &review), (200, String::new()));
}

#[test]
fn keys_older_than_names_are_one_unnamed_person() {
    let house = House::new();
    let (one, two) = (person_key(&house, Role::Reviewer, "x"), person_key(&house, Role::Reviewer, "y"));
    // As such a key is stored: without a person.
    for text in [&one, &two] {
        let (tenant, key) = house.engine.find_key_by_text(text).expect("found").expect("a key");
        let rights = KeyRights { user: None, ..key.rights.clone() };
        let row = Key { rights, ..key }.to_row();
        // No verb writes such a key any more.
        let change = Change::new(tenant, house.engine.clock.now()).with_write(Write::Row(row));
        house.backend.commit(change.scanned()).expect("written");
    }
    let review = propose_own(&house, &one, "web/three");
    assert_eq!(approve_as(&house, &two, &review), (403, "policy.own_proposal".to_owned()));
    assert_eq!(approve_as(&house, &house.admin, &review).0, 403, "the admin key of these tests may set no header");
    assert_eq!(approve(&house, &review, &review["version"]).status, 200);
}

#[test]
fn a_waiting_review_of_a_stranger_is_not_handed_out() {
    let house = House::new();
    let body = json!({ "store": "workspace_runbooks", "kind": "runbook", "path": "old", "content": "restart the fax" });
    let id = house.ask("POST", "/v1/memories").json(&body).send().json()["id"].clone();
    let (triage, other) = (house.agent("triage"), house.agent("other"));
    let propose = |key: &str, conversation: &str, why: &str| {
        let promote = json!({
            "memory": id, "target_store": "workspace_runbooks", "target_path": "new", "rationale": why,
            "evidence": [{ "kind": "tool_result", "summary": why }],
        });
        let forget = json!({ "memory": id, "rationale": why });
        [("/v1/reviews", promote), ("/v1/reviews/forget", forget)].map(|(path, body)| {
            house.ask_as(key, "POST", path).header("x-conversation-id", conversation).json(&body).send()
        })
    };
    let first = propose(&triage, "secret-talk", "a private rationale");
    let strangers = [propose(&other, "c2", "mine"), propose(&triage, "c3", "mine too")];
    for (waiting, said) in strangers.iter().flat_map(|said| first.iter().zip(said)) {
        assert_eq!((waiting.status, said.status), (201, 201), "{} {}", waiting.body, said.body);
        assert_ne!(said.json()["review"]["id"], waiting.json()["review"]["id"], "its id does not tell either");
        assert!(!said.body.contains("private") && !said.body.contains("secret-talk"), "{}", said.body);
    }
    // Those who may see it are told: the proposer in the same conversation, and who decides.
    let again = propose(&triage, "secret-talk", "again");
    for (waiting, said) in first.iter().zip(&again) {
        assert_eq!((said.status, &said.json()["review"]["id"]), (200, &waiting.json()["review"]["id"]));
    }
    assert!(propose(&person_key(&house, Role::Reviewer, "rita"), "c9", "seen").iter().all(|said| said.status == 200));
}

#[test]
fn import_does_not_confirm_text_the_caller_cannot_see() {
    let house = House::new();
    let body = json!({ "store": "system_notes", "system": "billing", "kind": "note", "content": "the pin is blue" });
    let saved = house.ask("POST", "/v1/memories").json(&body).send();
    assert_eq!(saved.status, 201, "{}", saved.body);
    let exported = house.ask("GET", "/v1/export").header("accept", "application/x-ndjson").send().body;
    let line = exported.lines().find(|line| line.contains("the pin is blue")).expect("exported").to_owned();
    let import = |key: &str, line: &str| {
        house.ask_as(key, "POST", "/v1/import").header("content-type", "application/x-ndjson").text(line).send()
    };
    let (stranger, holder) = (house.agent("stranger"), person_key(&house, Role::Admin, "ann"));
    let (right, wrong) = (import(&stranger, &line), import(&stranger, &line.replace("blue", "grey")));
    assert_eq!(right.json()["unchanged"], 0, "{}", right.body);
    assert_eq!(right.json(), wrong.json(), "a right guess is answered like a wrong one");
    assert_eq!(import(&holder, &line).json()["unchanged"], 1);
}
