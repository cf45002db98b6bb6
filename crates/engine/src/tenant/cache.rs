//! Rows that hardly ever change, kept from the last time they were read. A save that relies on one says so in a guard
//! and looks again where the guard fails, so a process that was not told of a change cannot act on the old state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::id::TenantId;
use crate::model::store::Store;
use crate::ports::change::Guard;
use crate::ports::row::{Kept, RowKind};
use crate::safety::scan_counters::Tally;
use crate::summaries::in_flight::Asking;
use crate::tenant::bans::BanKey;

/// Tenants kept at once. Beyond, all are forgotten and read anew as they come.
const TENANTS_MAX: usize = 1_024;

/// What one process knows of its tenants and of its summary endpoint, and how often it saw the scanner find something.
#[derive(Debug, Default)]
pub struct Known {
    pub tally: Tally,
    pub(crate) asking: Asking,
    tenants: Mutex<HashMap<TenantId, Tenant>>,
}

#[derive(Debug, Default)]
struct Tenant {
    stores: HashMap<String, Arc<Store>>,
    ban_keys: Option<Arc<[BanKey]>>,
    erasures: Option<u64>,
}

impl Known {
    pub(crate) fn store(&self, tenant: TenantId, slug: &str) -> Option<Arc<Store>> {
        self.lock().get(&tenant)?.stores.get(slug).cloned()
    }

    pub(crate) fn learn_store(&self, tenant: TenantId, store: &Arc<Store>) {
        self.learn(tenant, |known| drop(known.stores.insert(store.slug.clone(), store.clone())));
    }

    pub(crate) fn ban_keys(&self, tenant: TenantId) -> Option<Arc<[BanKey]>> {
        self.lock().get(&tenant)?.ban_keys.clone()
    }

    pub(crate) fn learn_ban_keys(&self, tenant: TenantId, keys: &Arc<[BanKey]>) {
        self.learn(tenant, |known| known.ban_keys = Some(keys.clone()));
    }

    pub(crate) fn erasures(&self, tenant: TenantId) -> Option<u64> {
        self.lock().get(&tenant)?.erasures
    }

    pub(crate) fn learn_erasures(&self, tenant: TenantId, count: u64) {
        self.learn(tenant, |known| known.erasures = Some(count));
    }

    /// Something was not as it was known.
    pub(crate) fn forget(&self, tenant: TenantId) {
        self.lock().remove(&tenant);
    }

    fn learn(&self, tenant: TenantId, lesson: impl FnOnce(&mut Tenant)) {
        let mut tenants = self.lock();
        if tenants.len() >= TENANTS_MAX && !tenants.contains_key(&tenant) {
            tenants.clear();
        }
        lesson(tenants.entry(tenant).or_default());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The store still takes writes. Nothing else about a store ever changes.
pub(crate) fn store_is_open(store: &Store) -> Guard {
    Guard::RowIs { kind: RowKind::Stores, id: store.slug.clone(), state: Some(store.state()) }
}
