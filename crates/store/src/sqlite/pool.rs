//! Connections: how they are set up, and the readers that wait for work.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::ports::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fault::Fault;
use super::{SqliteOptions, busy_handler, wal_vfs};
use crate::sync::lock;

/// Readers kept open for the next read; more are opened when more ask at once.
const IDLE_MAX: usize = 4;
/// Distinct statements of this backend, with room.
const STATEMENTS_CACHED_MAX: usize = 160;
/// KiB of pages the writer keeps: the right edges of all its trees, and then some.
const WRITER_CACHE_KIB: i64 = 768;
/// KiB of pages a reader keeps; the file cache of the system is behind it.
const READER_CACHE_KIB: i64 = 512;
/// Pages of log after which the writer copies them to the database itself: 64 MiB, far more than is left where the
/// checkpointer keeps up.
const CHECKPOINT_PAGES: i64 = 16_000;
/// How long the checkpointer waits for readers and writers: it comes again soon, and others may wait behind it.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(5);

/// The connection that writes. In memory it is the only one, and readers share it.
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
    // `log_file` relies on this.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // What is deleted is overwritten: redaction and erasure mean it.
    conn.pragma_update(None, "secure_delete", true)?;
    Ok(conn)
}

/// Turns the log on. Where many begin one file at once, SQLite gives up on this without asking the busy handler.
fn enable_wal(conn: &Connection, path: Option<&Path>, options: &SqliteOptions) -> Result<(), Fault> {
    let mut goes_on = path.map(|path| busy_handler::retry_handler(path, options.wait_max, options.on_wait));
    let mut tries = 0;
    loop {
        match conn.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && goes_on.as_mut().is_some_and(|goes_on| goes_on(tries)) =>
            {
                tries += 1;
            }
            done => return Ok(done?),
        }
    }
}

/// The connection that copies the log into the database and does nothing else.
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
    // Each connection is used by one thread at a time, so it needs no lock of its own.
    OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn configure_connection(conn: &Connection, cache_kib: i64) -> Result<(), Fault> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED_MAX);
    // A plan is made once: without this, a statement that meets a partial index is planned anew for every value bound.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Negative means KiB.
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}

/// Where reads come from.
pub(super) enum Readers {
    File { path: std::path::PathBuf, wait_max: Duration, idle: Mutex<Vec<Connection>> },
    Memory(SharedConnection),
}

impl Readers {
    pub(super) fn for_file(path: &Path, wait_max: Duration) -> Readers {
        Readers::File { path: path.to_owned(), wait_max, idle: Mutex::default() }
    }

    /// Runs one read in one transaction: everything in it sees the same moment.
    pub(super) fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        match self {
            Readers::Memory(shared) => Ok(in_transaction(&lock(shared), work)?),
            Readers::File { path, wait_max, idle } => {
                let waiting = lock(idle).pop();
                let conn = waiting.map_or_else(|| open_reader(path, *wait_max), Ok)?;
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
