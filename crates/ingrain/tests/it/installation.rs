//! The installation itself: set up, checked, and a file taken away under a server.

use std::io::{Seek, SeekFrom, Write};

use crate::serving::Serving;
use crate::world::{World, rows, text};

#[test]
fn init_creates_the_home_once_and_then_changes_nothing() {
    let world = World::new();
    let made = world.json("init", &[]);
    assert_eq!(text(&made["status"]), "created");
    assert_eq!(text(&made["next"]), "ingrain connect", "{made}");
    let printed = world.run("connect --print", &[]).json();
    let entry = &printed["mcpServers"]["ingrain"];
    assert_eq!((&entry["args"][0], &entry["args"][1]), (&"mcp".into(), &"--home".into()), "{printed}");
    assert_eq!(entry["args"][2], *world.home().to_string_lossy(), "{printed}");
    let config = world.home().join("config.toml");
    let comments = std::fs::read_to_string(&config).expect("a config");
    assert!(comments.lines().all(|line| line.is_empty() || line.starts_with('#')), "{comments}");
    // Every line that is shown is one that works.
    let live: String = comments
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.contains(" = ") && !line.starts_with("db") || line.starts_with('['))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&config, &live).expect("written");
    world.json("list", &[]);
    assert_eq!(text(&world.json("init", &[])["status"]), "unchanged");
    assert_eq!(std::fs::read_to_string(&config).expect("a config"), live, "settings are never touched");
    let told = world.run("init", &[]).stdout;
    assert!(
        told.contains("next:") && told.contains("ingrain connect") && told.contains("exists, not changed"),
        "{told}"
    );
}

#[test]
fn doctor_finds_damaged_pages() {
    let world = World::on_file();
    for number in 0..40 {
        world.json(
            &format!("remember --store workspace_runbooks --kind runbook --path a/{number}"),
            &[&"long words ".repeat(400)],
        );
    }
    let pages = |report: &serde_json::Value| {
        rows(&report["checks"]).iter().find(|check| check["name"] == "pages").map(|check| text(&check["verdict"]))
    };
    assert_eq!(pages(&world.json("doctor", &[])).as_deref(), Some("good"));
    let file = world.database();
    let length = std::fs::metadata(&file).expect("a file").len();
    let mut damaged = std::fs::OpenOptions::new().write(true).open(&file).expect("opens");
    damaged
        .seek(SeekFrom::Start(length - 6 * 4_096))
        .and_then(|_| damaged.write_all(&[0xa5; 5 * 4_096]))
        .expect("written");
    let report = world.fails(1, "doctor", &[]);
    let failed = rows(&report["checks"])
        .iter()
        .any(|check| check["verdict"] == "failed" && text(&check["detail"]).contains("store.corrupt"));
    assert!(failed, "{report}");
}

#[test]
fn a_server_notices_that_its_database_file_was_removed() {
    let world = World::on_file();
    let serving = Serving::start(&world);
    assert_eq!((serving.ask("GET", "/readyz", "").0, serving.save("a").0), (200, 201));
    std::fs::rename(world.database(), world.home().join("moved.db")).expect("moved");
    for ask in [serving.ask("GET", "/readyz", ""), serving.save("b")] {
        assert!(ask.0 == 503 && ask.2.contains("store.gone") && ask.2.contains("restart the server"), "{ask:?}");
    }
    // Another file at its place is not it.
    std::fs::copy(world.home().join("moved.db"), world.database()).expect("copied");
    assert_eq!((serving.ask("GET", "/readyz", "").0, serving.save("c").0), (503, 503));
    std::fs::rename(world.home().join("moved.db"), world.database()).expect("moved back");
    assert_eq!((serving.ask("GET", "/readyz", "").0, serving.save("d").0), (200, 201));
}

