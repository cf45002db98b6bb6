//! Conversions between rows and the engine's types, and statements with their parameters.

use std::str::FromStr;

use engine::model::id::VersionId;
use engine::model::memory::{Memory, Version};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use uuid::Uuid;

use super::fault::Fault;
pub(super) use crate::column_codec::{from_micros, to_json, to_micros};

/// A parameter with its SQL type. With the types known, a statement runs without a round trip to prepare it.
#[derive(Debug)]
pub(super) struct Param(pub(super) Box<dyn ToSql + Sync + Send>, pub(super) Type);

macro_rules! impl_param_from {
    ($($rust:ty => $sql:ident),+ $(,)?) => {$(
        impl From<$rust> for Param {
            fn from(value: $rust) -> Param {
                Param(Box::new(value), Type::$sql)
            }
        }
    )+};
}

impl_param_from! {
    Uuid => UUID, Option<Uuid> => UUID, Vec<Uuid> => UUID_ARRAY,
    String => TEXT, Option<String> => TEXT, Vec<String> => TEXT_ARRAY,
    i64 => INT8, Option<i64> => INT8, Vec<i64> => INT8_ARRAY,
    i32 => INT4, Vec<i32> => INT4_ARRAY,
    f64 => FLOAT8, Vec<f64> => FLOAT8_ARRAY, f32 => FLOAT4, Option<f32> => FLOAT4, Vec<f32> => FLOAT4_ARRAY,
    bool => BOOL, Vec<u8> => BYTEA, Option<Vec<u8>> => BYTEA,
}

impl From<&str> for Param {
    fn from(value: &str) -> Param {
        value.to_owned().into()
    }
}

impl From<&String> for Param {
    fn from(value: &String) -> Param {
        value.clone().into()
    }
}

/// SQL with its parameters.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) params: Vec<Param>,
}

impl Statement {
    pub(super) fn new(sql: impl Into<String>, params: Vec<Param>) -> Statement {
        Statement { sql: sql.into(), params }
    }
}

/// A list of parameters of any types.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::postgres::row_codec::Param::from($value)),*] };
}
pub(super) use params;

/// Reads a column; one of an unexpected type means a damaged database.
pub(super) fn read_column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Fault> {
    row.try_get(at).map_err(Fault::corrupt)
}

/// A count or sequence number: `bigint` in the database, never negative.
pub(super) fn read_count(row: &Row, at: usize) -> Result<u64, Fault> {
    u64::try_from(read_column::<i64>(row, at)?).map_err(Fault::corrupt)
}

/// A column with a word of an engine vocabulary, such as a state.
pub(super) fn read_word<T: FromStr<Err = engine::model::error::Error>>(row: &Row, at: usize) -> Result<T, Fault> {
    read_column::<&str>(row, at)?.parse().map_err(Fault::corrupt)
}

pub(super) fn read_json<T: DeserializeOwned>(row: &Row, at: usize) -> Result<T, Fault> {
    serde_json::from_str(read_column::<&str>(row, at)?).map_err(Fault::corrupt)
}

/// A `limit` parameter.
pub(super) fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The columns [`read_memory`] reads, of a version `v` and its recall counters `r`.
pub(super) const MEMORY_COLUMNS: &str = "v.snapshot, v.content, r.count, r.last";

pub(super) fn read_memory(row: &Row) -> Result<Memory, Fault> {
    let mut memory: Memory = read_json(row, 0)?;
    // The snapshot is stored without the content.
    memory.content = read_column(row, 1)?;
    // There is no row of counters before the first recall.
    memory.recall_count = read_column::<Option<i64>>(row, 2)?.map_or(Ok(0), u64::try_from).map_err(Fault::corrupt)?;
    memory.last_recalled_at = read_column::<Option<i64>>(row, 3)?.map(from_micros).transpose()?;
    Ok(memory)
}

/// The columns [`read_version`] reads. Recall counters are not part of a version.
pub(super) const VERSION_COLUMNS: &str =
    "v.snapshot, v.content, v.id, v.number, v.operation, v.previous, v.actor, v.run,
    v.conversation, v.reason, v.evidence, v.at, v.redacted_at";

pub(super) fn read_version(row: &Row) -> Result<Version, Fault> {
    let mut memory: Memory = read_json(row, 0)?;
    memory.content = read_column(row, 1)?;
    Ok(Version {
        id: VersionId(read_column(row, 2)?),
        number: u32::try_from(read_count(row, 3)?).map_err(Fault::corrupt)?,
        operation: read_word(row, 4)?,
        memory,
        previous: read_column::<Option<Uuid>>(row, 5)?.map(VersionId),
        actor: read_column(row, 6)?,
        run: read_column(row, 7)?,
        conversation: read_column(row, 8)?,
        reason: read_column(row, 9)?,
        evidence: read_json(row, 10)?,
        at: from_micros(read_column(row, 11)?)?,
        redacted_at: read_column::<Option<i64>>(row, 12)?.map(from_micros).transpose()?,
    })
}
