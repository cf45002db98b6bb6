//! What comes first and why: fact 11.

use serde_json::Value;

use crate::world::{World, column, rows, text};

fn part(hit: &Value, name: &str) -> f64 {
    hit["parts"][name].as_f64().unwrap_or_else(|| panic!("no part {name}: {hit}"))
}

#[test]
fn fact_11_equal_text_is_ordered_by_trust() {
    let world = World::new();
    let words = "the mailer needs a warm cache";
    let same = "--kind runbook --path p/mailer";
    world.json(&format!("remember --as agent:a --conversation c1 --evidence x {same}"), &[words]);
    world.json(&format!("remember --as user:ann --store user_memory {same}"), &[words]);
    world.json(&format!("remember --store workspace_runbooks {same}"), &[words]);
    let answer = world.json("search mailer warm cache", &[]);
    assert_eq!(column(&answer["hits"], "trust")[..3], ["admin_approved", "user_authored", "agent_draft"]);
}

#[test]
fn fact_11_recency_halves_every_thirty_days() {
    let world = World::new();
    world.json("remember --store workspace_runbooks --kind runbook --path p/queue", &["the queue drains at night"]);
    let check = |now: &str, recency: f64| {
        let answer = world.at(now).json("search queue drains", &[]);
        assert!((part(&answer["hits"][0], "recency") - recency).abs() < 1e-6, "{now}: {answer}");
    };
    check("2026-03-01T12:00:00Z", 1.0);
    check("2026-03-31T12:00:00Z", 0.5);
    check("2026-04-30T12:00:00Z", 0.25);
    // A memory from the future, as after a clock that was set back.
    check("2026-02-01T12:00:00Z", 1.0);
}

#[test]
fn fact_11_a_score_is_the_weighted_sum_of_its_parts() {
    let world = World::new();
    world.json(
        "remember --as agent:a --conversation c1 --evidence x --kind incident_lesson",
        &["deployment/web -n prod crashed because its probe was too strict"],
    );
    world
        .json("remember --store workspace_runbooks --kind runbook --path r/web", &["restart web after a failed probe"]);
    let answer = world.at("2026-03-09T00:00:00Z").json("search", &["why did deployment/web -n prod crash"]);
    assert!(rows(&answer["hits"]).len() >= 2, "{answer}");
    for hit in rows(&answer["hits"]) {
        let sum = 0.45 * part(hit, "text")
            + 0.20 * part(hit, "trust")
            + 0.15 * part(hit, "entity")
            + 0.10 * part(hit, "kind")
            + 0.10 * part(hit, "recency");
        assert!((hit["score"].as_f64().expect("a score") - sum).abs() < 1e-4, "{hit}");
    }
}

#[test]
fn explain_gives_the_reason_for_hits_and_misses() {
    let world = World::new();
    let save = |path: &str, content: &str| {
        let line = format!("remember --store workspace_runbooks --kind runbook --path {path}");
        text(&world.json(&line, &[content])["id"])
    };
    let found = save("r/tls", "renew the tls certificate of the edge proxy");
    let other = save("r/cake", "the cafeteria bakes on fridays");
    let gone = save("r/old", "the old tls certificate lives in a vault");
    world.json("forget r/old", &[]);
    let reason = |id: &str| {
        let answer = world.json("search tls certificate --words-only", &[&format!("--explain={id}")]);
        (answer["explain"]["returned"].as_bool().expect("a verdict"), text(&answer["explain"]["reason"]))
    };
    assert_eq!(reason(&found), (true, "returned at rank 1".to_owned()));
    assert!(!reason(&other).0 && reason(&other).1.contains("shares no word"), "{:?}", reason(&other));
    assert!(!reason(&gone).0 && reason(&gone).1.contains("tombstoned"), "{:?}", reason(&gone));
    let told = world.run("search --explain", &[&found, "tls", "certificate"]);
    assert!(told.stdout.contains('█') && told.stdout.contains("returned at rank 1"), "{told:?}");
}

