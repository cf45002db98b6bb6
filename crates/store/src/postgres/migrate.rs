//! Migrates a database to the newest schema with its owner's rights: all missing migrations in one transaction, by one
//! process at a time.

use engine::model::error::StoreError;
use tokio_postgres::Client;

use super::fault::{Fault, MIGRATE_HINT};
use super::pool::Pool;
use super::row_codec::{Statement, params, read_column, read_count};
use super::server_url::ServerUrl;
use crate::migrations::{LATEST_MIGRATION, POSTGRES_MIGRATIONS, check_known};

// Run after the numbered migrations, each time: the first two only where the server has the extension.

const VECTORS_SQL: &str = include_str!("../../migrations/postgres/vectors.sql");
const CITUS_SQL: &str = include_str!("../../migrations/postgres/citus.sql");
const GRANTS_SQL: &str = include_str!("../../migrations/postgres/grants.sql");

/// Advisory lock of a running migration: "Ingr" in ASCII.
const MIGRATION_LOCK_ID: i64 = 0x496e_6772;
/// The first pgvector version with iterative index scans. Older ones return too few rows where a filter drops some.
const PGVECTOR_MIN: (u32, u32) = (0, 8);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MigrateOptions {
    /// Distribute the tables over a Citus cluster by tenant.
    pub citus: bool,
}

/// Outcome of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationReport {
    /// Number of the last migration before and after.
    pub from: u32,
    pub to: u32,
    /// For people: what was done about vectors and the cluster.
    pub notes: Vec<String>,
}

/// Creates or updates the schema `ingrain`. The URL is that of its owner, who may create roles or is a member of
/// `ingrain_app`.
pub fn migrate_postgres(owner_url: &str, options: &MigrateOptions) -> Result<MigrationReport, StoreError> {
    let url = ServerUrl::parse(owner_url)?;
    Ok(super::build_runtime()?.block_on(run_migrations(&url, options))?)
}

async fn run_migrations(url: &ServerUrl, options: &MigrateOptions) -> Result<MigrationReport, Fault> {
    let client = url.spawn_client().await?;
    let mut notes = Vec::new();
    // The lock comes first: `create ... if not exists` fails where two processes run it at the same moment.
    client.batch_execute(&format!("begin; select pg_advisory_xact_lock({MIGRATION_LOCK_ID}); {PREPARE_SQL}")).await?;
    // Before the search path is set, because the path includes the schema of the extension.
    let schema = ensure_pgvector(&client, &mut notes).await?;
    let path = schema.as_ref().map_or_else(String::new, |schema| format!(", {schema}"));
    client.batch_execute(&format!("set local search_path = ingrain{path}")).await?;
    let from = schema_version(&client).await?;
    for (number, migration) in (1..=LATEST_MIGRATION).zip(POSTGRES_MIGRATIONS).skip(from as usize) {
        client.batch_execute(migration.sql).await?;
        client
            .execute_typed(
                "insert into migrations (number, name, sha256) values ($1, $2, $3)",
                &[
                    (&i64::from(number), tokio_postgres::types::Type::INT8),
                    (&migration.name, tokio_postgres::types::Type::TEXT),
                    (&migration.sha256(), tokio_postgres::types::Type::TEXT),
                ],
            )
            .await?;
    }
    if schema.is_some() {
        client.batch_execute(VECTORS_SQL).await?;
    }
    // Security: functions with the owner's rights get a fixed search path, so that a caller cannot slip in its own
    // tables.
    let grants = GRANTS_SQL.replace("{path}", &format!("ingrain{path}, pg_temp"));
    // Run even without a new migration: pgvector may have been added since, with functions that need grants.
    client.batch_execute(&grants).await?;
    client.batch_execute("commit").await?;
    if options.citus {
        distribute_tables(&client, &format!("ingrain, public{path}"), &grants, &mut notes).await?;
    }
    Ok(MigrationReport { from, to: LATEST_MIGRATION, notes })
}

/// Creates the schema, the table of migrations, and the role of the application.
const PREPARE_SQL: &str = "
create schema if not exists ingrain;
create table if not exists ingrain.migrations (number bigint primary key, name text not null, sha256 text not null);
do $$
begin
  if not exists (select 1 from pg_roles where rolname = 'ingrain_app') then
    create role ingrain_app nologin;
  end if;
  if not pg_has_role(current_user, 'ingrain_app', 'member') then
    grant ingrain_app to current_user;
  end if;
exception when duplicate_object or unique_violation or insufficient_privilege then
  -- Made meanwhile for another database of this server, or not ours to give: what follows will tell.
  null;
end $$;
grant usage on schema ingrain to ingrain_app;
grant select on ingrain.migrations to ingrain_app;";

