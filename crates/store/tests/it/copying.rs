//! From one backend to another and back: everything, once, also after it broke.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use engine::model::event::{EventBody, EventName};
use engine::model::memory::Draft;
use engine::model::row::{Row, RowFilter, RowKind};
use engine::model::vocabulary::{Operation, State};
use engine::ports::change::Write;
use engine::ports::{Backend, CandidateQuery, Filter, PageRequest, SortOrder};
use engine::text::words;
use store::{
    CopyError, CopyProgress, CopyReport, CopyStage, Database, Location, SqliteOptions, copy_database, open_sqlite,
};

use crate::postgres::{APP, server};
use crate::world::*;

/// More than one batch of rows.
const MANY: usize = 300;

fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn quietly(from: &Database, to: &Database) -> Result<CopyReport, CopyError> {
    copy_database(from, to, &mut |_| {})
}

/// Two tenants with something in every table.
fn fill(backend: &dyn Backend) {
    for (number, slug) in [(1, "default"), (2, "other")] {
        let world = World::of_tenant(backend, slug, number);
        for i in 0..MANY {
            let vector = (i % 3 > 0).then(|| embedding(MODEL, &[i as f32, 1.0, -3.0, 0.5]));
            let mut draft = tagged(&["all", &format!("tag{}", i % 7)], &format!("apple pie number {i} 東京"));
            draft.title = Some(format!("Title {i}"));
            let memory = world.save(world.entry(&format!("c{}", i % 3), draft).with_embedding(vector));
            fate(&world, &memory, i);
        }
        world.commit(world.change().with_write(Write::CountRunSave { run: "r1".to_owned() }));
        for kind in RowKind::ALL.iter().filter(|kind| **kind != RowKind::Stores) {
            let body = serde_json::json!({"b": 1.0, "a": [0.5, 0.1, -2, "ü\u{1f980}"], "c": null});
            let (id, state) = (format!("{kind}-1"), "open".to_owned());
            let (subject, parent) = ("s".to_owned(), "p".to_owned());
            world.commit(world.change().with_write(Write::Row(Row {
                kind: *kind,
                id,
                state,
                subject,
                parent,
                at: world.now(),
                body,
            })));
        }
        let event = EventBody::new(EventName::AuditRecorded, &world.agent("c1"), world.now()).with_field("n", 1.5);
        world.commit(world.change().with_event(event));
    }
}

fn fate(world: &World<'_>, memory: &engine::model::memory::Memory, i: usize) {
    match i % 40 {
        0 => drop(world.save(world.revised(memory, Draft { kind: None, ..draft(&format!("cherry cake {i}")) }))),
        1 => drop(world.save(world.transition(memory, Operation::Forget, |memory| memory.state = State::Tombstoned))),
        2 => {
            drop(world.save(world.transition(memory, Operation::Constrain, |memory| memory.state = State::Constrained)))
        }
        3 => {
            world.commit(world.change().with_write(Write::Redact { memory: memory.id, versions: vec![memory.version] }))
        }
        4 => world.commit(
            world.change().with_write(Write::CountRecalls { memories: vec![memory.id], fading: vec![memory.id] }),
        ),
        _ => {}
    }
}

/// Everything a user could see, as text.
fn seen(backend: &dyn Backend, vectors: bool) -> Vec<String> {
    let mut seen = vec![format!("{:?}", backend.list_tenants().expect("lists"))];
    for tenant in backend.list_tenants().expect("lists") {
        let all = everything(tenant.id);
        let states = State::ALL.to_vec();
        let filter = Filter { states, ..Filter::default() };
        let page = PageRequest { order: SortOrder::Oldest, after: None, limit: 10_000 };
        for memory in backend.list_memories(&all, &filter, &page).expect("lists") {
            seen.push(format!("{:?}", backend.list_versions(&all, memory.id, None, 100).expect("reads")));
            seen.push(format!("{memory:?}"));
        }
        for (text, vector) in [("apple pie", [1.0, 1.0, -3.0, 0.5]), ("cake 東京", [90.0, 1.0, 1.0, 0.0])] {
            let vector = vectors.then(|| embedding(MODEL, &vector));
            let find =
                CandidateQuery { words: words::parse_query(text), vector, pool: 30, ..CandidateQuery::default() };
            seen.push(format!("{:?}", backend.find_candidates(&all, &find).expect("finds")));
        }
        for kind in RowKind::ALL {
            seen.push(format!("{:?}", backend.list_rows(tenant.id, *kind, &RowFilter::default()).expect("reads")));
        }
        seen.push(format!("{:?}", backend.events_after(tenant.id, 0, 100_000).expect("reads")));
    }
    seen
}

fn opened(database: &Database) -> std::sync::Arc<dyn Backend> {
    match database {
        Database::Sqlite(path) => open_sqlite(&Location::File(path.clone()), &SqliteOptions::default()).expect("opens"),
        Database::Postgres(url) => store::open_postgres(url, &store::PostgresOptions::default()).expect("opens"),
    }
}

fn equal(copied: &CopyReport) {
    assert!(copied.is_equal(), "{copied:#?}");
    assert!(copied.tables.iter().all(|table| table.rows_from > 0), "{copied:#?}");
}

/// Runs a case with an empty SQLite file as its target.
fn with_a_file(case: fn(&Database)) {
    let folder = tempfile::tempdir().expect("a folder");
    case(&Database::Sqlite(file(&folder, "target.db")));
}

/// Runs a case with an empty Postgres database as its target.
fn with_postgres(case: fn(&Database)) {
    let held = crate::postgres::Database::fresh(&server());
    case(&Database::Postgres(held.url(APP)));
}

