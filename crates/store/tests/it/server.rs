//! What only a server can get wrong: its own walls and rights, many processes, restarts, plans.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::model::error::StoreError;
use engine::model::event::{EventBody, EventName};
use engine::model::guard::Guard;
use engine::model::row::{Row, RowFilter, RowKind};
use engine::ports::Backend;
use engine::ports::change::{Change, Write};
use jiff::Timestamp;
use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};

use crate::postgres::{APP, Cluster, Database, OWNER, connect, runtime, server, url};
use crate::world::{World, draft};

/// Runs statements as somebody; answers the first column of the last, or the code of the first failure.
fn as_user(database: &Database, user: &str, statements: &[&str]) -> Result<Vec<String>, String> {
    runtime().block_on(async {
        let client = connect(&database.url(user)).await;
        let mut last = Vec::new();
        for sql in statements {
            let answer = client.simple_query(sql).await;
            let messages =
                answer.map_err(|error| error.code().map_or(error.to_string(), |code| code.code().to_owned()))?;
            last = messages
                .iter()
                .filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                })
                .collect();
        }
        Ok(last)
    })
}

/// Tables with a tenant.
fn walled(database: &Database) -> Vec<String> {
    let sql = "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'ingrain'::regnamespace and c.relkind = 'r' and a.attname = 'tenant' order by 1";
    as_user(database, OWNER, &[sql]).expect("lists")
}

