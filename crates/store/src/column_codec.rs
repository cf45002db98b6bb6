//! Column values that are written the same way in both backends: times and JSON.

use engine::model::error::StoreError;
use jiff::Timestamp;
use serde::Serialize;

/// A time column: microseconds since 1970.
pub(crate) fn to_micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

pub(crate) fn from_micros(micros: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(micros).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// A JSON column. The engine's types are structs of plain values with text keys, so this does not fail in practice.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}
