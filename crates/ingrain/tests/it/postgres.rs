//! Databases on the server that `scripts/postgres-test` brings: one a world, copied from one that the binary prepared.

use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::{Client, NoTls};

/// The server's URL, with rights to make databases; fails without one. Tests that call this are marked
/// `#[ignore = "needs Postgres: scripts/postgres-test"]`, so a run without Postgres counts them as ignored.
pub fn server() -> String {
    let url = std::env::var_os("TEST_POSTGRES_URL").and_then(|url| url.into_string().ok());
    url.filter(|url| !url.is_empty()).expect("TEST_POSTGRES_URL names no server: run through scripts/postgres-test")
}

/// A database of its own, gone when dropped.
pub struct Database {
    server: String,
    name: String,
}

/// Owns the schema, and is no superuser.
pub const OWNER: &str = "facts_owner";
/// Serves: a member of `ingrain_app` and nothing else.
pub const APP: &str = "facts_app";

impl Database {
    /// As a new user finds it after `ingrain migrate`.
    pub fn fresh(server: &str) -> Database {
        let template = template(server);
        Database::made(server, &format!("template {template}"))
    }

    /// With nothing in it.
    pub fn empty(server: &str) -> Database {
        template(server);
        Database::made(server, "")
    }

    fn made(server: &str, how: &str) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("facts_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        query(server, &format!("create database {name} {how} owner {OWNER}"));
        Database { server: server.to_owned(), name }
    }

    pub fn url(&self, user: &str) -> String {
        url(&self.server, user, &self.name)
    }

    /// The first column of what a statement answers, asked by the superuser.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        query(&self.url("postgres"), sql)
    }

    /// Whether any row of any table holds this text.
    pub fn holds(&self, needle: &str) -> bool {
        let tables = self.ask(
            "select quote_ident(relname) from pg_class where relnamespace = 'ingrain'::regnamespace and relkind = 'r'",
        );
        tables.iter().any(|table| {
            let found =
                format!("select 1 from ingrain.{table} t where position($needle${needle}$needle$ in t::text) > 0");
            !self.ask(&found).is_empty()
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        query(&self.server, &format!("drop database if exists {} with (force)", self.name));
    }
}

/// Made once a run, by the binary with the owner's rights: copying it takes a fraction of a migration.
fn template(server: &str) -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("facts_template_{}", std::process::id());
        query(
            server,
            "do $$ begin
               perform pg_advisory_xact_lock(42);
               if not exists (select 1 from pg_roles where rolname = 'ingrain_app') then
                 create role ingrain_app nologin;
               end if;
               if not exists (select 1 from pg_roles where rolname = 'facts_owner') then
                 create role facts_owner login;
                 create role facts_app login in role ingrain_app;
               end if;
             end $$",
        );
        query(server, &format!("create database {name} owner {OWNER}"));
        let migrate = Command::new(env!("CARGO_BIN_EXE_ingrain"))
            .env_clear()
            .env("INGRAIN_HOME", std::env::temp_dir())
            .args(["--json", "migrate", "--db", &url(server, OWNER, &name)])
            .output()
            .expect("the binary starts");
        assert!(migrate.status.success(), "{migrate:?}");
        name
    })
}

/// The same server, another user and database.
fn url(server: &str, user: &str, database: &str) -> String {
    let (_, rest) = server.split_once("@/").expect("a URL like postgres://postgres@/postgres?host=/socket");
    let (_, query) = rest.split_once('?').expect("the socket is named in the query");
    format!("postgres://{user}@/{database}?{query}")
}

fn query(url: &str, sql: &str) -> Vec<String> {
    Session::open(url).ask(sql)
}

/// A line to the server of a test's own.
pub struct Session {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl Session {
    pub fn open(url: &str) -> Session {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
            tokio::spawn(async move { drop(connection.await) });
            client
        });
        Session { runtime, client }
    }

    /// The first column of every row.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        let answer = self.runtime.block_on(self.client.simple_query(sql));
        let messages = answer.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let first = |message: &tokio_postgres::SimpleQueryMessage| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        messages.iter().filter_map(first).collect()
    }
}
