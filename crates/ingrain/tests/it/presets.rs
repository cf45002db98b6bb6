//! Decision points: `context --for` finds what helped at similar ones.

use crate::world::{World, rows, text};

const AGENT: &str = "--as agent:t --session s1 --conversation c1";

fn world() -> World {
    let world = World::new();
    let say = |words: &str| {
        world.json(&format!("episodes add {AGENT}"), &[words]);
    };
    say("the export of the harbour ledger failed because the disk was full");
    say("the harbour ledger is blue");
    say("the request for a harbour crane was rejected by Ana, the budget was spent");
    world.json("audit add --action crane.approved --as user:ana", &["the second harbour crane was approved"]);
    world.json("workflow step ledger export --as agent:clerk", &["harbour ledger exported to the archive"]);
    world.json(
        &format!("remember {AGENT} --kind tool_usage_lesson --evidence seen"),
        &["the ledger tool needs the harbour flag"],
    );
    world
}

fn shown(world: &World, purpose: &str, message: &str) -> String {
    let context = world.json(&format!("context --for {purpose} {AGENT}"), &[message]);
    assert!(context["receipt"].is_string(), "{context}");
    let replay = world.json("receipt replay", &[&text(&context["receipt"])]);
    assert_eq!(replay["exact"], true, "{purpose}");
    text(&context["text"])
}

#[test]
fn each_decision_point_finds_its_own_memories() {
    let world = world();
    let check = |purpose: &str, message: &str, finds: &[&str], not: &[&str]| {
        let text = shown(&world, purpose, message);
        finds.iter().for_each(|words| assert!(text.contains(words), "{purpose} finds {words}: {text}"));
        not.iter().for_each(|words| assert!(!text.contains(words), "{purpose} leaves out {words}: {text}"));
    };
    check("task", "export the harbour ledger", &["disk was full", "exported to the archive"], &["is blue"]);
    check("tool", "harbour ledger tool", &["needs the harbour flag", "disk was full"], &["is blue"]);
    check(
        "approval",
        "may we buy a harbour crane",
        &["rejected by Ana", "was approved"],
        &["is blue", "disk was full"],
    );
    check("content", "a post about the harbour ledger", &["is blue"], &[]);
    check("delegation", "who can export the harbour ledger", &["by: agent:clerk"], &["is blue", "disk was full"]);
    let plain = world.json(&format!("context {AGENT}"), &["export the harbour ledger"]);
    assert!(!text(&plain["text"]).contains("by: ") && !text(&plain["text"]).contains("was approved"), "{plain}");
    assert_eq!(world.code(2, "context --for nothing", &["x"]), "usage");
    let record = world.json("receipt list --limit 1", &[]);
    assert!(rows(&record["receipts"]).len() == 1);
}

#[test]
fn decision_points_do_not_widen_the_scope() {
    let world = world();
    for purpose in ["task", "tool", "approval", "content", "delegation"] {
        let context = world.json(&format!("context --for {purpose} --as agent:stranger"), &["harbour ledger crane"]);
        let text = text(&context["text"]);
        assert!(!text.contains("disk was full") && !text.contains("rejected by Ana"), "{purpose}: {text}");
    }
}
