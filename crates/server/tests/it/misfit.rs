//! What does not fit is named: which field or parameter, and what is expected, in the words of this door.

use serde_json::{Value, json};

use crate::house::House;

fn detail(house: &House, method: &str, path: &str, body: Option<&Value>) -> String {
    let ask = house.ask(method, path);
    let ask = match body {
        Some(body) => ask.json(body),
        None => ask,
    };
    let reply = ask.send();
    assert_eq!(reply.status, 400, "{path}: {}", reply.body);
    reply.json()["detail"].as_str().expect("a detail").to_owned()
}

#[test]
fn a_wrong_parameter_is_named() {
    let house = House::new();
    for (path, words) in [
        ("/v1/memories?limit=abc", "`limit`: expected a whole number"),
        ("/v1/memories?updated_after=soon", "`updated_after`: a time such as 2026-01-31T12:00:00Z is expected"),
        ("/v1/memories?limit=0", "`limit`: a number from 1 to 1000"),
        ("/v1/memories?limit=-1", "`limit`: a number from 1 to 1000"),
        ("/v1/memories?limit", "`limit` has no value"),
        ("/v1/memories?limit=2&sort=", "`sort` has no value"),
        ("/v1/memories?as_of=soon", "`as_of`: a time such as"),
        ("/v1/events?limit&name=a", "`limit` has no value"),
    ] {
        let detail = detail(&house, "GET", path, None);
        assert!(detail.contains(words), "{path}: {detail}");
    }
}

#[test]
fn a_wrong_field_is_named_with_its_place_and_never_quoted() {
    let house = House::new();
    let turns =
        json!({ "session": "s", "turns": [{ "content": "one" }, { "content": "two", "importance": "hunter2" }] });
    let said = detail(&house, "POST", "/v1/episodes", Some(&turns));
    assert!(
        said.starts_with("the body is invalid: line 1, column ")
            && said.contains("`turns[1].importance`: expected a number, not a string")
            && !said.contains("hunter2"),
        "{said}"
    );
    let search = json!({ "query": "x", "limit": 500 });
    assert!(detail(&house, "POST", "/v1/search", Some(&search)).contains("`limit`: a number from 1 to 200"));
}

#[test]
fn odd_times_and_ids_are_told_in_our_words() {
    let house = House::new();
    let (time, id) = ("a time such as 2026-01-31T12:00:00Z is expected", "an id such as 01980000-0000-7000-8000-");
    for (path, field, words, body) in [
        ("/v1/search", "updated_after", time, json!({ "query": "x", "updated_after": "hunter2" })),
        ("/v1/search", "explain", id, json!({ "query": "x", "explain": "hunter2" })),
        ("/v1/memories", "expires_at", time, json!({ "store": "notes", "content": "x", "expires_at": "hunter2" })),
        ("/v1/audit", "timestamp", time, json!({ "action": "a", "message": "x", "timestamp": "2026-13-01" })),
        ("/v1/scan/allowed", "expires_at", time, json!({ "text": "x", "reason": "y", "expires_at": "hunter2" })),
        ("/v1/reviews/decisions", "reviews[0].id", id, json!({ "approve": true, "reviews": [{ "id": "hunter2" }] })),
        ("/v1/reviews", "memory", id, json!({ "memory": "hunter2", "target_store": "s", "rationale": "x" })),
    ] {
        let said = detail(&house, "POST", path, Some(&body));
        assert!(said.contains(&format!("`{field}`: {words}")) && !said.contains("hunter2"), "{path}: {said}");
    }
}

#[test]
fn a_malformed_id_is_not_found() {
    let house = House::new();
    for path in ["/v1/memories/zz", "/v1/reviews/zz", "/v1/receipts/zz"] {
        let reply = house.ask("GET", path).send();
        assert_eq!(reply.said(), (404, "not_found".to_owned()), "{path}");
        assert_eq!(reply.json()["detail"], "`zz` is not an id", "{path}");
    }
}

#[test]
fn a_malformed_turn_is_named_and_none_is_saved() {
    let house = House::new();
    let key = house.agent("t");
    let mut turns = vec![json!({ "content": "the crane is green" }); 150];
    turns.push(json!({ "content": "too much", "importance": 7.0 }));
    let body = json!({ "session": "s", "turns": turns });
    let reply = house.ask_as(&key, "POST", "/v1/episodes").json(&body).send();
    assert_eq!(reply.said(), (400, "shape.out_of_range".to_owned()));
    assert!(reply.body.contains("`turns[150]`: importance must be between 0 and 1"), "{}", reply.body);
    let sessions = house.ask_as(&key, "GET", "/v1/sessions").send().json();
    assert_eq!(sessions["items"], json!([]));
}

