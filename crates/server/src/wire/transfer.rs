//! Exports and imports.

use engine::ImportReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Stores to export.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportParams {
    /// Slugs of the stores; absent: all.
    pub store: Vec<String>,
}

/// An export: lists of memories, versions and other records in the engine's format.
#[derive(JsonSchema)]
#[schemars(rename = "Export")]
#[expect(dead_code, reason = "only its schema is used: the engine writes and reads exports")]
pub struct ExportBody {
    /// Version of the export format.
    #[schemars(range(max = 4_294_967_295_u32))]
    ingrain_export: u32,
    stores: Option<Vec<Map<String, Value>>>,
    memories: Option<Vec<Map<String, Value>>>,
    reviews: Option<Vec<Map<String, Value>>>,
    owners: Option<Vec<Map<String, Value>>>,
    runs: Option<Vec<Map<String, Value>>>,
    ban_keys: Option<Vec<Map<String, Value>>>,
    bans: Option<Vec<Map<String, Value>>>,
}

/// A memory as a Markdown file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MarkdownFile")]
pub struct MarkdownBody {
    /// Slug of the store, unless the front matter names one.
    pub store: String,
    pub text: String,
}

/// Result of an import.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Imported")]
pub struct ImportedView {
    pub imported: u64,
    /// Items that exist already.
    pub unchanged: u64,
    /// Memories that were no longer active when exported: only an admin's import includes them.
    pub left_behind: u64,
    pub refused: Vec<NotImported>,
}

/// An item that was not imported, and why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotImported {
    pub what: String,
    pub code: String,
    pub detail: String,
}

impl From<ImportReport> for ImportedView {
    fn from(done: ImportReport) -> ImportedView {
        let refused = done.refused.into_iter();
        let refused = refused.map(|piece| NotImported { what: piece.what, code: piece.code, detail: piece.message });
        ImportedView {
            imported: done.imported,
            unchanged: done.unchanged,
            left_behind: done.left_behind,
            refused: refused.collect(),
        }
    }
}
