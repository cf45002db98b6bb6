//! The database behind the engine, for operators and benchmarks.

use crate::Engine;
use crate::model::error::StoreError;
use crate::policy::Readable;
use crate::ports::{Backend, BackendHealth, CandidateQuery, CandidateSet, Tenant};

/// What an operator may ask of the database.
#[derive(Clone, Copy)]
pub struct Database<'a> {
    backend: &'a dyn Backend,
}

impl Engine {
    pub fn database(&self) -> Database<'_> {
        Database { backend: &*self.backend }
    }
}

impl Database<'_> {
    /// Kind, place, version and size of the database.
    pub fn health(&self) -> Result<BackendHealth, StoreError> {
        self.backend.health()
    }

    /// Damaged pages, read one by one: slow on a large database.
    pub fn check_integrity(&self) -> Result<Vec<String>, StoreError> {
        self.backend.check_integrity()
    }

    /// Waits until everything handed over for writing is durable.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.backend.flush()
    }

    /// Candidates as the backend finds them, before ranking: what benchmarks time.
    pub fn find_candidates(&self, readable: &Readable, query: &CandidateQuery) -> Result<CandidateSet, StoreError> {
        self.backend.find_candidates(readable, query)
    }

    pub fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.backend.list_tenants()
    }
}
