//! Connections that are not used as they should be, and work that meets other work.

use std::io::{Read, Write};
use std::net::TcpStream;

use engine::model::caller::Caller;
use engine::model::memory::Draft;
use engine::model::vocabulary::Kind;
use engine::{EraseTarget, RedactionOutcome, RedactionRequest, Remembered, SaveStep};
use serde_json::{Value, json};
use server::{HttpLimits, ServerConfig};

use crate::house::House;

fn narrow() -> House {
    let limits = HttpLimits { connections_max: 1, timeout_secs: 1, ..HttpLimits::default() };
    House::with(ServerConfig { limits, ..ServerConfig::default() })
}

/// The only place is free again once the one who holds it is cut off.
#[test]
fn who_takes_no_answers_is_cut_off() {
    let house = narrow();
    let mut greedy = TcpStream::connect(house.address).expect("a connection");
    let ask = format!("GET /openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", house.address);
    // More answers than the two ends of a line hold; nobody reads them.
    let _ = greedy.write_all(ask.repeat(200).as_bytes());
    assert_eq!(house.stranger("GET", "/healthz").send().status, 200);
    drop(greedy);
}

#[test]
fn the_end_is_heard_while_every_place_is_taken() {
    let mut house = narrow();
    let stream = house.ask("GET", "/v1/events").stream();
    house.close();
    drop(stream);
}

#[test]
fn a_stream_of_the_protocol_ends_with_the_server() {
    let mut house = House::new();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let begun = house.ask("POST", "/mcp").header("accept", "application/json, text/event-stream").json(&hello).send();
    let session = begun.header("mcp-session-id").expect("a session").to_owned();
    let mut socket = TcpStream::connect(house.address).expect("a connection");
    let (host, key) = (house.address, &house.admin);
    let head = format!("GET /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n");
    let rest = format!("accept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n");
    socket.write_all(format!("{head}{rest}").as_bytes()).expect("sent");
    let mut start = [0; 12];
    socket.read_exact(&mut start).expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 200");
    house.close();
    let mut all = String::new();
    socket.read_to_string(&mut all).expect("the rest");
    assert!(all.ends_with("\r\n0\r\n\r\n"), "ended, not cut: {all}");
}

#[test]
fn a_body_said_to_be_too_large_is_not_waited_for() {
    let house = House::new();
    let mut socket = TcpStream::connect(house.address).expect("a connection");
    let (host, key) = (house.address, &house.admin);
    let head = format!("POST /v1/memories HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n");
    let rest = "content-type: application/json\r\ncontent-length: 99999999\r\nexpect: 100-continue\r\n\r\n";
    socket.write_all(format!("{head}{rest}").as_bytes()).expect("sent");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer, then the end");
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("http.body_too_large"), "{answer}");
    let broken = "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    let mut socket = TcpStream::connect(house.address).expect("a connection");
    socket.write_all(format!("{head}{broken}").as_bytes()).expect("sent");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer, then the end");
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("http.body"), "{answer}");
}

#[test]
fn a_long_answer_under_a_key_is_given_again() {
    let house = House::new();
    let agent = house.agent("triage");
    let turns: Vec<Value> = (0..1_000).map(|i| json!({ "role": "user", "content": format!("turn {i}") })).collect();
    let save = || {
        let ask = house.ask_as(&agent, "POST", "/v1/episodes").header("idempotency-key", "long");
        ask.json(&json!({ "session": "s1", "turns": turns })).send()
    };
    let (first, second) = (save(), save());
    assert!(first.status < 300 && first.body.len() > 64 * 1024, "{} {}", first.status, first.body.len());
    assert_eq!((second.status, second.body == first.body), (first.status, true));
}

#[test]
fn of_many_who_make_a_tenant_one_does() {
    let house = House::new();
    let made = std::thread::scope(|scope| {
        let ask = || house.ask("POST", "/v1/tenants").json(&json!({ "slug": "acme" })).send().said();
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().expect("an answer")).collect::<Vec<_>>()
    });
    let taken = (409, "conflict.tenant_exists".to_owned());
    assert_eq!(made.iter().filter(|said| **said == taken).count(), 15, "{made:?}");
}

fn note(content: &str) -> Draft {
    let path = Some("notes/busy".to_owned());
    let (store, kind) = ("workspace_runbooks".to_owned(), Some(Kind::Runbook));
    Draft { store, path, kind, content: content.to_owned(), ..Draft::default() }
}

#[test]
fn what_was_let_in_before_its_tenant_was_erased_is_not_written_after() {
    let house = House::new();
    let admin = Caller::admin(house.engine.create_tenant("acme").expect("a tenant").id);
    house.engine.remember(&admin, note("before")).expect("an answer");
    let Ok(SaveStep::Write(change, saving)) = house.engine.begin_remember(&admin, note("let in")) else {
        panic!("to be written")
    };
    house.engine.erase(&admin, &EraseTarget::Tenant("acme".to_owned()), Some("gone".to_owned()), true).expect("erased");
    let answer = house.engine.resume_save(&admin, saving, house.backend.commit(change.scanned()));
    assert_eq!(answer.err().map(|error| error.code()), Some("conflict.erased"));
}

#[test]
fn a_busy_memory_can_be_redacted() {
    let house = House::new();
    let admin = Caller::admin(house.tenant.id);
    let Ok(Remembered::Saved(saved)) = house.engine.remember(&admin, note("a leak")) else { panic!("saved") };
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut texts = (0..).map(|number| note(&format!("text {number}")));
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = house.engine.remember(&admin, texts.next().expect("another"));
            }
        });
        let redaction =
            RedactionRequest { memory: saved.memory.id, versions: None, reason: "leak".to_owned(), may_return: true };
        let answer = house.engine.redact(&admin, &redaction);
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(answer, Ok(RedactionOutcome::Done(_))), "{answer:?}");
    });
}
