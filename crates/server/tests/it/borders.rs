//! Hosts, origins, methods, sizes, headers: what keeps strangers and accidents out.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use server::{HttpLimits, ServerConfig};

use crate::house::House;

#[test]
fn hostile_hosts_and_origins() {
    let config = ServerConfig {
        hosts: vec!["memory.example".to_owned()],
        origins: vec!["https://console.example".to_owned()],
        ..ServerConfig::default()
    };
    let house = House::with(config);
    let host = |name: &str| house.ask("GET", "/v1/stores").host(name).send().said();
    for good in ["localhost", "127.0.0.1:80", "[::1]", "memory.example", "MEMORY.example:8080"] {
        assert_eq!(host(good).0, 200, "{good}");
    }
    for evil in ["evil.example", "localhost.evil.example", "memory.example.evil.example", ""] {
        assert_eq!(host(evil), (421, "http.host".to_owned()), "{evil}");
    }
    let twice = house.ask("GET", "/v1/stores").header("host", "localhost").host("evil.example").send();
    assert!(twice.status == 421 || twice.status == 400);
    assert_eq!(house.stranger("GET", "/healthz").host("evil.example").send().status, 200);

    let origin = |name: &str| house.ask("GET", "/v1/stores").host("localhost:7").header("origin", name).send();
    for evil in ["https://evil.example", "null", "http://localhost:8", "http://localhost:7.evil.example", "file://"] {
        assert_eq!(origin(evil).said(), (403, "http.origin".to_owned()), "{evil}");
    }
    assert_eq!(origin("http://localhost:7").status, 200);
    assert_eq!(origin("http://localhost:7").header("access-control-allow-origin"), None);
    let allowed = origin("https://console.example");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://console.example"));
    let preflight = house.stranger("OPTIONS", "/v1/memories").header("origin", "https://console.example");
    let preflight = preflight.header("access-control-request-method", "POST").send();
    assert_eq!(preflight.status, 204);
}

#[test]
fn answers_protect_browsers_and_name_the_request() {
    let house = House::new();
    let reply = house.ask("GET", "/v1/stores").header("x-request-id", "abc-1").send();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cache-control", "no-store"),
        ("x-request-id", "abc-1"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    let odd = house.ask("GET", "/v1/nothing").header("x-request-id", "bad id\u{7f}").send();
    assert_ne!(odd.header("x-request-id"), Some("bad id\u{7f}"));
}

#[test]
fn wrong_methods_and_addresses() {
    let house = House::new();
    let check = |method: &str, path: &str, status: u16, code: &str, allow: Option<&str>| {
        let reply = house.ask(method, path).send();
        assert_eq!(reply.said(), (status, code.to_owned()), "{method} {path}");
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        assert_eq!(reply.header("allow"), allow, "{method} {path}");
    };
    check("PUT", "/v1/search", 405, "http.method", Some("POST"));
    check("DELETE", "/v1/memories", 405, "http.method", Some("POST,GET,HEAD"));
    check("POST", "/healthz", 405, "http.method", Some("GET,HEAD"));
    check("GET", "/v2/memories", 404, "http.not_found", None);
    check("GET", "/v1/memories/nonsense", 404, "not_found", None);
    check("GET", "/v1/memories/%ff", 404, "not_found", None);
    check("GET", "/v1/versions/01980000-0000-7000-8000-000000000001", 404, "not_found", None);
}

#[test]
fn odd_bodies_are_answered_not_crashed_on() {
    let house = House::new();
    let post = |body: &str, kind: &str| {
        let reply = house.ask("POST", "/v1/search").header("content-type", kind).text(body).send();
        reply.said()
    };
    let json = "application/json";
    for (body, kind, status, code) in [
        ("", json, 400, "shape.json"),
        ("{", json, 400, "shape.json"),
        ("[]", json, 400, "shape.json"),
        ("null", json, 400, "shape.json"),
        ("{}", json, 400, "shape.json"),
        ("{\"query\": 1}", json, 400, "shape.json"),
        ("{\"query\": \"a\", \"more\": 1}", json, 400, "shape.json"),
        ("{\"query\": \"a\"}", "text/plain", 415, "http.media_type"),
        ("{\"query\": \"a\"}", "application/json; charset=utf-8", 200, ""),
    ] {
        assert_eq!(post(body, kind), (status, code.to_owned()), "{body}");
    }
    let told = house.ask("POST", "/v1/search").json(&serde_json::json!({ "query": ["hunter2"] })).send();
    assert!(!told.body.contains("hunter2"), "what was sent is not sent back: {}", told.body);
}

#[test]
fn an_answer_before_the_whole_request_says_that_the_connection_ends() {
    let limits = HttpLimits { body_bytes_max: 10_000, ..HttpLimits::default() };
    let house = House::with(ServerConfig { limits, ..ServerConfig::default() });
    let check = |key: &str, length: usize, sent: usize, status: u16, closes: bool| {
        let mut socket = TcpStream::connect(house.address).expect("a connection");
        let head = format!("POST /v1/search HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n");
        let head = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        socket.write_all(format!("{head}{}", "x".repeat(sent)).as_bytes()).expect("sent");
        let lines = BufReader::new(socket).lines().map(|line| line.expect("a line").to_lowercase());
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        assert!(head[0].contains(&format!(" {status} ")), "{head:?}");
        assert_eq!(head.contains(&"connection: close".to_owned()), closes, "{status} of {length}: {head:?}");
    };
    check(&house.admin, 20_000, 15_000, 413, true);
    check("nobody", 1_000_000, 0, 401, true);
    check("nobody", 10, 10, 401, false);
    // Read to its end: the connection goes on.
    check(&house.admin, 9_000, 9_000, 400, false);
}
