//! Health of the database, and its location for display.

use engine::model::row::{Row, RowKind};
use engine::ports::BackendHealth;
use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::config::Host;

use super::fault::Fault;
use super::pool::{Pool, TransactionMode};
use super::recall::VectorSupport;
use super::records;
use super::row_codec::{Statement, params, read_column, read_count};

pub(super) async fn read_health(pool: &Pool, vectors: &VectorSupport) -> Result<BackendHealth, Fault> {
    // `memory_count()` runs with the owner's rights: row-level security would show one tenant only.
    let facts = Statement::new(
        "select current_setting('server_version'), (select max(number) from migrations)::bigint,
           pg_database_size(current_database()), memory_count(),
           (select rolsuper or rolbypassrls from pg_roles where rolname = session_user)",
        params![],
    );
    let results = pool.query_read_only(None, &[facts]).await?;
    let row = results.iter().flatten().next().ok_or_else(|| Fault::corrupt("the server returned no row"))?;
    Ok(BackendHealth {
        backend: "postgres".to_owned(),
        location: pool.location(),
        version: read_column(row, 0)?,
        migration: u32::try_from(read_count(row, 1)?).map_err(Fault::corrupt)?,
        vectors: vectors.to_string(),
        memories: read_count(row, 3)?,
        bytes: read_count(row, 2)?,
        syncs: None,
        bypasses_walls: read_column(row, 4)?,
    })
}

/// Commits a row that means nothing, without the lock of the tenant's head: saves do not wait for it, nor it for them.
pub(super) async fn probe_write(pool: &Pool) -> Result<(), Fault> {
    let Some(tenant) = records::list_tenants(pool).await?.first().map(|tenant| tenant.id) else { return Ok(()) };
    let row = Row {
        kind: RowKind::Leases,
        id: "write_probe".to_owned(),
        state: String::new(),
        subject: String::new(),
        parent: String::new(),
        at: Timestamp::UNIX_EPOCH,
        body: Value::Null,
    };
    let session = pool.acquire().await?;
    let begin = pool.begin_sql(Some(tenant), TransactionMode::Write);
    session
        .run_transaction(&begin, &[records::upsert_row(tenant, &row, row.body.to_string())], "commit")
        .await
        .map(drop)
}

/// Host, port and database of a URL, without user and password.
pub(super) fn display_location(config: &tokio_postgres::Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    // As in libpq: the database is named after the user by default.
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    match config.get_ports().first() {
        Some(port) => format!("{host}:{port}/{database}"),
        None => format!("{host}/{database}"),
    }
}
