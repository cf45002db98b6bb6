//! Why a memory did not come: each reason by name, for one memory and for a session.

use serde_json::Value;

use crate::world::{World, rows, text};

const AGENT: &str = "--as agent:t --conversation c1 --session s1 --run r1";

fn why(world: &World, id: &str, more: &str) -> String {
    let answer = world.json(&format!("why-not --query lighthouse --id {id} {more}"), &[]);
    text(&answer["search"]["reason"])
}

fn episode(world: &World, more: &str, words: &str) -> String {
    text(&world.json(&format!("episodes add {AGENT} {more}"), &[words])["id"])
}

fn runbook(world: &World, path: &str, words: &str) -> String {
    text(&world.json(&format!("remember --store workspace_runbooks --kind runbook --path {path}"), &[words])["id"])
}

/// Two notes of session `s1` that say the same, and were made one.
fn superseded(world: &World) -> String {
    let line = "remember --store layers --layer semantic --session s1";
    let old = text(&world.json(line, &["the lighthouse is red"])["id"]);
    world.json(line, &["The lighthouse: is red!"]);
    assert_eq!(world.json("semantic compact --create-proposals", &[])["proposed"], 1);
    world.json("review confirm --all", &[]);
    old
}

#[test]
fn why_not_reports_every_reason() {
    let world = World::new();
    let expiring = episode(&world, "--ttl routine", "the lighthouse was painted");
    let (far, scoped) =
        (runbook(&world, "mail", "flush the postbox at night"), runbook(&world, "bulb", "change the lighthouse bulb"));
    let gone = runbook(&world, "gone", "polish the lighthouse lens");
    world.json(&format!("forget {gone}"), &[]);
    assert_eq!(why(&world, &scoped, ""), "returned at rank 1");
    assert_eq!(why(&world, &far, ""), "it shares no word with the query and its meaning is not near");
    assert_eq!(why(&world, &gone, ""), "it is tombstoned, and only active are asked for");
    assert_eq!(why(&world, &superseded(&world), ""), "it is superseded, and only active are asked for");
    // Out of the scope asked for; and out of sight, which is not there at all.
    assert_eq!(why(&world, &scoped, "--scope user"), "it lives in workspace, which was not asked for");
    assert_eq!(why(&world, &scoped, "--kind lesson"), "its kind is runbook, which was not asked for");
    assert_eq!(world.code(2, &format!("why-not --query x --id {expiring} --as agent:other"), &[]), "not_found");
    world.at("2026-03-20T12:00:00Z");
    assert_eq!(why(&world, &expiring, AGENT), "it has expired");
    world.json("upkeep", &[]);
    assert_eq!(why(&world, &expiring, AGENT), "it expired, and upkeep archived it");
}

#[test]
fn why_not_explains_why_a_memory_is_no_candidate_for_a_turn() {
    let world = World::new();
    let gone = runbook(&world, "gone", "polish the lighthouse lens");
    world.json(&format!("forget {gone}"), &[]);
    let answer = world.json(&format!("why-not --query lighthouse --id {gone}"), &[]);
    assert_eq!(text(&answer["context_left_out"]), "it is tombstoned, and only active are asked for");
    let told = world.run(&format!("why-not --query lighthouse --id {gone}"), &[]).stdout;
    assert!(told.contains("not a candidate: it is tombstoned"), "{told}");
}

#[test]
fn diagnose_shows_drafts_of_a_conversation_and_turns_of_a_session_in_order() {
    let world = World::new();
    let draft = text(&world.json(&format!("remember {AGENT} --evidence seen"), &["the lighthouse is red"])["id"]);
    let report = world.json(&format!("diagnose session c1 {AGENT}"), &[]);
    assert_eq!(crate::world::column(&report["memories"], "id"), [draft]);
    for number in 1..=8 {
        episode(&world, &format!("--turn {number}"), &format!("step {number} of the lighthouse tour"));
    }
    let report = world.json(&format!("diagnose session s1 {AGENT}"), &[]);
    let turns: Vec<u64> = rows(&report["memories"]).iter().filter_map(|memory| memory["turn"].as_u64()).collect();
    assert_eq!(turns, [1, 2, 3, 4, 5, 6, 7, 8]);
    // A page of them says that there is more, and where it goes on.
    let page = world.json(&format!("episodes list {AGENT} --limit 5"), &[]);
    let next = text(&page["next"]);
    let rest = world.json(&format!("episodes list {AGENT} --limit 5 --after {next}"), &[]);
    assert_eq!((rows(&page["memories"]).len(), rows(&rest["memories"]).len(), rest["next"].is_null()), (5, 3, true));
    let told = world.run(&format!("episodes list {AGENT} --limit 5"), &[]).stdout;
    assert!(told.contains(&format!("more: --after {next}")), "{told}");
}

#[test]
fn why_not_reports_faded_memories_before_and_after_archiving() {
    let world = World::new();
    let fading = episode(&world, "--ttl remember", "the lighthouse lamp was cleaned");
    assert_eq!(why(&world, &fading, AGENT), "returned at rank 1");
    // Asking is no recall: a year later nobody has recalled it.
    world.at("2027-03-10T12:00:00Z");
    assert_eq!(why(&world, &fading, AGENT), "returned at rank 1");
    assert_eq!(world.json("upkeep", &[])["archived"], 1);
    assert_eq!(why(&world, &fading, AGENT), "it is archived, and only active are asked for");
}

