//! Databases for the tests on the Postgres that `scripts/postgres-test` brings, where `INGRAIN_TEST_BACKEND=postgres`
//! asks for one: then every test here runs on it instead of SQLite.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use engine::model::caller::Caller;
use engine::model::memory::Draft;
use engine::model::vocabulary::Kind;
use engine::ports::Backend;
use engine::{Engine, Remembered, Settings};
use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};
use tokio_postgres::NoTls;

use crate::house::TestClock;

/// Owns the schema, and is no superuser.
const OWNER: &str = "rest_owner";
/// Serves: a member of `ingrain_app` and nothing else.
const APP: &str = "rest_app";

/// A database of its own, gone when dropped.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// One, where the tests were asked to run on Postgres.
    pub(crate) fn asked_for() -> Option<Database> {
        let setting = |name| std::env::var_os(name).and_then(|value| value.into_string().ok());
        setting("INGRAIN_TEST_BACKEND").filter(|backend| backend == "postgres")?;
        let server = setting("TEST_POSTGRES_URL").expect("INGRAIN_TEST_BACKEND=postgres wants TEST_POSTGRES_URL");
        Some(Database::fresh(server))
    }

    fn fresh(server: String) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (template, number) = (template(&server), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!("ingrain_rest_{}_{number}", std::process::id());
        superuser(&server, &format!("create database {name} template {template} owner {OWNER}"));
        Database { server, name }
    }

    pub(crate) fn open(&self) -> Arc<dyn Backend> {
        let options = PostgresOptions { connections_max: 4, ..PostgresOptions::default() };
        open_postgres(&url(&self.server, APP, &self.name), &options).expect("opens")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        superuser(&self.server, &format!("drop database if exists {} with (force)", self.name));
    }
}

/// A database everybody's is copied from, migrated once by its owner.
fn template(server: &str) -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("ingrain_rest_template_{}", std::process::id());
        for (role, how) in [("ingrain_app", "nologin"), (OWNER, "login"), (APP, "login in role ingrain_app")] {
            let missing = format!("if not exists (select 1 from pg_roles where rolname = '{role}')");
            superuser(server, &format!("do $$ begin {missing} then create role {role} {how}; end if; end $$"));
        }
        superuser(server, &format!("create database {name} owner {OWNER}"));
        migrate_postgres(&url(server, OWNER, &name), &MigrateOptions::default()).expect("migrates");
        name
    })
}

fn url(server: &str, user: &str, database: &str) -> String {
    let (_, query) = server.split_once('?').expect("the socket is named in the query");
    format!("postgres://{user}@/{database}?{query}")
}

/// Ends every connection of the application to this database, whatever it is doing.
fn kill_backends(database: &Database) {
    let name = &database.name;
    superuser(
        &database.server,
        &format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and usename = '{APP}'"
        ),
    );
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn twenty_killed_backends_lose_no_save_and_make_no_extra_version() {
    const KILLS: u64 = 20;
    let server = std::env::var_os("TEST_POSTGRES_URL").and_then(|url| url.into_string().ok());
    let server = server.expect("run through scripts/postgres-test");
    let database = Database::fresh(server);
    let embedder = embed::open_embedder(&embed::EmbedConfig::Off).expect("no embedder");
    let backend = database.open();
    let engine = Engine::new(backend.clone(), embedder, Arc::new(TestClock::default()), Settings::default());
    let tenant = engine.start_tenant("default").expect("a tenant");
    let admin = Caller::admin(tenant.id);
    let (saved, killed) = (AtomicU64::new(0), AtomicU64::new(0));
    let save = |content: String| {
        let path = Some("restart.md".to_owned());
        let draft = Draft {
            store: "workspace_runbooks".to_owned(),
            path,
            kind: Some(Kind::Runbook),
            content,
            ..Draft::default()
        };
        engine.remember(&admin, draft).expect("saved, although its connection may have been killed")
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while killed.load(Ordering::SeqCst) < KILLS {
                save(format!("restart step {}", saved.load(Ordering::SeqCst)));
                saved.fetch_add(1, Ordering::SeqCst);
            }
        });
        for _ in 0..KILLS {
            let before = saved.load(Ordering::SeqCst);
            // In the middle of whatever save runs then, and not before the last kill was survived.
            while saved.load(Ordering::SeqCst) < before + 2 {
                std::thread::yield_now();
            }
            kill_backends(&database);
            killed.fetch_add(1, Ordering::SeqCst);
        }
    });
    let Remembered::Saved(last) = save("restart step last".to_owned()) else { panic!("refused") };
    let saves = saved.load(Ordering::SeqCst) + 1;
    assert_eq!(u64::from(last.memory.version_number), saves, "one version for each save");
    let events = backend.events_after(tenant.id, 0, 1_000_000).expect("events");
    let told = events.iter().filter(|event| event.happening.memory == Some(last.memory.id)).count() as u64;
    assert_eq!(told, saves, "one event for each save");
}

fn superuser(server: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(server, NoTls).await.expect("connects");
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        drop(client);
        let _ = connection.await;
    });
}
