//! Lessons of pipelines: facts 22 to 28.

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:builder --pipeline nightly --store lessons";

fn enabled(flags: &str) -> World {
    let world = World::new();
    world.json(&format!("pipeline enable nightly --agent builder {flags}"), &[]);
    world
}

fn save(world: &World, content: &str, more: &[&str]) -> serde_json::Value {
    world.json(&format!("remember {AGENT}"), &[more, &[content]].concat())
}

#[test]
fn fact_22_without_opt_in_there_is_no_memory() {
    let world = World::new();
    assert_eq!(world.code(3, &format!("remember {AGENT}"), &["cache the toolchain"]), "policy.pipeline_not_enabled");
    assert_eq!(world.code(3, &format!("search toolchain {AGENT}"), &[]), "policy.pipeline_not_enabled");
    world.json("pipeline enable nightly --agent builder", &[]);
    save(&world, "cache the toolchain", &[]);
    let other = "--as agent:other --pipeline nightly --store lessons";
    assert_eq!(world.code(3, &format!("remember {other}"), &["x"]), "policy.pipeline_not_enabled");
    world.json("pipeline disable nightly --agent builder", &[]);
    assert_eq!(world.code(3, &format!("search toolchain {AGENT}"), &[]), "policy.pipeline_not_enabled");
    world.json("pipeline enable nightly --agent builder", &[]);
    assert_eq!(rows(&world.json(&format!("search toolchain {AGENT}"), &[])["hits"]).len(), 1);
    assert_eq!(world.code(3, "pipeline enable nightly --agent x --as agent:x", &[]), "policy.admins_only");
}

#[test]
fn enabling_a_pipeline_again_keeps_its_limits() {
    let world = enabled("--max-recall 3 --max-content-bytes 500");
    let again = world.json("pipeline enable nightly --agent builder --max-recall 4", &[]);
    assert_eq!(
        (&again["max_recall"], &again["max_content_bytes"]),
        (&serde_json::json!(4), &serde_json::json!(500)),
        "{again}"
    );
}

#[test]
fn fact_23_the_cap_counts_bytes() {
    let world = enabled("");
    let sized =
        |bytes: usize| world.piped(&format!("remember {AGENT} --json -"), &"a b ".repeat(bytes).as_bytes()[..bytes]);
    assert_eq!(sized(4_096).exit, 0);
    let over = sized(4_097);
    assert_eq!(over.exit, 3);
    let refused = over.json();
    assert_eq!(text(&refused["code"]), "shape.too_large");
    assert!(text(&refused["error"]).contains("4096 bytes"), "{refused}");
    // 1,366 characters of three bytes each are 4,098 bytes.
    let wide = world.piped(&format!("remember {AGENT} --json -"), "語".repeat(1_366).as_bytes());
    assert_eq!((wide.exit, text(&wide.json()["code"])), (3, "shape.too_large".to_owned()));
    let tight = enabled("--max-content-bytes 10");
    assert_eq!(tight.code(3, &format!("remember {AGENT}"), &["eleven byte"]), "shape.too_large");
}

#[test]
fn fact_24_the_same_lesson_twice_is_one() {
    let world = enabled("");
    let first = save(&world, "pin the compiler", &["--tag", "rust"]);
    world.json(&format!("search compiler {AGENT}"), &[]);
    let second = save(&world, "pin the compiler", &["--tag", "other"]);
    assert_eq!((text(&second["status"]), &second["id"]), ("unchanged".to_owned(), &first["id"]));
    assert_eq!((second["deduped"].as_bool(), text(&second["deduped_by"])), (Some(true), "exact".to_owned()));
    let kept = world.json("read", &[&text(&first["id"])]);
    assert_eq!((kept["tags"][0].as_str(), kept["recall_count"].as_u64()), (Some("rust"), Some(1)));
    assert_eq!(rows(&world.json("history", &[&text(&first["id"])])["versions"]).len(), 1);
}

#[test]
fn fact_25_a_recall_is_capped() {
    let world = enabled("--max-recall 3");
    for number in 0..6 {
        save(&world, &format!("lesson number {number} about linking"), &[]);
    }
    let count = |limit: &str| rows(&world.json(&format!("search linking {AGENT} {limit}"), &[])["hits"]).len();
    for (limit, expected) in [("", 3), ("--limit 2", 2), ("--limit 50", 3), ("--limit 0", 3), ("--limit -4", 3)] {
        assert_eq!(count(limit), expected, "{limit}");
    }
    let default = enabled("");
    for number in 0..8 {
        save(&default, &format!("lesson number {number} about linking"), &[]);
    }
    assert_eq!(rows(&default.json(&format!("search linking {AGENT} --limit 50"), &[])["hits"]).len(), 5);
}

#[test]
fn fact_26_empty_queries_odd_characters_exact_tags_other_orders() {
    let world = enabled("--max-recall 10");
    for (minute, (content, tag)) in
        [("run the tests twice", "go"), ("linking is slow with debug info", "go-lang"), ("vendor the crates", "go")]
            .into_iter()
            .enumerate()
    {
        world.at(&format!("2026-03-01T12:0{minute}:00Z"));
        save(&world, content, &["--tag", tag]);
    }
    let found =
        |query: &[&str], tags: &str| column(&world.json(&format!("search {AGENT} {tags}"), query)["hits"], "content");
    assert_eq!(found(&[], ""), ["vendor the crates", "linking is slow with debug info", "run the tests twice"]);
    assert_eq!(found(&[], "--tag go"), ["vendor the crates", "run the tests twice"]);
    assert!(found(&[], "--tag go --tag go-lang").is_empty());
    for odd in ["\"", "a:b", "*", "(", ")", "NEAR(", "x\" OR \"y", "-", "'", "^", "a* AND", ":", "\\"] {
        found(&["--", odd], "");
    }
    assert_eq!(found(&["is debug info why linking gets so slow?"], "")[0], "linking is slow with debug info");
}

#[test]
fn fact_27_the_answer_counts_this_recall() {
    let world = enabled("");
    let hit = save(&world, "strip the symbols", &[]);
    let missed = save(&world, "sign the archives", &[]);
    for expected in 1..=3 {
        let answer = world.json(&format!("search strip symbols {AGENT}"), &["--words-only"]);
        assert_eq!(answer["hits"][0]["recall_count"], expected, "{answer}");
        assert_eq!(rows(&answer["hits"]).len(), 1);
    }
    let count = |id: &serde_json::Value| world.json("read", &[&text(id)])["recall_count"].as_u64();
    assert_eq!((count(&hit["id"]), count(&missed["id"])), (Some(3), Some(0)));
}

#[test]
fn fact_28_a_pipeline_made_again_recalls_nothing() {
    let world = enabled("");
    let saved = save(&world, "the quince mirror is faster", &[]);
    let deleted = world.json("pipeline delete nightly", &[]);
    assert_eq!(deleted["memories"], 1);
    world.json("pipeline enable nightly --agent builder", &[]);
    assert!(rows(&world.json(&format!("search quince mirror {AGENT}"), &[])["hits"]).is_empty());
    assert!(rows(&world.json(&format!("search {AGENT}"), &[])["hits"]).is_empty());
    assert_eq!(world.code(2, "read", &[&text(&saved["id"])]), "not_found");
    assert_eq!(world.code(2, "pipeline delete nothing", &[]), "not_found");
}