#[test]
fn filters_narrow_what_is_found() {
    let world = World::new();
    let save = |path: &str, more: &[&str]| {
        let line = format!("remember --store workspace_runbooks --path {path}");
        world.json(&line, &[more, &["backups run every night"]].concat());
    };
    save("db/backup", &["--kind", "runbook", "--tag", "db", "--tag", "nightly"]);
    save("web/backup", &["--kind", "service_context", "--tag", "web"]);
    world.at("2026-03-20T00:00:00Z");
    save("new/backup", &["--kind", "runbook"]);
    let found = |flags: &str| {
        let mut paths = column(
            &world.json(&format!("search backups night --store workspace_runbooks {flags}"), &[])["hits"],
            "path",
        );
        paths.sort();
        paths
    };
    assert_eq!(found(""), ["db/backup", "new/backup", "web/backup"]);
    assert_eq!(found("--kind runbook"), ["db/backup", "new/backup"]);
    assert_eq!(found("--tag db --tag nightly"), ["db/backup"]);
    assert_eq!(found("--prefix web/"), ["web/backup"]);
    assert_eq!(found("--since 7d"), ["new/backup"]);
    assert_eq!(found("--until 2026-03-10"), ["db/backup", "web/backup"]);
    assert_eq!(found("--layer procedural --prefix db"), ["db/backup"]);
    assert!(found("--state archived").is_empty() && found("--scope user").is_empty() && found("--tag d").is_empty());
    assert_eq!(found("--trust admin_approved --limit 1").len(), 1);
}

#[test]
fn search_reads_many_languages() {
    let world = World::new();
    let check = |path: &str, content: &str, query: &str| {
        world.json(&format!("remember --path {path}"), &[content]);
        let answer = world.json("search --words-only", &[query]);
        assert_eq!(text(&answer["hits"][0]["path"]), path, "{query}: {answer}");
    };
    check("zh", "数据库连接池在高峰期耗尽", "连接池耗尽");
    check("ja", "本番のデータベースを再起動しました", "データベース 再起動");
    check("de", "Die Datenbankverbindung bricht nachts ab", "Datenbank Verbindung");
    check("en", "the pods were restarting because probes failed", "pod restarts after a failing probe");
}

#[test]
fn memories_of_the_time_in_the_query_come_first() {
    let world = World::new();
    let days = ["2024-11-20", "2025-05-14", "2025-10-20", "2026-01-14", "2026-02-18", "2026-02-24", "2026-02-28"];
    for day in days {
        let save = format!("remember --store workspace_runbooks --kind runbook --path p/{day}");
        world.at(&format!("{day}T10:00:00Z")).json(&save, &["outage of the payment gateway"]);
    }
    // A Sunday.
    let world = world.at("2026-03-01T12:00:00Z");
    let first = |query: &str| {
        let answer = world.json("search --store workspace_runbooks", &[query]);
        column(&answer["hits"], "path").first().map(|path| path.trim_start_matches("p/").to_owned()).unwrap_or_default()
    };
    for (time, day) in [
        ("in May", "2025-05-14"),
        ("in October", "2025-10-20"),
        ("in 2024", "2024-11-20"),
        ("last week", "2026-02-18"),
        ("last Tuesday", "2026-02-24"),
        ("yesterday", "2026-02-28"),
        ("two weeks ago", "2026-02-18"),
        ("on 2025-10-20", "2025-10-20"),
        ("in 2026-01", "2026-01-14"),
        ("", "2026-02-28"),
    ] {
        assert_eq!(first(&format!("payment gateway outage {time}")), day, "{time}");
        // Nothing but a time asks for what is of it.
        if !time.is_empty() {
            assert_eq!(first(&format!("what happened {time}?")), day, "{time} alone");
        }
    }
}

#[test]
fn explain_agrees_with_the_hits_on_forgotten_and_expired_memories() {
    let world = World::new();
    let kept =
        |line: &str, words: &str| text(&world.json(&format!("remember --conversation c1 {line}"), &[words])["id"]);
    let forgotten = kept("--path s/a", "the kafka broker was drained");
    let expired = kept("--path s/b --expires 2026-03-02T00:00:00Z", "kafka broker partition count");
    world.json("forget --may-return --conversation c1", &[&forgotten]);
    world.at("2026-03-03T00:00:00Z");
    let check = |states: &str, id: &str, hits: &[&str], reason: &str| {
        let line = format!("search --conversation c1 {states} --explain={id}");
        let answer = world.json(&line, &["kafka broker"]);
        assert_eq!(column(&answer["hits"], "path"), hits, "{states}: {answer}");
        let said = text(&answer["explain"]["reason"]);
        assert!(said.contains(reason), "{states}: {said}");
    };
    check("--state all", &forgotten, &["s/b"], "it was forgotten");
    check("--state all", &expired, &["s/b"], "returned at rank 1");
    check("--state active --state archived", &expired, &["s/b"], "returned at rank 1");
    check("--state active", &expired, &[], "it has expired");
    check("", &expired, &[], "it has expired");
}
