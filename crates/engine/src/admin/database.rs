//! Direct access to the database for operators and benchmarks: health, integrity, flush, raw candidates.

use crate::Engine;
use crate::model::error::StoreError;
use crate::policy::Readable;
use crate::ports::{Backend, BackendHealth, CandidateQuery, CandidateSet, Tenant};

/// Handle on the database, see [`Engine::database`]. No caller is checked: only for code that runs as the operator.
#[derive(Clone, Copy)]
pub struct Database<'a> {
    backend: &'a dyn Backend,
}

impl Engine {
    /// The database, for operators. Interfaces for callers use the verbs of the engine instead.
    pub fn database(&self) -> Database<'_> {
        Database { backend: &*self.backend }
    }
}

impl Database<'_> {
    /// Kind, location, version and size of the database.
    pub fn health(&self) -> Result<BackendHealth, StoreError> {
        self.backend.health()
    }

    /// Fails where a save would fail now: the disk is full, or the database is read-only.
    pub fn probe_write(&self) -> Result<(), StoreError> {
        self.backend.probe_write()
    }

    /// Damaged pages, in words. Reads every page: slow on a large database.
    pub fn check_integrity(&self, deep: bool) -> Result<Vec<String>, StoreError> {
        self.backend.check_integrity(deep)
    }

    /// Waits until all queued changes are durable.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.backend.flush()
    }

    /// Candidates as the backend finds them, before ranking. Benchmarks time this.
    pub fn find_candidates(&self, readable: &Readable, query: &CandidateQuery) -> Result<CandidateSet, StoreError> {
        self.backend.find_candidates(readable, query)
    }

    /// All tenants of the database.
    pub fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.backend.list_tenants()
    }
}
