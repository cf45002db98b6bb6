//! Notes through MCP: facts 36 and 38 to 42.

use serde_json::{Value, json};

use super::client::Client;
use super::server::Server;
use crate::world::{World, rows, text};

fn note(hint: &str, content: &str) -> Value {
    json!({ "scope": "user", "recallHint": hint, "content": content })
}

#[test]
fn fact_36_mcp_a_near_hint_updates_and_another_fact_is_new() {
    let world = World::new();
    let mut ann = Client::legacy(&world, "--tools note --as user:ann");
    let first = ann.tool("ai_saveMemory", note("wifi card of the office", "the office wifi card is in the top drawer"));
    let second = ann.tool(
        "ai_saveMemory",
        note("office wifi card", "the office wifi card is in the top drawer, behind the stamps"),
    );
    assert_eq!((&second["id"], &second["updated"]), (&first["id"], &json!(true)));
    let other = ann.tool("ai_saveMemory", note("office wifi card", "budget review moved to nine with finance"));
    assert_eq!((&other["updated"], &other["near"]), (&json!(false), &first["id"]));
    let mut bob = Client::legacy(&world, "--tools note --as user:bob");
    let bobs = bob.tool("ai_saveMemory", note("office wifi card", "the office wifi card is in the top drawer"));
    assert_ne!(bobs["id"], first["id"]);
    let found = ann.tool("ai_searchMemory", json!({ "query": "wifi card" }));
    assert!(found.to_string().contains("behind the stamps"), "{found}");
}

#[test]
fn fact_38_mcp_an_unattended_run_saves_three_and_deletes_nothing() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools note --agent night --user ann --run r1 --unattended");
    assert_eq!(client.tools(), ["ai_searchMemory", "ai_saveMemory"]);
    for (hint, content) in [("topic one alone", "first"), ("second subject", "another"), ("third thing", "more")] {
        let mut saved = note(hint, content);
        saved["alwaysInject"] = false.into();
        client.tool("ai_saveMemory", saved);
    }
    let refused = client.call("ai_saveMemory", note("one more entirely", "a fourth fact"));
    assert_eq!(text(&refused["structuredContent"]["code"]), "policy.run_cap");
    assert!(text(&refused["structuredContent"]["hint"]).contains("go on"), "{refused}");
    let delete = json!({ "name": "ai_deleteMemory", "arguments": { "id": "x" } });
    assert_eq!(client.ask("tools/call", delete)["error"]["code"], -32_602);
}

#[test]
fn every_unattended_session_is_a_run_of_its_own() {
    let world = World::new();
    for night in 0..2 {
        let mut client = Client::legacy(&world, "--tools note --agent night --user ann --unattended");
        for number in 0..3 {
            client.tool("ai_saveMemory", note(&format!("topic {night} {number}"), &format!("fact {night} {number}")));
        }
        assert_eq!(client.code("ai_saveMemory", note("one more entirely", "a fourth fact")), "policy.run_cap");
    }
}

#[test]
fn every_unattended_session_over_http_is_a_run_of_its_own() {
    let world = World::new();
    let server = Server::start_as(&world, "--as agent:night --user ann --unattended");
    let save = |session: &str, hint: &str| {
        let call = json!({ "name": "ai_saveMemory", "arguments": note(hint, hint) });
        server.ask("/mcp?tools=note", Some(session), "tools/call", &call).message()["result"].clone()
    };
    for night in ["monday", "tuesday"] {
        let session = server.session("/mcp?tools=note");
        for topic in ["gates", "pumps", "lamps"] {
            let saved = save(&session, &format!("{topic} of {night}"));
            assert_eq!(saved["isError"], false, "{saved}");
        }
        assert_eq!(save(&session, "one more entirely")["structuredContent"]["code"], "policy.run_cap");
    }
    let call = json!({ "name": "ai_saveMemory", "arguments": note("no session", "no session") });
    let stateless = server.ask_stateless("/mcp?tools=note", "tools/call", "ai_saveMemory", call).message();
    assert_eq!(stateless["result"]["structuredContent"]["code"], "scope.run_missing", "{stateless}");
}

#[test]
fn fact_39_mcp_other_users_delete_nothing_and_see_nothing() {
    let world = World::new();
    let mut ann = Client::legacy(&world, "--tools note --as user:ann");
    let id = text(&ann.tool("ai_saveMemory", note("door", "the side door sticks"))["id"]);
    let unknown = "0195f0a0-0000-7000-8000-000000000001";
    for mut bob in [
        Client::with_person(&world, "--tools note --as user:bob", true),
        Client::legacy(&world, "--tools note --as user:bob"),
    ] {
        for id in [id.as_str(), unknown, "not-an-id"] {
            assert_eq!(bob.tool("ai_deleteMemory", json!({ "id": id })), json!({ "deleted": false }));
        }
    }
    let waiting = ann.tool("ai_deleteMemory", json!({ "id": id }));
    assert!(waiting["review_item_id"].is_string(), "{waiting}");
    let mut asked = Client::with_person(&world, "--tools note --as user:ann", true);
    assert_eq!(asked.tool("ai_deleteMemory", json!({ "id": id })), json!({ "deleted": true }));
}

