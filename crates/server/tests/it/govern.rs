//! What people decide, over HTTP: promotion, rollback, redaction, quarantine, runs, context with its receipt.

use engine::model::key::KeyRights;
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::house::House;

fn draft(house: &House, key: &str, path: &str, content: &str) -> String {
    let body = json!({
        "store": "conversation_memory", "path": path, "kind": "runbook", "content": content,
        "evidence": [{ "kind": "tool_result", "summary": "seen in the configuration" }],
    });
    let saved = house.ask_as(key, "POST", "/v1/memories").header("x-conversation-id", "c1").json(&body).send();
    assert_eq!(saved.status, 201, "{}", saved.body);
    saved.json()["id"].as_str().expect("an id").to_owned()
}

#[test]
fn fact_13_a_draft_becomes_everybodys_over_rest() {
    let house = House::new();
    let agent = house.agent("triage");
    let id = draft(&house, &agent, "billing", "restart billing after the migration");
    let body = json!({
        "memory": id, "target_store": "workspace_runbooks", "target_path": "services/billing",
        "rationale": "it helped twice", "evidence": [{ "kind": "verification_result", "summary": "tried twice" }],
    });
    let propose = || house.ask_as(&agent, "POST", "/v1/reviews").header("x-conversation-id", "c1").json(&body).send();
    let (first, second) = (propose(), propose());
    assert_eq!((first.status, second.status), (201, 200), "{}", first.body);
    let review = first.json()["review"]["id"].as_str().expect("a review").to_owned();

    let detail = house.ask("GET", &format!("/v1/reviews/{review}")).send().json();
    assert_eq!(detail["proposed"]["content"], json!("restart billing after the migration"));
    let queue = house.ask("GET", "/v1/reviews?state=pending").send().json();
    assert_eq!(queue["items"].as_array().map(Vec::len), Some(1));

    let decide = |key: &str| {
        let ask = house.ask_as(key, "POST", &format!("/v1/reviews/{review}/approve"));
        ask.json(&json!({ "version": detail["review"]["version"], "comment": "checked" })).send()
    };
    assert_ne!(decide(&agent).status, 200, "an agent does not decide");
    let reviewer = house.key(KeyRights { user: Some("rita".to_owned()), ..KeyRights::for_role(Role::Reviewer) }).text;
    let approved = decide(&reviewer);
    assert_eq!(approved.status, 200, "{}", approved.body);
    assert_eq!(approved.json()["memory"]["store"], json!("workspace_runbooks"));
    assert_eq!(decide(&reviewer).status, 409, "deciding twice");
}

#[test]
fn fact_14_taken_back_held_back_erased_over_rest() {
    let house = House::new();
    let agent = house.agent("triage");
    let admin = |path: &str, body: Value| house.ask("POST", path).json(&body).send();
    let id = draft(&house, &agent, "one", "the first recipe");
    assert_eq!(admin(&format!("/v1/memories/{id}/rollback"), json!({})).json()["memory"]["state"], json!("tombstoned"));
    assert_eq!(admin(&format!("/v1/memories/{id}/rollback"), json!({})).status, 409);

    let id = draft(&house, &agent, "two", "the second recipe");
    assert_eq!(admin(&format!("/v1/memories/{id}/quarantine"), json!({ "reason": "doubtful" })).status, 200);
    assert_eq!(admin(&format!("/v1/memories/{id}/release"), json!({})).status, 200);
    assert_eq!(house.ask("GET", &format!("/v1/memories/{id}/lineage")).send().status, 200);

    let id = draft(&house, &agent, "three", "the third recipe of Mrs Miller");
    let redacted = admin(&format!("/v1/memories/{id}/redact"), json!({ "reason": "a name" }));
    assert_eq!(redacted.status, 200, "{}", redacted.body);
    let certificate = redacted.json()["certificate"]["id"].as_str().expect("a certificate").to_owned();
    assert_eq!(house.ask("GET", &format!("/v1/certificates/{certificate}")).send().status, 200);
    let history = house.ask("GET", &format!("/v1/memories/{id}/history")).send();
    assert!(!history.body.contains("Miller"), "{}", history.body);
}

