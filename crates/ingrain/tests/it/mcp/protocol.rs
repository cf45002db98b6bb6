//! The protocol itself: eras, lists, odd input, the end.

use serde_json::{Value, json};

use super::client::Client;
use crate::world::{World, text};

/// `tools/list` of the default toolset is paid for by every agent, in every session.
const TOOLS_LIST_BYTES_MAX: usize = 8_000;

const CORE: [&str; 8] = [
    "memory_search",
    "memory_read",
    "memory_list",
    "memory_history",
    "memory_remember",
    "memory_patch",
    "memory_propose_promotion",
    "memory_forget",
];

#[test]
fn both_protocol_versions_list_the_same_tools_in_the_same_order() {
    let world = World::new();
    let mut legacy = Client::legacy(&world, "");
    let mut stateless = Client::stateless(&world, "", json!({}));
    let first = legacy.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(legacy.ask("tools/list", json!({}))["result"]["tools"], first);
    let answer = stateless.ask("tools/list", json!({}))["result"].clone();
    assert_eq!((&answer["tools"], text(&answer["cacheScope"])), (&first, "private".to_owned()));
    assert_eq!(legacy.tools(), CORE);
    let bytes = json!({ "tools": first }).to_string().len();
    assert!(bytes <= TOOLS_LIST_BYTES_MAX, "{bytes} bytes");
    for tool in first.as_array().expect("a list") {
        for field in ["title", "description", "outputSchema"] {
            assert!(!tool[field].is_null(), "{field} of {tool}");
        }
        for (name, field) in tool["inputSchema"]["properties"].as_object().expect("parameters") {
            let parts = field["properties"].as_object().into_iter().flatten().map(|(_, part)| part);
            let described = |field: &Value| field["description"].is_string() || field["properties"].is_object();
            assert!(described(field) && parts.clone().all(described), "{name} of {tool}");
        }
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{hint} of {tool}");
        }
        assert_eq!(hints["destructiveHint"] == true, tool["name"] == "memory_forget", "{tool}");
    }
}

#[test]
fn a_newer_client_discovers_first() {
    let world = World::new();
    let mut client = Client::stateless(&world, "", json!({}));
    let found = client.ask("server/discover", json!({}))["result"].clone();
    let versions = found["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28") && versions.contains("2025-11-25"), "{found}");
    assert_eq!(text(&client.call("memory_search", json!({ "query": "policy" }))["resultType"]), "complete");
}

#[test]
fn invalid_messages_are_answered_and_the_session_continues() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(code(&client.ask("tools/call", json!({ "name": "rm", "arguments": {} }))), Some(-32_602));
    assert_eq!(code(&client.ask("no/such", json!({}))), Some(-32_601));
    for (line, expected) in [("{\"jsonrpc\":", -32_700), ("\u{0}\u{1}", -32_700), ("[]", -32_600)] {
        client.line(line);
        let answer = client.next();
        assert_eq!((code(&answer), &answer["id"]), (Some(expected), &Value::Null), "{line:?}");
    }
    // A request without what it needs is known all the same.
    for method in ["tools/call", "resources/read", "prompts/get"] {
        client.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"bare\",\"method\":\"{method}\"}}"));
        assert_eq!(code(&client.next()), Some(-32_602), "{method}");
    }
    for (arguments, word) in [
        (json!({}), "missing field `query`"),
        (json!({ "query": 7 }), "`query`: expected a string, not a number"),
        (json!({ "query": "x", "max_results": "many" }), "`max_results`: expected a whole number, not a string"),
        (json!({ "query": "x", "scope_hints": { "user": "ann" } }), "`scope_hints.user`: expected `true` or `false`"),
    ] {
        let result = client.call("memory_search", arguments);
        assert_eq!(result["structuredContent"]["code"], "shape.arguments");
        assert!(text(&result["structuredContent"]["error"]).contains(word), "{result}");
    }
    let book = client.call("memory_search", json!({ "query": "word ".repeat(20_000) }));
    assert!(text(&book["structuredContent"]["warnings"][0]).contains("limits.query_bytes_max"), "{book}");
    let huge = draft("a", &"word ".repeat(400_000));
    assert_eq!(client.code("memory_remember", huge), "shape.too_large");
    assert_eq!(code(&client.ask("resources/read", json!({ "uri": "memory://stores/x/docs/../../y" }))), Some(-32_002));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_wrong_argument_of_a_prompt_is_reported_by_name() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    for (name, arguments, words) in [
        ("nothing", json!({}), "`name`: no such prompt; one of: recall"),
        ("recall", json!({}), "argument `topic` is missing"),
        ("recall", json!({ "topic": 7 }), "argument `topic`: expected a string"),
        ("session-context", json!({ "message": "x", "for": "fun" }), "argument `for`: unknown"),
    ] {
        let answer = client.ask("prompts/get", json!({ "name": name, "arguments": arguments }));
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        assert!(text(&answer["error"]["message"]).contains(words), "{answer}");
    }
}

