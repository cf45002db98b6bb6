//! Lessons through MCP: facts 22 to 25 and 27.

use serde_json::json;

use super::client::Client;
use crate::world::{World, rows, text};

const FLAGS: &str = "--agent builder --pipeline nightly --tools lesson";

fn enabled(world: &World, flags: &str) -> Client {
    world.json(&format!("pipeline enable nightly --agent builder {flags}"), &[]);
    Client::legacy(world, FLAGS)
}

#[test]
fn fact_22_mcp_without_opt_in_the_tools_are_absent_and_calls_fail() {
    let world = World::new();
    let mut client = Client::legacy(&world, FLAGS);
    assert!(client.tools().is_empty());
    let call = json!({ "name": "save_memory", "arguments": { "content": "x" } });
    assert_eq!(client.ask("tools/call", call)["error"]["code"], -32_602);
    assert_eq!(enabled(&world, "").tools(), ["recall_memory", "save_memory"]);
}

#[test]
fn fact_23_mcp_the_cap_counts_bytes() {
    let world = World::new();
    let mut client = enabled(&world, "");
    let sized = |bytes: usize| json!({ "content": "a b ".repeat(bytes)[..bytes] });
    assert_eq!(client.tool("save_memory", sized(4_096))["saved"], true);
    let over = client.call("save_memory", sized(4_097));
    assert_eq!(text(&over["structuredContent"]["code"]), "shape.too_large");
    assert!(text(&over["structuredContent"]["error"]).contains("4096 bytes"), "{over}");
}

#[test]
fn fact_24_mcp_the_same_lesson_twice_is_one() {
    let world = World::new();
    let mut client = enabled(&world, "");
    let first = client.tool("save_memory", json!({ "content": "pin the compiler", "tags": ["rust"] }));
    let second = client.tool("save_memory", json!({ "content": "pin the compiler", "tags": ["other"] }));
    assert_eq!((&first["deduped"], &second["saved"], &second["deduped"]), (&json!(false), &json!(true), &json!(true)));
    assert_eq!(first["id"], second["id"]);
    assert_eq!(world.json("read", &[&text(&first["id"])])["tags"], json!(["rust"]));
}

#[test]
fn fact_25_mcp_a_recall_is_capped() {
    let world = World::new();
    let mut client = enabled(&world, "--max-recall 3");
    assert!(rows(&client.tool("recall_memory", json!({ "query": "linking" }))["memories"]).is_empty());
    for number in 0..6 {
        client.tool("save_memory", json!({ "content": format!("lesson number {number} about linking") }));
    }
    for (limit, expected) in [(json!(null), 3), (json!(2), 2), (json!(50), 3), (json!(0), 3), (json!(-4), 3)] {
        let found = client.tool("recall_memory", json!({ "query": "linking", "limit": limit }));
        assert_eq!(rows(&found["memories"]).len(), expected, "{limit}");
    }
}

#[test]
fn fact_27_mcp_the_answer_counts_this_recall() {
    let world = World::new();
    let mut client = enabled(&world, "");
    client.tool("save_memory", json!({ "content": "strip the symbols" }));
    for expected in 1..=3 {
        let found = client.tool("recall_memory", json!({ "query": "strip symbols" }));
        assert_eq!(found["memories"][0]["recall_count"], expected, "{found}");
    }
}