#[test]
fn fact_34_a_run_and_its_context_over_rest() {
    let house = House::new();
    let agent = house.agent("triage");
    let ask = |method: &str, path: &str| {
        house.ask_as(&agent, method, path).header("x-run-id", "r1").header("x-conversation-id", "c1")
    };
    let opened = ask("POST", "/v1/runs").json(&json!({ "goal": "find the cause", "workflow": "triage" })).send();
    assert_eq!((opened.status, &opened.json()["id"]), (201, &json!("r1")), "{}", opened.body);
    draft(&house, &agent, "billing", "billing retries webhooks for a day");
    let context = ask("POST", "/v1/context").json(&json!({ "message": "does billing retry webhooks?" })).send().json();
    assert!(context["text"].as_str().expect("text").contains("billing retries webhooks"), "{context}");
    let named = json!({ "message": "does billing retry webhooks?", "format": "json" });
    let named = house.ask_as(&agent, "POST", "/v1/context").json(&named).send();
    assert_eq!(named.status, 200, "{}", named.body);
    let receipt = context["receipt"].as_str().expect("a receipt").to_owned();
    house.engine.database().flush().expect("flushed");
    let replay = ask("GET", &format!("/v1/receipts/{receipt}/replay")).send().json();
    assert_eq!((&replay["exact"], &replay["text"]), (&json!(true), &context["text"]));
    let blame = house.ask("GET", "/v1/runs/r1/blame").send().json();
    assert_eq!(blame["items"].as_array().map(Vec::len), Some(1));
    let memory = blame["items"][0]["memory"].as_str().expect("an id");
    assert_eq!(house.ask("GET", &format!("/v1/memories/{memory}/reach")).send().status, 200);
    let unknown = house.ask("GET", "/v1/memories/01980000-0000-7000-8000-000000000001/reach").send();
    assert_eq!(unknown.said(), (404, "not_found".to_owned()));
    let closed =
        ask("POST", "/v1/runs/r1/close").json(&json!({ "outcome": "success", "summary": "it had moved" })).send();
    assert_eq!(closed.status, 200, "{}", closed.body);
    let verified = house.ask("GET", "/v1/verify").send().json();
    assert_eq!((&verified["broken"], &verified["findings"]), (&Value::Null, &json!([])));
    assert_eq!(verified["verdict"], "intact");
}

#[test]
fn a_run_that_many_clients_close_at_once_leaves_one_episode() {
    const CLIENTS: usize = 6;
    let house = House::new();
    let agent = house.agent("triage");
    for round in 0..5 {
        let run = format!("race{round}");
        let ask = |path: &str| house.ask_as(&agent, "POST", path).header("x-run-id", &run);
        assert_eq!(ask("/v1/runs").json(&json!({})).send().status, 201);
        let barrier = std::sync::Barrier::new(CLIENTS);
        let mut answers: Vec<(u16, String)> = std::thread::scope(|scope| {
            let close = |client: usize| {
                let body = json!({ "outcome": "success", "summary": format!("as client {client} saw it") });
                barrier.wait();
                ask(&format!("/v1/runs/{run}/close")).json(&body).send().said()
            };
            let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || close(client))).collect();
            clients.into_iter().map(|client| client.join().expect("answers")).collect()
        });
        answers.retain(|(status, _)| *status != 200);
        assert_eq!(answers, vec![(409, "conflict.run_closed".to_owned()); CLIENTS - 1]);
        let episodes = house.ask_as(&agent, "GET", "/v1/memories?store=episodes&limit=100").send().json();
        assert_eq!(episodes["items"].as_array().map(Vec::len), Some(round + 1), "{episodes}");
    }
}

#[test]
fn opening_a_run_tells_nothing_of_runs_that_the_caller_does_not_see() {
    let house = House::new();
    let opener = house.agent("triage");
    let opened = house.ask_as(&opener, "POST", "/v1/runs").header("x-run-id", "taken").json(&json!({})).send();
    assert_eq!(opened.status, 201, "{}", opened.body);
    let stranger = house.agent("stranger");
    let user = house.key(KeyRights { user: Some("ann".to_owned()), ..KeyRights::for_role(Role::User) }).text;
    for key in [&stranger, &user] {
        let answer = |id: &str| house.ask_as(key, "POST", "/v1/runs").json(&json!({ "id": id })).send().said();
        assert_eq!(answer("taken"), answer("free"));
        assert_eq!(answer("taken").1, "scope.run_not_yours");
        assert_eq!(house.ask_as(key, "POST", "/v1/runs").json(&json!({})).send().status, 201);
    }
    let again = house.ask_as(&opener, "POST", "/v1/runs").header("x-run-id", "taken").json(&json!({})).send();
    assert_eq!(again.said(), (409, "conflict.run_exists".to_owned()));
}

