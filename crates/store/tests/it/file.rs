//! What only a file can suffer: other processes, crashes, damage, a full disk, somebody reading it raw.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use engine::model::error::StoreError;
use engine::model::guard::Guard;
use engine::model::id::MemoryId;
use engine::model::row::{Row, RowKind};
use engine::ports::change::Write;
use engine::ports::{Backend, CandidateQuery, Filter, PageRequest};
use engine::text::words;
use store::{Location, SqliteOptions, open_sqlite};

use crate::verify::{assert_intact, engine_on};
use crate::world::*;

fn open(path: &Path) -> Result<Arc<dyn Backend>, StoreError> {
    open_sqlite(&Location::File(path.to_owned()), &SqliteOptions::default())
}

pub(crate) fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data").join("ingrain.db");
    (folder, path)
}

fn code(path: &Path) -> &'static str {
    open(path).err().map_or("opened", |error| error.code())
}

#[test]
fn what_was_written_is_there_when_it_is_opened_again() {
    let (_folder, path) = folder();
    let (memory, tenant) = {
        let backend = open(&path).unwrap();
        let world = World::new(&*backend);
        backend.commit_later(world.change().with_write(Write::CountRunSave { run: "r1".to_owned() }).scanned());
        (world.remember("c1", "apple pie"), world.tenant)
    };
    let backend = open(&path).unwrap();
    let world = World::of_tenant(&*backend, "default", 9);
    assert_eq!(world.tenant, tenant);
    assert_eq!(world.get(memory.id), Some(memory));
    let find = CandidateQuery { words: words::parse_query("apple"), pool: 5, ..CandidateQuery::default() };
    assert_eq!(backend.find_candidates(&world.all(), &find).unwrap().candidates.len(), 1);
    let guard = Guard::RunSavesLeft { run: "r1".to_owned(), saves_max: 1 };
    assert!(
        backend.commit(world.change().with_guard(guard).scanned()).is_err(),
        "dropping writes what was handed over"
    );
    assert_eq!(backend.health().unwrap().memories, 1);
}

