//! Why a memory did not come: each reason by name, for one memory and for a session.

use crate::world::{World, rows, text};

const AGENT: &str = "--as agent:t --conversation c1 --session s1 --run r1";

fn why(world: &World, id: &str, more: &str) -> String {
    let answer = world.json(&format!("why-not --query lighthouse --id {id} {more}"), &[]);
    text(&answer["search"]["reason"])
}

fn episode(world: &World, more: &str, words: &str) -> String {
    text(&world.json(&format!("episodes add {AGENT} {more}"), &[words])["id"])
}

#[test]
fn why_not_names_every_reason() {
    let world = World::new();
    let runbook = |path: &str, words: &str| {
        text(&world.json(&format!("remember --store workspace_runbooks --kind runbook --path {path}"), &[words])["id"])
    };
    let expiring = episode(&world, "--ttl routine", "the lighthouse was painted");
    let fading = episode(&world, "--ttl remember", "the lighthouse lamp was cleaned");
    let far = runbook("mail/queue", "flush the postbox at night");
    let scoped = runbook("light/bulb", "change the lighthouse bulb");
    let gone = runbook("light/gone", "polish the lighthouse lens");
    world.json(&format!("forget {gone}"), &[]);
    assert!(why(&world, &far, "").contains("shares no word"), "below the threshold");
    assert!(why(&world, &scoped, "--scope user").contains("was not asked for"), "out of scope");
    assert!(why(&world, &scoped, "--kind lesson").contains("was not asked for"));
    assert!(why(&world, &gone, "").contains("tombstoned"));
    // Out of sight is not there at all.
    assert_eq!(world.code(2, &format!("why-not --query x --id {fading} --as agent:other"), &[]), "not_found");
    world.at("2026-03-20T12:00:00Z");
    assert!(why(&world, &expiring, AGENT).contains("expired"));
    let profile = |value: &str| {
        let line = "profile propose --key lighthouse.colour --reason told";
        let proposed = world.json(line, &["--value", value]);
        text(&world.json(&format!("review confirm {}", text(&proposed["review"]["id"])), &[])["memory"]["id"])
    };
    let (old, _) = (profile("the lighthouse is red"), profile("the lighthouse is white"));
    assert!(why(&world, &old, "").contains("superseded"), "{}", why(&world, &old, ""));
    world.at("2027-03-01T12:00:00Z");
    world.json("upkeep", &[]);
    assert!(why(&world, &fading, AGENT).contains("archived") || why(&world, &fading, AGENT).contains("returned"));
    assert!(why(&world, &expiring, AGENT).contains("archived"));
    // Over the budget of a turn.
    let long = runbook("light/long", &"the lighthouse keeper writes a long report. ".repeat(200));
    let over = world.json(&format!("context {AGENT} --budget 200 --format json"), &["lighthouse keeper report"]);
    let dropped = rows(&over["candidates"]).iter().find(|candidate| candidate["memory"] == long).expect("a candidate");
    assert_eq!(text(&dropped["reason"]), "over the budget", "{dropped}");
}

#[test]
fn a_session_tells_what_is_left_of_it() {
    let world = World::new();
    let routine = episode(&world, "--ttl routine", "the lighthouse was painted");
    let kept = episode(&world, "--ttl remember", "the lighthouse lamp was cleaned");
    let forgotten = episode(&world, "--ttl remember", "the lighthouse keeper left");
    world.json(&format!("forget {forgotten} {AGENT}"), &[]);
    world.json("remember --store workspace_runbooks --kind runbook --path light/long", &[&"lighthouse ".repeat(900)]);
    world.json(&format!("context {AGENT} --budget 200"), &["lighthouse"]);
    let reason = |report: &serde_json::Value, id: &str| {
        let memory = rows(&report["memories"]).iter().find(|memory| memory["id"] == id).expect("kept").clone();
        memory["left_out"].as_str().unwrap_or("can be recalled").to_owned()
    };
    let report = || world.json(&format!("diagnose session s1 {AGENT}"), &[]);
    assert_eq!(reason(&report(), &routine), "can be recalled");
    assert!(reason(&report(), &forgotten).contains("tombstoned"));
    world.at("2026-03-20T12:00:00Z");
    assert!(reason(&report(), &routine).contains("expired"));
    world.json("upkeep", &[]);
    assert!(reason(&report(), &routine).contains("archived"));
    // Recalled a little while ago, it fades from then on.
    world.at("2028-03-01T12:00:00Z");
    assert!(reason(&report(), &kept).contains("nobody recalled it"), "{}", report());
    let turns = world.json(&format!("diagnose session c1 {AGENT}"), &[]);
    let receipt = rows(&turns["receipts"]).first().expect("a receipt").clone();
    assert!(receipt["over_budget"].as_u64() >= Some(1), "{turns}");
}
