//! Conversions between rows and the engine's types.

use std::str::FromStr;

use engine::model::id::VersionId;
use engine::model::memory::{Memory, Version};
use rusqlite::Row;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::fault::Fault;
pub(super) use crate::column_codec::{from_micros, to_json, to_micros};

/// An id column: its 16 bytes.
pub(super) fn id_bytes(id: Uuid) -> [u8; 16] {
    id.into_bytes()
}

pub(super) fn read_uuid(row: &Row<'_>, at: usize) -> Result<Uuid, Fault> {
    Ok(Uuid::from_bytes(row.get(at)?))
}

/// A column with a word of an engine vocabulary, such as a state.
pub(super) fn read_word<T: FromStr<Err = engine::model::error::Error>>(row: &Row<'_>, at: usize) -> Result<T, Fault> {
    row.get_ref(at)?.as_str().map_err(Fault::corrupt)?.parse().map_err(Fault::corrupt)
}

pub(super) fn read_json<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> Result<T, Fault> {
    serde_json::from_str(row.get_ref(at)?.as_str().map_err(Fault::corrupt)?).map_err(Fault::corrupt)
}

/// The columns [`read_memory`] reads, of a version `v` and its recall counters `r`.
pub(super) const MEMORY_COLUMNS: &str = "v.snapshot, v.content, r.count, r.last";

pub(super) fn read_memory(row: &Row<'_>) -> Result<Memory, Fault> {
    let mut memory: Memory = read_json(row, 0)?;
    memory.content = row.get(1)?;
    memory.recall_count = row.get::<_, Option<u64>>(2)?.unwrap_or(0);
    memory.last_recalled_at = row.get::<_, Option<i64>>(3)?.map(from_micros).transpose()?;
    Ok(memory)
}

/// The columns [`read_version`] reads. Recall counters are not part of a version.
pub(super) const VERSION_COLUMNS: &str =
    "v.snapshot, v.content, v.id, v.number, v.operation, v.previous, v.actor, v.run,
    v.conversation, v.reason, v.evidence, v.at, v.redacted_at";

pub(super) fn read_version(row: &Row<'_>) -> Result<Version, Fault> {
    let mut memory: Memory = read_json(row, 0)?;
    memory.content = row.get(1)?;
    Ok(Version {
        id: VersionId(read_uuid(row, 2)?),
        number: row.get(3)?,
        operation: read_word(row, 4)?,
        memory,
        previous: row.get::<_, Option<[u8; 16]>>(5)?.map(|id| VersionId(Uuid::from_bytes(id))),
        actor: row.get(6)?,
        run: row.get(7)?,
        conversation: row.get(8)?,
        reason: row.get(9)?,
        evidence: read_json(row, 10)?,
        at: from_micros(row.get(11)?)?,
        redacted_at: row.get::<_, Option<i64>>(12)?.map(from_micros).transpose()?,
    })
}