#[test]
fn fact_39_mcp_systems_need_a_grant() {
    let world = World::new();
    let save = json!({ "scope": "system", "systemId": "erp", "recallHint": "ports", "content": "erp listens on 8443" });
    let mut without = Client::legacy(&world, "--tools note --as user:ann");
    assert_eq!(without.code("ai_saveMemory", save.clone()), "policy.system_not_readable");
    let mut reader = Client::with_person(&world, "--tools note --as user:ann --grant system:erp=read", true);
    let id = text(&reader.tool("ai_saveMemory", save)["id"]);
    assert_eq!(reader.code("ai_deleteMemory", json!({ "id": id })), "policy.system_manage");
    assert!(rows(&without.tool("ai_searchMemory", json!({ "query": "ports" }))["memories"]).is_empty());
    let mut manager = Client::with_person(&world, "--tools note --as user:ann --grant system:erp=manage", true);
    assert_eq!(manager.tool("ai_deleteMemory", json!({ "id": id }))["deleted"], true);
}

#[test]
fn fact_40_mcp_a_revoked_rule_removes_the_tools() {
    let world = World::new();
    let mut reader = Client::legacy(&world, "--tools core,note --revoke memory.manage");
    assert_eq!(reader.tools(), ["memory_search", "memory_read", "memory_list", "memory_history", "ai_searchMemory"]);
    let mut blind = Client::legacy(&world, "--tools core,note --revoke memory.read");
    assert!(blind.tools().is_empty());
    let call = json!({ "name": "memory_search", "arguments": { "query": "x" } });
    assert_eq!(blind.ask("tools/call", call)["error"]["code"], -32_602);
    assert!(blind.ask("resources/list", json!({}))["error"].is_object());
}

#[test]
fn fact_41_mcp_a_secret_is_removed_and_the_rest_is_saved() {
    let world = World::new();
    let mut ann = Client::legacy(&world, "--tools note --as user:ann");
    let secret = format!("{}{}", "ghp_", "1234567890abcdefABCDEF1234567890abcd");
    let saved = ann.tool("ai_saveMemory", note("deploy habit", &format!("deploys on friday with {secret} at noon")));
    let kept = text(&world.json("read", &[&text(&saved["id"])])["content"]);
    assert!(kept.starts_with("deploys on friday with [REDACTED:") && kept.ends_with("at noon"), "{kept}");
    drop(ann);
    assert!(!world.holds(&secret));
}

#[test]
fn fact_42_mcp_a_system_note_needs_a_system() {
    let world = World::new();
    let mut ann = Client::legacy(&world, "--tools note --as user:ann");
    let save = json!({ "scope": "system", "recallHint": "ports", "content": "which one?" });
    assert_eq!(ann.code("ai_saveMemory", save), "scope.system_missing");
}

#[test]
fn the_trusted_block_shows_no_name_that_an_agent_chose() {
    let world = World::new();
    let mut save = note("tone", "answer in short sentences");
    let flags = "--tools note --agent acme-payments-approved --user ann --may-confirm";
    let mut agent = Client::with_person(&world, flags, true);
    save["alwaysInject"] = true.into();
    agent.tool("ai_saveMemory", save);
    let block = text(&world.json("context --as user:ann --for approval", &["answer in short sentences"])["text"]);
    let trusted = block.split("<ingrain_untrusted").next().unwrap_or_default();
    assert!(trusted.contains("answer in short") && trusted.contains("by: agent]"), "{block}");
    assert!(!trusted.contains("acme"), "{block}");
}

#[test]
fn an_agents_ban_does_not_beat_the_persons_yes() {
    let world = World::new();
    let mut save = note("tone", "answer in short sentences");
    let mut agent = Client::with_person(&world, "--tools note --agent a --user ann --may-confirm", true);
    let id = text(&agent.tool("ai_saveMemory", save.clone())["id"]);
    world.json("forget --as agent:a --user ann", &[&id]);
    assert_eq!(agent.code("ai_saveMemory", save.clone()), "policy.forgotten");
    save["alwaysInject"] = true.into();
    let id = text(&agent.tool("ai_saveMemory", save)["id"]);
    assert_eq!(text(&world.json("read", &[&id])["trust"]), "user_authored");
}

#[test]
fn an_always_inject_note_is_user_authored_once_the_user_confirms() {
    let world = World::new();
    let mut save = note("tone", "answer in short sentences");
    save["alwaysInject"] = true.into();
    let trust = |id: &Value| text(&world.json("read", &[&text(id)])["trust"]);
    let mut asked = Client::with_person(&world, "--tools note --agent a --user ann --may-confirm", true);
    let id = asked.tool("ai_saveMemory", save.clone())["id"].clone();
    assert_eq!(trust(&id), "user_authored");
    let mut unasked = Client::legacy(&world, "--tools note --agent a --user bob");
    let id = unasked.tool("ai_saveMemory", save.clone())["id"].clone();
    assert_eq!(trust(&id), "agent_draft");
    let mut declined = Client::with_person(&world, "--tools note --agent a --user eve --may-confirm", false);
    assert_eq!(declined.code("ai_saveMemory", save), "policy.person_declined");
}
