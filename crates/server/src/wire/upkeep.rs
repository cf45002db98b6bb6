//! Results of upkeep, and usage.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Result of upkeep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "UpkeepDone")]
pub struct UpkeepView {
    /// Counts by kind of work.
    #[serde(flatten)]
    pub done: BTreeMap<String, u64>,
}

/// Usage of a tenant, and of the installation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub struct TenantUsageView {
    /// Stores with the number of memories in use.
    pub stores: Vec<StoreUsageView>,
    /// Sequence number of the last event.
    pub last_event: u64,
    /// The whole installation; for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installation: Option<InstallationView>,
}

/// Usage of a store.
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
