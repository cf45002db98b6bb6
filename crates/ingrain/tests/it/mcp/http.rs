//! MCP over HTTP through the real binary, and beside agents on the standard streams.

use serde_json::{Value, json};

use super::client::Client;
use super::protocol::draft;
use super::server::{Reply, Server};
use crate::world::{World, column, rows, text};

fn names(reply: &Reply) -> Vec<String> {
    column(&reply.message()["result"]["tools"], "name")
}

#[test]
fn both_protocol_versions_list_the_same_tools_and_the_url_selects_toolsets() {
    let world = World::new();
    let server = Server::start(&world);
    let session = server.session("/mcp");
    let legacy = server.ask("/mcp", Some(&session), "tools/list", &json!({}));
    let stateless = server.ask_stateless("/mcp", "tools/list", "", json!({}));
    assert_eq!((names(&legacy).len(), names(&legacy)), (8, names(&stateless)));
    let list = |query: &str| server.ask_stateless(&format!("/mcp?{query}"), "tools/list", "", json!({}));
    assert_eq!(names(&list("tools=note")), ["ai_searchMemory", "ai_saveMemory", "ai_deleteMemory"]);
    assert_eq!(names(&list("tools=core,episodic")).len(), 10);
    assert_eq!(names(&list("write_tools=never")).len(), 4);
    assert_eq!(list("tools=all").message()["error"]["code"], -32_602);
    let gone = server.send("DELETE", "/mcp", &[("mcp-session-id", &session)], "");
    assert_eq!(gone.status, 204, "{}", gone.body);
    assert_eq!(server.ask("/mcp", Some(&session), "tools/list", &json!({})).status, 404, "the session has ended");
}

#[test]
fn invalid_requests_are_answered_and_the_server_continues() {
    let world = World::new();
    let server = Server::start(&world);
    let session = server.session("/mcp");
    let code = |reply: &Reply| reply.message()["error"]["code"].as_i64();
    for (body, expected) in [("{\"jsonrpc\":", -32_700), ("\u{1}", -32_700), ("[1]", -32_600), ("{\"id\":1}", -32_600)]
    {
        let reply = server.send("POST", "/mcp", &[("mcp-session-id", &session)], body);
        assert_eq!((reply.status, code(&reply)), (400, Some(expected)), "{body}");
    }
    let call = |name: &str, arguments: Value| {
        server.ask("/mcp", Some(&session), "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    assert_eq!(code(&call("rm", json!({}))), Some(-32_602));
    let wrong = call("memory_search", json!({ "query": 7 })).message();
    assert_eq!(wrong["result"]["structuredContent"]["code"], "shape.arguments", "{wrong}");
    let huge = call("memory_remember", draft("a", &"word ".repeat(100_000))).message();
    assert_eq!(huge["result"]["structuredContent"]["code"], "shape.too_large", "{huge}");
    assert_eq!(call("memory_remember", draft("a", &"word ".repeat(600_000))).status, 413);
    let saved = call("memory_remember", draft("a", "still alive")).message();
    assert_eq!(saved["result"]["structuredContent"]["created"], true, "{saved}");
}

#[test]
fn many_agents_and_a_server_share_one_file() {
    let world = World::new();
    let server = Server::start(&world);
    std::thread::scope(|scope| {
        for agent in ["alder", "birch", "cedar", "dogwood"] {
            let world = &world;
            let mut client = Client::legacy(world, &format!("--conversation c1 --agent {agent}"));
            scope.spawn(move || {
                for number in 0..5 {
                    let path = format!("work/{agent}/{number}");
                    client.tool("memory_remember", draft(&path, &format!("{agent} did task {number}")));
                }
                assert_eq!(client.leave().0, Some(0));
            });
        }
        for number in 0..5 {
            let arguments = draft(&format!("work/http/{number}"), &format!("the server did task {number}"));
            let call = json!({ "name": "memory_remember", "arguments": arguments });
            let saved = server.ask_stateless("/mcp", "tools/call", "memory_remember", call).message();
            assert_eq!(saved["result"]["structuredContent"]["created"], true, "{saved}");
        }
    });
    let call =
        json!({ "name": "memory_list", "arguments": { "store_slug": "conversation_memory", "path_prefix": "work/" } });
    let listed = server.ask_stateless("/mcp", "tools/call", "memory_list", call).message();
    assert_eq!(rows(&listed["result"]["structuredContent"]["documents"]).len(), 25, "{listed}");
    let call = json!({ "name": "memory_search", "arguments": { "query": "what did cedar do" } });
    let found = server.ask_stateless("/mcp", "tools/call", "memory_search", call).message();
    assert!(text(&found["result"]["structuredContent"]["results"][0]["path"]).starts_with("work/cedar/"), "{found}");
    assert!(world.json("verify", &[])["broken"].is_null());
}