/// Nobody has to wait for it: the log is copied beside the writing.
#[test]
fn a_log_that_grows_is_copied_by_itself() {
    let (_folder, path) = folder();
    let backend = open(&path).unwrap();
    let world = World::new(&*backend);
    let watch = rusqlite::Connection::open(&path).unwrap();
    let left = || {
        let sql = "pragma wal_checkpoint(noop)";
        watch.query_row(sql, [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)).unwrap()
    };
    let body = serde_json::json!("a line about the harbour ".repeat(800));
    for number in 0..500 {
        let row = Row {
            kind: RowKind::Summaries,
            id: number.to_string(),
            body: body.clone(),
            ..world.store_row("lessons", "")
        };
        world.commit(world.change().with_write(Write::Row(row)));
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    assert!(
        std::fs::metadata(path.with_extension("db-wal")).unwrap().len() > 8 * 1024 * 1024,
        "there was something to copy"
    );
    while left() >= 2_000 {
        assert!(std::time::Instant::now() < deadline, "{} pages of log are left", left());
        std::thread::yield_now();
    }
}

/// A large transaction writes pages to the log before its commit. After a rollback they must never reappear over pages
/// that another process wrote to the same place since.
#[test]
fn what_was_rolled_back_does_not_come_back_over_others() {
    let (_folder, path) = folder();
    let (one, other) = (open(&path).unwrap(), open(&path).unwrap());
    let world = World::new(&*one);
    let beside = World::of_tenant(&*other, "default", 7);
    world.save(world.entry("c1", at_path("a/b", "was here first")));
    let body = serde_json::json!("a line about the harbour ".repeat(800));
    let raw = rusqlite::Connection::open(&path).unwrap();
    for round in 0..4 {
        let rows = |whose: &str, count: usize| {
            let row = |number: usize| Row {
                kind: RowKind::Summaries,
                id: format!("{whose}/{round}/{number}"),
                body: body.clone(),
                ..world.store_row("lessons", "")
            };
            (0..count).fold(world.change(), |change, number| change.with_write(Write::Row(row(number))))
        };
        let taken = world.entry("c1", at_path("a/b", &format!("too late {round}")));
        // A rollback reads the log only if it holds committed pages.
        raw.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
        one.commit(rows("ours", 200).with_write(Write::Entry(Box::new(taken))).scanned()).unwrap_err();
        // Far enough to stand where the other's pages stood.
        other.commit(rows("theirs", 250).scanned()).unwrap();
        let theirs = beside.remember("c1", &format!("theirs {round}"));
        let ours = world.remember("c1", &format!("ours {round}"));
        for backend in [&one, &other] {
            let world = World::of_tenant(&**backend, "default", 8);
            assert_eq!(world.get(theirs.id).map(|memory| memory.content), Some(format!("theirs {round}")));
            assert_eq!(world.get(ours.id).map(|memory| memory.content), Some(format!("ours {round}")));
            for number in 0..250 {
                let row =
                    backend.get_row(world.tenant, RowKind::Summaries, &format!("theirs/{round}/{number}")).unwrap();
                assert_eq!(row.map(|row| row.body).as_ref(), Some(&body), "{round}/{number}");
            }
        }
    }
    drop((one, other));
    assert_eq!(raw.query_row("pragma integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

/// A writer remembers what it knows of the file from one group to the next, until somebody else writes.
#[test]
fn what_a_writer_remembers_is_true() {
    let (_folder, path) = folder();
    let (one, other) = (open(&path).unwrap(), open(&path).unwrap());
    let world = World::new(&*one);
    let beside = World::of_tenant(&*other, "default", 7);
    let row = |kind: RowKind, id: &str, state: &str| {
        Write::Row(Row { kind, id: id.to_owned(), ..world.store_row("lessons", state) })
    };
    let save = |guard: &Guard, text: &str| {
        let entry = world.entry("c1", draft(text));
        one.commit(world.change().with_guard(guard.clone()).with_write(Write::Entry(Box::new(entry))).scanned()).is_ok()
    };
    let open = Guard::RowInState { kind: RowKind::Stores, id: "lessons".to_owned(), state: Some("open".to_owned()) };
    let keyless = Guard::RowCountIs { kind: RowKind::Bans, state: "key", count: 0 };
    for (guard, theirs, ours) in [
        (open, row(RowKind::Stores, "lessons", "archived"), row(RowKind::Stores, "lessons", "open")),
        (keyless, row(RowKind::Bans, "k", "key"), Write::DeleteRow { kind: RowKind::Bans, id: "k".to_owned() }),
    ] {
        one.commit(world.change().with_write(ours.clone()).scanned()).unwrap();
        assert!(save(&guard, "as it was") && save(&guard, "and still is"), "{guard:?}");
        other.commit(beside.change().with_write(theirs.clone()).scanned()).unwrap();
        assert!(!save(&guard, "not any more") && !save(&guard, "nor later"), "{guard:?}");
        one.commit(world.change().with_write(ours).scanned()).unwrap();
        assert!(save(&guard, "again"), "{guard:?}");
        // By its own hand too.
        one.commit(world.change().with_write(theirs).scanned()).unwrap();
        assert!(!save(&guard, "no longer"), "{guard:?}");
    }
    let live = |name: &str| {
        [&one, &other].map(|backend| backend.place_state(world.tenant, &conversation_place(name)).unwrap())
    };
    world.remember("c2", "before");
    other.commit(beside.change().with_write(Write::Erase { place: conversation_place("c2") }).scanned()).unwrap();
    world.remember("c2", "after");
    assert_eq!(live("c2").map(|place| place.live), [1, 1], "in the place as it is now");
    for round in 0..3 {
        beside.remember("c3", &format!("theirs {round}"));
        world.remember("c3", &format!("ours {round}"));
    }
    assert_eq!(live("c3").map(|place| place.live), [6, 6]);
    let events = one.events_after(world.tenant, 0, 1_000).unwrap();
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "numbered without a gap");
}

#[test]
fn an_index_too_large_to_keep_is_still_right() {
    let options = SqliteOptions { recall_bytes_max: 1, ..SqliteOptions::default() };
    let fresh = || open_sqlite(&Location::Memory, &options).unwrap();
    crate::cases::finding::a_find_sees_every_write(&*fresh());
    crate::cases::finding::statistics_are_of_what_is_seen(&*fresh());
}

/// Looked at once a second, so that a save and a search pay nothing for it.
#[test]
fn who_has_it_open_while_a_newer_program_comes_is_told() {
    let (_folder, path) = folder();
    let backend = open(&path).unwrap();
    let world = World::new(&*backend);
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 999).unwrap();
    let find = CandidateQuery { words: words::parse_query("apple"), pool: 5, ..CandidateQuery::default() };
    let told: StoreError =
        std::iter::repeat_with(|| backend.find_candidates(&world.all(), &find)).find_map(Result::err).unwrap();
    let saved = backend.commit(world.change().with_write(Write::CountRunSave { run: "r1".to_owned() }).scanned());
    let errors = [told, saved.unwrap_err(), backend.health().unwrap_err()];
    assert_eq!(errors.map(|error| error.code()), ["store.newer"; 3]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let backend = open(&path).unwrap();
    World::new(&*backend).remember("c1", "text");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_no_database_of_ours_is_said_to_be_so() {
    let (folder, path) = folder();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    assert_eq!(code(&file("empty.db", b"")), "opened");
    assert_eq!(code(&file("text.db", &b"once upon a time ".repeat(100))), "store.corrupt");
    assert_eq!(code(folder.path()), "store.unwritable");
    assert_eq!(code(&file("file", b"x").join("below.db")), "store.unwritable");

    World::new(&*open(&path).unwrap()).remember("c1", "text");
    let change = |name: &str, sql: &str| {
        let copy = folder.path().join(name);
        std::fs::copy(&path, &copy).unwrap();
        rusqlite::Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        copy
    };
    assert_eq!(code(&change("newer.db", "pragma user_version = 1000")), "store.newer");
    assert_eq!(code(&change("edited.db", "update migrations set sha256 = ''")), "store.corrupt");
    assert_eq!(code(&change("other.db", "pragma application_id = 7")), "store.corrupt");
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let (folder, path) = folder();
    {
        let backend = open(&path).unwrap();
        let world = World::new(&*backend);
        (0..50).for_each(|i| drop(world.remember("c1", &format!("apple number {i}"))));
    }
    let whole = std::fs::read(&path).unwrap();
    let mut hurt = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..4096].fill(0x5a);
        let copy = folder.path().join(format!("{page}.db"));
        std::fs::write(&copy, bytes).unwrap();
        let result = open(&copy).and_then(|backend| {
            let tenant = backend.list_tenants()?.pop().map(|tenant| tenant.id);
            let Some(tenant) = tenant else { return Err(StoreError::Corrupt("no tenant".to_owned())) };
            let find = CandidateQuery { words: words::parse_query("apple"), pool: 50, ..CandidateQuery::default() };
            let readable = everything(tenant);
            backend.find_candidates(&readable, &find)?;
            let page = PageRequest { order: Default::default(), after: None, limit: 100 };
            for memory in backend.list_memories(&readable, &Filter::default(), &page)? {
                backend.list_versions(&readable, memory.id, None, 10)?;
            }
            backend.events_after(tenant, 0, 100).map(drop)
        });
        hurt += usize::from(matches!(result, Err(StoreError::Corrupt(_))));
        let other = result.err().map(|error| error.code()).filter(|code| *code != "store.corrupt");
        assert_eq!(other, None, "page {page}");
    }
    assert!(hurt > 5, "{hurt}");
    let cut = folder.path().join("cut.db");
    std::fs::write(&cut, &whole[..whole.len() / 2 + 100]).unwrap();
    assert_eq!(code(&cut), "store.corrupt");
}

#[test]
fn history_cannot_be_rewritten_by_hand() {
    let (_folder, path) = folder();
    {
        let backend = open(&path).unwrap();
        World::new(&*backend).remember("c1", "text");
    }
    let conn = rusqlite::Connection::open(&path).unwrap();
    for sql in [
        "update versions set content = 'other'",
        "update versions set content = '', redacted_at = 1",
        "delete from versions",
        "update events set happening = '{}'",
        "delete from events",
        "insert into erasing select id, 1 from tenants; \
         update versions set actor = 'me', content = '', redacted_at = 1",
    ] {
        assert!(conn.execute_batch(sql).is_err(), "{sql}");
    }
}

/// Marks every text of the test below; what follows says which.
const MARK: &str = "xyzzy";
const MARKED_BYTES: usize = 14;

/// Every marked text that occurs anywhere in the files of a database.
fn marked_in_files(path: &Path) -> HashSet<String> {
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let mut found = HashSet::new();
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).to_lowercase();
        found.extend(text.match_indices(MARK).filter_map(|(at, _)| text.get(at..at + MARKED_BYTES)).map(str::to_owned));
    }
    found
}

