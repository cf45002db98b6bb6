//! Rows that hardly ever change, kept from the last time they were read. A save that relies on one says so in a guard
//! and looks again where the guard fails, so a process that was not told of a change cannot act on the old state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowKind, SideRecord};
use crate::model::store::Store;
use crate::tenant::bans::BanKey;

/// Tenants kept at once. Beyond, all are forgotten and read anew as they come.
const TENANTS_MAX: usize = 1_024;

/// Rows of each tenant as this process last read them.
#[derive(Debug, Default)]
pub struct TenantCache {
    tenants: Mutex<HashMap<TenantId, CachedTenant>>,
}

#[derive(Debug, Default)]
struct CachedTenant {
    stores: HashMap<String, Arc<Store>>,
    ban_keys: Option<Arc<[BanKey]>>,
    erasures: Option<u64>,
}

impl TenantCache {
    pub(crate) fn store(&self, tenant: TenantId, slug: &str) -> Option<Arc<Store>> {
        self.lock_tenants().get(&tenant)?.stores.get(slug).cloned()
    }

    pub(crate) fn cache_store(&self, tenant: TenantId, store: &Arc<Store>) {
        self.update_tenant(tenant, |known| drop(known.stores.insert(store.slug.clone(), store.clone())));
    }

    pub(crate) fn ban_keys(&self, tenant: TenantId) -> Option<Arc<[BanKey]>> {
        self.lock_tenants().get(&tenant)?.ban_keys.clone()
    }

    pub(crate) fn cache_ban_keys(&self, tenant: TenantId, keys: &Arc<[BanKey]>) {
        self.update_tenant(tenant, |known| known.ban_keys = Some(keys.clone()));
    }

    pub(crate) fn erasure_count(&self, tenant: TenantId) -> Option<u64> {
        self.lock_tenants().get(&tenant)?.erasures
    }

    pub(crate) fn cache_erasure_count(&self, tenant: TenantId, count: u64) {
        self.update_tenant(tenant, |known| known.erasures = Some(count));
    }

    /// Something was not as it was known.
    pub(crate) fn forget_tenant(&self, tenant: TenantId) {
        self.lock_tenants().remove(&tenant);
    }

    fn update_tenant(&self, tenant: TenantId, lesson: impl FnOnce(&mut CachedTenant)) {
        let mut tenants = self.lock_tenants();
        if tenants.len() >= TENANTS_MAX && !tenants.contains_key(&tenant) {
            tenants.clear();
        }
        lesson(tenants.entry(tenant).or_default());
    }

    fn lock_tenants(&self) -> MutexGuard<'_, HashMap<TenantId, CachedTenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The store still takes writes. Nothing else about a store ever changes.
pub(crate) fn open_store_guard(store: &Store) -> Guard {
    Guard::RowInState { kind: RowKind::Stores, id: store.slug.clone(), state: Some(store.row_state()) }
}
