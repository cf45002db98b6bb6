//! The document says what the server does.

use serde_json::Value;

use crate::house::House;

#[test]
fn the_document_is_whole() {
    let house = House::new();
    let document = house.stranger("GET", "/openapi.json").send().json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            ids.push(operation["operationId"].as_str().expect("an id").to_owned());
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}");
            assert!(operation["responses"]["default"].is_object());
        }
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "operation ids are unique");
    dangling(&document, &document);
}

/// Every reference leads somewhere.
fn dangling(document: &Value, value: &Value) {
    match value {
        Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                let found = document.pointer(target.trim_start_matches('#'));
                assert!(found.is_some(), "{target} leads nowhere");
            }
            map.values().for_each(|inner| dangling(document, inner));
        }
        Value::Array(items) => items.iter().for_each(|inner| dangling(document, inner)),
        _ => {}
    }
}

#[test]
fn every_operation_is_routed() {
    let house = House::new();
    let document = server::openapi();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            let address = path.replace("{id}", "01980000-0000-7000-8000-00000000000f").replace(['{', '}'], "");
            let reply = house.ask(&method.to_uppercase(), &address).send();
            let (status, code) = reply.said();
            assert!(status != 405 && code != "http.not_found", "{method} {path}: {status}");
        }
    }
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let house = House::new();
    let page = house.stranger("GET", "/docs").send();
    assert!(page.body.contains("POST /v1/memories"));
    for outside in ["<script", "http://", "https://", "@import", "url("] {
        assert!(!page.body.contains(outside), "{outside}");
    }
}

#[test]
fn metrics_count() {
    let house = House::new();
    house.ask("GET", "/v1/stores").send();
    house.ask("GET", "/v1/memories/nonsense").send();
    let page = house.ask("GET", "/metrics").send().body;
    for line in [
        "ingrain_verb_seconds_count{verb=\"stores\"} 1",
        "ingrain_answers_total{verb=\"stores\",status=\"200\"} 1",
        "ingrain_refusals_total{code=\"not_found\"} 1",
        "ingrain_queue_depth 0",
        "ingrain_memories 4",
    ] {
        assert!(page.contains(line), "{line} in\n{page}");
    }
}
