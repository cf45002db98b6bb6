//! Redaction, rollback, quarantine, lineage.

use engine::model::id::{MemoryId, VersionId};
use engine::removal::certificate::Certificate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_optional_reason, deserialize_reason};
use super::memories::MemoryView;
use super::remember::SavedView;
use super::schema_words::Id;

/// What shall be redacted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Redact")]
pub struct RedactBody {
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    /// Only these versions; without them, all, and the memory is tombstoned.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Id>>")]
    pub versions: Option<Vec<VersionId>>,
    /// The same value may be saved again.
    #[serde(default)]
    pub may_return: bool,
}

/// What a redaction did, with its certificate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Redacted")]
pub struct RedactedView {
    pub memory: SavedView,
    pub versions: u64,
    #[schemars(with = "Map<String, Value>")]
    pub certificate: Certificate,
    /// Memories made from it, held back until somebody has looked.
    #[schemars(with = "Vec<Id>")]
    pub held_back: Vec<MemoryId>,
}

/// How a memory is taken back.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Rollback")]
pub struct RollbackBody {
    /// Also bring back what it had replaced: another memory, or the version of this one that stood before.
    pub restore: bool,
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RolledBack")]
pub struct RolledBackView {
    pub memory: SavedView,
    pub restored: Vec<SavedView>,
    /// What stays replaced, and why.
    pub not_restored: Vec<String>,
}

/// How far a quarantine goes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Quarantine")]
pub struct QuarantineBody {
    /// Also everything derived from it.
    pub derived: bool,
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Quarantined")]
pub struct QuarantinedView {
    pub memories: Vec<SavedView>,
    /// Runs and conversations that had been given one of them.
    pub reached: Vec<String>,
}

/// What a memory was made from, and what was made from it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Lineage")]
pub struct LineageView {
    pub sources: Vec<MemoryView>,
    pub derived: Vec<MemoryView>,
}
