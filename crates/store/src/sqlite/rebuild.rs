//! Writes what is derived from versions anew: live rows, rows of the recall index, counters of places.

use engine::ports::change::DerivedRows;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::entry::{insert_recall_row, write_memory_row};
use super::fault::Fault;
use super::row_codec::{from_micros, id_bytes};
use super::scopes;

pub(super) fn rebuild_memories(conn: &Connection, head: &mut Head, memories: &[DerivedRows]) -> Result<(), Fault> {
    let tenant = id_bytes(head.tenant.0);
    // First of all of them: one may hold the path of another, and a path belongs to one active memory.
    let mut vacate = conn.prepare_cached("update memories set path = null where tenant = ?1 and id = ?2")?;
    for rows in memories {
        if is_newest(conn, rows)? {
            vacate.execute((tenant, id_bytes(rows.memory.id.0)))?;
        }
    }
    for rows in memories {
        if is_newest(conn, rows)? {
            rebuild_memory(conn, head, rows)?;
        }
    }
    Ok(())
}

/// Whether no version came after the one these rows were derived from.
fn is_newest(conn: &Connection, rows: &DerivedRows) -> Result<bool, Fault> {
    let newest: Option<u32> = conn
        .prepare_cached("select max(number) from versions where tenant = ?1 and memory = ?2")?
        .query_row((id_bytes(rows.memory.tenant.0), id_bytes(rows.memory.id.0)), |row| row.get(0))?;
    Ok(newest == Some(rows.memory.version_number))
}

fn rebuild_memory(conn: &Connection, head: &mut Head, rows: &DerivedRows) -> Result<(), Fault> {
    let (tenant, id) = (id_bytes(head.tenant.0), id_bytes(rows.memory.id.0));
    let mut memory = rows.memory.clone();
    // Recalls are counted outside of versions; the decay goes by the last one.
    let last: Option<i64> = conn
        .prepare_cached("select last from recalls where tenant = ?1 and memory = ?2")?
        .query_row((tenant, id), |row| row.get(0))
        .optional()?;
    memory.last_recalled_at = last.map(from_micros).transpose()?.or(memory.last_recalled_at);
    let scope = scopes::ensure_scope(conn, head, &memory.store, &memory.scope)?;
    let seq = head.next_recall_seq();
    // Where a memory's row of the index stands is in its live row, which may be wrong: so the memory is compared.
    // Others that are its own go with `recount_places`.
    conn.prepare_cached(
        "delete from recall
         where memory = ?2
           and (tenant, scope, seq) = (select tenant, scope, recall_seq from memories where tenant = ?1 and id = ?2)",
    )?
    .execute((tenant, id))?;
    let exists = conn.prepare_cached("select 1 from memories where tenant = ?1 and id = ?2")?.exists((tenant, id))?;
    write_memory_row(conn, scope, seq, &memory, exists)?;
    insert_recall_row(conn, scope, seq, &memory, &rows.words, None)
}

pub(super) fn recount_places(conn: &Connection, head: &mut Head) -> Result<(), Fault> {
    let tenant = id_bytes(head.tenant.0);
    conn.execute(
        "delete from recall
         where tenant = ?1 and not exists (
           select 1
           from memories m
           where m.tenant = recall.tenant and m.id = recall.memory and m.scope = recall.scope
             and m.recall_seq = recall.seq)",
        [tenant],
    )?;
    // Above everything there is, whatever was done to the head.
    let newest: Option<u64> =
        conn.query_row("select max(recall_seq) from memories where tenant = ?1", [tenant], |row| row.get(0))?;
    head.recall_seq = head.recall_seq.max(newest.unwrap_or_default());
    let seq = head.next_recall_seq();
    conn.execute(
        "update scopes
         set generation = ?2, recall_seq = ?2,
           live = (
             select count(*)
             from memories m
             where m.tenant = scopes.tenant and m.scope = scopes.id and m.state = 'active')
         where tenant = ?1",
        (tenant, seq),
    )?;
    Ok(())
}
