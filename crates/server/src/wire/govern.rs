//! Redaction, rollback, quarantine and lineage.

use engine::model::id::{MemoryId, VersionId};
use engine::removal::certificate::Certificate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_optional_reason, deserialize_reason};
use super::memories::MemoryView;
use super::remember::SavedView;
use super::schema_words::Id;

/// A redaction.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Redact")]
pub struct RedactBody {
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    /// Versions to redact. Default: all, and the memory is tombstoned.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Id>>")]
    pub versions: Option<Vec<VersionId>>,
    /// Whether the same value may be saved again.
    #[serde(default)]
    pub may_return: bool,
}

/// Result of a redaction, with its certificate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Redacted")]
pub struct RedactedView {
    pub memory: SavedView,
    pub versions: u64,
    #[schemars(with = "Map<String, Value>")]
    pub certificate: Certificate,
    /// Memories derived from it, quarantined until someone reviews them.
    #[schemars(with = "Vec<Id>")]
    pub held_back: Vec<MemoryId>,
}

/// A rollback.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Rollback")]
pub struct RollbackBody {
    /// Also restore what it replaced: other memories, or the previous version of this one.
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
    /// Memories that were not restored, and why.
    pub not_restored: Vec<String>,
}

/// A quarantine.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Quarantine")]
pub struct QuarantineBody {
    /// Also quarantine everything derived from it.
    pub derived: bool,
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Quarantined")]
pub struct QuarantinedView {
    pub memories: Vec<SavedView>,
    /// Runs and conversations that were given one of them.
    pub reached: Vec<String>,
}

/// Sources of a memory, and memories derived from it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Lineage")]
pub struct LineageView {
    pub sources: Vec<MemoryView>,
    pub derived: Vec<MemoryView>,
}
