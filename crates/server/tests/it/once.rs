//! Idempotency keys: done once, answered twice.

use serde_json::{Value, json};

use crate::house::{House, Reply};

fn save(house: &House, key: &str, once: &str, content: &str) -> Reply {
    let body = json!({
        "store": "conversation_memory", "kind": "conversation_note", "content": content,
        "evidence": [{ "kind": "user_statement", "summary": "said so" }],
    });
    let ask = house.ask_as(key, "POST", "/v1/memories").header("x-conversation-id", "c1");
    ask.header("idempotency-key", once).json(&body).send()
}

fn count(house: &House) -> usize {
    let path = "/v1/memories?store=conversation_memory&limit=100";
    house.ask("GET", path).send().json()["items"].as_array().map_or(0, Vec::len)
}

#[test]
fn the_same_call_twice() {
    let house = House::new();
    let (agent, other) = (house.agent("triage"), house.agent("night"));
    let first = save(&house, &agent, "k1", "one fact");
    let again = save(&house, &agent, "k1", "one fact");
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    assert_eq!(first.header("etag"), again.header("etag"));
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), (None, Some("true")));
    assert_eq!(count(&house), 1);

    assert_eq!(save(&house, &agent, "k1", "another fact").said(), (422, "idempotency.other_request".to_owned()));
    assert_eq!(save(&house, &other, "k1", "another fact").status, 201, "keys are each caller's own");
    assert_eq!(save(&house, &agent, "k2", "one fact").status, 201);
    assert_eq!(count(&house), 3);
    assert_eq!(save(&house, &agent, "", "one fact").status, 400);

    house.clock.pass(24 * 3600 + 1);
    assert_eq!(save(&house, &agent, "k1", "a fact of another day").status, 201);
    assert!(house.engine.purge_repeats(house.tenant.id).expect("purged") >= 2);
}

#[test]
fn a_refusal_frees_the_key() {
    let house = House::new();
    let agent = house.agent("triage");
    let refused = save(&house, &agent, "k", " ");
    assert_eq!(refused.status, 400);
    assert_eq!(save(&house, &agent, "k", "a fact").status, 201);
}

#[test]
fn many_at_once_do_it_once() {
    let house = House::new();
    let agent = house.agent("triage");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| save(&house, &agent, "k", "one fact"))).collect();
        calls.into_iter().map(|call| call.join().expect("an answer")).collect()
    });
    let ids: std::collections::BTreeSet<String> =
        replies.iter().filter(|reply| reply.status == 201).map(|reply| reply.json()["id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    let told = |reply: &Reply| reply.status == 201 || reply.said() == (409, "idempotency.in_progress".to_owned());
    assert!(replies.iter().all(told));
    assert_eq!(count(&house), 1);
    assert_ne!(Value::Null, replies[0].json());
}
