//! Idempotency keys: done once, answered twice.

use engine::model::caller::Caller;
use engine::model::key::KeyRights;
use engine::model::memory::Draft;
use engine::model::vocabulary::Role;
use engine::text::digest::to_hex;
use engine::write::idempotency::{IdempotencyClaim, IdempotentCall};
use engine::{Remembered, SaveStep};
use serde_json::{Value, json};
use server::wire::remember::RememberBody;
use server::{HttpLimits, ServerConfig};
use sha2::{Digest, Sha256};

use crate::house::{Ask, House, Reply};

fn save(house: &House, key: &str, once: &str, content: &str) -> Reply {
    asking(house, key, once, content).send()
}

fn asking(house: &House, key: &str, once: &str, content: &str) -> Ask {
    let body = json!({
        "store": "conversation_memory", "kind": "conversation_note", "content": content,
        "evidence": [{ "kind": "user_statement", "summary": "said so" }],
    });
    let ask = house.ask_as(key, "POST", "/v1/memories").header("x-conversation-id", "c1");
    ask.header("idempotency-key", once).json(&body)
}

fn count(house: &House) -> usize {
    house.ask("GET", "/v1/memories?limit=100&store=conversation_memory&store=agent_files").send().json()["items"]
        .as_array()
        .map_or(0, Vec::len)
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
    assert!(house.engine.purge_idempotency_keys(house.tenant.id).expect("purged") >= 2);
}

#[test]
fn somebody_else_is_another_call() {
    let house = House::new();
    let agent = house.agent("triage");
    let whole = [
        ("x-user-id", "ana"),
        ("x-conversation-id", "c1"),
        ("x-session-id", "s1"),
        ("x-run-id", "r1"),
        ("x-pipeline-id", "p1"),
    ];
    let save = |changed: Option<(&str, &str)>, content: &str| {
        let body = json!({
            "store": "conversation_memory", "kind": "conversation_note", "content": content,
            "evidence": [{ "kind": "user_statement", "summary": "said so" }],
        });
        let ask = house.ask_as(&agent, "POST", "/v1/memories").header("idempotency-key", "k").json(&body);
        let others = whole.iter().filter(|(name, _)| changed.is_none_or(|(other, _)| other != *name));
        others.chain(&changed).fold(ask, |ask, (name, value)| ask.header(name, value)).send()
    };
    let first = save(None, "one fact");
    assert_eq!(first.status, 201, "{}", first.body);
    for (name, _) in whole.iter().chain(&[("x-agent-id", "")]) {
        let other = save(Some((name, "other")), "one fact");
        assert_eq!((other.status, other.header("idempotency-replayed")), (201, None), "{name}: {}", other.body);
        let again = save(Some((name, "other")), "one fact");
        assert_eq!((again.header("idempotency-replayed"), &again.body), (Some("true"), &other.body), "{name}");
        assert_eq!(save(Some((name, "other")), "another fact").said(), (422, "idempotency.other_request".to_owned()));
    }
    assert_eq!(save(None, "one fact").body, first.body);
    assert_eq!(count(&house), 1 + whole.len() + 1);
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

#[test]
fn who_hung_up_finds_the_answer_when_it_asks_again() {
    let limits = HttpLimits { rate_burst: 1_000_000, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let agent = house.agent("triage");
    let keys: Vec<String> = (0..20).map(|number| format!("k{number}")).collect();
    keys.iter().for_each(|key| asking(&house, &agent, key, &format!("fact {key}")).leave());
    for key in &keys {
        let asked = (0..100_000).map(|_| save(&house, &agent, key, &format!("fact {key}")));
        let answered = asked.into_iter().find(|reply| reply.said() != (409, "idempotency.in_progress".to_owned()));
        assert_eq!(answered.map(|reply| reply.status), Some(201), "{key}");
    }
    assert_eq!(count(&house), keys.len());
}

/// A call over HTTP whose key was taken by somebody else in this process.
struct Taken {
    house: House,
    key: String,
    caller: Caller,
    body: Value,
    repeat: IdempotentCall,
}

impl Taken {
    fn new() -> Taken {
        let house = House::new();
        let may_set = engine::model::key::Settable::ALL.to_vec();
        let rights = KeyRights { agent: Some("triage".to_owned()), may_set, ..KeyRights::for_role(Role::Agent) };
        let issued = house.key(rights);
        let caller = Caller { conversation: Some("c1".to_owned()), ..issued.key.to_caller(house.tenant.id) };
        let body = json!({
            // Made on first use.
            "store": "agent_files", "kind": "conversation_note", "content": "one fact",
            "evidence": [{ "kind": "user_statement", "summary": "said so" }],
        });
        // No conditions, then the body.
        let digest = to_hex(&Sha256::new().chain_update([0, 0]).chain_update(body.to_string()).finalize());
        let Ok(IdempotencyClaim::Claimed(repeat)) =
            house.engine.claim_idempotency_key(&caller, "POST /v1/memories", "k", &digest)
        else {
            panic!("the first")
        };
        Taken { key: issued.text, house, caller, body, repeat }
    }

    fn again(&self) -> Reply {
        let ask = self.house.ask_as(&self.key, "POST", "/v1/memories").header("x-conversation-id", "c1");
        ask.header("idempotency-key", "k").json(&self.body).send()
    }
}

#[test]
fn who_comes_too_early_is_told_when_to_come_again() {
    let reply = Taken::new().again();
    assert_eq!(reply.said(), (409, "idempotency.in_progress".to_owned()));
    assert_eq!(reply.header("retry-after"), Some("1"));
}

/// How far a call came before its process died.
#[derive(Clone, Copy, PartialEq, Debug)]
enum CutOff {
    Taken,
    /// It made the store ready, which is not what was asked for.
    Prepared,
    /// That can be said again.
    Refused,
    Written,
}

impl CutOff {
    fn come(self, taken: &Taken) {
        let body = taken.body.clone();
        let draft: Draft = serde_json::from_value::<RememberBody>(body).expect("a body").into();
        let engine = taken.house.engine.with_idempotency_mark(taken.house.tenant.id, &taken.repeat);
        match self {
            CutOff::Taken => {}
            CutOff::Prepared => {
                assert!(matches!(engine.begin_remember(&taken.caller, draft), Ok(SaveStep::Write(..))));
            }
            CutOff::Refused => {
                let answer = engine.remember(&taken.caller, Draft { evidence: Vec::new(), ..draft });
                assert!(matches!(answer, Ok(Remembered::Refused(_))));
            }
            CutOff::Written => {
                assert!(matches!(engine.remember(&taken.caller, draft), Ok(Remembered::Saved(_))));
            }
        }
    }
}

#[test]
fn what_was_cut_off_is_done_again_only_if_nothing_of_it_was_written() {
    for cut_off in [CutOff::Taken, CutOff::Prepared, CutOff::Refused, CutOff::Written] {
        let taken = Taken::new();
        cut_off.come(&taken);
        assert_eq!(taken.again().said(), (409, "idempotency.in_progress".to_owned()), "{cut_off:?}");
        taken.house.clock.pass(121);
        let reply = taken.again();
        match cut_off {
            CutOff::Written => assert_eq!(reply.said(), (409, "idempotency.answer_lost".to_owned())),
            _ => assert_eq!(reply.status, 201, "{cut_off:?}: {}", reply.body),
        }
        assert_eq!(count(&taken.house), 1);
    }
}
