//! Redaction (blanks the text of versions) and erasure (deletes a place with its history): the only two operations that
//! change stored versions. Triggers refuse all others.

use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::write_digest::WriteDigests;
use engine::text::words::IndexedWords;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::entry::reindex_memory;
use super::fault::Fault;
use super::row_codec::{id_bytes, read_uuid, to_micros};
use super::{scan, scopes};
use crate::digests::blank_columns;

/// Allows `work` to change versions: the triggers check for a row in `erasing`. Inside one transaction, so a failure
/// leaves no row.
fn with_erasure_allowed<T>(
    conn: &Connection,
    tenant: TenantId,
    at: Timestamp,
    work: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    conn.execute("insert into erasing (tenant, at) values (?1, ?2)", (id_bytes(tenant.0), to_micros(at)))?;
    let answer = work()?;
    conn.execute("delete from erasing where tenant = ?1", [id_bytes(tenant.0)])?;
    Ok(answer)
}

pub(super) fn redact_versions(
    conn: &Connection,
    head: &mut Head,
    at: Timestamp,
    memory: MemoryId,
    versions: &[VersionId],
    digests: &mut WriteDigests,
) -> Result<(), Fault> {
    with_erasure_allowed(conn, head.tenant, at, || {
        for version in versions {
            blank_version(conn, head.tenant, at, memory, *version, digests)?;
        }
        Ok(())
    })?;
    let (tenant, id) = (id_bytes(head.tenant.0), id_bytes(memory.0));
    let current: Option<[u8; 16]> = conn
        .prepare_cached("select version from memories where tenant = ?1 and id = ?2")?
        .query_row((tenant, id), |row| row.get(0))
        .optional()?;
    if !current.is_some_and(|current| versions.iter().any(|version| id_bytes(version.0) == current)) {
        return Ok(());
    }
    conn.execute("update memories set summary = '', tags = '[]' where tenant = ?1 and id = ?2", (tenant, id))?;
    reindex_memory(conn, head, memory, Some(IndexedWords::default().to_bytes()), None)?;
    // The content of the place has changed although no version was added, so guards on its generation must fail.
    conn.execute(
        "update scopes set generation = recall_seq
         where tenant = ?1 and id = (select scope from memories where tenant = ?1 and id = ?2)",
        (tenant, id),
    )?;
    Ok(())
}

/// Removes the text of a version and of its evidence. Author, time and reason stay.
fn blank_version(
    conn: &Connection,
    tenant: TenantId,
    at: Timestamp,
    memory: MemoryId,
    version: VersionId,
    digests: &mut WriteDigests,
) -> Result<(), Fault> {
    let (tenant_id, id) = (id_bytes(tenant.0), id_bytes(version.0));
    let Some(mut stored) = scan::find_version(conn, tenant, memory, version.0)? else { return Ok(()) };
    blank_columns(&mut stored, at)?;
    digests.add_version(&stored.columns());
    conn.prepare_cached(
        "update versions
         set content = '', snapshot = ?3, evidence = ?4, redacted_at = ?5
         where tenant = ?1 and id = ?2",
    )?
    .execute((tenant_id, id, stored.snapshot, stored.evidence, stored.redacted_at))?;
    Ok(())
}

/// Returns the number of erased memories.
pub(super) fn erase_place(
    conn: &Connection,
    tenant: TenantId,
    at: Timestamp,
    place: &Place,
    digests: &mut WriteDigests,
) -> Result<u64, Fault> {
    let Some(scope) = scopes::find_scope_id(conn, tenant, place)? else { return Ok(0) };
    let tenant_id = id_bytes(tenant.0);
    let mut memories = conn.prepare_cached("select id, number from memories where tenant = ?1 and scope = ?2")?;
    let mut rows = memories.query((tenant_id, scope))?;
    while let Some(row) = rows.next()? {
        digests.add_erasure(MemoryId(read_uuid(row, 0)?), row.get(1)?);
    }
    drop(rows);
    with_erasure_allowed(conn, tenant, at, || {
        // Rows that refer to `memories` go before it, because of the foreign keys.
        for table in ["recalls", "versions"] {
            let sql = format!(
                "delete from {table}
                 where tenant = ?1 and memory in (select id from memories where tenant = ?1 and scope = ?2)"
            );
            conn.execute(&sql, (tenant_id, scope))?;
        }
        conn.execute("delete from recall where tenant = ?1 and scope = ?2", (tenant_id, scope))?;
        let erased = conn.execute("delete from memories where tenant = ?1 and scope = ?2", (tenant_id, scope))?;
        // The scope row goes too: a new place with the same names gets a new id.
        conn.execute("delete from scopes where tenant = ?1 and id = ?2", (tenant_id, scope))?;
        Ok(erased as u64)
    })
}
