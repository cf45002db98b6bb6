//! What was done by itself, and what is kept.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What upkeep did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "UpkeepDone")]
pub struct UpkeepView {
    /// Counts by what was done.
    #[serde(flatten)]
    pub done: BTreeMap<String, u64>,
}

/// What is kept, and how the server is doing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub struct TenantUsageView {
    /// Every store with the memories in use there.
    pub stores: Vec<StoreUsageView>,
    /// Number of the last event.
    pub last_event: u64,
    /// Of the whole installation; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installation: Option<InstallationView>,
}

/// How full a store is.
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
