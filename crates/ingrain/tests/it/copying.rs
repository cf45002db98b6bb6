//! `copy` as an operator uses it: from a file to a server and back, and what it says when it cannot.

use crate::postgres::{APP, Database, server};
use crate::world::{World, column, rows, text};

fn filled() -> World {
    let world = World::on_file();
    world.json("remember --path notes/port", &["the port is 8080"]);
    let saved = world.json("remember --path notes/gone", &["a line to forget"]);
    world.json("remember --path notes/port", &["the port is 9090"]);
    world.json("forget", &[&text(&saved["id"])]);
    world.json("tenant create other", &[]);
    world.json("--tenant other remember --path notes/theirs", &["the other tenant's line"]);
    world
}

fn searched(world: &World, db: &str) -> String {
    let found = world.json("search --explain", &["which port", "--db", db]);
    format!(
        "{:?}",
        rows(&found["hits"]).iter().map(|hit| (&hit["path"], &hit["score"], &hit["parts"])).collect::<Vec<_>>()
    )
}

fn exported(world: &World, db: &str) -> String {
    let file = world.home().join("export.jsonl");
    let name = file.to_str().expect("plain");
    world.json("export --output", &[name, "--db", db]);
    std::fs::read_to_string(&file).expect("an export")
}

#[test]
fn a_database_is_copied_to_another_file_and_back() {
    let world = filled();
    let there = world.home().join("there.db").display().to_string();
    moves_there_and_back(&world, &there);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_database_is_copied_to_postgres_and_back() {
    let database = Database::fresh(&server());
    moves_there_and_back(&filled(), &database.url(APP));
}

fn moves_there_and_back(world: &World, there: &str) {
    let file = world.database().display().to_string();
    let back = world.home().join("back.db").display().to_string();
    for (from, to) in [(file.as_str(), there), (there, back.as_str())] {
        let copied = world.json("copy --from", &[from, "--to", to]);
        assert_eq!((copied["equal"].as_bool(), copied["tenants"].as_u64()), (Some(true), Some(2)), "{copied}");
        let again = world.json("copy --from", &[from, "--to", to]);
        assert_eq!((again["equal"].as_bool(), again["written"].as_u64()), (Some(true), Some(0)), "{again}");
    }
    let log = |db: &str| world.json("events --limit 1000", &["--db", db])["events"].clone();
    assert_eq!((log(&file), log(&file)), (log(there), log(&back)));
    // Each is asked the same once: a search leaves its own entry in the log.
    let look = |db: &str| (world.json("verify", &["--db", db]), exported(world, db), searched(world, db));
    let was = look(&file);
    assert_eq!(look(there), was);
    assert_eq!(look(&back), was);
}

#[test]
fn copy_reports_errors_in_source_and_target() {
    let world = filled();
    let file = world.database().display().to_string();
    let missing = world.home().join("missing.db").display().to_string();
    let other = world.home().join("other.db").display().to_string();
    world.json("remember --path notes/mine", &["somebody lives here", "--db", &other]);
    assert_eq!(world.code(2, "copy --from", &[&file, "--to", &other]), "copy.occupied");
    assert_eq!(world.code(2, "copy --from", &[&file, "--to", &format!("sqlite:{file}")]), "copy.same");
    assert_eq!(world.code(1, "copy --from", &[&missing, "--to", &other]), "store.unavailable");
    assert_eq!(world.code(2, "copy --from", &[&file, "--to", "mysql://there"]), "config.db");
    let target = world.home().join("target.db");
    let to = target.display().to_string();
    let told = world.run("copy --from", &[&file, "--to", &to]);
    assert!(told.exit == 0 && told.stdout.contains("the databases are equal") && told.stderr.is_empty(), "{told:?}");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn copy_reports_errors_of_a_postgres_target() {
    let (world, server) = (filled(), server());
    let file = world.database().display().to_string();
    // A server that nobody prepared says what to do.
    let database = Database::empty(&server);
    let unprepared = world.fails(1, "copy --from", &[&file, "--to", &database.url(APP)]);
    assert!(text(&unprepared["error"]).contains("ingrain migrate"), "{unprepared}");
    // Somebody changed the copy: the table is named, and the exit code says so.
    let database = Database::fresh(&server);
    world.json("copy --from", &[&file, "--to", &database.url(APP)]);
    database.ask("update ingrain.memories set importance = 0.25");
    let different = world.fails(1, "copy --from", &[&file, "--to", &database.url(APP)]);
    let tables = rows(&different["tables"]).iter().filter(|table| table["equal"] == false);
    assert_eq!(tables.map(|table| text(&table["table"])).collect::<Vec<_>>(), ["memories"]);
    assert!(column(&different["tables"], "table").contains(&"events".to_owned()));
}