#[test]
fn redacted_and_erased_text_is_nowhere_in_the_files() {
    let (_folder, path) = folder();
    let backend = open(&path).unwrap();
    let world = World::new(&*backend);
    let needle = |i: usize| format!("{MARK}{i:04}plugh");
    let memories: Vec<_> = (0..300)
        .map(|i| {
            // Of all sizes, so that text stands in shared pages, pages of its own and chains of pages.
            let content = format!("{} {}", needle(i), "filler ".repeat(i % 7 * i));
            let mut draft = tagged(&[&format!("tag{}", needle(i))], &content);
            draft.title = Some(format!("Title {}", needle(i)));
            world.save(world.entry(if i % 2 == 0 { "c1" } else { "c2" }, draft))
        })
        .collect();
    for memory in memories.iter().step_by(3) {
        world.save(world.revised(memory, draft("something else")));
    }
    for memory in memories.iter().step_by(4) {
        let versions = backend.list_versions(&world.all(), memory.id, None, 10).unwrap().iter().map(|v| v.id).collect();
        world.commit(world.change().with_write(Write::Redact { memory: memory.id, versions }));
    }
    world.commit(world.change().with_write(Write::Erase { place: conversation_place("c2") }));
    backend.flush().unwrap();
    let kept = (0..300).filter(|i| i % 4 == 2).map(needle);
    assert_eq!(marked_in_files(&path), kept.collect());
}

