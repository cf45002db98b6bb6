//! The SQLite backend: one file, one writer with group commit, a pool of read connections, and a recall index in
//! memory.

mod busy_handler;
mod checkpoint;
mod commit;
mod copy;
mod entry;
mod erase;
mod events;
mod fault;
mod file_identity;
mod filter;
mod group_writer;
mod guards;
mod health;
mod log_position;
mod memories;
mod migrate;
mod pool;
mod rebuild;
mod recall;
mod records;
mod row_codec;
mod scan;
mod schema_watch;
mod scopes;
mod wal_vfs;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::model::error::StoreError;
use engine::model::event::Event;
use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::model::row::{Row, RowFilter, RowKind};
use engine::model::vocabulary::ScopeKind;
use engine::policy::Readable;
use engine::ports::change::CommitResult;
use engine::ports::scan::{
    LogEntry, LogHead, LogPosition, ScanFrom, ScannedMemory, ScannedPlace, ScannedRow, ScannedVersion,
};
use engine::ports::scanned_change::ScannedChange;
use engine::ports::{
    Address, Backend, BackendHealth, CandidateQuery, CandidateSet, Filter, PageRequest, PlaceState, StoreCallback,
    Tenant,
};

use crate::notifier::Notifier;
use checkpoint::Checkpointer;
#[cfg(test)]
pub(crate) use copy::columns;
pub(crate) use copy::{open_copy_source, open_copy_target};
use fault::Fault;
use file_identity::FileIdentity;
use log_position::PositionWriter;
use pool::Readers;
use schema_watch::SchemaWatch;
use writer::Writer;

/// Poll interval for events of other processes, which cannot signal this one: short for a person who waits, long enough
/// to cost the disk nothing.
const EVENT_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// Lives as long as the backend: for tests and demonstrations.
    Memory,
}

/// Tuning options.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Memory for the recall index in bytes; least recently used scopes are evicted first. Zero keeps no index and
    /// reads only the rows one search needs: for a program that runs one search and exits.
    pub recall_bytes_max: usize,
    /// How long to wait for another process that holds the write lock.
    pub wait_max: Duration,
    /// Called with the file when such a wait gets long, once per wait.
    pub on_wait: Option<fn(&Path)>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions {
            // A million memories of a paragraph each with vectors of 256 dimensions take some 600 MiB.
            recall_bytes_max: 1024 * 1024 * 1024,
            // A group commit takes milliseconds; this allows for many processes on a slow disk.
            wait_max: Duration::from_secs(60),
            on_wait: None,
        }
    }
}

/// Opens a database, creates it if missing, and migrates it to the newest schema.
pub fn open_sqlite(location: &Location, options: &SqliteOptions) -> Result<Arc<dyn Backend>, StoreError> {
    let path = match location {
        Location::File(path) => Some(path.as_path()),
        Location::Memory => None,
    };
    if let Some(path) = path {
        file_identity::refuse_emptied_file(path)?;
        create_private_file(path).map_err(|error| StoreError::Unwritable(format!("`{}`: {error}", path.display())))?;
    }
    let with_file = |error: Fault| busy_handler::add_file_name(error.into(), path, options.wait_max);
    let conn = pool::open_writer(path, options).map_err(with_file)?;
    migrate::run_migrations(&conn).map_err(with_file)?;
    let shared = Arc::new(Mutex::new(conn));
    let readers =
        path.map_or_else(|| Readers::Memory(shared.clone()), |path| Readers::for_file(path, options.wait_max));
    let recall = recall::RecallIndex::new(options.recall_bytes_max);
    let notifier = Arc::new(Notifier::default());
    let checkpointer = path.map(|path| Checkpointer::start(path, shared.clone(), notifier.clone())).transpose()?;
    let writer = Writer::start(shared, notifier.clone(), path.map(PositionWriter::new))?;
    let file = Arc::new(DatabaseFile { location: location.clone(), wait_max: options.wait_max });
    // Read after the file was opened: an identity read before could be that of a file replaced in between.
    let file_identity = path.map(FileIdentity::from_path);
    Ok(Arc::new(Sqlite {
        file,
        file_identity,
        schema_watch: SchemaWatch::new(),
        readers,
        _checkpointer: checkpointer,
        writer,
        recall,
        notifier,
    }))
}