#[test]
fn a_copy_there_and_back_is_what_it_was() {
    with_a_file(there_and_back);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_copy_to_postgres_and_back_is_what_it_was() {
    with_postgres(there_and_back);
}

fn there_and_back(middle: &Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, last) = (Database::Sqlite(file(&folder, "first.db")), Database::Sqlite(file(&folder, "last.db")));
    fill(&*opened(&first));
    equal(&quietly(&first, middle).expect("copies"));
    equal(&quietly(middle, &last).expect("copies back"));
    // Without vectors in one database, vectors are not compared in any.
    let vectors = !opened(middle).health().expect("is well").vectors.starts_with("off");
    let was = seen(&*opened(&first), vectors);
    for database in [middle, &last] {
        for (was, is) in was.iter().zip(&seen(&*opened(database), vectors)) {
            assert_eq!(was, is, "{database:?}");
        }
    }
    // It goes on where the old one stood: numbers follow each other, searches see what is new.
    for database in [&first, middle, &last] {
        let backend = opened(database);
        let world = World::of_tenant(&*backend, "default", 77);
        let last = backend.last_event_seq(world.tenant).expect("reads");
        world.remember("c1", "zebra");
        assert_eq!(backend.last_event_seq(world.tenant).expect("reads"), last + 1);
        let find = CandidateQuery { words: words::parse_query("zebra"), pool: 5, ..CandidateQuery::default() };
        assert_eq!(backend.find_candidates(&world.all(), &find).expect("finds").candidates.len(), 1);
    }
}

#[test]
fn a_copy_that_broke_goes_on_where_it_stopped() {
    with_a_file(break_and_go_on);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_copy_to_postgres_that_broke_goes_on_where_it_stopped() {
    with_postgres(break_and_go_on);
}

fn break_and_go_on(target: &Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Database::Sqlite(file(&folder, "first.db"));
    fill(&*opened(&first));
    let (mut breaks, mut written) = (0, 0);
    let copied = loop {
        let (mut steps, mut done) = (0, 0);
        let mut told = |progress: CopyProgress| {
            steps += u64::from(progress.stage == CopyStage::Copying);
            done = progress.done;
            // A crash, after a few batches more each time.
            assert!(steps <= breaks * 3, "it breaks here");
        };
        match catch_unwind(AssertUnwindSafe(|| copy_database(&first, target, &mut told))) {
            Ok(copied) => break copied.expect("copies"),
            Err(_) => assert!(done > written, "{done} after {written}"),
        }
        written = done;
        breaks += 1;
        assert!(nobody_writes(target), "a tenant that is half here takes nothing");
    };
    assert!(breaks > 3, "{breaks}");
    equal(&copied);
    let again = quietly(&first, target).expect("runs again");
    assert_eq!(again.written, 0);
    equal(&again);
}

fn nobody_writes(target: &Database) -> bool {
    let backend = opened(target);
    let tenants = backend.list_tenants().expect("lists");
    let Some(tenant) = tenants.last() else { return true };
    let event = EventBody::new(
        EventName::AuditRecorded,
        &engine::model::caller::Caller::admin(tenant.id),
        jiff::Timestamp::UNIX_EPOCH,
    );
    let change = engine::ports::change::Change::new(tenant.id, jiff::Timestamp::UNIX_EPOCH).with_event(event);
    backend.commit(change.scanned()).is_err()
}

#[test]
fn a_target_with_something_else_in_it_is_left_alone() {
    with_a_file(leave_alone_what_is_occupied);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_postgres_with_something_else_in_it_is_left_alone() {
    with_postgres(leave_alone_what_is_occupied);
}

fn leave_alone_what_is_occupied(target: &Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Database::Sqlite(file(&folder, "first.db"));
    World::new(&*opened(&first)).remember("c1", "ours");
    let stranger = Database::Sqlite(file(&folder, "stranger.db"));
    World::of_tenant(&*opened(&stranger), "stranger", 6).remember("c1", "another story");
    equal_or_empty(&quietly(&first, target).expect("copies"));
    // Used since.
    World::of_tenant(&*opened(target), "default", 5).remember("c1", "theirs");
    assert!(matches!(quietly(&first, target), Err(CopyError::Occupied(why)) if why.contains("has changed since")));
    // Somebody else's.
    assert!(matches!(quietly(&stranger, target), Err(CopyError::Occupied(why)) if why.contains("of its own")));
    let missing = Database::Sqlite(file(&folder, "missing.db"));
    assert!(matches!(quietly(&missing, &first), Err(CopyError::From(_))));
    assert!(!file(&folder, "missing.db").exists());
}

fn equal_or_empty(copied: &CopyReport) {
    assert!(copied.is_equal(), "{copied:#?}");
}

#[test]
fn a_difference_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, target) = (Database::Sqlite(file(&folder, "first.db")), Database::Sqlite(file(&folder, "target.db")));
    World::new(&*opened(&first)).remember("c1", "the truth");
    equal_or_empty(&quietly(&first, &target).expect("copies"));
    let conn = rusqlite::Connection::open(file(&folder, "target.db")).expect("opens");
    conn.execute_batch(
        "update memories set importance = 0.75; update recalls set count = 7; \
         insert into run_saves select id, 'x', 1 from tenants",
    )
    .expect("changes");
    let copied = quietly(&first, &target).expect("looks");
    let different: Vec<&str> =
        copied.tables.iter().filter(|table| !table.is_equal()).map(|table| table.table).collect();
    assert_eq!(different, ["run_saves", "memories"]);
}
