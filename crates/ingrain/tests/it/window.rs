//! A model's window: fact 21.

use serde_json::{Value, json};

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:t --conversation c1";

fn world() -> World {
    let world = World::new();
    for number in 0..6 {
        let words = format!("gateway note {number}: {}", "the gateway drains before a reload. ".repeat(20));
        world.json(&format!("remember --store workspace_runbooks --kind runbook --path gateway/{number}"), &[&words]);
        let file = world.home().join(format!("gateway{number}.md"));
        let text = format!("# Gateway {number}\n\n{}", "the gateway manual says to wait. ".repeat(20));
        std::fs::write(&file, text).expect("written");
        world.json("ingest", &[file.to_str().expect("utf-8")]);
    }
    let skill = world.home().join("skills/deploy");
    std::fs::create_dir_all(&skill).expect("made");
    let text = "---\nname: deploy\ndescription: how to ship\n---\nship on mondays only, and never without a second pair of eyes\n";
    std::fs::write(skill.join("SKILL.md"), text).expect("written");
    world
}

fn request(window_tokens: usize) -> Value {
    let turns: Vec<Value> = (0..30)
        .map(|number| {
            json!({ "role": if number % 2 == 0 { "user" } else { "assistant" },
            "content": format!("turn {number}: we decided on step {number}. {}", "some more words. ".repeat(12)) })
        })
        .collect();
    let results: Vec<String> =
        (0..3).map(|number| format!("result {number} {}", "line of output\n".repeat(100))).collect();
    json!({ "window_tokens": window_tokens, "system_prompt": "You keep the gateway running.", "turns": turns,
        "tool_results": results, "message": "how do I reload the gateway?" })
}

fn window(world: &World, window_tokens: usize) -> crate::world::Ran {
    let skills = world.home().join("skills").display().to_string();
    let file = world.home().join("window.json");
    std::fs::write(&file, request(window_tokens).to_string()).expect("written");
    world.run(&format!("--json context {AGENT} --window {}", file.display()), &["--skills", &skills])
}

fn count(window: &Value, needle: &str) -> usize {
    rows(&window["messages"]).iter().map(|message| text(&message["content"]).matches(needle).count()).sum()
}

#[test]
fn fact_21_over_the_window_things_are_cut_in_their_order() {
    let world = world();
    let roomy = window(&world, 100_000).json();
    assert_eq!(
        (
            rows(&roomy["cuts"]).len(),
            count(&roomy, "store: workspace_runbooks"),
            count(&roomy, "store: knowledge_base")
        ),
        (0, 5, 5)
    );
    let whole = roomy["tokens"].as_u64().expect("tokens") as usize;
    let check = |window_tokens: usize, sources: &[&str]| {
        let ran = window(&world, window_tokens);
        assert_eq!(ran.exit, 0, "{window_tokens}: {ran:?}");
        let window = ran.json();
        assert!(window["tokens"].as_u64().expect("tokens") as usize <= window_tokens);
        assert_eq!(column(&window["cuts"], "source"), sources, "{window_tokens}");
        assert_eq!(count(&window, "ship on mondays only, and never without a second pair of eyes"), 1);
        assert_eq!(count(&window, "You keep the gateway running."), 1);
        window
    };
    let first = check(whole - 50, &["turns"]);
    assert_eq!((first["cuts"][0]["touched"].as_u64(), count(&first, "Summary of the first 10 turns")), (Some(10), 1));
    assert!(first["cuts"][0]["tokens_removed"].as_u64() >= Some(50));
    let turned = first["tokens"].as_u64().expect("tokens") as usize;
    let second = check(turned - 1, &["turns", "memories"]);
    assert_eq!(count(&second, "store: workspace_runbooks"), 3);
    let third = check(second["tokens"].as_u64().expect("tokens") as usize - 1, &["turns", "memories", "knowledge"]);
    assert_eq!(count(&third, "store: knowledge_base"), 2);
    let last = check(2_200, &["turns", "memories", "knowledge", "tool_results", "turns"]);
    assert!(count(&last, "turn 29:") == 1 && count(&last, "[cut]") == 3, "{last}");
    let events = world.json("events --limit 1000 --name memory.context.truncated", &[]);
    let payload = &rows(&events["events"]).last().expect("told")["payload"];
    assert!(payload["tokens_removed"].as_u64() > Some(0) && payload["source"] == "turns", "{payload}");
}

#[test]
fn fact_21_what_is_never_cut_and_does_not_fit_is_an_error() {
    let world = world();
    let ran = window(&world, 40);
    assert_eq!((ran.exit, text(&ran.json()["code"])), (2, "context.too_large".to_owned()));
}

#[test]
fn a_summary_is_the_same_each_time() {
    let world = world();
    let summary = || {
        let window = window(&world, 4_000).json();
        let found = rows(&window["messages"]).iter().find(|message| text(&message["content"]).starts_with("Summary"));
        text(&found.expect("a summary")["content"])
    };
    assert_eq!(summary(), summary());
}

#[test]
fn files_that_begin_with_the_mark_of_their_encoding_are_read() {
    let world = World::new();
    let file = world.home().join("window.json");
    std::fs::write(&file, "\u{feff}{\"window_tokens\": 4000, \"message\": \"hello\"}").expect("written");
    world.json(&format!("context {AGENT} --window {}", file.display()), &[]);
    let turns = world.home().join("turns.jsonl");
    std::fs::write(&turns, "\u{feff}{\"role\": \"user\", \"content\": \"hello there\"}\n").expect("written");
    let saved = world.json(&format!("episodes add --session s1 {AGENT} --turns {}", turns.display()), &[]);
    assert_eq!(saved["saved"], 1, "{saved}");
}
