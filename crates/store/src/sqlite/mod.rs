//! SQLite: one file, one writer thread with group commit, a few readers, an index in memory for recall.

mod age;
mod checkpoint;
mod commit;
mod copy;
mod entry;
mod erase;
mod events;
mod fault;
mod filter;
mod group;
mod guards;
mod health;
mod log_file;
mod memories;
mod migrate;
mod patience;
mod pool;
mod recall;
mod records;
mod rows;
mod scopes;
mod standing;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::model::event::Event;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::Readable;
use engine::ports::change::{Change, Committed, Place};
use engine::ports::row::{Row, RowFilter, RowKind};
use engine::ports::{Address, Answer, Backend, Filter, Find, Found, Health, Page, PlaceState, StoreError, Tenant};

use crate::bell::Bell;
use age::Age;
use checkpoint::Checkpointer;
#[cfg(test)]
pub(crate) use copy::columns;
pub(crate) use copy::{copy_source, copy_target};
use fault::Fault;
use pool::Readers;
use standing::Standing;
use writer::Writer;

/// How often to look for events of other processes, which cannot wake us: soon for a person, rarely for a disk.
const EVENT_POLL: Duration = Duration::from_millis(200);

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// Gone when it is dropped: for tests and demonstrations.
    Memory,
}

/// What can be tuned.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of recall index kept in memory; the scopes longest unused go first. Zero keeps nothing and reads less: for
    /// a program that asks one question and ends.
    pub recall_bytes_max: usize,
    /// How long another process that writes is waited for.
    pub wait_max: Duration,
    /// Told of the file when such a wait gets long, once each.
    pub waiting: Option<fn(&Path)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            // A million memories of a paragraph each with vectors of 256 dimensions take some 600 MiB.
            recall_bytes_max: 1024 * 1024 * 1024,
            // Groups take milliseconds; this is for a crowd on a slow disk.
            wait_max: Duration::from_secs(60),
            waiting: None,
        }
    }
}

/// Opens a database, makes it where there is none, and brings it up to date.
pub fn open_sqlite(location: &Location, options: &Options) -> Result<Arc<dyn Backend>, StoreError> {
    let path = match location {
        Location::File(path) => Some(path.as_path()),
        Location::Memory => None,
    };
    if let Some(path) = path {
        standing::not_emptied(path)?;
        make_file(path).map_err(|error| StoreError::Unwritable(format!("`{}`: {error}", path.display())))?;
    }
    let named = |error: Fault| patience::named(error.into(), path, options.wait_max);
    let conn = pool::open_writer(path, options).map_err(named)?;
    migrate::run(&conn).map_err(named)?;
    let shared = Arc::new(Mutex::new(conn));
    let readers = path.map_or_else(|| Readers::Memory(shared.clone()), |path| Readers::file(path, options.wait_max));
    let recall = recall::Index::new(options.recall_bytes_max);
    let news = Arc::new(Bell::default());
    let checkpointer = path.map(|path| Checkpointer::start(path, shared.clone(), news.clone())).transpose()?;
    let writer = Writer::start(shared, news.clone())?;
    let file = Arc::new(Whereabouts { location: location.clone(), wait_max: options.wait_max });
    let standing = path.map(Standing::of);
    Ok(Arc::new(Sqlite { file, standing, age: Age::new(), readers, _checkpointer: checkpointer, writer, recall, news }))
}

/// Makes the folder and the file so that only their owner may look; the log files copy the file's mode.
fn make_file(path: &Path) -> std::io::Result<()> {
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
    file.append(true).create(true).open(path).map(drop)
}

struct Sqlite {
    file: Arc<Whereabouts>,
    standing: Option<Standing>,
    age: Age,
    readers: Readers,
    /// Goes before the writer, which closes the file.
    _checkpointer: Option<Checkpointer>,
    writer: Writer,
    recall: recall::Index,
    news: Arc<Bell>,
}