/// What the parts of this binary that play another process are told by.
const CHILD_DATABASE: &str = "STORE_TEST_DATABASE";
const CHILD_NUMBER: &str = "STORE_TEST_NUMBER";

/// Runs [`another_process`] in a process of its own, under a shell's limits.
fn spawn(path: &Path, number: u64, limits: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    Command::new("sh")
        .args(["-c", &format!("{limits} exec \"$0\" --exact file::another_process --ignored --nocapture")])
        .arg(this)
        .env(CHILD_DATABASE, path)
        .env(CHILD_NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Ids the child said were saved, and the code it ended with if it failed.
fn acknowledged(child: &mut Child, at_most: usize) -> (Vec<MemoryId>, Option<String>) {
    let (mut saved, mut failed) = (Vec::new(), None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("saved", id)) => saved.push(id.parse().unwrap()),
            Some(("failed", code)) => failed = Some(code.to_owned()),
            _ => {}
        }
        if saved.len() >= at_most {
            break;
        }
    }
    (saved, failed)
}

#[test]
#[ignore = "plays another process; the tests below start it"]
fn another_process() {
    let (Some(path), Some(number)) = (std::env::var_os(CHILD_DATABASE), std::env::var_os(CHILD_NUMBER)) else { return };
    let number: u64 = number.to_str().unwrap().parse().unwrap();
    let backend = open(Path::new(&path)).unwrap();
    let world = World::of_tenant(&*backend, "default", number);
    let mut out = std::io::stdout();
    for i in 0..200 {
        let entry = world.entry(&format!("c{number}"), draft(&format!("apple of process {number}, number {i}")));
        let id = entry.memory().id;
        match backend.commit(world.change().with_write(Write::Entry(Box::new(entry))).scanned()) {
            Ok(_) => writeln!(out, "saved {id}").unwrap(),
            Err(error) => return writeln!(out, "failed {}", error.code()).unwrap(),
        }
        out.flush().unwrap();
    }
}

#[test]
fn several_processes_share_a_file() {
    let (_folder, path) = folder();
    let backend = open(&path).unwrap();
    let world = World::new(&*backend);
    let mut children: Vec<Child> = (2..5).map(|number| spawn(&path, number, "")).collect();
    let find = CandidateQuery { words: words::parse_query("apple"), pool: 1_000, ..CandidateQuery::default() };
    for i in 0..100 {
        world.remember("c1", &format!("apple of ours, number {i}"));
        assert!(backend.find_candidates(&world.all(), &find).unwrap().candidates.len() > i);
    }
    for child in &mut children {
        let (saved, failed) = acknowledged(child, usize::MAX);
        assert_eq!((saved.len(), failed), (200, None));
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(backend.find_candidates(&world.all(), &find).unwrap().candidates.len(), 700);
}

#[test]
fn a_process_killed_while_writing_loses_nothing_it_acknowledged() {
    let (_folder, path) = folder();
    for (number, enough) in [(2, 1), (3, 7), (4, 60)] {
        let mut child = spawn(&path, number, "");
        let (saved, _) = acknowledged(&mut child, enough);
        child.kill().unwrap();
        child.wait().unwrap();
        let backend = open(&path).unwrap();
        let world = World::of_tenant(&*backend, "default", number + 100);
        assert_eq!(saved.len(), enough);
        assert!(saved.iter().all(|id| world.get(*id).is_some()));
        let events = backend.events_after(world.tenant, 0, 10_000).unwrap();
        assert_eq!(events.len() as u64, backend.last_event_seq(world.tenant).unwrap());
        // The position outside the database is never ahead of it.
        assert_eq!(backend.log_positions().unwrap().len(), 1);
        assert_intact(&engine_on(open(&path).unwrap()).0, world.tenant);
        world.remember("after", "goes on");
    }
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let (_folder, path) = folder();
    drop(World::new(&*open(&path).unwrap()).remember("c1", "before"));
    // Half a mebibyte for each file, in blocks of 512 bytes; the signal ignored, so that writes fail instead.
    let mut child = spawn(&path, 2, "trap '' XFSZ; ulimit -f 2000;");
    let (saved, failed) = acknowledged(&mut child, usize::MAX);
    child.wait().unwrap();
    assert_eq!(failed.as_deref(), Some("store.unwritable"), "after {}", saved.len());
    let backend = open(&path).unwrap();
    let world = World::of_tenant(&*backend, "default", 9);
    assert!(saved.iter().all(|id| world.get(*id).is_some()));
    world.remember("c1", "after");
}
