//! The one audited way past "never rewritten": redaction blanks text, erasure deletes a place with its history.

use engine::model::id::{MemoryId, TenantId, VersionId};
use engine::model::memory::{Evidence, Memory};
use engine::model::snapshot::Snapshot;
use engine::ports::change::Place;
use engine::text::words::Words;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::entry::reindex;
use super::fault::Fault;
use super::rows::{json, key, micros, to_json};
use super::scopes;

/// Opens the way for one piece of work and closes it again, inside one transaction.
fn erasing<T>(
    conn: &Connection,
    tenant: TenantId,
    at: Timestamp,
    work: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    conn.execute("insert into erasing (tenant, at) values (?1, ?2)", (key(tenant.0), micros(at)))?;
    let answer = work()?;
    conn.execute("delete from erasing where tenant = ?1", [key(tenant.0)])?;
    Ok(answer)
}

pub(super) fn redact(
    conn: &Connection,
    head: &mut Head,
    at: Timestamp,
    memory: MemoryId,
    versions: &[VersionId],
) -> Result<(), Fault> {
    erasing(conn, head.tenant, at, || {
        for version in versions {
            blank(conn, head.tenant, at, memory, *version)?;
        }
        Ok(())
    })?;
    let (tenant, id) = (key(head.tenant.0), key(memory.0));
    let current: Option<[u8; 16]> = conn
        .prepare_cached("select version from memories where tenant = ?1 and id = ?2")?
        .query_row((tenant, id), |row| row.get(0))
        .optional()?;
    if !current.is_some_and(|current| versions.iter().any(|version| key(version.0) == current)) {
        return Ok(());
    }
    conn.execute("update memories set summary = '', tags = '[]' where tenant = ?1 and id = ?2", (tenant, id))?;
    reindex(conn, head, memory, Some(Words::default().to_bytes()), None)?;
    // What the place says has changed, although no version was added.
    conn.execute(
        "update scopes set generation = recall_seq
         where tenant = ?1 and id = (select scope from memories where tenant = ?1 and id = ?2)",
        (tenant, id),
    )?;
    Ok(())
}

/// Takes what it says out of a version. Who, when and why stay.
fn blank(
    conn: &Connection,
    tenant: TenantId,
    at: Timestamp,
    memory: MemoryId,
    version: VersionId,
) -> Result<(), Fault> {
    let (wall, id) = (key(tenant.0), key(version.0));
    let mut statement =
        conn.prepare_cached("select snapshot, evidence from versions where tenant = ?1 and id = ?2 and memory = ?3")?;
    let mut rows = statement.query((wall, id, key(memory.0)))?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let (snapshot, evidence): (Memory, Vec<Evidence>) = (json(row, 0)?, json(row, 1)?);
    let evidence: Vec<Evidence> = evidence.into_iter().map(Evidence::blanked).collect();
    conn.prepare_cached(
        "update versions
         set content = '', snapshot = ?3, evidence = ?4, redacted_at = coalesce(redacted_at, ?5)
         where tenant = ?1 and id = ?2",
    )?
    .execute((wall, id, to_json(&Snapshot(&snapshot.blanked()))?, to_json(&evidence)?, micros(at)))?;
    Ok(())
}

/// How many memories went.
pub(super) fn erase(conn: &Connection, tenant: TenantId, at: Timestamp, place: &Place) -> Result<u64, Fault> {
    let Some(scope) = scopes::id(conn, tenant, place)? else { return Ok(0) };
    let wall = key(tenant.0);
    erasing(conn, tenant, at, || {
        for table in ["recalls", "versions"] {
            let sql = format!(
                "delete from {table}
                 where tenant = ?1 and memory in (select id from memories where tenant = ?1 and scope = ?2)"
            );
            conn.execute(&sql, (wall, scope))?;
        }
        conn.execute("delete from recall where tenant = ?1 and scope = ?2", (wall, scope))?;
        let erased = conn.execute("delete from memories where tenant = ?1 and scope = ?2", (wall, scope))?;
        // The number goes too: a place of the same names starts anew under another.
        conn.execute("delete from scopes where tenant = ?1 and id = ?2", (wall, scope))?;
        Ok(erased as u64)
    })
}
