//! Databases on a Postgres that `scripts/postgres-test` or the one who runs the tests brings.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use engine::ports::Backend;
use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// The server's URL, with rights to make databases; fails without one. Tests that call this are marked
/// `#[ignore = "needs Postgres: scripts/postgres-test"]`, so a run without Postgres counts them as ignored.
pub(crate) fn server() -> String {
    // Tests have no configuration file; `var_os` because the binary reads its settings in one place only.
    let url = std::env::var_os("TEST_POSTGRES_URL").and_then(|url| url.into_string().ok());
    url.filter(|url| !url.is_empty()).expect("TEST_POSTGRES_URL names no server: run through scripts/postgres-test")
}

/// The same server, another user and database.
pub(crate) fn url(server: &str, user: &str, database: &str) -> String {
    let (_, rest) = server.split_once("@/").expect("a URL like postgres://postgres@/postgres?host=/socket");
    let (_, query) = rest.split_once('?').expect("the socket is named in the query");
    format!("postgres://{user}@/{database}?{query}")
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(async move { drop(connection.await) });
    client
}

/// Runs statements as the server's own superuser.
pub(crate) fn superuser(server: &str, statements: &[&str]) {
    runtime().block_on(async {
        let client = connect(server).await;
        for sql in statements {
            client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        }
    });
}

/// A database of its own, gone when dropped.
pub(crate) struct Database {
    server: String,
    name: String,
}

/// Owns the schema, and is no superuser.
pub(crate) const OWNER: &str = "test_owner";
/// Serves: a member of `ingrain_app` and nothing else.
pub(crate) const APP: &str = "test_app";

/// A database everybody's is copied from, migrated once by its owner.
fn template(server: &str) -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("ingrain_template_{}", std::process::id());
        let make = "do $$ begin
             if not exists (select 1 from pg_roles where rolname = 'ingrain_app') then
               create role ingrain_app nologin;
             end if;
             if not exists (select 1 from pg_roles where rolname = 'test_owner') then
               create role test_owner login;
               create role test_app login in role ingrain_app;
             end if;
           end $$";
        superuser(server, &[make, &format!("create database {name} owner {OWNER}")]);
        migrate_postgres(&url(server, OWNER, &name), &MigrateOptions::default()).expect("migrates");
        name
    })
}

impl Database {
    pub(crate) fn fresh(server: &str) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let template = template(server);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ingrain_test_{}_{number}", std::process::id());
        superuser(server, &[&format!("create database {name} template {template} owner {OWNER}")]);
        Database { server: server.to_owned(), name }
    }

    pub(crate) fn url(&self, user: &str) -> String {
        url(&self.server, user, &self.name)
    }

    pub(crate) fn open(&self) -> Arc<dyn Backend> {
        self.open_with(&PostgresOptions { connections_max: 4, ..PostgresOptions::default() })
    }

    pub(crate) fn open_with(&self, options: &PostgresOptions) -> Arc<dyn Backend> {
        open_postgres(&self.url(APP), options).expect("opens")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        superuser(&self.server, &[&format!("drop database if exists {} with (force)", self.name)]);
    }
}

/// Whether the server has pgvector, so that cases about meaning have something to look for.
pub(crate) fn has_vectors(backend: &dyn Backend) -> bool {
    !backend.health().expect("is well").vectors.starts_with("off")
}

/// A cluster of its own, for what would disturb others.
pub(crate) struct Cluster(pub(crate) PathBuf);

impl Cluster {
    fn script(arguments: &[&str], settings: &[(&str, &str)]) -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres-test");
        let output = Command::new(script).args(arguments).envs(settings.iter().copied()).output().expect("runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The cluster and its superuser's URL.
    pub(crate) fn start(server: &str, name: &str, settings: &[(&str, &str)]) -> (Cluster, String) {
        let folder = PathBuf::from(format!("/tmp/ingrain-pg.{name}-{}", std::process::id()));
        let said = Cluster::script(&[server, "start", folder.to_str().expect("plain")], settings);
        let url = said.strip_prefix("TEST_POSTGRES_URL=").expect("a URL").to_owned();
        (Cluster(folder), url)
    }

    pub(crate) fn restart(&self) {
        Cluster::script(&["restart", self.0.to_str().expect("plain")], &[]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        Cluster::script(&["stop", self.0.to_str().expect("plain")], &[]);
    }
}
