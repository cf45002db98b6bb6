//! Results of upkeep, and the usage of a tenant.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Result of upkeep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "UpkeepDone")]
pub struct UpkeepView {
    /// Number of memories by operation, such as `expired`.
    #[serde(flatten)]
    pub done: BTreeMap<String, u64>,
}

/// Usage of a tenant, and for operators of the installation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub struct TenantUsageView {
    /// Number of active memories in each store.
    pub stores: Vec<StoreUsageView>,
    /// Number of the last event.
    pub last_event: u64,
    /// The whole installation; for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installation: Option<InstallationView>,
}

/// Usage of one store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "StoreUsage")]
pub struct StoreUsageView {
    pub store: String,
    pub live: u64,
}

impl From<engine::admin::tenant_usage::StoreUsage> for StoreUsageView {
    fn from(usage: engine::admin::tenant_usage::StoreUsage) -> StoreUsageView {
        StoreUsageView { store: usage.store, live: usage.live }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Installation")]
pub struct InstallationView {
    pub tenants: usize,
    pub memories: u64,
    pub bytes: u64,
    pub backend: String,
    pub migration: u32,
}