#[test]
fn why_not_reports_the_threshold_and_the_budget() {
    let world = World::new();
    let said = episode(&world, "", "the lighthouse lamp was cleaned");
    // Near in meaning, by no word: what the agent's own recall leaves out.
    let near = episode(&world, "", "the beacon on the cliff was painted");
    let recall = |id: &str| {
        let answer = world.json(&format!("why-not --query lighthouse --id {id} {AGENT}"), &[]);
        answer["recall"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(recall(&said), "number 1 of its source");
    assert!(
        recall(&near).starts_with("below the threshold: it shares no word, and its similarity 0."),
        "{}",
        recall(&near)
    );
    assert!(recall(&near).ends_with("is under 0.7"), "{}", recall(&near));
    let recalled = world.json(&format!("recall lighthouse {AGENT}"), &[]).to_string();
    assert!(recalled.contains("lamp was cleaned") && !recalled.contains("beacon"), "{recalled}");
    // Excerpts of six fit into a turn's budget of 2,200 tokens, but not into this one.
    let world = World::with_config("[limits]\ncontext_budget_tokens = 600\n");
    for number in 0..9 {
        let words = format!("watch {number}: {}", "the lighthouse keeper writes a long report. ".repeat(60));
        runbook(&world, &format!("report/{number}"), &words);
    }
    let context = world.json(&format!("context {AGENT}"), &["lighthouse keeper report"]);
    let dropped = rows(&context["candidates"]).iter().find(|candidate| candidate["reason"] == "over the budget");
    let id = text(&dropped.expect("one is over the budget")["memory"]);
    let answer = world.json(&format!("why-not --id {id} {AGENT} --query"), &["lighthouse keeper report"]);
    assert_eq!(answer["context"]["reason"], "over the budget", "{answer}");
    assert_eq!(answer["recall"], Value::Null, "a runbook is in none of the four sources");
}

#[test]
fn diagnose_session_shows_which_memories_can_be_recalled() {
    let world = World::new();
    let routine = episode(&world, "--ttl routine", "the lighthouse was painted");
    let kept = episode(&world, "--ttl remember", "the lighthouse lamp was cleaned");
    let forgotten = episode(&world, "--ttl remember", "the lighthouse keeper left");
    world.json(&format!("forget {forgotten} {AGENT}"), &[]);
    let old = superseded(&world);
    let reason = |who: &str, id: &str| {
        let report = world.json(&format!("diagnose session s1 {who}"), &[]);
        let memory = rows(&report["memories"]).iter().find(|memory| memory["id"] == id).expect("kept").clone();
        memory["left_out"].as_str().unwrap_or("can be recalled").to_owned()
    };
    assert_eq!(reason(AGENT, &routine), "can be recalled");
    assert_eq!(reason(AGENT, &forgotten), "it is tombstoned, and only active are asked for");
    let canonical = text(&world.json(&format!("read {old}"), &[])["superseded_by"]);
    assert_eq!(reason("", &old), format!("it is superseded by {canonical}"));
    world.at("2026-03-20T12:00:00Z");
    assert_eq!(reason(AGENT, &routine), "it has expired");
    world.json("upkeep", &[]);
    assert_eq!(reason(AGENT, &routine), "it is archived, and only active are asked for");
    // Unrecalled for long enough: said before upkeep comes.
    world.at("2028-03-01T12:00:00Z");
    assert_eq!(reason(AGENT, &kept), "not recalled for long: the next upkeep archives it");
    // Out of sight is not there at all.
    let others = world.json("diagnose session s1 --as agent:other", &[]).to_string();
    assert!(others.contains(&old) && !others.contains(&kept) && !others.contains(&routine), "{others}");
    assert_eq!(world.code(2, "diagnose session s2", &[]), "not_found");
}

#[test]
fn diagnose_session_shows_what_its_turns_were_not_shown() {
    let world = World::new();
    runbook(&world, "light/long", &"the keeper writes a long report. ".repeat(200));
    for number in 0..5 {
        runbook(&world, &format!("light/{number}"), &format!("lighthouse lamp {number}"));
    }
    let asked = |more: &str, message: &str| {
        world.json(&format!("context {AGENT} {more}"), &[message]);
        let report = world.json(&format!("diagnose session c1 {AGENT}"), &[]);
        let newest = rows(&report["receipts"]).first().expect("a receipt").clone();
        ["shown", "over_budget", "below"].map(|name| newest[name].as_u64().expect("a number"))
    };
    let [shown, over_budget, _] = asked("--budget 200 --max 1", "keeper report");
    assert!(shown <= 1 && over_budget >= 1, "{shown} shown, {over_budget} over the budget");
    world.at("2026-03-01T13:00:00Z");
    let [shown, over_budget, below] = asked("--max 3", "lighthouse lamp");
    assert!((shown, over_budget) == (3, 0) && below >= 2, "{shown} shown, {over_budget} over, {below} below");
}
