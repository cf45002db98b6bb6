//! Postgres: many processes on one database, a small pool, statements that travel together, walls in the server too.

mod commit;
mod copy;
mod entry;
mod erase;
mod events;
mod fault;
mod filter;
mod guards;
mod health;
mod memories;
mod migrate;
mod news;
mod pool;
mod recall;
mod records;
mod rows;
mod scopes;
mod tls;
mod url;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use engine::model::event::Event;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::Readable;
use engine::ports::change::{Change, Committed, Place};
use engine::ports::row::{Row, RowFilter, RowKind};
use engine::ports::{Address, Backend, Filter, Find, Found, Health, Page, PlaceState, StoreError, Tenant};
use tokio::runtime::{Builder, Runtime};

use crate::bell::Bell;
pub(crate) use copy::{copy_source, copy_target};
use fault::Fault;
pub use migrate::{MigrateOptions, Migrated, migrate_postgres};
use news::LOOK_AGAIN;
use pool::Pool;
use recall::{Models, Vectors};
use writer::Writer;

/// What can be tuned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Connections of this process. Writers of one tenant queue up in the server anyway, and each one costs it memory.
    pub connections_max: usize,
    /// How long a request waits for a free connection, or for a server that is away, before it is told to come back.
    pub wait_max: Duration,
    /// How long the server works on one statement before it gives up.
    pub statement_max: Duration,
    /// Visible memories up to which vectors are compared one by one, which is exact; beyond, by the HNSW index.
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

type Options = PostgresOptions;

/// Opens a database that [`migrate_postgres`] has prepared.
pub fn open_postgres(url: &str, options: &PostgresOptions) -> Result<Arc<dyn Backend>, StoreError> {
    let runtime = runtime()?;
    let pool = Pool::new(url, options)?;
    let vectors = runtime.block_on(async {
        migrate::check(&pool).await?;
        recall::vectors(&pool).await
    })?;
    let news = Arc::new(Bell::default());
    runtime.spawn(news::listen(pool.url(), Arc::downgrade(&news)));
    let writer = Writer::start(runtime.handle().clone(), pool.clone())?;
    Ok(Arc::new(Postgres { pool, vectors, models: Models::default(), news, writer, runtime: Some(runtime) }))
}

/// The driver is asynchronous, the port is not: the loop that waits for the server runs in a thread of its own.
fn runtime() -> Result<Runtime, StoreError> {
    let threads = 1;
    Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("ingrain-postgres")
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| StoreError::Unavailable(format!("no thread for the database: {error}")))
}

struct Postgres {
    pool: Arc<Pool>,
    vectors: Vectors,
    models: Models,
    news: Arc<Bell>,
    writer: Writer,
    runtime: Option<Runtime>,
}

impl Drop for Postgres {
    /// A runtime that is dropped waits, which it may not do inside another one.
    fn drop(&mut self) {
        // What was handed over is still written.
        self.writer.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Postgres {
    fn run<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the backend has stopped".to_owned());
        Ok(self.runtime.as_ref().ok_or_else(stopped)?.block_on(work)?)
    }
}

impl Postgres {
    /// Before the first vector of a model is written, so that its index starts empty and costs nothing.
    fn index_models(&self, change: &Change) {
        if self.vectors.is_on() {
            for (model, dimensions) in self.models.unmet(change) {
                // Vectors are found without it too, only slower; the next process tries again.
                let _ = self.run(recall::add_model(&self.pool, &model, dimensions));
            }
        }
    }
}

impl Backend for Postgres {
    fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        self.index_models(&change);
        let committed = self.run(writer::commit(&self.pool, &change))?;
        if committed.last_event > 0 {
            self.news.ring();
            self.writer.grown(change.tenant);
        }
        Ok(committed)
    }

    fn commit_later(&self, change: Change) {
        self.writer.commit_later(change);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush()
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.run(records::tenants(&self.pool))
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        self.run(records::ensure_tenant(&self.pool, tenant))
    }

    fn row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.run(records::row(&self.pool, tenant, kind, id))
    }

    fn rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.run(records::rows(&self.pool, tenant, kind, filter))
    }

    fn get(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.run(memories::get(&self.pool, readable, address))
    }

    fn list(&self, readable: &Readable, filter: &Filter, page: &Page) -> Result<Vec<Memory>, StoreError> {
        self.run(memories::list(&self.pool, readable, filter, page))
    }

    fn versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.run(memories::versions(&self.pool, readable, memory, below, limit))
    }

    fn version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.run(memories::version(&self.pool, readable, version))
    }

    fn find(&self, readable: &Readable, find: &Find) -> Result<Found, StoreError> {
        self.run(recall::find(&self.pool, &self.vectors, readable, find))
    }

    fn place(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.run(async {
            let answer = self.pool.read(Some(tenant), &[scopes::ask(tenant, place)]).await?;
            scopes::state(answer.first().map_or(&[], Vec::as_slice))
        })
    }

    fn live(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.run(async {
            let answer = self.pool.read(Some(tenant), &[scopes::ask_live(tenant)]).await?;
            scopes::live(answer.first().map_or(&[], Vec::as_slice))
        })
    }

    fn unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.run(recall::unembedded(&self.pool, tenant, model, limit))
    }

    fn events(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.run(events::after(&self.pool, tenant, after, limit))
    }

    fn last_event(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.run(events::last(&self.pool, tenant))
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        self.news.wait_past(after, at_most, LOOK_AGAIN, || self.last_event(tenant))
    }

    fn damage(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn health(&self) -> Result<Health, StoreError> {
        self.run(health::report(&self.pool, &self.vectors))
    }
}
