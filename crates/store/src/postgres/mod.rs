//! The Postgres backend: many processes on one database, a small connection pool, pipelined statements, and row-level
//! security in the server that keeps tenants apart.

mod commit;
mod copy;
mod entry;
mod erase;
mod events;
mod fault;
mod filter;
mod guards;
mod health;
mod listen_notify;
mod memories;
mod migrate;
mod pool;
mod rebuild;
mod recall;
mod records;
mod row_codec;
mod scan;
mod scopes;
mod server_url;
mod tls;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use engine::model::error::StoreError;
use engine::model::event::Event;
use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::model::row::{Row, RowFilter, RowKind};
use engine::model::vocabulary::ScopeKind;
use engine::policy::Readable;
use engine::ports::change::{Change, CommitResult};
use engine::ports::scan::{LogEntry, LogHead, ScanFrom, ScannedMemory, ScannedPlace, ScannedRow, ScannedVersion};
use engine::ports::scanned_change::ScannedChange;
use engine::ports::{
    Address, Backend, BackendHealth, CandidateQuery, CandidateSet, Filter, PageRequest, PlaceState, Tenant,
};
use tokio::runtime::{Builder, Runtime};

use crate::notifier::Notifier;
pub(crate) use copy::{open_copy_source, open_copy_target};
use fault::Fault;
use listen_notify::EVENT_POLL_INTERVAL;
pub use migrate::{MigrateOptions, MigrationReport, migrate_postgres};
use pool::Pool;
use recall::{IndexedModels, VectorSupport};
pub use server_url::allows_plaintext;
use writer::Writer;

/// Tuning options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Connections of this process. Each costs the server memory, and writers of one tenant queue in the server anyway.
    pub connections_max: usize,
    /// How long a request waits for a free connection, or for an unreachable server, before it fails.
    pub wait_max: Duration,
    /// Server-side timeout of one statement.
    pub statement_max: Duration,
    /// Visible memories up to which all vectors are compared, which is exact; beyond, the HNSW index is used.
    pub exact_max: u64,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        PostgresOptions {
            connections_max: 10,
            wait_max: Duration::from_secs(5),
            statement_max: Duration::from_secs(30),
            exact_max: 20_000,
        }
    }
}

/// Opens a database that [`migrate_postgres`] has migrated.
pub fn open_postgres(url: &str, options: &PostgresOptions) -> Result<Arc<dyn Backend>, StoreError> {
    let runtime = build_runtime()?;
    let pool = Pool::new(url, options)?;
    let vectors = runtime.block_on(async {
        migrate::check_up_to_date(&pool).await?;
        recall::detect_vectors(&pool).await
    })?;
    let notifier = Arc::new(Notifier::default());
    // A weak reference, so that the task ends with the backend.
    runtime.spawn(listen_notify::listen_for_events(pool.url(), Arc::downgrade(&notifier)));
    let writer = Writer::start(runtime.handle().clone(), pool.clone())?;
    Ok(Arc::new(Postgres { pool, vectors, models: IndexedModels::default(), notifier, writer, runtime: Some(runtime) }))
}

/// A runtime of one thread. The driver is asynchronous and the `Backend` port is not: the thread drives the connections
/// while callers block on their requests.
fn build_runtime() -> Result<Runtime, StoreError> {
    let threads = 1;
    Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("ingrain-postgres")
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| StoreError::Unavailable(format!("the database thread cannot be started: {error}")))
}

struct Postgres {
    pool: Arc<Pool>,
    vectors: VectorSupport,
    models: IndexedModels,
    notifier: Arc<Notifier>,
    writer: Writer,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Postgres {
    /// Shuts the runtime down in the background: dropping it would block, which panics inside another runtime.
    fn drop(&mut self) {
        // Queued changes are still written.
        self.writer.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Postgres {
    fn block_on<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the backend has stopped".to_owned());
        Ok(self.runtime.as_ref().ok_or_else(stopped)?.block_on(work)?)
    }
}

impl Postgres {
    /// Creates the index of a model before its first vector is written: an index on an empty table costs nothing.
    fn ensure_model_indexes(&self, change: &Change) {
        if self.vectors.is_on() {
            for (model, dimensions) in self.models.take_new_models(change) {
                // Without the index vectors are still found, only slower; the next process tries again.
                let _ = self.block_on(recall::add_model_index(&self.pool, &model, dimensions));
            }
        }
    }
}

impl Backend for Postgres {
    fn commit(&self, change: ScannedChange) -> Result<CommitResult, StoreError> {
        // In a transaction of its own: other writers wait for its lock on the table until it ends.
        self.ensure_model_indexes(&change);
        let committed = self.block_on(writer::commit(&self.pool, &change))?;
        if committed.last_event_seq > 0 {
            // Threads of this process are woken at once. Other processes hear from the writer thread.
            self.notifier.notify_all();
            self.writer.queue_notification(change.tenant);
        }
        Ok(committed)
    }

    fn commit_later(&self, change: ScannedChange) {
        self.writer.commit_later(change.into_change());
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush()
    }

    fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.block_on(records::list_tenants(&self.pool))
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        self.block_on(records::ensure_tenant(&self.pool, tenant))
    }

    fn get_row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.block_on(records::get_row(&self.pool, tenant, kind, id))
    }

