//! Side records: reviews, runs, keys, receipts and all other stored records besides memories, versions and events.
//!
//! All tables have one shape: columns to find a row by, and the record itself as JSON. Each backend has one code path
//! for all of them, so a new record type needs only its table. See docs/decisions/0004-one-table-shape.md.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::error::{Error, StoreError};
use crate::vocabulary;

vocabulary! {
    /// The tables of side records; the spelling is the table's name.
    RowKind ("record kind") {
        Stores = "stores",
        Pipelines = "pipelines",
        Seeds = "seeds",
        Reviews = "reviews",
        Receipts = "receipts",
        Usage = "usage",
        Runs = "runs",
        Keys = "keys",
        Bans = "bans",
        Certificates = "certificates",
        Documents = "documents",
        Owners = "owners",
        Allowed = "allowed",
        Summaries = "summaries",
        Idempotency = "idempotency",
        Leases = "leases",
        Questions = "questions",
        Projects = "projects",
    }
}

/// A side record as a table row: columns to filter and sort by, and the record as JSON in `body`.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub kind: RowKind,
    pub id: String,
    pub state: String,
    /// The object of the record: a memory id, a slug or a hash.
    pub subject: String,
    /// The owner of the record: a run, a conversation or a store.
    pub parent: String,
    pub at: Timestamp,
    pub body: Value,
}

/// Selects rows, ordered by time and id. `None` does not filter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowFilter {
    pub state: Option<String>,
    pub subject: Option<String>,
    pub parent: Option<String>,
    /// Cursor: only rows after this time and id, in the requested order.
    pub after: Option<(Timestamp, String)>,
    /// Only rows older than this, in either order.
    pub before: Option<Timestamp>,
    pub newest_first: bool,
    pub limit: usize,
}

/// A type that is stored as a side record.
pub trait SideRecord: Serialize + DeserializeOwned {
    const KIND: RowKind;
    fn row_id(&self) -> String;
    fn row_time(&self) -> Timestamp;
    // Columns stay empty in tables that are not filtered by them.
    fn row_state(&self) -> String {
        String::new()
    }
    fn row_subject(&self) -> String {
        String::new()
    }
    fn row_parent(&self) -> String {
        String::new()
    }

    fn to_row(&self) -> Row {
        Row {
            kind: Self::KIND,
            id: self.row_id(),
            state: self.row_state(),
            subject: self.row_subject(),
            parent: self.row_parent(),
            at: self.row_time(),
            // Cannot fail: records are structs of plain values with string keys.
            body: serde_json::to_value(self).unwrap_or(Value::Null),
        }
    }

    fn from_row(row: Row) -> Result<Self, Error> {
        serde_json::from_value(row.body)
            .map_err(|error| Error::Store(StoreError::Corrupt(format!("{} `{}`: {error}", Self::KIND, row.id))))
    }
}
