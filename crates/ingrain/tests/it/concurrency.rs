//! Many processes on one database: fact 9, first starts, upkeep, waiting instead of failing.

use std::process::Child;

use crate::world::{Ran, World, column, finished, rows, text};

fn all_at_once(commands: impl IntoIterator<Item = Child>) -> Vec<Ran> {
    let running: Vec<Child> = commands.into_iter().collect();
    running.into_iter().map(finished).collect()
}

#[test]
fn fact_09_a_stale_patch_is_a_conflict_and_changes_nothing() {
    let world = World::new();
    let saved = world.json("remember --path notes/port", &["the port is 80"]);
    let (id, old) = (text(&saved["id"]), text(&saved["sha256"]));
    let long = format!("the port is 8080 {}", "x".repeat(300));
    world.json("patch", &[&id, "--expect", &old, &long]);
    let conflict = world.fails(2, "patch", &[&id, "--expect", &old, "the port is 81"]);
    let now = world.json("read", &[&id]);
    assert_eq!(text(&conflict["code"]), "conflict.sha256");
    assert_eq!(conflict["current"]["sha256"], now["sha256"]);
    assert_eq!(text(&conflict["current"]["excerpt"]), long[..200]);
    assert_eq!(text(&now["content"]), long);
    assert_eq!(world.code(2, "remember --path notes/port --expect", &[&old, "x"]), "conflict.sha256");
    assert_eq!(rows(&world.json("history", &[&id])["versions"]).len(), 2);
}

#[test]
fn fact_09_one_of_64_concurrent_patches_wins() {
    let world = World::new();
    let saved = world.json("remember --path notes/race", &["who is first?"]);
    let (id, sha256) = (text(&saved["id"]), text(&saved["sha256"]));
    let patcher = |number: usize| {
        let content = format!("number {number}");
        world.command("patch --json", &[&id, "--expect", &sha256, &content]).spawn().expect("starts")
    };
    let ran = all_at_once((0..64).map(patcher));
    let (won, lost): (Vec<&Ran>, Vec<&Ran>) = ran.iter().partition(|ran| ran.exit == 0);
    assert_eq!(won.len(), 1, "{ran:?}");
    for ran in lost {
        assert_eq!((ran.exit, text(&ran.json()["code"])), (2, "conflict.sha256".to_owned()), "{ran:?}");
    }
    let versions = world.json("history", &[&id])["versions"].clone();
    assert_eq!(column(&versions, "operation"), ["patch", "create"]);
    let numbers: Vec<Option<u64>> = rows(&versions).iter().map(|version| version["number"].as_u64()).collect();
    assert_eq!(numbers, [Some(2), Some(1)]);
}

#[test]
fn concurrent_first_starts_seed_once() {
    let world = World::new();
    let save = |number: usize| {
        let path = format!("p/{number}");
        world.command("remember --json", &["--path", &path, "a first word"]).spawn().expect("starts")
    };
    for ran in all_at_once((0..12).map(save)) {
        assert_eq!(ran.exit, 0, "{ran:?}");
    }
    assert_eq!(rows(&world.json("list --prefix p/", &[])["memories"]).len(), 12);
    assert_eq!(rows(&world.json("list --store workspace_conventions", &[])["memories"]).len(), 4);
    assert!(world.json("verify", &[])["broken"].is_null());
}

#[test]
fn equal_lessons_saved_concurrently_are_one_memory() {
    let world = World::new();
    world.json("pipeline enable nightly --agent builder", &[]);
    let line = "remember --json --as agent:builder --pipeline nightly --store lessons";
    let ran = all_at_once((0..12).map(|_| world.command(line, &["warm the cache first"]).spawn().expect("starts")));
    let mut ids: Vec<String> = ran.iter().map(|ran| text(&ran.json()["id"])).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ran:?}");
}

#[test]
fn concurrent_upkeep_processes_do_each_task_once() {
    // Saved while there were no vectors, and half of it for a day only.
    let world = World::with_config("[embeddings]\nmodel = 'none'\n");
    for number in 0..20 {
        let until = if number < 10 { "--expires 2026-03-02T00:00:00Z" } else { "" };
        world.json(&format!("remember --path p/{number} {until}"), &[&format!("line number {number}")]);
    }
    std::fs::write(world.home().join("config.toml"), "").expect("config.toml is written");
    world.at("2026-03-03T00:00:00Z");
    let ran = all_at_once((0..6).map(|_| world.command("upkeep --json", &[]).spawn().expect("starts")));
    let sum = |field: &str| ran.iter().map(|ran| ran.json()[field].as_u64().unwrap_or_default()).sum::<u64>();
    let seeds = 4;
    assert_eq!((sum("expired"), sum("embedded")), (10, 10 + seeds), "{ran:?}");
    let expired = world.events().into_iter().filter(|name| name == "memory.expired").count();
    assert_eq!(expired, 10);
    let again = world.json("upkeep", &[]);
    assert_eq!((again["expired"].as_u64(), again["embedded"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn verify_finds_the_log_intact_and_is_for_admins_only() {
    let world = World::new();
    world.json("remember --path a", &["one"]);
    let verified = world.json("verify", &[]);
    assert!(verified["broken"].is_null() && verified["entries"].as_u64() > Some(7), "{verified}");
    assert_eq!(world.code(3, "verify --as agent:a", &[]), "policy.admins_only");
}

#[test]
fn a_file_locked_by_another_process_is_reported_after_the_wait() {
    let world = World::on_file();
    world.json("remember", &["the first word"]);
    let other = rusqlite::Connection::open(world.database()).expect("opens");
    other.execute_batch("begin immediate").expect("locks");
    let mut command = world.command("--json remember", &["another word"]);
    let ran = finished(command.env("INGRAIN_SQLITE_WAIT_MS", "20").spawn().expect("starts"));
    let told = ran.json();
    assert_eq!((ran.exit, text(&told["code"])), (1, "store.busy".to_owned()), "{ran:?}");
    let file = world.database().display().to_string();
    assert_eq!(text(&told["error"]), format!("another process is writing to `{file}` and has not finished after 20ms"));
    assert!(text(&told["hint"]).contains("then repeat"), "{told}");
    // A search has its answer already; only the trace it leaves is lost, and that is told beside it.
    let mut command = world.command("--json search", &["word"]);
    let ran = finished(command.env("INGRAIN_SQLITE_WAIT_MS", "20").spawn().expect("starts"));
    let found = ran.json();
    assert!(ran.exit == 0 && found["hits"].is_array() && ran.stderr.contains("were not saved"), "{ran:?}");
    // Reading needs no lock.
    world.json("list", &[]);
    other.execute_batch("rollback").expect("lets go");
    world.json("remember", &["another word"]);
}