#[test]
fn what_a_run_read_and_proposed_over_rest_is_blamed_at_once() {
    let house = House::new();
    let agent = house.agent("triage");
    let id = draft(&house, &agent, "billing", "billing retries webhooks for a day");
    let ask = |method: &str, path: &str| {
        house.ask_as(&agent, method, path).header("x-run-id", "r1").header("x-conversation-id", "c1")
    };
    let touches = || {
        let blame = house.ask("GET", "/v1/runs/r1/blame").send().json();
        let items = blame["items"].as_array().expect("items").clone();
        let mut touches: Vec<_> = items.iter().map(|item| item["touch"].as_str().map(str::to_owned)).collect();
        touches.sort();
        touches.into_iter().flatten().collect::<Vec<_>>()
    };
    assert_eq!(ask("GET", &format!("/v1/memories/{id}")).send().status, 200);
    assert_eq!(touches(), ["read"]);
    let body = json!({
        "memory": id, "target_store": "workspace_runbooks", "target_path": "rb/billing", "rationale": "useful",
        "evidence": [{ "kind": "tool_result", "summary": "logs" }],
    });
    let proposed = ask("POST", "/v1/reviews").json(&body).send();
    assert_eq!(proposed.status, 201, "{}", proposed.body);
    assert_eq!(touches(), ["proposed", "read"]);
}

#[test]
fn who_may_not_forget_asks_for_it() {
    let house = House::new();
    let agent = house.agent("triage");
    let body = json!({ "store": "workspace_runbooks", "kind": "runbook", "path": "old", "content": "restart the fax" });
    let id = house.ask("POST", "/v1/memories").json(&body).send().json()["id"].as_str().expect("an id").to_owned();
    let refused = house.ask_as(&agent, "DELETE", &format!("/v1/memories/{id}")).send();
    assert_eq!(refused.said(), (403, "policy.needs_promotion".to_owned()));
    assert!(refused.body.contains("/v1/reviews/forget"), "{}", refused.body);
    let body = json!({ "memory": id, "rationale": "there is no fax any more" });
    let ask = || house.ask_as(&agent, "POST", "/v1/reviews/forget").json(&body).send();
    let (first, again) = (ask(), ask());
    assert_eq!((first.status, again.status), (201, 200), "{}", first.body);
    let review = first.json()["review"]["id"].as_str().expect("a review").to_owned();
    let decision = json!({ "version": first.json()["review"]["version"] });
    let approved = house.ask("POST", &format!("/v1/reviews/{review}/approve")).json(&decision).send();
    assert_eq!(approved.status, 200, "{}", approved.body);
    assert_eq!(house.ask("GET", &format!("/v1/memories/{id}")).send().json()["state"], "tombstoned");
}

#[test]
fn listings_of_rows_go_on_where_a_stretch_ended() {
    let house = House::new();
    for number in 0..5 {
        let run = format!("r{number}");
        let opened = house.ask("POST", "/v1/runs").json(&json!({ "id": run, "goal": "g" })).send();
        assert_eq!(opened.status, 201, "{}", opened.body);
        let context = house.ask("POST", "/v1/context").json(&json!({ "message": run })).send();
        assert_eq!(context.status, 200, "{}", context.body);
        let text = json!({ "path": format!("d/{number}.md"), "text": format!("page {number}") });
        let document = house.ask("POST", "/v1/documents").json(&text).send();
        assert!(matches!(document.status, 200 | 201), "{}", document.body);
    }
    for (listing, name) in [("/v1/receipts", "query"), ("/v1/runs", "id"), ("/v1/documents", "path")] {
        let (mut names, mut next) = (Vec::new(), String::new());
        loop {
            let page = house.ask("GET", &format!("{listing}?limit=2{next}")).send().json();
            let items = page["items"].as_array().expect("items");
            names.extend(items.iter().map(|item| item[name].as_str().expect("a name").to_owned()));
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        let numbers: Vec<_> = names.iter().map(|name| name.replace(|c: char| !c.is_ascii_digit(), "")).collect();
        assert_eq!(numbers, ["4", "3", "2", "1", "0"], "{listing}");
        let odd = house.ask("GET", &format!("{listing}?cursor=bm9uZQ")).send();
        assert_eq!(odd.said(), (400, "shape.cursor".to_owned()), "{listing}");
    }
}
