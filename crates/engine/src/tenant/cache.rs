//! Cache of rows that rarely change: stores, ban keys, number of erasures, names of projects.
//!
//! Other processes may change these rows without notice. A save that relies on a cached row adds a guard; if the guard
//! fails, the save drops the tenant's entry and reads again. So stale rows cost a retry and are never acted on.
//! Names of projects have no guard: they are cached for seconds only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowKind, SideRecord};
use crate::model::store::Store;
use crate::tenant::bans::BanKey;
use crate::tenant::projects::ProjectNames;

/// Cached tenants. With one more, the whole cache is cleared: simpler than eviction, and few installations get there.
const TENANTS_MAX: usize = 1_024;
/// Cached names of projects a tenant; with one more, all of them are dropped.
const PROJECTS_MAX: usize = 1_024;

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
    /// By any name of the project, with the time they were read.
    projects: HashMap<String, (Arc<ProjectNames>, Timestamp)>,
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

    pub(crate) fn project_names(&self, tenant: TenantId, name: &str) -> Option<(Arc<ProjectNames>, Timestamp)> {
        self.lock_tenants().get(&tenant)?.projects.get(name).cloned()
    }

    pub(crate) fn cache_project_names(
        &self,
        tenant: TenantId,
        name: &str,
        names: &Arc<ProjectNames>,
        read_at: Timestamp,
    ) {
        self.update_tenant(tenant, |cached| {
            // A caller may send any number of names.
            if cached.projects.len() >= PROJECTS_MAX {
                cached.projects.clear();
            }
            cached.projects.insert(name.to_owned(), (names.clone(), read_at));
        });
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