/// Creates the folder and the file with access for their owner only; SQLite gives its log files the mode of the file.
fn create_private_file(path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new();
    let mut folder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.recursive(true).create(parent)?;
    }
    // Not `truncate`: the file may hold a database. Not `create_new`: another process may create it at the same time.
    file.append(true).create(true).open(path).map(drop)
}

struct Sqlite {
    file: Arc<DatabaseFile>,
    file_identity: Option<FileIdentity>,
    schema_watch: SchemaWatch,
    readers: Readers,
    /// Declared before the writer, so that it is dropped first: the writer closes the file.
    _checkpointer: Option<Checkpointer>,
    writer: Writer,
    recall: recall::RecallIndex,
    notifier: Arc<Notifier>,
}

/// The location and the lock timeout, for error messages.
struct DatabaseFile {
    location: Location,
    wait_max: Duration,
}

impl DatabaseFile {
    fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::File(path) => Some(path),
            Location::Memory => None,
        }
    }

    fn add_file_name(&self, error: StoreError) -> StoreError {
        busy_handler::add_file_name(error, self.path(), self.wait_max)
    }
}

impl Sqlite {
    fn with_reader<T>(&self, work: impl FnOnce(&rusqlite::Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.schema_watch
            .check_if_due(&self.readers)
            .and_then(|()| self.readers.with_connection(work))
            .map_err(|error| self.file.add_file_name(error))
    }

    /// Fails where the file was replaced or truncated, or a newer program has migrated it.
    fn check_writable(&self) -> Result<(), StoreError> {
        self.file_identity.as_ref().map_or(Ok(()), FileIdentity::check_if_due)?;
        self.schema_watch.check_if_due(&self.readers).map_err(|error| self.file.add_file_name(error))
    }
}

impl Backend for Sqlite {
    fn commit(&self, change: ScannedChange) -> Result<CommitResult, StoreError> {
        self.check_writable()?;
        self.writer.commit(change).map_err(|error| self.file.add_file_name(error))
    }

    fn submit(&self, change: Arc<ScannedChange>, answer: StoreCallback<CommitResult>) {
        match self.check_writable() {
            Ok(()) => {
                let file = self.file.clone();
                let callback = move |outcome: Result<_, _>| answer(outcome.map_err(|error| file.add_file_name(error)));
                self.writer.submit(change, Box::new(callback));
            }
            Err(error) => answer(Err(error)),
        }
    }

    fn submits_in_background(&self) -> bool {
        true
    }

    fn commit_later(&self, change: ScannedChange) {
        self.writer.commit_later(change);
    }

    fn commit_later_with_callback(&self, change: ScannedChange, answer: StoreCallback<()>) {
        let file = self.file.clone();
        let callback = move |outcome: Result<_, _>| answer(outcome.map_err(|error| file.add_file_name(error)));
        self.writer.commit_soon(change, Box::new(callback));
    }

    fn flush_with_callback(&self, answer: StoreCallback<()>) {
        self.writer.flush_soon(answer);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush().map_err(|error| self.file.add_file_name(error))
    }

    fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.with_reader(records::list_tenants)
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        // The tenant almost always exists, and a read does not wait for the writer.
        match self.with_reader(|conn| records::find_tenant(conn, &tenant.slug))? {
            Some(tenant) => Ok(tenant),
            None => self.writer.ensure_tenant(tenant.clone()).map_err(|error| self.file.add_file_name(error)),
        }
    }

