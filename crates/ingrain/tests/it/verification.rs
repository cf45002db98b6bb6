//! `verify`, `repair` and `doctor --deep` on databases that were changed behind the program's back.

use std::path::Path;

use crate::serving::Serving;
use crate::world::{World, column, rows, text};

/// Runs SQL past the triggers. Returns the number of changed rows.
fn tamper(world: &World, sql: &str) -> usize {
    let conn = rusqlite::Connection::open(world.database()).expect("opens");
    let triggers: Vec<String> = conn
        .prepare("select 'drop trigger ' || name from sqlite_schema where type = 'trigger'")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .expect("lists");
    conn.execute_batch(&triggers.join(";")).expect("drops");
    conn.execute(sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn filled() -> World {
    let world = World::on_file();
    world.json("remember --store workspace_runbooks --path pump/open --kind runbook", &["open the pump slowly"]);
    world.json("remember --store workspace_runbooks --path pump/close --kind runbook", &["close the pump at night"]);
    world
}

const RAISE: &str = "update memories set trust = 'agent_draft' where path = 'pump/open'";

#[test]
fn a_repair_shows_what_it_would_do_then_does_it_and_the_log_says_so() {
    let world = filled();
    assert_eq!(world.json("repair", &[])["memories"], 0);
    assert!(world.run("repair", &[]).stdout.contains("nothing to rebuild"));
    assert_eq!(tamper(&world, RAISE), 1);
    assert_eq!(column(&world.fails(1, "verify", &[])["findings"], "code"), ["live_row_differs"]);
    let shown = world.run("repair --dry-run", &[]);
    assert_eq!(shown.exit, 0, "{shown:?}");
    for part in ["workspace_runbooks/pump/open", "trust", "would rebuild 1 memory", "nothing was written"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    world.fails(1, "verify", &[]);
    let repair = world.json("repair", &[]);
    assert_eq!((&repair["memories"], &repair["dry_run"]), (&1.into(), &false.into()));
    assert_eq!(repair["after"]["findings"], serde_json::json!([]));
    world.json("verify", &[]);
    assert!(world.events().contains(&"log.repaired".to_owned()));
    let found = world.json("search", &["open pump slowly"]);
    assert!(found.to_string().contains("pump/open"), "{found}");
}

#[test]
fn a_repair_refuses_where_versions_are_damaged_and_names_them() {
    let world = filled();
    assert_eq!(tamper(&world, "update versions set content = 'rm -rf' where content like 'open%'"), 1);
    assert_eq!(tamper(&world, RAISE), 1);
    let refused = world.fails(2, "repair", &[]);
    assert_eq!(refused["code"], "conflict.unrepairable");
    assert!(refused.to_string().contains("pump/open"), "{refused}");
}

fn checkpoint_lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

#[test]
fn checkpoints_in_a_file_prove_that_the_log_goes_on_and_notice_an_old_file() {
    let world = filled();
    let file = world.home().join("checkpoints");
    let arguments = ["--checkpoint", file.to_str().expect("a path")];
    let first = world.json("verify", &arguments);
    assert_eq!((&first["checkpoints"]["proven"], checkpoint_lines(&file)), (&0.into(), 1));
    let old = std::fs::read(world.database()).expect("reads");
    world.json("remember", &["the valve is open"]);
    let second = world.json("verify", &arguments);
    assert_eq!((&second["checkpoints"]["proven"], checkpoint_lines(&file)), (&1.into(), 2));
    assert!(world.run("verify --checkpoint", &[]).stdout.contains("\"mac\""), "printed where no file is named");
    std::fs::write(world.database(), old).expect("puts the old file back");
    for name in ["ingrain.db-wal", "ingrain.db-shm"] {
        let _ = std::fs::remove_file(world.home().join(name));
    }
    let lost = world.run("verify", &[]);
    assert!(lost.exit == 1 && lost.stdout.contains("verify --accept-restored"), "{lost:?}");
    assert!(world.run("doctor --deep", &[]).stdout.contains("it was written, and the log ends"));
    assert_eq!(world.json("verify --accept-restored", &[])["verdict"], "intact");
    let lost = world.fails(1, "verify", &arguments);
    let why = text(&lost["checkpoints"]["contradictions"][0]);
    assert!(why.contains("lost") || why.contains("replaced"), "{why}");
    assert_eq!(checkpoint_lines(&file), 2, "no checkpoint of a log that contradicts others");
}

#[test]
fn what_an_older_program_wrote_is_adopted_once() {
    let world = filled();
    assert_eq!(world.json("verify --adopt", &[])["adopted"], 0);
    let covered = world.json("verify", &[])["checked"].clone();
    let conn = rusqlite::Connection::open(world.database()).expect("opens");
    let entries: Vec<(u64, String)> = conn
        .prepare("select seq, happening from events order by seq")
        .and_then(|mut found| found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .expect("reads");
    let mut hash = String::new();
    for (seq, body) in entries {
        hash = engine::model::event::chain_hash(&hash, seq, &body, None);
        let sql = format!("update events set digests = null, hash = '{hash}' where seq = {seq}");
        assert_eq!(tamper(&world, &sql), 1);
    }
    assert_eq!(tamper(&world, &format!("update heads set event_hash = '{hash}'")), 1);
    // Removed digests are damage, unless the database says that it is so old.
    assert_eq!(world.fails(1, "verify", &[])["verdict"], "damaged");
    assert_eq!(tamper(&world, "update heads set covered_from = event_seq + 1"), 1);
    std::fs::remove_file(world.home().join("ingrain.db-position")).expect("removes");
    let before = world.json("verify", &[]);
    let uncovered = before["uncovered"].as_u64().expect("a number");
    assert_eq!(uncovered, covered["versions"].as_u64().unwrap() + covered["records"].as_u64().unwrap());
    assert!(world.run("doctor --deep", &[]).stdout.contains("verify --adopt"));
    let adopted = world.json("verify --adopt", &[]);
    assert_eq!((adopted["adopted"].as_u64(), &adopted["uncovered"]), (Some(uncovered), &0.into()));
    assert_eq!(world.json("verify --adopt", &[])["adopted"], 0);
    let adoptions = world.events().iter().filter(|name| *name == "log.adopted").count();
    assert_eq!(adoptions, 1, "only once");
}

fn check_of(report: &serde_json::Value, name: &str) -> (String, String) {
    let check = rows(&report["checks"]).iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no check `{name}`: {report}"));
    (text(&check["verdict"]), text(&check["detail"]))
}

#[test]
fn a_server_says_which_rows_are_damaged() {
    let world = filled();
    assert_eq!(tamper(&world, RAISE), 1);
    let serving = Serving::start(&world);
    let (status, _, body) = serving.ask("GET", "/v1/verify", "");
    let verified: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &verified["verdict"]), (200, &"damaged".into()), "{body}");
    let finding = &verified["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["name"]),
        (&"live_row_differs".into(), &"workspace_runbooks/pump/open".into())
    );
}

#[test]
fn a_deep_check_says_which_rows_are_damaged() {
    let world = filled();
    let good = world.json("doctor --deep", &[]);
    for name in ["data", "pages"] {
        assert_eq!(check_of(&good, name).0, "good", "{good}");
    }
    assert_eq!(tamper(&world, RAISE), 1);
    assert_eq!(world.json("doctor", &[])["status"], "good", "the pages are well");
    let (verdict, detail) = check_of(&world.fails(1, "doctor --deep", &[]), "data");
    assert_eq!(verdict, "failed");
    assert!(detail.contains("workspace_runbooks/pump/open") && detail.contains("trust"), "{detail}");
}

/// An index that does not hold what its table does: only a deep check compares them.
#[test]
fn a_deep_check_compares_indexes_with_their_tables() {
    let world = filled();
    let conn = rusqlite::Connection::open(world.database()).expect("opens");
    conn.execute_batch(
        "pragma writable_schema = on;
         create table kept as select sql from sqlite_schema where name = 'memories_by_time';
         update sqlite_schema set sql = replace(sql, 'updated_at, id)', 'number, id)')
         where name = 'memories_by_time';",
    )
    .expect("changes the schema");
    drop(conn);
    let conn = rusqlite::Connection::open(world.database()).expect("opens");
    conn.execute_batch("reindex memories_by_time").expect("fills the index with another column");
    conn.execute_batch(
        "pragma writable_schema = on;
         update sqlite_schema set sql = (select sql from kept) where name = 'memories_by_time';
         drop table kept;",
    )
    .expect("changes it back");
    drop(conn);
    assert_eq!(check_of(&world.json("doctor", &[]), "pages").0, "good");
    let (verdict, detail) = check_of(&world.fails(1, "doctor --deep", &[]), "pages");
    assert_eq!(verdict, "failed");
    assert!(detail.contains("memories_by_time"), "{detail}");
}
