//! Side records: everything kept beside memories, in tables of one shape.
//!
//! A review, a run, a key or a receipt is found by id, state, subject or parent and otherwise read whole. One shape
//! means one code path per backend, so a new noun costs neither backend a line.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::error::{Error, StoreError};
use crate::vocabulary;

vocabulary! {
    /// The tables of side records; the word is the table's name.
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
    }
}

/// A side record as stores keep it. Columns are for finding, the body is the record.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub kind: RowKind,
    pub id: String,
    pub state: String,
    /// What it is about: a memory, a slug, a hash.
    pub subject: String,
    /// What it belongs to: a run, a conversation, a store.
    pub parent: String,
    pub at: Timestamp,
    pub body: Value,
}

/// Which rows; empty fields do not filter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowFilter {
    pub state: Option<String>,
    pub subject: Option<String>,
    pub parent: Option<String>,
    /// Rows after this (time, id) in the order asked for.
    pub after: Option<(Timestamp, String)>,
    pub before: Option<Timestamp>,
    pub newest_first: bool,
    pub limit: usize,
}

/// A noun that is kept as a row.
pub trait SideRecord: Serialize + DeserializeOwned {
    const KIND: RowKind;
    fn row_id(&self) -> String;
    fn row_time(&self) -> Timestamp;
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
            // Nouns of the engine are maps of plain values, which always become JSON.
            body: serde_json::to_value(self).unwrap_or(Value::Null),
        }
    }

    fn from_row(row: Row) -> Result<Self, Error> {
        serde_json::from_value(row.body)
            .map_err(|error| Error::Store(StoreError::Corrupt(format!("{} `{}`: {error}", Self::KIND, row.id))))
    }
}
