//! Redaction (blanks the text of versions) and erasure (deletes a place with its history): the only two operations that
//! change stored versions. The application role has no right to either; it calls functions of the schema's owner. Each
//! call selects from `heads`, so that Citus runs it on the worker that holds the tenant.

use std::collections::HashMap;

use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::ports::scan::ScannedVersion;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{CurrentState, Head};
use super::entry::{PREVIOUS_COLUMNS, PreviousVersion};
use super::fault::Fault;
use super::row_codec::{Statement, params, read_column, to_micros};
use super::scan::{VERSION_COLUMN_COUNT, VERSION_COLUMNS, read_version};
use crate::digests::blank_columns;

/// The versions to be redacted, by version id.
pub(super) type VersionSnapshots = HashMap<Uuid, ScannedVersion>;

/// Query for the versions to redact, each with the current version of the memory.
pub(super) fn versions_query(tenant: TenantId, memory: MemoryId, versions: &[VersionId]) -> Statement {
    let ids: Vec<Uuid> = versions.iter().map(|version| version.0).collect();
    Statement::new(
        format!(
            "select {VERSION_COLUMNS}, {PREVIOUS_COLUMNS}
             from versions v
             join memories m on m.tenant = v.tenant and m.id = v.memory
             join recall c on c.tenant = v.tenant and c.memory = v.memory
             where v.tenant = $1 and v.memory = $2 and v.id = any($3)"
        ),
        params![tenant.0, memory.0, ids],
    )
}

/// Query for the memories of a place, each with the number of its versions.
pub(super) fn memories_query(tenant: TenantId, place: &Place) -> Statement {
    let (first, second) = place.scope.name_columns();
    Statement::new(
        "select m.id, m.number
         from scopes s
         join memories m on m.tenant = s.tenant and m.scope = s.id
         where s.tenant = $1 and s.kind = $2 and s.first = $3 and s.second = $4 and s.store = $5",
        params![tenant.0, place.scope.kind().as_str(), first, second, &place.store],
    )
}

pub(super) fn read_memories(rows: &[Row]) -> Result<Vec<(MemoryId, u32)>, Fault> {
    let read = |row: &Row| {
        let number = u32::try_from(read_column::<i64>(row, 1)?).map_err(Fault::corrupt)?;
        Ok((MemoryId(read_column(row, 0)?), number))
    };
    rows.iter().map(read).collect()
}

pub(super) fn read_snapshots(rows: &[Row], memory: MemoryId, state: &mut CurrentState) -> Result<(), Fault> {
    for row in rows {
        let version = read_version(row)?;
        state.snapshots.insert(version.id, version);
        state.versions.insert(memory, PreviousVersion::from_row(row, VERSION_COLUMN_COUNT)?);
    }
    Ok(())
}

pub(super) fn redact_versions(
    head: &mut Head,
    state: &mut CurrentState,
    statements: &mut Vec<Statement>,
    at: Timestamp,
    memory: MemoryId,
    versions: &[VersionId],
) -> Result<(), Fault> {
    for version in versions {
        let stored = state.snapshots.get_mut(&version.0).filter(|stored| stored.memory == memory);
        // A version that was erased meanwhile has no text left to redact.
        let Some(stored) = stored else { continue };
        blank_columns(stored, at)?;
        state.digests.add_version(&stored.columns());
        statements.push(Statement::new(
            "select redact_version($1, $2, $3, $4, $5) from heads where tenant = $6",
            params![
                version.0,
                memory.0,
                &stored.snapshot,
                &stored.evidence,
                stored.redacted_at.unwrap_or(to_micros(at)),
                head.tenant.0
            ],
        ));
    }
    let current = state.versions.get(&memory);
    // Words, tags and vector are indexed for the current version only.
    if current.is_some_and(|current| versions.iter().any(|version| version.0 == current.version)) {
        statements.extend(blank_current(head, memory));
    }
    Ok(())
}

/// Removes the memory's text from all indexes. The content of the place has changed although no version was added, so
/// its generation changes and guards on it fail.
fn blank_current(head: &mut Head, memory: MemoryId) -> [Statement; 4] {
    let (tenant, seq) = (head.tenant.0, head.next_recall_seq());
    [
        Statement::new("delete from tags where tenant = $1 and memory = $2", params![tenant, memory.0]),
        Statement::new("update memories set summary = '' where tenant = $1 and id = $2", params![tenant, memory.0]),
        // Before the next statement sets the length to zero.
        Statement::new(
            "update scopes s
             set generation = $3, live_len = live_len - case when c.state = 'active' then c.len else 0 end
             from recall c
             where s.tenant = $1 and c.tenant = $1 and c.memory = $2 and s.id = c.scope",
            params![tenant, memory.0, seq],
        ),
        Statement::new(
            "update recall
             set seq = $3, once = '{}', often = '{}', times = '', len = 0, model = null, scale = null, vector = null
             where tenant = $1 and memory = $2",
            params![tenant, memory.0, seq],
        ),
    ]
}