/// Where it is, and how long that is waited for.
struct Whereabouts {
    location: Location,
    wait_max: Duration,
}

impl Whereabouts {
    fn named(&self, error: StoreError) -> StoreError {
        let path = match &self.location {
            Location::File(path) => Some(path.as_path()),
            Location::Memory => None,
        };
        patience::named(error, path, self.wait_max)
    }
}

impl Sqlite {
    fn read<T>(&self, work: impl FnOnce(&rusqlite::Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.age.check(&self.readers).and_then(|()| self.readers.read(work)).map_err(|error| self.file.named(error))
    }

    /// Whether it may be written to.
    fn fit(&self) -> Result<(), StoreError> {
        self.standing.as_ref().map_or(Ok(()), Standing::check)?;
        self.age.check(&self.readers).map_err(|error| self.file.named(error))
    }
}

impl Backend for Sqlite {
    fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        self.fit()?;
        self.writer.commit(change).map_err(|error| self.file.named(error))
    }

    fn submit(&self, change: Arc<Change>, answer: Answer<Committed>) {
        match self.fit() {
            Ok(()) => {
                let file = self.file.clone();
                let named = move |outcome: Result<_, _>| answer(outcome.map_err(|error| file.named(error)));
                self.writer.submit(change, Box::new(named));
            }
            Err(error) => answer(Err(error)),
        }
    }

    fn writes_beside(&self) -> bool {
        true
    }

    fn commit_later(&self, change: Change) {
        self.writer.commit_later(change);
    }

    fn commit_soon(&self, change: Change, answer: Answer<()>) {
        let file = self.file.clone();
        let named = move |outcome: Result<_, _>| answer(outcome.map_err(|error| file.named(error)));
        self.writer.commit_soon(change, Box::new(named));
    }

    fn flush_soon(&self, answer: Answer<()>) {
        self.writer.flush_soon(answer);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush().map_err(|error| self.file.named(error))
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.read(records::tenants)
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        // Almost always it is there, and then nothing needs to be written.
        match self.read(|conn| records::tenant(conn, &tenant.slug))? {
            Some(tenant) => Ok(tenant),
            None => self.writer.ensure_tenant(tenant.clone()).map_err(|error| self.file.named(error)),
        }
    }

    fn row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.read(|conn| records::row(conn, tenant, kind, id))
    }

    fn rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.read(|conn| records::rows(conn, tenant, kind, filter))
    }

    fn get(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.read(|conn| memories::get(conn, readable, address))
    }

    fn list(&self, readable: &Readable, filter: &Filter, page: &Page) -> Result<Vec<Memory>, StoreError> {
        self.read(|conn| memories::list(conn, readable, filter, page))
    }

    fn versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.read(|conn| memories::versions(conn, readable, memory, below, limit))
    }

    fn version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.read(|conn| memories::version(conn, readable, version))
    }

    fn find(&self, readable: &Readable, find: &Find) -> Result<Found, StoreError> {
        self.age.check(&self.readers)?;
        self.recall.find(&self.readers, readable, find)
    }

    fn place(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.read(|conn| scopes::state(conn, tenant, place))
    }

    fn live(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.read(|conn| scopes::live(conn, tenant))
    }

    fn unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.read(|conn| recall::unembedded(conn, tenant, model, limit))
    }

    fn events(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.read(|conn| events::after(conn, tenant, after, limit))
    }

    fn last_event(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.read(|conn| events::last(conn, tenant))
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        // The bell rings for this process only; others are found by looking.
        self.news.wait_past(after, at_most, EVENT_POLL, || self.last_event(tenant))
    }

    fn damage(&self) -> Result<Vec<String>, StoreError> {
        self.read(health::damage)
    }

    fn health(&self) -> Result<Health, StoreError> {
        self.standing.as_ref().map_or(Ok(()), Standing::look)?;
        let health = self.read(|conn| health::report(conn, &self.file.location))?;
        Ok(Health { syncs: Some(self.writer.synced()), ..health })
    }
}