/// The schema of pgvector's operators, if it is installed, or can be, and is new enough.
async fn ensure_pgvector(client: &Client, notes: &mut Vec<String>) -> Result<Option<String>, Fault> {
    let installed = "select e.extversion, quote_ident(n.nspname)
         from pg_extension e
         join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'";
    let mut found = client.query_typed(installed, &[]).await?;
    let available = "select 1 from pg_available_extensions where name = 'vector'";
    if found.is_empty() && !client.query_typed(available, &[]).await?.is_empty() {
        // In a savepoint: the failure would otherwise end the transaction.
        let created = client.batch_execute("savepoint extension; create extension vector with schema public").await;
        if let Err(error) = created {
            client.batch_execute("rollback to savepoint extension").await?;
            let reason = error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
            notes.push(format!("pgvector is available but could not be added ({reason}): ask an administrator"));
        }
        found = client.query_typed(installed, &[]).await?;
    }
    let Some(row) = found.first() else {
        notes.push("without pgvector: search uses words only".to_owned());
        return Ok(None);
    };
    let version: String = read_column(row, 0)?;
    if !is_new_enough(&version) {
        notes.push(format!(
            "pgvector {version} is older than 0.8, which loses results behind filters: search uses words only"
        ));
        return Ok(None);
    }
    notes.push(format!("pgvector {version}"));
    Ok(Some(read_column(row, 1)?))
}

fn is_new_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= PGVECTOR_MIN
}

/// Distributes the tables by tenant where this is a Citus cluster.
async fn distribute_tables(client: &Client, path: &str, grants: &str, notes: &mut Vec<String>) -> Result<(), Fault> {
    // No failure: the schema is complete without a cluster.
    if client.query_typed("select 1 from pg_extension where extname = 'citus'", &[]).await?.is_empty() {
        notes.push("this is not a Citus cluster: nothing to distribute".to_owned());
        return Ok(());
    }
    // Not `local`, because the transaction of the migrations has ended. Citus has its functions outside our schema.
    client.batch_execute(&format!("set search_path = {path}")).await?;
    client.batch_execute(CITUS_SQL).await?;
    client.batch_execute(grants).await?;
    notes.push("the tables are distributed by tenant".to_owned());
    // The coordinator connects to the workers as the current role, which is that of the application.
    let can_login = "select 1 from pg_roles where rolname = 'ingrain_app' and rolcanlogin";
    if client.query_typed(can_login, &[]).await?.is_empty()
        && client.batch_execute("alter role ingrain_app login").await.is_err()
    {
        notes.push(
            "the coordinator cannot connect to the workers: let an administrator run `alter role ingrain_app login`"
                .to_owned(),
        );
    }
    // On a cluster the application cannot create indexes, so those of all stored models are created here.
    let models = "select add_model(model, dimensions) from (
         select distinct model, octet_length(vector) as dimensions from recall where vector is not null) of_recall";
    if notes.iter().any(|note| note.starts_with("pgvector")) && client.batch_execute(models).await.is_err() {
        notes.push("vectors are compared one by one: their index could not be created".to_owned());
    }
    Ok(())
}

/// Number of the last migration. Refuses a schema of a newer program and an edited migration.
async fn schema_version(client: &Client) -> Result<u32, Fault> {
    let rows = client.query_typed(RECORDED_MIGRATIONS, &[]).await?;
    verify_version(&rows)
}

const RECORDED_MIGRATIONS: &str = "select number, name, sha256 from migrations order by number";

fn verify_version(rows: &[tokio_postgres::Row]) -> Result<u32, Fault> {
    let found = rows.last().map_or(Ok(0), |row| read_count(row, 0))?;
    let found = check_known(u32::try_from(found).map_err(Fault::corrupt)?)?;
    for (row, migration) in rows.iter().zip(POSTGRES_MIGRATIONS) {
        let (name, sha256): (&str, &str) = (read_column(row, 1)?, read_column(row, 2)?);
        // A migration with another name counts as edited, whatever its hash.
        migration.check_unedited(Some(sha256).filter(|_| name == migration.name))?;
    }
    Ok(found)
}

/// Refuses a schema that is not exactly the newest: the application has no right to migrate it.
pub(super) async fn check_up_to_date(pool: &Pool) -> Result<(), Fault> {
    // Migrations belong to no tenant, and their table has no row-level security.
    let results = pool.query_read_only(None, &[Statement::new(RECORDED_MIGRATIONS, params![])]).await?;
    let found = verify_version(results.first().map_or(&[], Vec::as_slice))?;
    match found == LATEST_MIGRATION {
        true => Ok(()),
        false => Err(Fault::unavailable(format!(
            "the database is at migration {found} of {LATEST_MIGRATION}; {MIGRATE_HINT}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_pgvector_is_refused() {
        for (version, enough) in
            [("0.8.0", true), ("0.8", true), ("0.10.1", true), ("1.0", true), ("0.7.4", false), ("x", false)]
        {
            assert_eq!(is_new_enough(version), enough, "{version}");
        }
    }
}
