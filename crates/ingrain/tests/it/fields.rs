//! Trust per field through the built binary and MCP: an agent's title, hint, tags, metadata and pin stay the agent's.

use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::world::{World, text};

const AGENT: &str = "--as agent:triage --user ann";
const ANN: &str = "--as user:ann";
const FIELDS: &str = "--title agenttitle --tag agenttag --metadata k=agentmeta --always-inject --evidence said";

/// An agent's note about Ann, with every field filled; its id.
fn agent_note(world: &World) -> String {
    let line =
        format!("remember {AGENT} --store user_memory --kind user_preference --path tea/agentpath --hint agenthint");
    text(&world.json(&format!("{line} {FIELDS}"), &["drinks tea at noon"])["id"])
}

fn lower_fields(memory: &Value) -> Vec<String> {
    let fields = memory["field_trust"].as_object().expect("some fields");
    fields.iter().filter(|(_, trust)| *trust == "agent_draft").map(|(field, _)| field.clone()).collect()
}

fn trusted_block(world: &World, who: &str) -> String {
    let block = text(&world.json(&format!("context {who}"), &["tea at noon or in the evening"])["text"]);
    block.split("<ingrain_untrusted").next().unwrap_or_default().to_owned()
}

#[test]
fn a_persons_save_on_the_command_line_does_not_lift_the_agents_fields() {
    let world = World::new();
    let id = agent_note(&world);
    world.json(&format!("remember {ANN} --store user_memory --path tea/agentpath"), &["tea in the evening"]);
    let memory = world.json("read", &[&id]);
    assert_eq!(text(&memory["trust"]), "user_authored");
    assert_eq!(lower_fields(&memory), ["always_inject", "metadata", "recall_hint", "tags", "title"]);
    for who in [AGENT, ANN] {
        let trusted = trusted_block(&world, who);
        assert!(trusted.contains("tea in the evening") && !trusted.contains("agenttitle"), "{who}: {trusted}");
    }
    // A person sees whose each field is.
    let shown = world.run(&format!("read {ANN}"), &[&id]).stdout;
    assert!(shown.contains("trust of title: agent_draft"), "{shown}");
    // A receipt is rebuilt to the same bytes.
    let receipt = text(&world.json(&format!("context {ANN}"), &["tea in the evening"])["receipt"]);
    assert_eq!(world.json(&format!("receipt replay {ANN}"), &[&receipt])["exact"], true);
}

#[test]
fn a_persons_patch_on_the_command_line_does_not_lift_the_agents_fields() {
    let world = World::new();
    let id = agent_note(&world);
    let sha256 = text(&world.json("read", &[&id])["sha256"]);
    world.json(&format!("patch {ANN} --expect {sha256}"), &[&id, "tea in the evening"]);
    let memory = world.json("read", &[&id]);
    assert_eq!(lower_fields(&memory), ["always_inject", "metadata", "path", "recall_hint", "tags", "title"]);
    for who in [AGENT, ANN] {
        let trusted = trusted_block(&world, who);
        assert!(trusted.contains("tea in the evening") && !trusted.contains("agent"), "{who}: {trusted}");
    }
    let listed = world.run(&format!("list {ANN} --store user_memory"), &[]).stdout;
    assert!(listed.contains("agent_draft") && !listed.contains("user_authored"), "the row shows the path: {listed}");
}

#[test]
fn a_persons_save_over_mcp_does_not_lift_the_agents_fields() {
    let world = World::new();
    let id = agent_note(&world);
    let mut ann = Client::legacy(&world, ANN);
    let note = json!({
        "target_store_slug": "user_memory", "path": "tea/agentpath", "document_type": "user_preference",
        "content": "tea in the evening",
    });
    let saved = ann.tool("memory_remember", note);
    assert_eq!(text(&saved["document_id"]), id, "{saved}");
    let found = ann.tool("memory_search", json!({ "query": "tea in the evening" }));
    let read = ann.tool("memory_read", json!({ "document_id": id }));
    let listed = ann.tool("memory_list", json!({ "store_slug": "user_memory" }));
    for answer in [&found["results"][0], &read, &listed["documents"][0]] {
        assert_eq!(text(&answer["trust_level"]), "user_authored", "{answer}");
        for word in ["agenttitle", "agenthint", "agenttag", "agentmeta"] {
            assert!(!answer.to_string().contains(word), "shows only what reaches its trust: {answer}");
        }
        assert_eq!(answer["withheld"], json!(["title", "recall_hint", "tags", "metadata"]));
    }
}

#[test]
fn a_reviewer_sees_every_field_that_an_approval_raises() {
    let world = World::new();
    let id = agent_note(&world);
    let line = format!("propose {AGENT} {id} --to workspace_runbooks --path tea --reason helped --risk low");
    let review = text(&world.json(&line, &[])["review_item_id"]);
    let shown = world.run("review show", &[&review]).stdout;
    for line in ["title: agenttitle", "hint: agenthint", "tags: agenttag", "metadata: {\"k\":\"agentmeta\"}"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn an_import_by_a_person_keeps_a_draft_a_draft() {
    let world = World::new();
    let id = agent_note(&world);
    let sha256 = text(&world.json("read", &[&id])["sha256"]);
    let files = world.home().join("files");
    let folder = files.to_str().expect("a path");
    world.json(&format!("export {ANN} --format markdown --output {folder}"), &[]);
    world.json("forget --may-return", &[&id]);
    let imported = world.json(&format!("import {ANN} {folder}"), &[]);
    assert_eq!(imported["imported"], 1, "{imported}");
    let memory = world.json(&format!("read {ANN} tea/agentpath --store user_memory"), &[]);
    assert_eq!((text(&memory["sha256"]), text(&memory["trust"])), (sha256, "agent_draft".to_owned()), "{memory}");
}
