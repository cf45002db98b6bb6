//! Live events: in order, resumed without loss or repetition, and only what the caller may see.

use engine::model::key::{KeyRights, Settable};
use engine::model::vocabulary::Role;
use serde_json::{Value, json};
use server::{HttpLimits, ServerConfig};

use crate::house::House;

fn save(house: &House, key: &str, conversation: &str, content: &str) {
    let body = json!({
        "store": "conversation_memory", "kind": "conversation_note", "content": content,
        "evidence": [{ "kind": "user_statement", "summary": "said so" }],
    });
    let ask = house.ask_as(key, "POST", "/v1/memories").header("x-conversation-id", conversation);
    assert_eq!(ask.json(&body).send().status, 201);
}

#[test]
fn in_order_and_resumed() {
    let house = House::new();
    let key = house.agent("triage");
    let mut live = house.ask("GET", "/v1/events?name=memory.write.*").stream();
    live.until(": ingrain");
    for n in 0..5 {
        save(&house, &key, "c1", &format!("fact number {n}"));
    }
    let seen: Vec<u64> = (0..5).map(|_| live.next().expect("an event").id).collect();
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");

    let resume = |after: u64, count: usize| -> Vec<u64> {
        let ask = house.ask("GET", "/v1/events?name=memory.write.*").header("last-event-id", &after.to_string());
        let mut stream = ask.stream();
        (0..count).map(|_| stream.next().expect("an event").id).collect()
    };
    assert_eq!(resume(seen[1], 3), seen[2..]);
    assert_eq!(resume(0, 4 + 5)[4..], seen, "four seeded documents come first");
    assert_eq!(
        house.ask("GET", "/v1/events").header("last-event-id", "x").header("accept", "text/event-stream").send().status,
        400
    );
}

#[test]
fn a_long_log_is_caught_up_with_while_it_grows() {
    let house = House::new();
    let key = house.agent("triage");
    for n in 0..150 {
        save(&house, &key, "c1", &format!("early fact {n}"));
    }
    let mut stream = house
        .ask_as(&key, "GET", "/v1/events?after=0&name=memory.write.created")
        .header("x-conversation-id", "c1")
        .stream();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..50).for_each(|n| save(&house, &key, "c1", &format!("late fact {n}"))));
        let mut last = 0;
        for n in 0..200 {
            let shown = stream.next().unwrap_or_else(|| panic!("event {n}"));
            // The seeded documents are the workspace's, which everybody sees.
            if shown.data["actor"] == "agent:triage" {
                assert!(shown.id > last);
                last = shown.id;
            }
        }
    });
}

#[test]
fn only_what_the_caller_may_see() {
    let house = House::new();
    let key = house.agent("triage");
    let watch = |conversation: &str| {
        let mut stream = house.ask_as(&key, "GET", "/v1/events").header("x-conversation-id", conversation).stream();
        stream.until(": ingrain");
        stream
    };
    let (mut one, mut two) = (watch("c1"), watch("c2"));
    save(&house, &key, "c1", "for the first only");
    save(&house, &key, "c2", "for the second only");
    for (stream, conversation) in [(&mut one, "c1"), (&mut two, "c2")] {
        let shown = stream.next().expect("an event");
        assert_eq!(shown.data["scope"]["conversation"], json!(conversation));
        assert_eq!(shown.name, "memory.write.created");
    }
    let page = house.ask_as(&key, "GET", "/v1/events?limit=1000").header("x-conversation-id", "c2").send();
    assert!(!page.body.contains("\"c1\""), "{}", page.body);
}

