//! Governance through the built binary: facts 13, 14, 29 to 34, and what was forgotten.

mod forgetting;
mod layers;
mod promotion;
mod transfer;

use serde_json::Value;

use crate::world::{World, rows, text};

const AGENT: &str = "--as agent:triage --conversation c1";

/// A draft in a conversation; its id.
fn draft(world: &World, path: &str, content: &str) -> String {
    let line = format!("remember {AGENT} --path {path} --kind runbook --evidence tool-call-7");
    text(&world.json(&line, &[content])["id"])
}

fn propose(world: &World, id: &str, path: &str) -> String {
    let line = format!("propose {AGENT} {id} --to workspace_runbooks --path {path} --reason helped --risk low");
    text(&world.json(&line, &[])["review_item_id"])
}

fn state(world: &World, id: &str) -> String {
    text(&world.json("read", &[id])["state"])
}

/// What the layers tell of promotions and rollbacks.
fn episodes(world: &World) -> Vec<String> {
    let told = world.json("list --store layers --layer episodic", &[]);
    rows(&told["memories"]).iter().map(|memory| text(&memory["metadata"]["event"])).collect()
}

/// An export as it was written.
fn read(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("the export")).expect("JSON")
}

#[test]
fn every_case_of_bench_governance_passes() {
    let world = World::new();
    let ran = world.run("bench governance --json", &[]);
    let report = ran.json();
    let broken: Vec<&Value> = rows(&report["cases"]).iter().filter(|case| case["passed"] != true).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(report["total"].as_u64() >= Some(20) && report["passed"] == report["total"] && ran.exit == 0);
}
