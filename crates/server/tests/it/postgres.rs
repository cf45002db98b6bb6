//! Databases for the tests on the Postgres that `scripts/postgres-test` brings, where `INGRAIN_TEST_BACKEND=postgres`
//! asks for one: then every test here runs on it instead of SQLite.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use engine::ports::Backend;
use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};
use tokio_postgres::NoTls;

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
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let setting = |name| std::env::var_os(name).and_then(|value| value.into_string().ok());
        setting("INGRAIN_TEST_BACKEND").filter(|backend| backend == "postgres")?;
        let server = setting("TEST_POSTGRES_URL").expect("INGRAIN_TEST_BACKEND=postgres wants TEST_POSTGRES_URL");
        let (template, number) = (template(&server), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!("ingrain_rest_{}_{number}", std::process::id());
        superuser(&server, &format!("create database {name} template {template} owner {OWNER}"));
        Some(Database { server, name })
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