#[test]
fn what_a_caller_left_out_is_told_as_a_header() {
    let house = House::new();
    let body = json!({
        "store": "conversation_memory", "content": "x", "evidence": [{ "kind": "tool_result", "summary": "x" }],
    });
    let reply = house.ask("POST", "/v1/memories").json(&body).send();
    assert_eq!(reply.said(), (400, "scope.conversation_missing".to_owned()));
    assert!(reply.json()["hint"].as_str().is_some_and(|hint| hint.contains("x-conversation-id")), "{}", reply.body);
    assert!(!reply.body.contains("--"), "{}", reply.body);
}

#[test]
fn a_date_is_the_end_of_its_day() {
    let house = House::new();
    let save = |content: &str| {
        let body = json!({ "store": "workspace_runbooks", "kind": "runbook", "path": "crane", "content": content });
        house.ask("POST", "/v1/memories").json(&body).send().json()["id"].as_str().expect("an id").to_owned()
    };
    house.clock.pass(3_600);
    let id = save("green");
    house.clock.pass(24 * 3_600);
    save("blue");
    let content =
        |day: &str| house.ask("GET", &format!("/v1/memories/{id}?as_of={day}")).send().json()["content"].clone();
    assert_eq!((content("2026-01-01"), content("2026-01-02")), (json!("green"), json!("blue")));
    let body = json!({ "query": "", "stores": ["workspace_runbooks"], "as_of": "2026-01-01" });
    let found = house.ask("POST", "/v1/search").json(&body).send().json();
    assert_eq!(found["hits"][0]["memory"]["content"], "green", "{found}");
}

#[test]
fn a_page_of_events_is_full_although_others_came_between() {
    let house = House::new();
    for n in 0..20 {
        let body =
            json!({ "store": "workspace_runbooks", "kind": "runbook", "path": format!("a/{n}"), "content": "x" });
        assert_eq!(house.ask("POST", "/v1/memories").json(&body).send().status, 201);
    }
    let store = json!({
        "slug": "late", "scope": "workspace", "ruleset": "document", "default_trust": "admin_approved",
        "access": "read_write",
    });
    assert_eq!(house.ask("POST", "/v1/stores").json(&store).send().status, 201);
    let page = house.ask("GET", "/v1/events?limit=2&name=store.created").send().json();
    let names: Vec<&Value> = page["items"].as_array().expect("items").iter().map(|event| &event["name"]).collect();
    assert_eq!(names, [&json!("store.created"); 2], "{page}");
    let after = page["next_after"].as_u64().expect("a number");
    let next = house.ask("GET", &format!("/v1/events?limit=50&name=store.created&after={after}")).send().json();
    let stores: Vec<&Value> =
        next["items"].as_array().expect("items").iter().map(|event| &event["payload"]["store"]).collect();
    assert!(stores.contains(&&json!("late")), "{next}");
}

#[test]
fn a_store_that_is_not_there_is_not_found() {
    let house = House::new();
    let agent = house.agent("t");
    for path in ["/v1/memories?store=nope", "/v1/export?store=nope"] {
        assert_eq!(house.ask("GET", path).send().said(), (404, "not_found".to_owned()), "{path}");
    }
    // What a caller may not look into answers alike.
    let drafts = |store: &str| {
        let body = json!({ "query": "x", "stores": [store] });
        let search = house.ask_as(&agent, "POST", "/v1/search").json(&body).send();
        let list = house.ask_as(&agent, "GET", &format!("/v1/memories?store={store}")).send();
        (search.said(), list.said())
    };
    assert_eq!(drafts("knowledge_drafts"), drafts("nope"));
}

#[test]
fn what_the_library_of_mcp_says_in_plain_text_is_a_problem_too() {
    let house = House::new();
    let reply = house.ask("GET", "/mcp").send();
    assert_eq!(reply.said(), (406, "http.accept".to_owned()), "{}", reply.body);
    assert_eq!(reply.header("content-type"), Some("application/problem+json"));
}

#[test]
fn a_body_that_begins_with_the_mark_of_its_encoding_is_read() {
    let house = House::new();
    for (path, body) in [("/v1/context", r#"{"message": "hello"}"#), ("/v1/search", r#"{"query": "hello"}"#)] {
        let marked = format!("\u{feff}{body}");
        let reply = house.ask("POST", path).text(&marked).header("content-type", "application/json").send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    }
}
