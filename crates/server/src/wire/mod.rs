//! Shapes of requests and answers. Their doc comments are the descriptions in the OpenAPI document.
//! Shapes translate; the engine decides.

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

/// One page of a listing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Send it as `cursor` to get the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A page of engine records, each converted by `view`.
    pub fn from_records<R>(page: RecordPage<R>, view: impl Fn(R) -> T) -> Page<T> {
        Page { items: page.items.into_iter().map(view).collect(), next_cursor: page.next }
    }

    /// A listing that fits on one page.
    pub fn from_items(items: Vec<T>) -> Page<T> {
        Page { items, next_cursor: None }
    }
}

/// A problem in the format of RFC 9457, with a stable code.
#[derive(JsonSchema)]
#[schemars(rename = "Problem")]
#[expect(dead_code, reason = "only its schema is used: problems are written by `problem.rs`")]
pub struct ProblemShape {
    r#type: String,
    title: String,
    status: u16,
    /// Stable code for programs to match on.
    code: String,
    detail: String,
    /// Id of this request in the server's log.
    request_id: String,
    /// Advice on what to do instead.
    hint: Option<String>,
    /// The current memory, if a condition on it failed.
    current: Option<serde_json::Map<String, serde_json::Value>>,
    /// Findings of the scanner: rule, field and position, never the text.
    findings: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
}
