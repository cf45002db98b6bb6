//! Four sources, one answer: facts 19 and 20.

use serde_json::Value;

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:t --session s1";

fn world() -> World {
    let world = World::new();
    world.json(&format!("episodes add {AGENT}"), &["the harbour crane was inspected on tuesday"]);
    world.json("audit add --action crane.inspect --as service:yard", &["the harbour crane passed its inspection"]);
    world.json("workflow step yearly crane --as agent:other", &["the harbour crane got new cables"]);
    let file = world.home().join("crane.md");
    std::fs::write(&file, "# Crane\n\nthe harbour crane lifts forty tonnes\n").expect("written");
    world.json("ingest", &[file.to_str().expect("utf-8")]);
    world
}

fn part(found: &Value, name: &str) -> f64 {
    found["parts"][name].as_f64().unwrap_or_else(|| panic!("no part {name}: {found}"))
}

#[test]
fn fact_19_four_sources_merge_by_the_formula() {
    let world = world();
    let recalled = world.json(&format!("recall harbour crane {AGENT}"), &[]);
    let found = rows(&recalled["recollections"]);
    let priority = |source: &str| match source {
        "memory" => 1.0,
        "audit" => 0.8,
        "workflow" => 0.6,
        "knowledge" => 0.5,
        other => panic!("unknown source {other}"),
    };
    let mut sources = column(&recalled["recollections"], "source");
    sources.sort();
    sources.dedup();
    assert_eq!(sources, ["audit", "knowledge", "memory", "workflow"], "{recalled}");
    for one in found {
        let sum = 0.5 * part(one, "similarity")
            + 0.2 * part(one, "recency")
            + 0.2 * part(one, "importance")
            + 0.1 * part(one, "source");
        assert!((one["score"].as_f64().expect("a score") - sum).abs() < 1e-4, "{one}");
        assert_eq!(part(one, "source"), priority(&text(&one["source"])));
        if one["source"] != "memory" {
            assert_eq!(part(one, "importance"), 0.5, "{one}");
        }
    }
    assert!(rows(&recalled["failed"]).is_empty());
}

#[test]
fn fact_19_identical_content_appears_once_and_at_most_five_come() {
    let world = world();
    for number in 0..7 {
        world.json(&format!("episodes add {AGENT}"), &[&format!("harbour crane watch number {number}")]);
    }
    world.json(&format!("audit add --action crane.inspect {AGENT}"), &["the harbour crane was inspected on tuesday"]);
    let recalled = world.json(&format!("recall harbour crane inspected tuesday {AGENT}"), &[]);
    assert_eq!(rows(&recalled["recollections"]).len(), 5);
    let twice = column(&recalled["recollections"], "content");
    assert_eq!(twice.iter().filter(|content| content.contains("tuesday")).count(), 1, "{recalled}");
}

#[test]
fn fact_19_the_threshold_drops_what_only_vectors_found() {
    let world = world();
    let query = format!("recall dockside hoist examination {AGENT}");
    let strict = world.json(&format!("{query} --similarity 1.0"), &[]);
    for one in rows(&strict["recollections"]) {
        assert!(one["memory"].is_null() || text(&one["content"]).contains("hoist"), "{one}");
    }
    let words = world.json(&format!("recall crane {AGENT} --similarity 1.0"), &[]);
    assert!(words.to_string().contains("tuesday"), "word matches stay: {words}");
}

#[test]
fn fact_20_episodes_are_private_and_the_other_sources_are_shared() {
    let world = world();
    let other = world.json("recall harbour crane --as agent:x", &[]).to_string();
    assert!(!other.contains("tuesday"), "{other}");
    assert!(other.contains("passed its inspection") && other.contains("new cables") && other.contains("forty tonnes"));
    world.json("tenant create second", &[]);
    let there = world.json("recall harbour crane --tenant second --as agent:t", &[]);
    assert!(!there.to_string().contains("harbour crane"), "{there}");
}

