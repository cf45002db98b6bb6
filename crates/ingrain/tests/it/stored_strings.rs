//! Every string that a door takes: a secret in it is stored nowhere, logged nowhere and not repeated in the answer.
//! Every secret here is made up and put together from parts.

use crate::safety::{MIXED, noise};
use crate::serving::Serving;
use crate::world::World;

/// One call with a place for the secret: method, path, headers, body.
type Call = (&'static str, &'static str, &'static str, &'static str);

const SAVE: &str = r#"{"store":"conversation_memory","content":"the crane was greased","#;
const STORE: &str = r#""scope":"workspace","ruleset":"document","default_trust":"admin_approved","access":"read_only""#;

/// `SECRET` stands for the secret. Where the path or body needs another call first, that call comes before it.
const CALLS: &[Call] = &[
    // Identity.
    ("POST", "/v1/search", "x-agent-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-user-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-conversation-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-session-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-run-id: run-SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-pipeline-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-request-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/audit", "idempotency-key: SECRET", r#"{"action":"a","message":"m"}"#),
    // A save: names, evidence and what `…` stands for below.
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"{"store":"SECRET","content":"words"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"path":"notes/SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"title":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"recall_hint":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"tags":["a","SECRET"]}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"metadata":{"a":{"b":["SECRET"]}}}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"metadata":{"SECRET":"a"}}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"metadata":{"a":{"SECRET":{"b":1}}}}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"session":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"speaker":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"reason":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"system":"SECRET"}"#),
    ("POST", "/v1/memories", "x-conversation-id: c1", r#"…"evidence":[{"kind":"tool_result","summary":"SECRET"}]}"#),
    (
        "POST",
        "/v1/memories",
        "x-conversation-id: c1",
        r#"…"evidence":[{"kind":"tool_result","summary":"s","tool":"SECRET"}]}"#,
    ),
    (
        "POST",
        "/v1/memories",
        "x-conversation-id: c1",
        r#"…"evidence":[{"kind":"tool_result","summary":"s","tool_call":"SECRET"}]}"#,
    ),
    (
        "POST",
        "/v1/memories",
        "x-conversation-id: c1",
        r#"…"evidence":[{"kind":"tool_result","summary":"s","run":"SECRET"}]}"#,
    ),
    (
        "POST",
        "/v1/memories",
        "x-conversation-id: c1",
        r#"…"evidence":[{"kind":"tool_result","summary":"s","conversation":"SECRET"}]}"#,
    ),
    (
        "POST",
        "/v1/episodes",
        "x-conversation-id: c1\r\nx-agent-id: a",
        r#"{"session":"SECRET","turns":[{"content":"hello","role":"user"}]}"#,
    ),
    (
        "POST",
        "/v1/episodes",
        "x-conversation-id: c1\r\nx-agent-id: a",
        r#"{"session":"s","turns":[{"content":"hello","role":"user","speaker":"SECRET"}]}"#,
    ),
    // Reads leave receipts and usage records.
    ("POST", "/v1/context", "x-conversation-id: c1\r\nx-run-id: r1", r#"{"message":"SECRET"}"#),
    ("POST", "/v1/search", "x-conversation-id: c1", r#"{"query":"SECRET"}"#),
    ("POST", "/v1/recall", "x-conversation-id: c1", r#"{"query":"SECRET"}"#),
    // Logs.
    ("POST", "/v1/audit", "", r#"{"action":"SECRET","message":"m"}"#),
    ("POST", "/v1/audit", "", r#"{"action":"a","message":"SECRET"}"#),
    ("POST", "/v1/audit", "", r#"{"action":"a","message":"m","meta":{"k":"SECRET"}}"#),
    ("POST", "/v1/audit", "", r#"{"action":"a","message":"m","meta":{"SECRET":"v"}}"#),
    ("POST", "/v1/workflows/SECRET/steps", "", r#"{"step":"s","output":"o"}"#),
    ("POST", "/v1/workflows/w/steps", "", r#"{"step":"SECRET","output":"o"}"#),
    ("POST", "/v1/workflows/w/steps", "", r#"{"step":"s","output":"SECRET"}"#),
    // Runs.
    ("POST", "/v1/runs", "", r#"{"id":"run-SECRET","goal":"g"}"#),
    ("POST", "/v1/runs", "", r#"{"id":"r2","goal":"SECRET"}"#),
    ("POST", "/v1/runs", "", r#"{"id":"r3","workflow":"SECRET"}"#),
    // Documents.
    ("POST", "/v1/documents", "", r#"{"path":"docs/SECRET.md","text":"grease the crane"}"#),
    ("POST", "/v1/documents", "", "{\"path\":\"docs/a.md\",\"text\":\"# SECRET\\n\\ngrease the crane\"}"),
    ("POST", "/v1/documents", "", r#"{"path":"docs/b.md","text":"grease","category":"SECRET"}"#),
    // What operators set up.
    ("POST", "/v1/stores", "", r#"{"slug":"SECRET",STORE}"#),
    ("POST", "/v1/stores", "", r#"{"slug":"s1","title":"SECRET",STORE}"#),
    ("PUT", "/v1/pipelines/SECRET/agents/a", "", r#"{"enabled":true}"#),
    ("PUT", "/v1/pipelines/p/agents/SECRET", "", r#"{"enabled":true}"#),
    (
        "PUT",
        "/v1/stores/workspace_runbooks/owners",
        "",
        r#"{"rules":[{"pattern":"SECRET/*","reviewers":["reviewer:ann"]}]}"#,
    ),
    (
        "PUT",
        "/v1/stores/workspace_runbooks/owners",
        "",
        r#"{"rules":[{"pattern":"a/*","reviewers":["reviewer:SECRET"]}]}"#,
    ),
    ("POST", "/v1/keys", "", r#"{"name":"SECRET","role":"agent","agent":"a"}"#),
    ("POST", "/v1/keys", "", r#"{"name":"k1","role":"agent","agent":"SECRET"}"#),
    ("POST", "/v1/keys", "", r#"{"name":"k2","role":"user","user":"SECRET"}"#),
    ("POST", "/v1/keys", "", r#"{"name":"k3","role":"agent","agent":"a","pipeline":"SECRET"}"#),
    ("POST", "/v1/keys", "", r#"{"name":"k4","role":"agent","agent":"a","grants":{"SECRET":"read"}}"#),
    ("POST", "/v1/tenants", "", r#"{"slug":"SECRET"}"#),
    // Decisions and their reasons.
    ("POST", "/v1/erasures", "", r#"{"what":"user","name":"SECRET"}"#),
    ("POST", "/v1/erasures", "", r#"{"what":"user","name":"ann","reason":"SECRET"}"#),
    ("POST", "/v1/erasures", "", r#"{"what":"pipeline","name":"SECRET"}"#),
    ("POST", "/v1/scan/allowed", "", r#"{"digest":"DIGEST","reason":"SECRET","expires_at":"2027-01-01T00:00:00Z"}"#),
    ("POST", "/v1/layers/profile", "x-user-id: ann", r#"{"key":"SECRET","value":"v","reason":"r"}"#),
    ("POST", "/v1/layers/profile", "x-user-id: ann", r#"{"key":"k","value":"SECRET","reason":"r"}"#),
    ("POST", "/v1/layers/profile", "x-user-id: ann", r#"{"key":"k","value":"v","reason":"SECRET"}"#),
    (
        "POST",
        "/v1/reviews",
        "x-conversation-id: c1",
        r#"{"memory":"MEMORY","target_store":"workspace_runbooks","target_path":"a/SECRET","rationale":"r"}"#,
    ),
    (
        "POST",
        "/v1/reviews",
        "x-conversation-id: c1",
        r#"{"memory":"MEMORY","target_store":"workspace_runbooks","target_path":"a/b","rationale":"SECRET"}"#,
    ),
    ("DELETE", "/v1/memories/MEMORY?reason=SECRET", "x-conversation-id: c1", ""),
];

#[test]
fn a_secret_in_any_string_of_a_request_is_stored_and_logged_nowhere() {
    let world = World::new();
    let serving = Serving::start(&world);
    let (_, _, saved) = serving
        .answer("POST", "/v1/memories", "x-conversation-id: c1\r\n", &format!("{SAVE}\"path\":\"notes/first\"}}"))
        .expect("an answer");
    let saved: serde_json::Value = serde_json::from_str(&saved).expect("JSON");
    let memory = saved["memory"]["id"].as_str().or(saved["id"].as_str()).expect("an id").to_owned();
    let mut secrets = Vec::new();
    for (number, (method, path, headers, body)) in CALLS.iter().enumerate() {
        let secret = ["gh", "p_"].concat() + &noise(900 + number as u64, 36, MIXED);
        let fill = |text: &str| {
            text.replace('…', SAVE)
                .replace("SECRET", &secret)
                .replace("STORE", STORE)
                .replace("MEMORY", &memory)
                .replace("DIGEST", &"a".repeat(64))
        };
        let headers = if headers.is_empty() { String::new() } else { fill(headers) + "\r\n" };
        let (status, head, said) =
            serving.answer(method, &fill(path), &headers, &fill(body)).unwrap_or_else(|| panic!("{path}: no answer"));
        assert!(status < 500 && status != 405 && !said.contains("shape.json"), "{path} {body}: {status} {said}");
        assert!(!said.contains(&secret) && !head.contains(&secret.to_lowercase()), "{path} {body} repeats it: {said}");
        secrets.push((format!("{method} {path} {headers} {body}: {status}"), secret));
    }
    let (_, _, events) = serving.ask("GET", "/v1/events?limit=1000", "");
    let log = serving.end();
    for (call, secret) in secrets {
        assert!(!events.contains(&secret), "in the events: {call}");
        assert!(!log.contains(&secret), "in the log: {call}");
        assert!(!world.holds(&secret), "in the database: {call}");
    }
}