    fn list_rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.block_on(records::list_rows(&self.pool, tenant, kind, filter))
    }

    fn get_memory(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.block_on(memories::get_memory(&self.pool, readable, address))
    }

    fn list_memories(
        &self,
        readable: &Readable,
        filter: &Filter,
        page: &PageRequest,
    ) -> Result<Vec<Memory>, StoreError> {
        self.block_on(memories::list_memories(&self.pool, readable, filter, page))
    }

    fn list_versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.block_on(memories::list_versions(&self.pool, readable, memory, below, limit))
    }

    fn get_version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.block_on(memories::get_version(&self.pool, readable, version))
    }

    fn find_candidates(&self, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, StoreError> {
        self.block_on(recall::find_candidates(&self.pool, &self.vectors, readable, find))
    }

    fn place_state(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.block_on(async {
            let answer = self.pool.query_read_only(Some(tenant), &[scopes::place_query(tenant, place)]).await?;
            scopes::read_place_state(answer.first().map_or(&[], Vec::as_slice))
        })
    }

    fn live_counts(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.block_on(async {
            let answer = self.pool.query_read_only(Some(tenant), &[scopes::live_counts_query(tenant)]).await?;
            scopes::read_live_counts(answer.first().map_or(&[], Vec::as_slice))
        })
    }

    fn list_places(&self, tenant: TenantId, kind: ScopeKind) -> Result<Vec<(Place, u64)>, StoreError> {
        self.block_on(async {
            let answer = self.pool.query_read_only(Some(tenant), &[scopes::list_places_query(tenant, kind)]).await?;
            scopes::read_places(kind, answer.first().map_or(&[], Vec::as_slice))
        })
    }

    fn list_unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.block_on(recall::list_unembedded(&self.pool, tenant, model, limit))
    }

    fn events_after(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.block_on(events::events_after(&self.pool, tenant, after, limit))
    }

    fn last_event_seq(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.block_on(events::last_event_seq(&self.pool, tenant))
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        self.notifier.wait_for_event(after, at_most, EVENT_POLL_INTERVAL, || self.last_event_seq(tenant))
    }

    fn probe_write(&self) -> Result<(), StoreError> {
        self.block_on(health::probe_write(&self.pool))
    }

    fn scan_log(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.block_on(scan::scan_log(&self.pool, tenant, after, limit))
    }

    fn log_head(&self, tenant: TenantId) -> Result<LogHead, StoreError> {
        self.block_on(scan::log_head(&self.pool, tenant))
    }

    fn scan_versions(
        &self,
        tenant: TenantId,
        from: &ScanFrom<(MemoryId, u32)>,
        limit: usize,
    ) -> Result<Vec<ScannedVersion>, StoreError> {
        self.block_on(scan::scan_versions(&self.pool, tenant, from, limit))
    }

    fn scan_memories(
        &self,
        tenant: TenantId,
        from: &ScanFrom<MemoryId>,
        limit: usize,
    ) -> Result<Vec<ScannedMemory>, StoreError> {
        self.block_on(scan::scan_memories(&self.pool, tenant, from, limit))
    }

    fn scan_rows(
        &self,
        tenant: TenantId,
        kind: RowKind,
        from: &ScanFrom<String>,
        limit: usize,
    ) -> Result<Vec<ScannedRow>, StoreError> {
        self.block_on(scan::scan_rows(&self.pool, tenant, kind, from, limit))
    }

    fn scan_places(&self, tenant: TenantId) -> Result<Vec<ScannedPlace>, StoreError> {
        self.block_on(scan::scan_places(&self.pool, tenant))
    }

    fn check_integrity(&self, _deep: bool) -> Result<Vec<String>, StoreError> {
        // Left to the server, which checks its own pages.
        Ok(Vec::new())
    }

    fn health(&self) -> Result<BackendHealth, StoreError> {
        self.block_on(health::read_health(&self.pool, &self.vectors))
    }
}
