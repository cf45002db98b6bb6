//! Redaction (blanks the text of versions) and erasure (deletes a place with its history): the only two operations that
//! change stored versions. The application role has no right to either; it calls functions of the schema's owner. Each
//! call selects from `heads`, so that Citus runs it on the worker that holds the tenant.

use std::collections::HashMap;

use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Evidence, Memory};
use engine::model::snapshot::Snapshot;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{CurrentState, Head};
use super::entry::{PREVIOUS_COLUMNS, PreviousVersion};
use super::fault::Fault;
use super::row_codec::{Statement, params, read_column, read_json, to_json, to_micros};

/// Snapshot and evidence of the versions to be redacted, by version id.
pub(super) type VersionSnapshots = HashMap<Uuid, (Memory, Vec<Evidence>)>;

/// Query for the versions to redact, each with the current version of the memory.
pub(super) fn versions_query(tenant: TenantId, memory: MemoryId, versions: &[VersionId]) -> Statement {
    let ids: Vec<Uuid> = versions.iter().map(|version| version.0).collect();
    Statement::new(
        format!(
            "select v.id, v.snapshot, v.evidence, {PREVIOUS_COLUMNS}
             from versions v
             join memories m on m.tenant = v.tenant and m.id = v.memory
             join recall c on c.tenant = v.tenant and c.memory = v.memory
             where v.tenant = $1 and v.memory = $2 and v.id = any($3)"
        ),
        params![tenant.0, memory.0, ids],
    )
}

pub(super) fn read_snapshots(rows: &[Row], memory: MemoryId, state: &mut CurrentState) -> Result<(), Fault> {
    for row in rows {
        state.snapshots.insert(read_column(row, 0)?, (read_json(row, 1)?, read_json(row, 2)?));
        state.versions.insert(memory, PreviousVersion::from_row(row, 3)?);
    }
    Ok(())
}

pub(super) fn redact_versions(
    head: &mut Head,
    state: &CurrentState,
    statements: &mut Vec<Statement>,
    at: Timestamp,
    memory: MemoryId,
    versions: &[VersionId],
) -> Result<(), Fault> {
    for version in versions {
        let stored = state.snapshots.get(&version.0).filter(|(snapshot, _)| snapshot.id == memory);
        // A version that was erased meanwhile has no text left to redact.
        let Some((snapshot, evidence)) = stored else { continue };
        let evidence: Vec<Evidence> = evidence.iter().cloned().map(Evidence::without_text).collect();
        statements.push(Statement::new(
            "select redact_version($1, $2, $3, $4, $5) from heads where tenant = $6",
            params![
                version.0,
                memory.0,
                to_json(&Snapshot(&snapshot.clone().without_content()))?,
                to_json(&evidence)?,
                to_micros(at),
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
