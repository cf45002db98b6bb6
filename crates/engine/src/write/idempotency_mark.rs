//! A backend that notes with the first change of a call that the call was done: a process that dies before it answers
//! leaves a key that is not taken for unused.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Engine;
use crate::model::event::Event;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::memory::{Memory, Version};
use crate::policy::Readable;
use crate::ports::change::{Change, Committed, Place, Write};
use crate::ports::row::{Kept, Row, RowFilter, RowKind};
use crate::ports::{Address, Answer, Backend, Filter, Find, Found, Health, Page, PlaceState, StoreError, Tenant};
use crate::write::idempotency::Repeat;

struct Marking {
    backend: Arc<dyn Backend>,
    tenant: TenantId,
    /// Gone once it is written.
    mark: Mutex<Option<Row>>,
}

impl Engine {
    /// This engine for one call under an idempotency key.
    #[must_use]
    pub fn marking(&self, tenant: TenantId, repeat: &Repeat) -> Engine {
        let mark = Mutex::new(Some(Repeat { done: true, ..repeat.clone() }.to_row()));
        let backend = Arc::new(Marking { backend: self.backend.clone(), tenant, mark });
        Engine { backend, ..self.clone() }
    }
}

impl Backend for Marking {
    fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        // Held meanwhile: of two changes at once only one may carry the mark.
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        // What only tells, as a refusal does, can be told again.
        let is_done = change.tenant == self.tenant && !change.writes.is_empty();
        let Some(row) = mark.clone().filter(|_| is_done) else {
            drop(mark);
            return self.backend.commit(change);
        };
        let committed = self.backend.commit(change.write(Write::Row(row)))?;
        *mark = None;
        Ok(committed)
    }

    fn prepare(&self, change: Change) -> Result<Committed, StoreError> {
        self.backend.prepare(change)
    }

    fn commit_later(&self, change: Change) {
        self.backend.commit_later(change);
    }

    fn commit_soon(&self, change: Change, answer: Answer<()>) {
        self.backend.commit_soon(change, answer);
    }

    fn flush_soon(&self, answer: Answer<()>) {
        self.backend.flush_soon(answer);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.backend.flush()
    }

    fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.backend.tenants()
    }

    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        self.backend.ensure_tenant(tenant)
    }

    fn row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError> {
        self.backend.row(tenant, kind, id)
    }

    fn rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError> {
        self.backend.rows(tenant, kind, filter)
    }

    fn get(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError> {
        self.backend.get(readable, address)
    }

    fn list(&self, readable: &Readable, filter: &Filter, page: &Page) -> Result<Vec<Memory>, StoreError> {
        self.backend.list(readable, filter, page)
    }

    fn versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError> {
        self.backend.versions(readable, memory, below, limit)
    }

    fn version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError> {
        self.backend.version(readable, version)
    }

    fn find(&self, readable: &Readable, find: &Find) -> Result<Found, StoreError> {
        self.backend.find(readable, find)
    }

    fn place(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError> {
        self.backend.place(tenant, place)
    }

    fn live(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError> {
        self.backend.live(tenant)
    }

    fn unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.backend.unembedded(tenant, model, limit)
    }

    fn events(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.backend.events(tenant, after, limit)
    }

    fn last_event(&self, tenant: TenantId) -> Result<u64, StoreError> {
        self.backend.last_event(tenant)
    }

    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError> {
        self.backend.wait_events(tenant, after, at_most)
    }

    fn health(&self) -> Result<Health, StoreError> {
        self.backend.health()
    }

    fn damage(&self) -> Result<Vec<String>, StoreError> {
        self.backend.damage()
    }
}