#[test]
fn audit_and_workflow_records_have_their_own_commands_and_are_not_in_search() {
    let world = world();
    for store in ["audit_log", "workflow_steps"] {
        let line = format!("remember --store {store} --kind note --evidence x --as agent:t");
        assert_eq!(world.code(3, &line, &["a forged entry"]), "policy.append_only");
    }
    let ordinary = world.json("search harbour crane --as agent:x", &[]).to_string();
    assert!(!ordinary.contains("passed its inspection") && ordinary.contains("forty tonnes"), "{ordinary}");
    let named = world.json("search harbour crane --store audit_log --as agent:x", &[]);
    assert_eq!(column(&named["hits"], "author"), ["service:yard"]);
    assert_eq!(column(&named["hits"], "trust"), ["agent_draft"]);
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    world.fails(3, "audit add --action leak --as agent:t", &[&secret]);
    assert_eq!(world.code(3, "recall crane --as agent:x --revoke memory.read", &[]), "policy.read_revoked");
}

#[test]
fn audit_and_workflow_records_cannot_be_changed() {
    let world = World::new();
    let entry = world.json("audit add --action deploy.finished --as agent:t", &["billing 4.2 is live"]);
    let (id, sha256) = (text(&entry["id"]), text(&entry["sha256"]));
    for line in [
        format!("patch {id} --expect {sha256} --evidence x changed"),
        format!("forget {id} --reason r"),
        format!("pin {id}"),
        format!("rollback {id}"),
        format!("propose {id} --forget --reason r --as agent:t"),
        "remember --store audit_log --kind note --path deploy/x --evidence x mine".to_owned(),
        "remember --store workflow_steps --kind note --evidence x mine".to_owned(),
    ] {
        assert_eq!(text(&world.fails(3, &line, &[])["code"]), "policy.append_only", "{line}");
    }
    assert_eq!(text(&world.json(&format!("read {id}"), &[])["content"]), "billing 4.2 is live");
    // What must not stay is taken out all the same.
    world.json(&format!("redact {id} --reason r"), &[]);
    assert_ne!(text(&world.json(&format!("read {id}"), &[])["content"]), "billing 4.2 is live");
}

#[test]
fn a_query_with_a_time_matches_the_time_of_the_event_not_of_its_record() {
    let world = World::new();
    world.at("2026-11-18T00:00:00Z");
    world.json("audit add --action zoo.fed --at 2026-10-19T00:00:00Z", &["capybara fed by Ann"]);
    world.json("audit add --action zoo.fed --at 2026-11-17T00:00:00Z", &["capybara fed by Bob"]);
    for (question, first) in [("on October 19", "Ann"), ("in November", "Bob"), ("before November", "Ann")] {
        let recalled = world.json(&format!("recall {AGENT}"), &[&format!("who fed the capybara {question}")]);
        let found = column(&recalled["recollections"], "content");
        assert_eq!(found.first(), Some(&format!("capybara fed by {first}")), "{question}: {recalled}");
    }
}

#[test]
fn a_query_that_is_only_a_time_finds_records_of_that_time() {
    let world = World::new();
    world.at("2026-07-28T10:00:00Z");
    world.json("episodes add --session a --ttl remember --as agent:t", &["painted the boiler room"]);
    world.at("2026-08-04T10:00:00Z");
    world.json("episodes add --session b --ttl remember --as agent:t", &["swept the yard"]);
    world.json("audit add --action pump.replaced --at 2026-07-29T00:00:00Z", &["the old one leaked"]);
    world.at("2026-08-05T12:00:00Z");
    for question in ["What did we do last week?", "in July", "from July 27 to 31"] {
        let found = |verb: &str| world.json(&format!("{verb} --as agent:t"), &[question]).to_string();
        for verb in ["search", "recall", "context"] {
            let found = found(verb);
            assert!(
                found.contains("painted the boiler room") && !found.contains("swept"),
                "{verb} {question}: {found}"
            );
        }
        assert!(found("recall").contains("the old one leaked"), "{question}");
    }
}

#[test]
fn scripts_unknown_to_the_embedder_are_found_by_words() {
    let world = World::new();
    for (session, said) in
        [("a", "漢字の会議 東京 で決定した"), ("b", "山川花"), ("c", "合計金額は五千円で承認されました")]
    {
        world.json(&format!("episodes add --session {session} --as agent:t"), &[said]);
    }
    let recalled = world.json("recall --as agent:t", &["東京 会議"]);
    assert_eq!(column(&recalled["recollections"], "content"), ["漢字の会議 東京 で決定した"], "{recalled}");
    let found = world.json("search --as agent:t", &["東京 会議"]);
    assert_eq!(rows(&found["warnings"]).len(), 0, "{found}");
}
