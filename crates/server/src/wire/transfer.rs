//! Exports and imports.

use engine::ImportReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Filter of an export.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportParams {
    /// Store to export; default: all.
    pub store: Vec<String>,
}

/// An export: lists of records, each as the engine serialises it.
#[derive(JsonSchema)]
#[schemars(rename = "Export")]
#[expect(dead_code, reason = "only its schema is used: the engine writes and reads exports")]
pub struct ExportBody {
    /// Version of the format.
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
    /// Target store, unless the front matter names one.
    pub store: String,
    pub text: String,
}

/// Result of an import.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Imported")]
pub struct ImportedView {
    pub imported: u64,
    /// Already present.
    pub unchanged: u64,
    /// Not in use at the source any more: only imported for admins.
    pub left_behind: u64,
    pub refused: Vec<NotImported>,
}

/// A record that was not imported, and why.
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