    fn get_row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.with_reader(|conn| records::get_row(conn, tenant, kind, id))
    }

    fn list_rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.with_reader(|conn| records::list_rows(conn, tenant, kind, filter))
    }

    fn get_memory(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.with_reader(|conn| memories::get_memory(conn, readable, address))
    }

    fn list_memories(
        &self,
        readable: &Readable,
        filter: &Filter,
        page: &PageRequest,
    ) -> Result<Vec<Memory>, StoreError> {
        self.with_reader(|conn| memories::list_memories(conn, readable, filter, page))
    }

    fn list_versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.with_reader(|conn| memories::list_versions(conn, readable, memory, below, limit))
    }

    fn get_version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.with_reader(|conn| memories::get_version(conn, readable, version))
    }

    fn find_candidates(&self, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, StoreError> {
        self.schema_watch.check_if_due(&self.readers)?;
        self.recall.find_candidates(&self.readers, readable, find)
    }

    fn place_state(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.with_reader(|conn| scopes::place_state(conn, tenant, place))
    }

    fn live_counts(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.with_reader(|conn| scopes::live_counts(conn, tenant))
    }

    fn list_places(&self, tenant: TenantId, kind: ScopeKind) -> Result<Vec<(Place, u64)>, StoreError> {
        self.with_reader(|conn| scopes::list_places(conn, tenant, kind))
    }

    fn list_unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.with_reader(|conn| recall::list_unembedded(conn, tenant, model, limit))
    }

    fn events_after(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.with_reader(|conn| events::events_after(conn, tenant, after, limit))
    }

    fn last_event_seq(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.with_reader(|conn| events::last_event_seq(conn, tenant))
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        // The notifier is signalled by this process only; events of other processes are found by polling.
        self.notifier.wait_for_event(after, at_most, EVENT_POLL_INTERVAL, || self.last_event_seq(tenant))
    }

    fn probe_write(&self) -> Result<(), StoreError> {
        match &self.file.location {
            Location::File(path) => health::probe_write(path),
            Location::Memory => Ok(()),
        }
    }

    fn scan_log(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.with_reader(|conn| scan::scan_log(conn, tenant, after, limit))
    }

    fn log_head(&self, tenant: TenantId) -> Result<LogHead, StoreError> {
        self.with_reader(|conn| scan::log_head(conn, tenant))
    }

    fn log_positions(&self) -> Result<Vec<LogPosition>, StoreError> {
        let unreadable = |error| StoreError::Unavailable(format!("the position file beside the database: {error}"));
        self.file.path().map_or(Ok(Vec::new()), |path| log_position::read_positions(path).map_err(unreadable))
    }

    fn accept_log_positions(&self) -> Result<(), StoreError> {
        let Some(path) = self.file.path() else { return Ok(()) };
        self.with_reader(|conn| log_position::accept_positions(path, conn))
    }

    fn scan_versions(
        &self,
        tenant: TenantId,
        from: &ScanFrom<(MemoryId, u32)>,
        limit: usize,
    ) -> Result<Vec<ScannedVersion>, StoreError> {
        self.with_reader(|conn| scan::scan_versions(conn, tenant, from, limit))
    }

    fn scan_memories(
        &self,
        tenant: TenantId,
        from: &ScanFrom<MemoryId>,
        limit: usize,
    ) -> Result<Vec<ScannedMemory>, StoreError> {
        self.with_reader(|conn| scan::scan_memories(conn, tenant, from, limit))
    }

    fn scan_rows(
        &self,
        tenant: TenantId,
        kind: RowKind,
        from: &ScanFrom<String>,
        limit: usize,
    ) -> Result<Vec<ScannedRow>, StoreError> {
        self.with_reader(|conn| scan::scan_rows(conn, tenant, kind, from, limit))
    }

    fn scan_places(&self, tenant: TenantId) -> Result<Vec<ScannedPlace>, StoreError> {
        self.with_reader(|conn| scan::scan_places(conn, tenant))
    }

    fn check_integrity(&self, deep: bool) -> Result<Vec<String>, StoreError> {
        self.with_reader(|conn| health::find_damage(conn, deep))
    }

    fn health(&self) -> Result<BackendHealth, StoreError> {
        self.file_identity.as_ref().map_or(Ok(()), FileIdentity::check_now)?;
        let health = self.with_reader(|conn| health::read_health(conn, &self.file.location))?;
        Ok(BackendHealth { syncs: Some(self.writer.sync_count()), ..health })
    }
}