const DENIED: &str = "42501";

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn without_a_tenant_nothing_is_read_and_nothing_written() {
    let server = server();
    let database = Database::fresh(&server);
    let backend = database.open();
    let world = World::new(&*backend);
    let memory = world.remember("c1", "behind the wall");
    let tables = walled(&database);
    assert!(tables.len() >= 24, "{tables:?}");
    for table in &tables {
        let count = format!("select count(*) from ingrain.{table}");
        for setting in
            ["reset app.tenant", "set app.tenant = ''", "set app.tenant = '00000000-0000-0000-0000-00000000beef'"]
        {
            for user in [APP, OWNER] {
                let looks = user == OWNER && ["recall", "scopes"].contains(&table.as_str());
                let found = as_user(&database, user, &[setting, &count]).expect("counts");
                assert!(found == ["0"] || looks, "{user} sees {table} after {setting}");
            }
        }
    }
    let tenant = world.tenant;
    let ours = format!("set app.tenant = '{tenant}'");
    let insert = format!("insert into ingrain.run_saves values ('{tenant}', 'r', 1)");
    assert_eq!(as_user(&database, APP, &[&insert]), Err(DENIED.to_owned()));
    assert!(as_user(&database, APP, &[&ours, &insert]).is_ok());
    // Nobody writes into another tenant, and the owner's functions know only the tenant that is set.
    let others = "set app.tenant = '00000000-0000-0000-0000-00000000beef'";
    assert_eq!(as_user(&database, APP, &[others, &insert]), Err(DENIED.to_owned()));
    let erase = "select ingrain.erase_place(1)";
    assert_eq!(as_user(&database, APP, &[erase]), Ok(vec!["0".to_owned()]));
    assert_eq!(as_user(&database, APP, &[others, erase]), Ok(vec!["0".to_owned()]));
    let terms = "select count(*) from ingrain.recall_by_terms(array[1,2,3], \
        (select array_agg(i) from generate_series(1, 9) i))";
    assert_eq!(as_user(&database, APP, &[terms]), Ok(vec!["0".to_owned()]));
    assert_eq!(world.get(memory.id).map(|memory| memory.content), Some("behind the wall".to_owned()));
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn the_application_adds_to_the_log_and_changes_nothing_in_it() {
    let server = server();
    let database = Database::fresh(&server);
    let backend = database.open();
    let world = World::new(&*backend);
    world.remember("c1", "history stays");
    let ours = format!("set app.tenant = '{}'", world.tenant);
    for sql in [
        "update ingrain.versions set content = 'other'",
        "delete from ingrain.versions",
        "truncate ingrain.versions",
        "update ingrain.events set hash = ''",
        "delete from ingrain.events",
        "delete from ingrain.memories",
        "delete from ingrain.tenants",
        "update ingrain.migrations set number = 99",
        "alter table ingrain.events disable row level security",
        "drop table ingrain.events",
        "create table ingrain.other (x int)",
        "set role test_owner",
    ] {
        assert_eq!(as_user(&database, APP, &[&ours, sql]), Err(DENIED.to_owned()), "{sql}");
    }
    let owned =
        "select count(*) from pg_class where relowner = 'ingrain_app'::regrole or relowner = 'test_app'::regrole";
    assert_eq!(as_user(&database, APP, &[owned]), Ok(vec!["0".to_owned()]));
    let power =
        "select count(*) from pg_roles where rolname in ('ingrain_app', 'test_app') and (rolsuper or rolbypassrls)";
    assert_eq!(as_user(&database, APP, &[power]), Ok(vec!["0".to_owned()]));
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn every_wall_stands_and_the_tenant_leads_every_key() {
    let server = server();
    let database = Database::fresh(&server);
    let open = "select relname from pg_class where relnamespace = 'ingrain'::regnamespace and relkind = 'r'
         and relname not in ('tenants', 'migrations') and not (relrowsecurity and relforcerowsecurity)";
    assert_eq!(as_user(&database, OWNER, &[open]), Ok(Vec::new()));
    let keys = "select c.conname from pg_constraint c
         join pg_class t on t.oid = c.conrelid
         join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
         where c.connamespace = 'ingrain'::regnamespace and c.contype in ('p', 'u', 'f')
           and t.relname not in ('tenants', 'migrations') and a.attname <> 'tenant'";
    assert_eq!(as_user(&database, OWNER, &[keys]), Ok(Vec::new()));
    // Every record kind of the engine has its table.
    let tables = walled(&database);
    for kind in RowKind::ALL {
        assert!(tables.iter().any(|table| table == kind.as_str()), "no table for {kind}");
    }
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn migrations_run_once_and_refuse_what_they_do_not_know() {
    let server = server();
    let database = Database::fresh(&server);
    let owner = database.url(OWNER);
    let again = migrate_postgres(&owner, &MigrateOptions { citus: true }).expect("runs again");
    assert_eq!(again.from, again.to);
    assert!(again.notes.iter().any(|note| note.contains("not a Citus cluster")), "{:?}", again.notes);
    let both: Vec<_> = std::thread::scope(|scope| {
        let run = || scope.spawn(|| migrate_postgres(&owner, &MigrateOptions::default()).map(|done| done.to));
        [run(), run()].map(|thread| thread.join().expect("ends")).into_iter().collect()
    });
    assert!(both.iter().all(Result::is_ok), "{both:?}");
    let code = |sql: &str| {
        as_user(&database, OWNER, &[sql]).expect("edits");
        let migrated = migrate_postgres(&owner, &MigrateOptions::default()).expect_err("refuses").code();
        let opened = open_postgres(&database.url(APP), &PostgresOptions::default()).err().map(|error| error.code());
        assert_eq!(Some(migrated), opened);
        migrated
    };
    assert_eq!(code("insert into ingrain.migrations values (99, '0099_future', '')"), "store.newer");
    let edited =
        "delete from ingrain.migrations where number = 99; update ingrain.migrations set sha256 = 'x' where number = 2";
    assert_eq!(code(edited), "store.corrupt");
    // A database nobody prepared says what to do.
    let empty =
        open_postgres(&url(&server, "postgres", "postgres"), &PostgresOptions::default()).err().expect("refuses");
    assert!(empty.code() == "store.unavailable" && empty.to_string().contains("ingrain migrate"), "{empty}");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn of_64_patchers_in_two_processes_one_wins() {
    let server = server();
    let database = Database::fresh(&server);
    let pools = [database.open(), database.open()];
    let world = World::new(&*pools[0]);
    let memory = world.remember("c1", "the first text");
    let changes: Vec<Change> = (0..64)
        .map(|i| {
            let entry = world.revised(&memory, draft(&format!("text of patcher {i}")));
            let guard = Guard::VersionIs { memory: memory.id, version: memory.version };
            world.change().with_guard(guard).with_write(Write::Entry(Box::new(entry)))
        })
        .collect();
    let results: Vec<Result<_, StoreError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = changes
            .into_iter()
            .enumerate()
            .map(|(i, change)| {
                let backend = &pools[i % 2];
                scope.spawn(move || backend.commit(change.scanned()))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().all(|result| matches!(result, Ok(_) | Err(StoreError::Guard(_)))), "{results:?}");
    let versions = pools[1].list_versions(&world.all(), memory.id, None, 100).expect("reads");
    assert_eq!(versions.iter().map(|version| version.number).collect::<Vec<_>>(), [2, 1]);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_word_of_another_process_wakes_who_waits() {
    let server = server();
    let database = Database::fresh(&server);
    let (writer, reader) = (database.open(), database.open());
    let world = World::new(&*writer);
    let last = reader.last_event_seq(world.tenant).expect("reads");
    let far = Duration::from_secs(30);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| reader.wait_events(world.tenant, last, far));
        world.remember("c1", "news");
        assert_eq!(waiting.join().expect("ends").expect("waits"), last + 1);
    });
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_full_pool_answers_unavailable() {
    let server = server();
    let database = Database::fresh(&server);
    let world_of = database.open();
    let world = World::new(&*world_of);
    let wait_max = Duration::from_millis(50);
    let backend = database.open_with(&PostgresOptions { connections_max: 1, wait_max, ..PostgresOptions::default() });
    // Somebody holds the tenant, so that the only connection stays busy.
    let runtime = runtime();
    let lock = format!("begin; set local app.tenant = '{}'; select 1 from ingrain.heads for update", world.tenant);
    let holder = runtime.block_on(async {
        let client = connect(&database.url(OWNER)).await;
        client.batch_execute(&lock).await.expect("locks");
        client
    });
    let change = world.change().with_write(Write::Row(row_of(1)));
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| backend.commit(change.scanned()));
        let mut answer = backend.list_tenants();
        while answer.is_ok() {
            answer = backend.list_tenants();
        }
        assert_eq!(answer.err().map(|error| error.code()), Some("store.unavailable"));
        runtime.block_on(holder.batch_execute("commit")).expect("ends");
        assert!(busy.join().expect("ends").is_ok());
    });
}

/// Whether to crash the server often: CI asks for it.
fn long() -> bool {
    std::env::var_os("INGRAIN_TEST_LONG").is_some_and(|value| value == "1")
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn nothing_acknowledged_is_lost_when_the_server_crashes() {
    let restarts = if long() { 20 } else { 2 };
    let (cluster, url) = Cluster::start("16", "crash", &[]);
    migrate_postgres(&url, &MigrateOptions::default()).expect("migrates");
    let backend = open_postgres(&url, &PostgresOptions::default()).expect("opens");
    let world = World::new(&*backend);
    let (tenant, done) = (world.tenant, AtomicBool::new(false));
    let acknowledged = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for writer in 0..4_usize {
            let (backend, done, acknowledged) = (&backend, &done, &acknowledged);
            scope.spawn(move || {
                let mut number = writer;
                while !done.load(Ordering::Relaxed) {
                    number += 4;
                    acknowledge(&**backend, tenant, number);
                    acknowledged.lock().expect("whole").push(number);
                }
            });
        }
        for _ in 0..restarts {
            let before = acknowledged.lock().expect("whole").len();
            // Work goes on between two crashes.
            while acknowledged.lock().expect("whole").len() < before + 20 {
                std::thread::yield_now();
            }
            cluster.restart();
            // Back within what a caller waits at most.
            let (back, stood) = (Instant::now(), acknowledged.lock().expect("whole").len());
            while acknowledged.lock().expect("whole").len() == stood {
                std::thread::yield_now();
            }
            assert!(back.elapsed() <= Duration::from_secs(5), "recovered after {:?}", back.elapsed());
        }
        done.store(true, Ordering::Relaxed);
    });
    let acknowledged = acknowledged.into_inner().expect("whole");
    let rows = backend.list_rows(tenant, RowKind::Receipts, &RowFilter::default()).expect("reads");
    assert_eq!(rows.len(), acknowledged.len(), "every row once, and no other");
    let mut audits = 0;
    for (at, event) in backend.events_after(tenant, 0, 1_000_000).expect("reads").into_iter().enumerate() {
        assert_eq!(event.seq, at as u64 + 1);
        audits += usize::from(event.happening.name == EventName::AuditRecorded);
    }
    assert_eq!(audits, acknowledged.len());
}

fn row_of(number: usize) -> Row {
    Row {
        kind: RowKind::Receipts,
        id: format!("r{number}"),
        state: String::new(),
        subject: String::new(),
        parent: String::new(),
        at: Timestamp::UNIX_EPOCH,
        body: serde_json::Value::Null,
    }
}

/// Writes a row with its event, again until somebody says it is there; a guard makes the second time harmless.
fn acknowledge(backend: &dyn Backend, tenant: engine::model::id::TenantId, number: usize) {
    let row = row_of(number);
    let caller = engine::model::caller::Caller::admin(tenant);
    let event = EventBody::new(EventName::AuditRecorded, &caller, Timestamp::UNIX_EPOCH).with_field("number", number);
    let change = Change::new(tenant, Timestamp::UNIX_EPOCH)
        .with_guard(Guard::RowInState { kind: RowKind::Receipts, id: row.id.clone(), state: None })
        .with_write(Write::Row(row))
        .with_event(event);
    loop {
        match backend.commit(change.clone().scanned()) {
            // A guard that fails says the first attempt had come through after all.
            Ok(_) | Err(StoreError::Guard(_)) => return,
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