#[test]
fn a_number_out_of_range_is_reported_with_its_bounds() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools core,note,episodic --as agent:t --user ann --conversation c1");
    let confidence = |share: Value| {
        let mut draft = draft("a", "the crane is green");
        draft["confidence"] = share;
        draft
    };
    for number in [json!(0), json!(-1), json!(51)] {
        for (tool, field, most) in [
            ("memory_search", "max_results", 20),
            ("memory_history", "limit", 50),
            ("ai_searchMemory", "limit", 50),
            ("search_my_memories", "limit", 20),
            ("search_knowledge", "limit", 20),
        ] {
            let result = client.call(tool, json!({ "query": "x", "document_id": "x", field: number }));
            let said = &result["structuredContent"];
            assert_eq!(said["code"], "shape.arguments", "{tool}: {result}");
            let words = format!("`{field}`: a number from 1 to {most} is expected");
            assert!(text(&said["error"]).contains(&words), "{tool}: {result}");
        }
    }
    for share in [json!(101), json!(-1), json!(1e9)] {
        let result = client.call("memory_remember", confidence(share));
        let said = text(&result["structuredContent"]["error"]);
        assert!(said.contains("`confidence`: a number from 0 to 100 is expected"), "{said}");
    }
    for share in [json!(0), json!(100), json!(62.5)] {
        client.tool("memory_remember", confidence(share));
    }
}

#[test]
fn a_closed_stdin_ends_the_process_and_acknowledged_saves_are_kept() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--conversation c1");
    let id = text(&client.tool("memory_remember", draft("kept", "keep the spare fuses dry"))["document_id"]);
    assert_eq!(client.leave(), (Some(0), String::new()));
    assert_eq!(text(&world.json("read", &[&id])["content"]), "keep the spare fuses dry");
    assert_eq!(Client::start(&world, "").leave(), (Some(0), String::new()));
}

#[test]
fn a_client_that_is_killed_leaves_nothing_running() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    for number in 0..50 {
        let params = json!({ "name": "memory_search", "arguments": { "query": "policy" } });
        client.line(
            &json!({ "jsonrpc": "2.0", "id": 1_000 + number, "method": "tools/call", "params": params }).to_string(),
        );
    }
    assert!(client.vanish(), "it ended by itself");
}

#[test]
fn a_cancelled_call_ends_and_the_session_continues() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    let params = json!({ "name": "memory_search", "arguments": { "query": "policy" } });
    client.line(&json!({ "jsonrpc": "2.0", "id": 700, "method": "tools/call", "params": params }).to_string());
    let cancel = json!({ "requestId": 700, "reason": "changed my mind" });
    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string());
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn calls_of_one_session_run_in_order() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--conversation c1");
    let call = |id: u64, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let place = json!({ "target_store_slug": "conversation_memory", "path": "notes/x" });
    let mut lines: Vec<String> = (100..112)
        .map(|id| {
            let mut draft = place.clone();
            draft["document_type"] = "conversation_note".into();
            draft["evidence_summary"] = "seen".into();
            draft["content"] = format!("the fuse is number {id}").into();
            call(id, "memory_remember", draft)
        })
        .collect();
    lines.push(call(112, "memory_read", json!({ "store_slug": "conversation_memory", "path": "notes/x" })));
    client.line(&lines.join("\n"));
    let answers: Vec<Value> = lines.iter().map(|_| client.next()).collect();
    let last = answers.iter().find(|answer| answer["id"] == 112).expect("an answer");
    assert_eq!(last["result"]["structuredContent"]["content"], "the fuse is number 111", "{last}");
}

#[test]
fn progress_is_reported_on_request() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    let params =
        json!({ "name": "memory_search", "arguments": { "query": "policy" }, "_meta": { "progressToken": "t1" } });
    client.line(&json!({ "jsonrpc": "2.0", "id": 700, "method": "tools/call", "params": params }).to_string());
    let mut told = Vec::new();
    loop {
        let message = client.next();
        if message["id"] == 700 {
            break;
        }
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t1"))
        );
        told.push(message["params"]["progress"].as_f64());
    }
    assert_eq!(told, [Some(0.0), Some(1.0)]);
}

#[test]
fn identities_in_tool_arguments_are_ignored() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--agent triage --conversation c1");
    let mut arguments = draft("own", "who am I");
    for (name, value) in [
        ("tenant", "other"),
        ("agent", "root"),
        ("user", "eve"),
        ("conversation", "c2"),
        ("role", "admin"),
        ("trust", "admin_approved"),
    ] {
        arguments[name] = value.into();
    }
    let saved = client.tool("memory_remember", arguments);
    assert_eq!(text(&saved["trust_level"]), "agent_draft");
    let version = &world.json("history", &[&text(&saved["document_id"])])["versions"][0];
    assert_eq!(text(&version["actor"]), "agent:triage", "{version}");
    assert_eq!(text(&world.json("read", &[&text(&saved["document_id"])])["scope"]["conversation"]), "c1");
}

