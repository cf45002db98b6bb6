//! Request and reply shapes. They translate; the engine decides.

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

/// A stretch of a listing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Hand it back as `cursor` for the next stretch; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A stretch as this door shows it.
    pub fn from_stretch<R>(stretch: RecordPage<R>, view: impl Fn(R) -> T) -> Page<T> {
        Page { items: stretch.items.into_iter().map(view).collect(), next_cursor: stretch.next }
    }

    /// A listing that fits on one page.
    pub fn from_items(items: Vec<T>) -> Page<T> {
        Page { items, next_cursor: None }
    }
}

/// A problem, as RFC 9457 has it, with a code that never changes.
#[derive(JsonSchema)]
#[schemars(rename = "Problem")]
#[expect(dead_code, reason = "only its schema is used: problems are written by `problem.rs`")]
pub struct ProblemShape {
    r#type: String,
    title: String,
    status: u16,
    /// What clients match on.
    code: String,
    detail: String,
    /// Names this request in the server's log.
    request_id: String,
    /// What to do instead.
    hint: Option<String>,
    /// What stands there now, where a condition failed.
    current: Option<serde_json::Map<String, serde_json::Value>>,
    /// What the scanner found: rule, field and place, never the text.
    findings: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
}
