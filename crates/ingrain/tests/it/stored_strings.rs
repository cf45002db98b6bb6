//! Every string that a door takes: a secret in it is stored nowhere, logged nowhere and not repeated in the answer.
//! Every secret here is made up and put together from parts.

use serde_json::json;

use crate::mcp::client::Client;
use crate::mcp::protocol::draft;
use crate::safety::{MIXED, noise};
use crate::serving::Serving;
use crate::world::{World, text};

/// One call with a place for the secret: method, path, headers, body.
type Call = (&'static str, &'static str, &'static str, &'static str);

const SAVE: &str = r#"{"store":"conversation_memory","content":"the crane was greased","#;
const STORE: &str = r#""scope":"workspace","ruleset":"document","default_trust":"admin_approved","access":"read_only""#;

/// `SECRET` stands for the secret. Where the path or body needs another call first, that call comes before it.
const CALLS: &[Call] = &[
    // Identity.
    ("POST", "/v1/search", "x-agent-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-user-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/search", "x-project-id: SECRET", r#"{"query":"crane"}"#),
    ("POST", "/v1/context", "x-project-id: team/SECRET", r#"{"message":"crane"}"#),
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
    ("POST", "/v1/erasures", "", r#"{"what":"project","name":"SECRET"}"#),
    ("POST", "/v1/projects/shop/rename", "", r#"{"to":"SECRET"}"#),
    ("POST", "/v1/projects/SECRET/rename", "", r#"{"to":"shop"}"#),
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
    // A project that can be renamed.
    let in_shop = r#"{"store":"project_memory","content":"the crane of the shop was greased"}"#;
    assert_eq!(serving.answer("POST", "/v1/memories", "x-project-id: shop\r\n", in_shop).expect("an answer").0, 201);
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

/// A call over MCP with a place for the secret: method, or tool, and parameters.
type McpCall = (&'static str, &'static str);

const MCP_CALLS: &[McpCall] = &[
    ("memory_search", r#"{"query":"SECRET"}"#),
    ("memory_search", r#"{"query":"crane","document_types":["SECRET"]}"#),
    ("memory_search", r#"{"query":"crane","scope_hints":{"user_id":"SECRET"}}"#),
    ("memory_read", r#"{"document_id":"SECRET"}"#),
    ("memory_read", r#"{"store_slug":"SECRET","path":"SECRET"}"#),
    ("memory_list", r#"{"store_slug":"SECRET"}"#),
    ("memory_list", r#"{"store_slug":"conversation_memory","path_prefix":"SECRET"}"#),
    ("memory_history", r#"{"document_id":"SECRET"}"#),
    ("memory_remember", r#"{…,"path":"a/SECRET"}"#),
    ("memory_remember", r#"{…,"title":"SECRET"}"#),
    ("memory_remember", r#"{…,"tags":["SECRET"]}"#),
    ("memory_remember", r#"{…,"content":"the crane SECRET"}"#),
    ("memory_remember", r#"{…,"evidence_summary":"SECRET"}"#),
    ("memory_remember", r#"{…,"source_tool_call_ids":["SECRET"]}"#),
    ("memory_remember", r#"{…,"target_store_slug":"SECRET"}"#),
    ("memory_remember", r#"{…,"document_type":"SECRET"}"#),
    ("memory_remember", r#"{…,"expected_sha256":"SECRET"}"#),
    (
        "memory_patch",
        r#"{"document_id":"MEMORY","expected_sha256":"SHA256","new_content":"SECRET","evidence_summary":"s"}"#,
    ),
    (
        "memory_patch",
        r#"{"document_id":"MEMORY","expected_sha256":"SHA256","new_content":"a","evidence_summary":"SECRET"}"#,
    ),
    (
        "memory_patch",
        r#"{"document_id":"MEMORY","expected_sha256":"SHA256","new_content":"a","evidence_summary":"s",
            "patch_summary":"SECRET"}"#,
    ),
    (
        "memory_patch",
        r#"{"document_id":"MEMORY","expected_sha256":"SHA256","new_content":"a","evidence_summary":"s",
            "source_tool_call_ids":["SECRET"]}"#,
    ),
    ("memory_propose_promotion", r#"{*,"promotion_reason":"SECRET"}"#),
    ("memory_propose_promotion", r#"{*,"evidence_summary":"SECRET"}"#),
    ("memory_propose_promotion", r#"{*,"target_path":"a/SECRET"}"#),
    ("memory_propose_promotion", r#"{*,"target_store_slug":"SECRET"}"#),
    ("memory_forget", r#"{"document_id":"SECRET","reason":"r"}"#),
    ("memory_forget", r#"{"document_id":"MEMORY","reason":"SECRET"}"#),
    ("ai_searchMemory", r#"{"query":"SECRET"}"#),
    ("ai_saveMemory", r#"{"scope":"user","recallHint":"SECRET","content":"a"}"#),
    ("ai_saveMemory", r#"{"scope":"user","recallHint":"h","content":"SECRET"}"#),
    ("ai_saveMemory", r#"{"scope":"user","recallHint":"h","content":"a","tags":["SECRET"]}"#),
    ("ai_saveMemory", r#"{"scope":"user","recallHint":"h","content":"SECRET","alwaysInject":true}"#),
    ("ai_saveMemory", r#"{"scope":"system","systemId":"SECRET","recallHint":"h","content":"a"}"#),
    ("ai_deleteMemory", r#"{"id":"SECRET"}"#),
    ("search_my_memories", r#"{"query":"SECRET"}"#),
    ("search_knowledge", r#"{"query":"SECRET"}"#),
    ("search_knowledge", r#"{"query":"crane","categories":["SECRET"]}"#),
    ("memory", r#"{"command":"create","path":"/memories/SECRET","file_text":"a"}"#),
    ("memory", r#"{"command":"create","path":"/memories/b","file_text":"SECRET"}"#),
    ("memory", r#"{"command":"str_replace","path":"/memories/file","old_str":"crane","new_str":"SECRET"}"#),
    ("memory", r#"{"command":"str_replace","path":"/memories/file","old_str":"SECRET","new_str":"a"}"#),
    ("memory", r#"{"command":"insert","path":"/memories/file","insert_line":0,"insert_text":"SECRET"}"#),
    ("memory", r#"{"command":"rename","old_path":"/memories/file","new_path":"/memories/SECRET"}"#),
    ("memory", r#"{"command":"delete","path":"/memories/SECRET"}"#),
    ("memory", r#"{"command":"SECRET"}"#),
    ("SECRET", "{}"),
    ("prompts/get", r#"{"name":"session-context","arguments":{"message":"SECRET"}}"#),
    ("prompts/get", r#"{"name":"SECRET"}"#),
    ("resources/read", r#"{"uri":"memory://stores/SECRET/docs/SECRET"}"#),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/resource","uri":"memory://stores/{store}/docs/{path}"},
            "argument":{"name":"store","value":"SECRET"}}"#,
    ),
];

const REMEMBER: &str = r#""target_store_slug":"conversation_memory","path":"crane","document_type":"incident_lesson",
    "content":"the crane was oiled","evidence_summary":"seen""#;
const PROPOSE: &str = r#""source_document_id":"MEMORY","target_store_slug":"workspace_runbooks","target_path":"crane",
    "promotion_reason":"seen twice","evidence_summary":"seen""#;

#[test]
fn a_secret_in_any_string_of_an_mcp_message_is_stored_nowhere_in_either_era() {
    let world = World::new();
    let flags = "--tools core,note,episodic,anthropic --agent a --user ann --conversation c1";
    let clients =
        [Client::with_person(&world, flags, true), Client::stateless(&world, flags, json!({ "elicitation": {} }))];
    let mut secrets = Vec::new();
    for (era, mut client) in clients.into_iter().enumerate() {
        let saved = client
            .tool("memory_remember", draft(&format!("first/{era}"), &format!("the crane was greased {era} times")));
        let memory = text(&saved["document_id"]);
        let sha256 = text(&world.json("read", &[&memory])["sha256"]);
        client.says(
            json!({ "command": "create", "path": "/memories/file", "file_text": format!("the crane is green {era}") }),
        );
        for (number, (method, parameters)) in MCP_CALLS.iter().enumerate() {
            let secret = ["gh", "p_"].concat() + &noise(5_000 + (era * 500 + number) as u64, 36, MIXED);
            // A field that is named twice: the later one counts.
            let filled = parameters.replace('…', REMEMBER).replace('*', PROPOSE);
            let filled = filled.replace("SECRET", &secret).replace("MEMORY", &memory).replace("SHA256", &sha256);
            let filled: serde_json::Value = serde_json::from_str(&filled).expect("JSON");
            let answer = match method.contains('/') {
                true => client.ask(method, filled),
                false => {
                    let tool = method.replace("SECRET", &secret);
                    client.ask("tools/call", json!({ "name": tool, "arguments": filled }))
                }
            };
            // The sentences of the tool of files are specified, and quote its arguments; protocol errors go to the
            // client and to no model.
            let may_repeat = *method == "memory" || answer["result"].is_null();
            assert!(may_repeat || !answer.to_string().contains(&secret), "{method} {parameters} repeats it: {answer}");
            secrets.push((format!("{method} {parameters}"), secret));
        }
        client.leave();
    }
    for (call, secret) in secrets {
        assert!(!world.holds(&secret), "in the database: {call}");
    }
}
