//! Tenant usage: the number of live memories in each store.

use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::policy::admins_only;

/// Counts of one tenant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TenantUsage {
    /// Every store, also empty and archived ones.
    pub stores: Vec<StoreUsage>,
    /// Number of the last event.
    pub last_event: u64,
}

/// Counts of one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreUsage {
    pub store: String,
    /// Memories in use.
    pub live: u64,
}

impl Engine {
    /// Counts of the caller's tenant. Admins only.
    pub fn tenant_usage(&self, caller: &Caller) -> Result<TenantUsage, Error> {
        admins_only(caller)?;
        let counted = self.backend.live_counts(caller.tenant)?;
        // The backend counts only stores with memories; the others have 0.
        let live_in = |slug: &str| counted.iter().find(|(store, _)| store == slug).map_or(0, |(_, live)| *live);
        let stores = self.stores(caller)?.into_iter();
        let stores = stores.map(|store| StoreUsage { live: live_in(&store.slug), store: store.slug }).collect();
        Ok(TenantUsage { stores, last_event: self.backend.last_event_seq(caller.tenant)? })
    }
}
