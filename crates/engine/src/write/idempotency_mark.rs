//! A backend that notes with the first change of a call that the call was done: a process that dies before it answers
//! leaves a key that is not taken for unused.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Engine;
use crate::model::error::StoreError;
use crate::model::event::Event;
use crate::model::guard::Place;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::memory::{Memory, Version};
use crate::model::row::{Row, RowFilter, RowKind, SideRecord};
use crate::policy::Readable;
use crate::ports::change::{Change, CommitResult, Write};
use crate::ports::{
    Address, Backend, BackendHealth, CandidateQuery, CandidateSet, Filter, PageRequest, PlaceState, StoreCallback,
    Tenant,
};
use crate::write::idempotency::IdempotentCall;

struct IdempotencyBackend {
    backend: Arc<dyn Backend>,
    tenant: TenantId,
    /// Gone once it is written.
    mark: Mutex<Option<Row>>,
}

impl Engine {
    /// This engine for one call under an idempotency key.
    #[must_use]
    pub fn with_idempotency_mark(&self, tenant: TenantId, repeat: &IdempotentCall) -> Engine {
        let mark = Mutex::new(Some(IdempotentCall { done: true, ..repeat.clone() }.to_row()));
        let backend = Arc::new(IdempotencyBackend { backend: self.backend.clone(), tenant, mark });
        Engine { backend, ..self.clone() }
    }
}

impl Backend for IdempotencyBackend {
    fn commit(&self, change: Change) -> Result<CommitResult, StoreError> {
        // Held meanwhile: of two changes at once only one may carry the mark.
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        // What only tells, as a refusal does, can be told again.
        let is_done = change.tenant == self.tenant && !change.writes.is_empty();
        let Some(row) = mark.clone().filter(|_| is_done) else {
            drop(mark);
            return self.backend.commit(change);
        };
        let committed = self.backend.commit(change.with_write(Write::Row(row)))?;
        *mark = None;
        Ok(committed)
    }

    fn commit_setup(&self, change: Change) -> Result<CommitResult, StoreError> {
        self.backend.commit_setup(change)
    }

    fn commit_later(&self, change: Change) {
        self.backend.commit_later(change);
    }

    fn commit_later_with_callback(&self, change: Change, answer: StoreCallback<()>) {
        self.backend.commit_later_with_callback(change, answer);
    }

    fn flush_with_callback(&self, answer: StoreCallback<()>) {
        self.backend.flush_with_callback(answer);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.backend.flush()
    }

    fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.backend.list_tenants()
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        self.backend.ensure_tenant(tenant)
    }

    fn get_row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.backend.get_row(tenant, kind, id)
    }

    fn list_rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.backend.list_rows(tenant, kind, filter)
    }

    fn get_memory(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.backend.get_memory(readable, address)
    }

    fn list_memories(
        &self,
        readable: &Readable,
        filter: &Filter,
        page: &PageRequest,
    ) -> Result<Vec<Memory>, StoreError> {
        self.backend.list_memories(readable, filter, page)
    }

    fn list_versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.backend.list_versions(readable, memory, below, limit)
    }

    fn get_version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.backend.get_version(readable, version)
    }

    fn find_candidates(&self, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, StoreError> {
        self.backend.find_candidates(readable, find)
    }

    fn place_state(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.backend.place_state(tenant, place)
    }

    fn live_counts(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.backend.live_counts(tenant)
    }

    fn list_unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.backend.list_unembedded(tenant, model, limit)
    }

    fn events_after(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.backend.events_after(tenant, after, limit)
    }

    fn last_event_seq(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.backend.last_event_seq(tenant)
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        self.backend.wait_events(tenant, after, at_most)
    }

    fn health(&self) -> Result<BackendHealth, StoreError> {
        self.backend.health()
    }

    fn check_integrity(&self) -> Result<Vec<String>, StoreError> {
        self.backend.check_integrity()
    }
}
