//! Connections: their settings, and the pool of read connections.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::model::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fault::Fault;
use super::{SqliteOptions, busy_handler, wal_vfs};
use crate::sync::lock;

/// Idle read connections kept open. More are opened when more reads run at once, and closed afterwards.
const IDLE_MAX: usize = 4;
/// Prepared statements cached per connection: more than this backend has.
const STATEMENTS_CACHED_MAX: usize = 160;
/// Page cache of the writer in KiB: enough for the right edges of all B-trees, where new rows go.
const WRITER_CACHE_KIB: i64 = 768;
/// Page cache of a reader in KiB; behind it is the file cache of the operating system.
const READER_CACHE_KIB: i64 = 512;
/// Log pages after which the writer runs a checkpoint itself: 64 MiB, far more than there are while the checkpointer
/// keeps up.
const CHECKPOINT_PAGES: i64 = 16_000;
/// How long the checkpointer waits for a lock. Short: it retries soon, and writers may queue behind it.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(5);

/// The write connection. A database in memory has no other, so its readers share it.
pub(super) type SharedConnection = Arc<Mutex<Connection>>;

pub(super) fn open_writer(path: Option<&Path>, options: &SqliteOptions) -> Result<Connection, Fault> {
    let mut conn = match path {
        Some(path) if wal_vfs::ensure_registered() => {
            Connection::open_with_flags_and_vfs(path, writer_flags(), wal_vfs::VFS_NAME)?
        }
        Some(path) => Connection::open_with_flags(path, writer_flags())?,
        None => Connection::open_in_memory()?,
    };
    if let Some(path) = path {
        conn.busy_handler(Some(busy_handler::retry_handler(path, options.wait_max, options.on_wait)))?;
    }
    configure_connection(&conn, WRITER_CACHE_KIB)?;
    enable_wal(&conn, path, options)?;
    // `wal_vfs` relies on the sync of the log before each commit.
    conn.pragma_update(None, "synchronous", "full")?;
    // Off by default in SQLite, and set per connection.
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // Deleted text is overwritten with zeros: redacted and erased text must not stay in free pages.
    conn.pragma_update(None, "secure_delete", true)?;
    Ok(conn)
}

/// Turns the write-ahead log on. SQLite does not call the busy handler here, so where many processes create one file at
/// once, the retries are made by hand.
fn enable_wal(conn: &Connection, path: Option<&Path>, options: &SqliteOptions) -> Result<(), Fault> {
    let mut keep_waiting = path.map(|path| busy_handler::retry_handler(path, options.wait_max, options.on_wait));
    let mut tries = 0;
    loop {
        match conn.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && keep_waiting.as_mut().is_some_and(|keep_waiting| keep_waiting(tries)) =>
            {
                tries += 1;
            }
            done => return Ok(done?),
        }
    }
}

/// The connection of the checkpointer, which only copies the log into the database.
pub(super) fn open_checkpointer(path: &Path) -> Result<Connection, Fault> {
    let conn = Connection::open_with_flags(path, writer_flags())?;
    conn.busy_timeout(CHECKPOINT_WAIT)?;
    conn.pragma_update(None, "synchronous", "full")?;
    Ok(conn)
}

fn open_reader(path: &Path, wait_max: Duration) -> Result<Connection, Fault> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | common_flags())?;
    conn.busy_timeout(wait_max)?;
    configure_connection(&conn, READER_CACHE_KIB)?;
    Ok(conn)
}

fn writer_flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | common_flags()
}

fn common_flags() -> OpenFlags {
    // Each connection is used by one thread at a time, so SQLite needs no mutex around it.
    OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn configure_connection(conn: &Connection, cache_kib: i64) -> Result<(), Fault> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED_MAX);
    // Query planner stability guarantee: without it, SQLite plans a statement that could use a partial index again for
    // each bound value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A negative size is in KiB, a positive one in pages.
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    // Sorting must not write content to temporary files, which would stay outside of redaction and erasure.
    conn.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}

/// Source of read connections.
pub(super) enum Readers {
    File { path: std::path::PathBuf, wait_max: Duration, idle: Mutex<Vec<Connection>> },
    Memory(SharedConnection),
}

impl Readers {
    pub(super) fn for_file(path: &Path, wait_max: Duration) -> Readers {
        Readers::File { path: path.to_owned(), wait_max, idle: Mutex::default() }
    }

    /// Runs `work` in one read transaction, so that all its queries see one snapshot.
    pub(super) fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        match self {
            Readers::Memory(shared) => Ok(in_transaction(&lock(shared), work)?),
            Readers::File { path, wait_max, idle } => {
                let pooled = lock(idle).pop();
                let conn = pooled.map_or_else(|| open_reader(path, *wait_max), Ok)?;
                // A panic in `work` drops the connection, so only one without an open transaction is reused.
                let answer = in_transaction(&conn, work);
                let mut idle = lock(idle);
                if idle.len() < IDLE_MAX {
                    idle.push(conn);
                }
                Ok(answer?)
            }
        }
    }
}

fn in_transaction<T>(conn: &Connection, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
    let transaction = conn.unchecked_transaction()?;
    let answer = work(&transaction)?;
    transaction.commit()?;
    Ok(answer)
}