#[test]
fn what_an_event_says() {
    let house = House::new();
    let key = house.agent("triage");
    let mut stream = house.ask("GET", "/v1/events?name=memory.write.created").stream();
    stream.until(": ingrain");
    save(&house, &key, "c1", "a fact");
    let mut data = stream.next().expect("an event").data;
    for field in ["seq", "hash", "at", "memory", "version"] {
        assert!(data[field].take() != json!(null), "{field}");
    }
    insta::assert_json_snapshot!(data, @r#"
    {
      "actor": "agent:triage",
      "at": null,
      "conversation": "c1",
      "hash": null,
      "memory": null,
      "name": "memory.write.created",
      "payload": {
        "kind": "conversation_note",
        "operation": "create",
        "path": null,
        "sha256": "deae32cc1438a4a74b0d9e6db3bbda7d0e44494e9808647879d7818c390fb95c",
        "state": "active",
        "store": "conversation_memory",
        "trust": "agent_draft"
      },
      "role": "agent",
      "scope": {
        "conversation": "c1",
        "kind": "conversation"
      },
      "seq": null,
      "version": null
    }
    "#);
}

#[test]
fn an_event_names_the_role_of_who_did_it() {
    let house = House::new();
    let agent = house.agent("triage");
    let audit = json!({ "action": "deploy.finished", "message": "billing 4.2 is live" });
    let step = json!({ "step": "build", "output": "built billing 4.2" });
    for (path, body) in [("/v1/audit", audit), ("/v1/workflows/deploy/steps", step)] {
        let reply = house.ask_as(&agent, "POST", path).json(&body).send();
        assert_eq!(reply.status, 201, "{path}: {}", reply.body);
    }
    house.engine.database().flush().expect("written");
    let page = house.ask("GET", "/v1/events?limit=1000").send().json();
    let items = page["items"].as_array().expect("events");
    let told: Vec<_> = items.iter().filter(|event| event["actor"] == "agent:triage").collect();
    assert!(told.len() >= 4, "{told:?}");
    assert!(told.iter().all(|event| event["role"] == "agent"), "{told:?}");
}

/// All the log that this key is shown, by page and as a stream.
fn told_to(house: &House, key: &str, conversation: Option<&str>) -> Vec<Value> {
    let asked = || {
        let ask = house.ask_as(key, "GET", "/v1/events?limit=1000&after=0");
        conversation.into_iter().fold(ask, |ask, id| ask.header("x-conversation-id", id))
    };
    let page = asked().send().json()["items"].as_array().expect("events").clone();
    let mut stream = asked().stream();
    let live: Vec<Value> = page.iter().map(|_| stream.next().expect("an event").data).collect();
    assert_eq!(page, live, "the stream shows what the page does");
    page
}

#[test]
fn what_is_private_to_the_actor_is_not_told_to_the_tenant() {
    let house = House::new();
    let (agent, night) = (house.agent("triage"), house.agent("night"));
    let person = |role, name: &str| {
        house
            .key(KeyRights {
                user: Some(name.to_owned()),
                may_set: Settable::ALL.to_vec(),
                ..KeyRights::for_role(role)
            })
            .text
    };
    let (ana, rita) = (person(Role::User, "ana"), person(Role::Reviewer, "rita"));
    let post = |path: &str, body: &Value| {
        let ask = house.ask_as(&agent, "POST", path).header("x-conversation-id", "c-private");
        let reply = ask.header("x-run-id", "r-private").json(body).send();
        assert_eq!(reply.status, 201, "{path}: {}", reply.body);
        reply.json()
    };
    post("/v1/audit", &json!({ "action": "deploy.finished", "message": "billing 4.2 is live" }));
    let draft = json!({
        "store": "conversation_memory", "path": "billing", "kind": "runbook", "content": "restart billing",
        "evidence": [{ "kind": "tool_result", "summary": "seen" }],
    });
    let memory = &post("/v1/memories", &draft)["id"];
    let promotion = json!({
        "memory": memory, "target_store": "workspace_runbooks", "target_path": "billing", "rationale": "helped twice",
        "evidence": [{ "kind": "verification_result", "summary": "tried twice" }],
    });
    let proposed = &post("/v1/reviews", &promotion)["review"];
    let review = proposed["id"].as_str().expect("a review").to_owned();
    let decision = json!({ "version": proposed["version"] });
    let approve = house.ask_as(&rita, "POST", &format!("/v1/reviews/{review}/approve")).json(&decision).send();
    assert_eq!(approve.status, 200, "{}", approve.body);

    house.engine.database().flush().expect("written");
    let reviews = ["memory.promotion.proposed", "memory.review.approved"];
    let of_review =
        |events: &[Value]| events.iter().filter(|event| reviews.iter().any(|n| event["name"] == *n)).count();
    for (who, conversation, of_reviews, private) in [
        (&ana, None, 0, false),
        (&ana, Some("c-other"), 0, false),
        (&night, None, 0, false),
        (&agent, None, 0, false),
        (&agent, Some("c-other"), 0, false),
        (&agent, Some("c-private"), 2, true),
        (&rita, None, 2, true),
        (&house.admin, None, 2, true),
    ] {
        let events = told_to(&house, who, conversation);
        let text = serde_json::to_string(&events).expect("JSON");
        assert_eq!(of_review(&events), of_reviews, "{conversation:?}: {text}");
        assert_eq!(text.contains("c-private"), private, "{conversation:?}: {text}");
        assert!(private || !text.contains("r-private"), "{conversation:?}: {text}");
        assert!(text.contains("audit.recorded"), "what everybody may know stays told");
    }
    let verified = house.engine.verify(&engine::model::caller::Caller::admin(house.tenant.id)).expect("verified");
    assert!(verified.broken.is_none(), "{verified:?}");
}

#[test]
fn a_revoked_key_ends_its_stream() {
    let limits = HttpLimits { heartbeat_secs: 1, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let issued = house.key(KeyRights::for_role(Role::Admin));
    let mut stream = house.ask_as(&issued.text, "GET", "/v1/events?name=run.*").stream();
    stream.until(": alive");
    assert_eq!(house.ask("DELETE", &format!("/v1/keys/{}", issued.key.id)).send().status, 200);
    let end = stream.next().expect("a last word");
    assert_eq!((end.name.as_str(), &end.data["reason"]), ("stream.closed", &json!("the key is no longer valid")));
    assert_eq!(stream.next(), None);
}

#[test]
fn a_revoked_key_gets_nothing_more_while_events_flow() {
    let house = House::new();
    let agent = house.agent("triage");
    let issued = house.key(KeyRights::for_role(Role::Admin));
    let watch = |path: &str| {
        let mut stream = house.ask_as(&issued.text, "GET", path).stream();
        stream.until(": ingrain");
        stream
    };
    let (mut busy, mut quiet) = (watch("/v1/events?name=memory.write.*"), watch("/v1/events?name=run.*"));
    // Two events, each on its own: the stream has caught up and listens.
    for n in 0..2 {
        save(&house, &agent, "c1", &format!("before {n}"));
        assert_eq!(busy.next().expect("an event").name, "memory.write.created");
    }
    assert_eq!(house.ask("DELETE", &format!("/v1/keys/{}", issued.key.id)).send().status, 200);
    (0..3).for_each(|n| save(&house, &agent, "c1", &format!("after {n}")));
    for stream in [&mut busy, &mut quiet] {
        let end = stream.next().expect("a last word");
        assert_eq!((end.name.as_str(), &end.data["reason"]), ("stream.closed", &json!("the key is no longer valid")));
        assert_eq!(stream.next(), None);
    }
}

#[test]
fn a_key_revoked_elsewhere_is_believed_for_a_moment_only() {
    let house = House::new();
    let agent = house.agent("triage");
    let issued = house.key(KeyRights::for_role(Role::Admin));
    let mut stream = house.ask_as(&issued.text, "GET", "/v1/events?name=memory.write.*").stream();
    stream.until(": ingrain");
    // As another process would: this server is not told.
    let admin = engine::model::caller::Caller::admin(house.tenant.id);
    house.engine.revoke_key(&admin, &issued.key.id).expect("revoked");
    let begun = std::time::Instant::now();
    for n in 0.. {
        save(&house, &agent, "c1", &format!("fact {n}"));
        let shown = stream.next().expect("an event or the end");
        if shown.name == "stream.closed" {
            assert_eq!(shown.data["reason"], json!("the key is no longer valid"));
            break;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "still told after {n} events");
    }
}

#[test]
fn streams_end_when_the_server_does_and_are_bounded() {
    let limits = HttpLimits { streams_max: 1, ..HttpLimits::default() };
    let mut house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let mut stream = house.ask("GET", "/v1/events").stream();
    stream.until(": ingrain");
    let full = house.ask("GET", "/v1/events").header("accept", "text/event-stream").send();
    assert_eq!(full.said(), (503, "http.streams_full".to_owned()));
    house.close();
    let end = stream.next().expect("a last word");
    assert_eq!(end.data["reason"], json!("the server is closing"));
}
