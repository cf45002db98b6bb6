//! Columns of what is written, in the form that the engine computes digests of for the log.

use engine::gate::VersionedEntry;
use engine::model::error::StoreError;
use engine::model::memory::{Evidence, Memory};
use engine::model::row::Row;
use engine::model::snapshot::Snapshot;
use engine::model::write_digest::{RowColumns, VersionColumns};
use engine::ports::scan::ScannedVersion;
use jiff::Timestamp;

use crate::column_codec::{to_json, to_micros};

/// A version that is about to be written; snapshot and evidence are the texts that are stored.
pub(crate) fn version_columns<'a>(
    entry: &'a VersionedEntry,
    snapshot: &'a str,
    evidence: &'a str,
) -> VersionColumns<'a> {
    let (memory, stamp) = (entry.memory(), entry.stamp());
    VersionColumns {
        memory: memory.id,
        number: memory.version_number,
        id: stamp.version.0,
        operation: entry.operation().as_str(),
        snapshot,
        sha256: &memory.sha256,
        previous: entry.previous().map(|id| id.0),
        actor: &stamp.actor,
        run: stamp.run.as_deref(),
        conversation: stamp.conversation.as_deref(),
        reason: stamp.reason.as_deref(),
        evidence,
        at: to_micros(stamp.at),
        redacted_at: None,
    }
}

/// A version as it will be stored, without its content.
pub(crate) fn to_scanned_version(columns: &VersionColumns<'_>) -> ScannedVersion {
    ScannedVersion {
        memory: columns.memory,
        number: columns.number,
        id: columns.id,
        operation: columns.operation.to_owned(),
        snapshot: columns.snapshot.to_owned(),
        content: String::new(),
        sha256: columns.sha256.to_owned(),
        previous: columns.previous,
        actor: columns.actor.to_owned(),
        run: columns.run.map(str::to_owned),
        conversation: columns.conversation.map(str::to_owned),
        reason: columns.reason.map(str::to_owned),
        evidence: columns.evidence.to_owned(),
        at: columns.at,
        redacted_at: columns.redacted_at,
    }
}

/// Takes the text of a stored version and of its evidence away. Author, time and reason stay.
pub(crate) fn blank_columns(version: &mut ScannedVersion, at: Timestamp) -> Result<(), StoreError> {
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let snapshot: Memory = serde_json::from_str(&version.snapshot).map_err(corrupt)?;
    let evidence: Vec<Evidence> = serde_json::from_str(&version.evidence).map_err(corrupt)?;
    version.snapshot = to_json(&Snapshot(&snapshot.without_content()))?;
    version.evidence = to_json(&evidence.into_iter().map(Evidence::without_text).collect::<Vec<_>>())?;
    version.content = String::new();
    version.redacted_at = version.redacted_at.or(Some(to_micros(at)));
    Ok(())
}

pub(crate) fn row_columns(row: &Row) -> RowColumns<'_> {
    RowColumns {
        kind: row.kind,
        id: &row.id,
        state: &row.state,
        subject: &row.subject,
        parent: &row.parent,
        at: to_micros(row.at),
        body: &row.body,
        body_text: None,
    }
}
