//! Request and answer shapes of REST, one file per file of `rest/`. They translate; the engine decides.

// Bodies and parameters deny unknown fields: a typo is an error, not an option that is silently ignored.
// `schemars(with = …)` names the schema of engine types, which have none.
pub mod audit;
pub mod context;
pub(crate) mod deserialize;
pub mod documents;
pub mod episodes;
pub mod erasure;
pub mod events;
pub mod govern;
pub mod keys;
pub mod layers;
pub mod memories;
pub mod memory_state;
pub mod owners;
pub mod pipelines;
pub mod projects;
pub mod records;
pub mod remember;
pub mod reviews;
pub mod runs;
pub mod scan;
pub mod schema_words;
pub mod search;
pub mod stores;
pub mod tenants;
pub mod transfer;
pub mod upkeep;
pub mod workflows;

use engine::ports::row::RecordPage;
use schemars::JsonSchema;
use serde::Serialize;

/// A page of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Send it as `cursor` to get the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A page of records, each shown by `view`.
    pub fn from_record_page<R>(page: RecordPage<R>, view: impl Fn(R) -> T) -> Page<T> {
        Page { items: page.items.into_iter().map(view).collect(), next_cursor: page.next }
    }

    /// A list that fits on one page.
    pub fn from_items(items: Vec<T>) -> Page<T> {
        Page { items, next_cursor: None }
    }
}

/// A problem document (RFC 9457) with a stable code.
#[derive(JsonSchema)]
#[schemars(rename = "Problem")]
#[expect(dead_code, reason = "only its schema is used: problems are written by `problem.rs`")]
pub struct ProblemShape {
    r#type: String,
    title: String,
    status: u16,
    /// Stable; clients match on it.
    code: String,
    detail: String,
    /// Identifies the request in the server's log.
    request_id: String,
    /// Suggested next step.
    hint: Option<String>,
    /// The current version, if a condition failed.
    current: Option<serde_json::Map<String, serde_json::Value>>,
    /// Findings of the scanner: rule, field and position, never the text.
    findings: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
}
