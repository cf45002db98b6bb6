//! Spans as a collector gets them: OTLP over HTTP to a receiver of our own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use server::{Otlp, ServerConfig};
use tracing_subscriber::layer::SubscriberExt;

use crate::house::{House, TestClock};

/// Longer than any batch waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// A collector: takes what is posted to `/v1/traces`, says yes, and hands it on.
fn collector() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            take(stream, &sender);
        }
    });
    (address, receiver)
}

fn take(mut stream: std::net::TcpStream, sender: &Sender<Value>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() <= 2 {
            break;
        }
        head.push(line.trim_end().to_ascii_lowercase());
    }
    let field = |name: &str| head.iter().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let length = field("content-length:").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the whole body");
    assert_eq!(head.first().map(String::as_str), Some("post /v1/traces http/1.1"));
    assert_eq!(field("content-type:").as_deref(), Some("application/json"));
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").expect("an answer");
    let _ = sender.send(serde_json::from_slice(&body).expect("OTLP is JSON here"));
}

/// An attribute of a span, whatever its type.
fn attribute(span: &Value, key: &str) -> Option<Value> {
    let of = span["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    of["value"].as_object()?.values().next().cloned()
}

#[test]
fn a_collector_gets_a_span_of_every_request_and_no_word_of_a_memory() {
    let (endpoint, received) = collector();
    let config = ServerConfig { otlp_endpoint: endpoint, private_endpoints: true, ..ServerConfig::default() };
    let otlp = Otlp::new(&config, Arc::new(TestClock::default())).expect("a thread").expect("an endpoint is named");
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(otlp)).expect("nobody else listens");

    let house = House::new();
    let words = "the harbour crane is greased on fridays";
    let body = json!({ "store": "workspace_runbooks", "kind": "runbook", "path": "quay/crane", "content": words });
    let saved = house.ask("POST", "/v1/memories").json(&body).send().json();
    house.ask("POST", "/v1/search").json(&json!({ "query": "greased crane on which day" })).send();
    house.ask("GET", "/v1/stores").send();
    house.ask("DELETE", &format!("/v1/memories/{}", saved["id"].as_str().expect("an id"))).send();

    let mut spans: Vec<Value> = Vec::new();
    let mut all = String::new();
    while spans.len() < 4 {
        let document = received.recv_timeout(PATIENCE).expect("spans come");
        let resource = &document["resourceSpans"][0];
        assert_eq!(attribute(&resource["resource"], "service.name"), Some(json!("ingrain")));
        spans.extend(resource["scopeSpans"][0]["spans"].as_array().expect("spans").iter().cloned());
        all += &document.to_string();
    }
    for word in ["harbour", "greased", "fridays", "which day"] {
        assert!(!all.contains(word), "`{word}` went out: {all}");
    }
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name}: {all}"));
    let save = named("upsert_memory");
    assert_eq!(attribute(save, "gen_ai.operation.name"), Some(json!("upsert_memory")));
    assert_eq!(attribute(save, "gen_ai.memory.store.id"), Some(json!("workspace_runbooks")));
    assert_eq!(attribute(save, "gen_ai.memory.record.id"), Some(saved["id"].clone()));
    assert_eq!((attribute(save, "route"), &save["kind"]), (Some(json!("/v1/memories")), &json!(2)));
    assert_eq!(attribute(named("search_memory"), "gen_ai.memory.record.count"), Some(json!("1")));
    assert_eq!(attribute(named("delete_memory"), "gen_ai.operation.name"), Some(json!("delete_memory")));
    assert_eq!(attribute(named("stores"), "gen_ai.operation.name"), None, "no operation on memory");
    for span in &spans {
        let hex = |key: &str| span[key].as_str().map(str::len).unwrap_or_default();
        assert_eq!((hex("traceId"), hex("spanId")), (32, 16), "{span}");
        let time = |key: &str| span[key].as_str().and_then(|text| text.parse::<u128>().ok()).expect("nanoseconds");
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    }
}