#[test]
fn a_server_notices_that_its_database_file_was_truncated() {
    let world = World::on_file();
    // What a process leaves is in the file, not in its log.
    world.json("remember", &["the first word"]);
    let serving = Serving::start(&world);
    assert_eq!((serving.ask("GET", "/readyz", "").0, serving.save("a").0), (200, 201));
    for length in [8_192, 0] {
        let file = std::fs::OpenOptions::new().write(true).open(world.database()).expect("opens");
        file.set_len(length).expect("cut");
        for (status, ask) in [(503, serving.ask("GET", "/readyz", "")), (500, serving.save("b"))] {
            assert!(ask.0 == status && ask.2.contains("store.corrupt"), "{length}: {ask:?}");
        }
    }
}

#[test]
fn doctor_reports_an_empty_file_and_does_not_change_it() {
    let world = World::on_file();
    std::fs::write(world.database(), "").expect("written");
    let report = world.fails(1, "doctor", &[]);
    let said = rows(&report["checks"]).iter().find(|check| check["name"] == "database").expect("a check");
    assert!(text(&said["detail"]).contains("is empty [store.empty]"), "{report}");
    assert_eq!(std::fs::metadata(world.database()).expect("a file").len(), 0);
    // A new database may begin in it all the same.
    world.json("list", &[]);
    assert_eq!(text(&world.json("doctor", &[])["status"]), "good");
}

#[test]
fn an_empty_file_with_a_write_ahead_log_is_not_opened() {
    let world = World::on_file();
    world.json("remember", &["the crane is green"]);
    std::fs::write(world.database(), "").expect("emptied");
    let log = world.home().join("ingrain.db-wal");
    std::fs::write(&log, "what a process that was killed left").expect("written");
    for line in ["list", "remember crane", "events"] {
        let failed = world.fails(1, line, &[]);
        assert_eq!(text(&failed["code"]), "store.corrupt", "{line}");
        assert!(text(&failed["error"]).contains("is empty, but its log"), "{failed}");
        assert!(text(&failed["hint"]).contains("restore a backup"), "{failed}");
    }
    assert_eq!(std::fs::metadata(world.database()).expect("a file").len(), 0);
    assert!(std::fs::metadata(&log).expect("a log").len() > 0);
    // An empty file alone is a place to begin.
    std::fs::remove_file(&log).expect("removed");
    world.json("list", &[]);
}

#[test]
fn hints_do_not_point_back_to_the_failing_command() {
    let world = World::new().configured("bogus = 1\n");
    for line in ["config show", "doctor"] {
        let failed = world.fails(2, line, &[]);
        assert!(text(&failed["hint"]).contains("--config /dev/null"), "{line}: {failed}");
        assert!(text(&failed["error"]).contains("config.toml: unknown field `bogus`"), "{line}: {failed}");
    }
    let shown = world.run("--config /dev/null config show", &[]);
    assert!(shown.exit == 0 && shown.stdout.contains("limits.list_max"), "{shown:?}");
    let nowhere = World::on_file();
    let report = nowhere.fails(1, "doctor --db /proc/none/x.db", &[]).to_string();
    assert!(!report.contains("ingrain doctor") && !report.contains("config show"), "{report}");
}

#[test]
fn the_readme_matches_the_output_of_the_program() {
    let world = World::new();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).expect("the README");
    let plain = |text: &str| -> Vec<String> {
        // Ids, hashes and days are each run's own.
        let same = |word: &str| match word.len() >= 10
            && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == '…')
        {
            true => "ID".to_owned(),
            false => word.to_owned(),
        };
        text.lines().map(|line| line.split_whitespace().map(same).collect::<Vec<_>>().join(" ")).collect()
    };
    let saved = world.run(
        "remember --as agent:triage --conversation c1 --path notes/nginx --evidence",
        &["tool call 17", "nginx crashlooped: configmap nginx-conf had a bad upstream"],
    );
    let found = world.run("search --as agent:triage --conversation c1 --explain", &["why did nginx crash"]);
    let shown = plain(&readme);
    for line in plain(&saved.stdout).iter().chain(plain(&found.stdout).iter().take(6)) {
        assert!(shown.contains(line), "the README lacks `{line}`");
    }
}
