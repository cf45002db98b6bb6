//! Cache of rows that rarely change: stores, ban keys, number of erasures.
//!
//! Other processes may change these rows without notice. A save that relies on a cached row adds a guard; if the guard
//! fails, the save drops the tenant's entry and reads again. So stale rows cost a retry and are never acted on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowKind, SideRecord};
use crate::model::store::Store;
use crate::tenant::bans::BanKey;

/// Cached tenants. With one more, the whole cache is cleared: simpler than eviction, and few installations get there.
const TENANTS_MAX: usize = 1_024;

/// Rows per tenant as this process last read them.
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
        self.update_tenant(tenant, |cached| drop(cached.stores.insert(store.slug.clone(), store.clone())));
    }

    pub(crate) fn ban_keys(&self, tenant: TenantId) -> Option<Arc<[BanKey]>> {
        self.lock_tenants().get(&tenant)?.ban_keys.clone()
    }

    pub(crate) fn cache_ban_keys(&self, tenant: TenantId, keys: &Arc<[BanKey]>) {
        self.update_tenant(tenant, |cached| cached.ban_keys = Some(keys.clone()));
    }

    pub(crate) fn erasure_count(&self, tenant: TenantId) -> Option<u64> {
        self.lock_tenants().get(&tenant)?.erasures
    }

    pub(crate) fn cache_erasure_count(&self, tenant: TenantId, count: u64) {
        self.update_tenant(tenant, |cached| cached.erasures = Some(count));
    }

    /// Drops the tenant's rows after a guard on one of them failed.
    pub(crate) fn forget_tenant(&self, tenant: TenantId) {
        self.lock_tenants().remove(&tenant);
    }

    fn update_tenant(&self, tenant: TenantId, update: impl FnOnce(&mut CachedTenant)) {
        let mut tenants = self.lock_tenants();
        if tenants.len() >= TENANTS_MAX && !tenants.contains_key(&tenant) {
            tenants.clear();
        }
        update(tenants.entry(tenant).or_default());
    }

    fn lock_tenants(&self) -> MutexGuard<'_, HashMap<TenantId, CachedTenant>> {
        // A panic while locked cannot leave a half-written entry, so poisoning is ignored.
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that a cached store is still open. Archiving is the only change a store can undergo.
pub(crate) fn open_store_guard(store: &Store) -> Guard {
    Guard::RowInState { kind: RowKind::Stores, id: store.slug.clone(), state: Some(store.row_state()) }
}