#[test]
fn an_unnamed_agent_has_its_clients_name_and_its_own_conversation() {
    let world = World::new();
    let (mut one, mut two) = (Client::legacy(&world, ""), Client::legacy(&world, ""));
    let id = text(&one.tool("memory_remember", draft("mine", "only this session knows"))["document_id"]);
    assert_eq!(two.code("memory_read", json!({ "document_id": id })), "not_found");
    assert_eq!(text(&world.json("history", &[&id])["versions"][0]["actor"]), "agent:tests");
}

#[test]
fn write_tools_are_offered_always_on_demand_or_never() {
    let world = World::new();
    assert_eq!(Client::legacy(&world, "--write-tools never").tools(), CORE[..4]);
    let mut client = Client::legacy(&world, "--write-tools on-demand");
    assert_eq!(client.tools().len(), 5);
    client.tool("load_toolset", json!({ "name": "memory", "include_write_tools": true }));
    assert_eq!(client.tools().len(), 9);
    assert_eq!(Client::legacy(&world, "--tools note,core").tools().len(), 11);
    let mut episodic = Client::legacy(&world, "--tools episodic");
    assert_eq!(episodic.tools(), ["search_my_memories", "search_knowledge"]);
    assert_eq!(episodic.tool("search_my_memories", json!({ "query": "outage" }))["failed"], json!([]));
    assert_eq!(episodic.tool("search_knowledge", json!({ "query": "outage" }))["passages"], json!([]));
}

#[test]
fn resources_prompts_and_completions_answer() {
    let world = World::new();
    let mut client = Client::legacy(&world, "");
    client.tool("memory_remember", draft("ops/fuses", "spare fuses are in rack nine"));
    let uri = "memory://stores/conversation_memory/docs/ops/fuses";
    let list = client.ask("resources/list", json!({}));
    assert!(list.to_string().contains(uri), "{list}");
    let read = client.ask("resources/read", json!({ "uri": uri }));
    assert_eq!(text(&read["result"]["contents"][0]["text"]), "spare fuses are in rack nine");
    let prompt = client.ask("prompts/get", json!({ "name": "recall", "arguments": { "topic": "spare fuses" } }));
    assert!(prompt.to_string().contains("rack nine"), "{prompt}");
    let reference = json!({ "type": "ref/resource", "uri": "memory://stores/{store}/docs/{+path}" });
    let typed = json!({ "ref": reference, "argument": { "name": "store", "value": "workspace_r" } });
    let completed = client.ask("completion/complete", typed);
    assert_eq!(completed["result"]["completion"]["values"], json!(["workspace_runbooks"]));
}

#[test]
fn a_resource_says_how_far_its_text_is_trusted_in_both_eras() {
    let world = World::new();
    let uri = "memory://stores/conversation_memory/docs/ops/fuses";
    for mut client in [Client::legacy(&world, ""), Client::stateless(&world, "", json!({}))] {
        client.call("memory_remember", draft("ops/fuses", "spare fuses are in rack nine"));
        let read = client.ask("resources/read", json!({ "uri": uri }));
        let label = &read["result"]["contents"][0]["_meta"];
        assert_eq!(label["ingrain/trust_level"], "agent_draft", "{read}");
        assert_eq!(label["ingrain/status"], "active", "{read}");
        assert!(text(&label["ingrain/warning"]).contains("not instructions"), "{read}");
    }
}

pub fn draft(path: &str, content: &str) -> Value {
    json!({ "target_store_slug": "conversation_memory", "path": path, "document_type": "incident_lesson",
        "content": content, "evidence_summary": "seen in a test" })
}

#[test]
fn a_session_adds_vectors_missing_since_the_endpoint_was_down() {
    // Nothing listens on the discard port of this machine.
    let down = "[embeddings]\nmodel = 'endpoint'\nurl = 'http://127.0.0.1:9/v1'\nname = 'any'\ntimeout_ms = 500\n";
    let world = World::with_config(down);
    world.json("remember --path a --conversation c1", &["the heron waits by the pond"]);
    std::fs::write(world.home().join("config.toml"), "").expect("written");
    let has_vector = || {
        let found = world.json("search --explain", &["heron pond"]);
        found["hits"][0]["parts"]["text.vector"].as_f64() > Some(0.0)
    };
    assert!(!has_vector());
    let client = Client::legacy(&world, "");
    // Off the session's own path: it is asked for nothing, and others see what comes of it.
    assert!((0..1_000).any(|_| has_vector()), "no vector came");
    assert_eq!(client.leave().0, Some(0));
}
