//! Memories that still need a vector.

use engine::model::id::TenantId;
use engine::model::memory::Memory;
use rusqlite::Connection;

use crate::sqlite::fault::Fault;
use crate::sqlite::row_codec::{self, MEMORY_COLUMNS, id_bytes};

/// Active memories without a vector of this model, oldest first.
pub(in crate::sqlite) fn list_unembedded(
    conn: &Connection,
    tenant: TenantId,
    model: &str,
    limit: usize,
) -> Result<Vec<Memory>, Fault> {
    let mut seqs = rows_without_vector(conn, tenant, model, limit)?;
    seqs.sort_unstable();
    seqs.truncate(limit);
    let mut statement = conn.prepare_cached(&format!(
        "select {MEMORY_COLUMNS}
         from memories m
         join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where m.tenant = ?1 and m.id = ?2"
    ))?;
    let mut memories = Vec::with_capacity(seqs.len());
    for (_, memory) in seqs {
        let mut rows = statement.query((id_bytes(tenant.0), memory))?;
        memories.extend(rows.next()?.map(row_codec::read_memory).transpose()?);
    }
    Ok(memories)
}

/// Rows without a vector, then rows of each other model. Each is one index range, so a database that is up to date
/// costs a few look-ups.
fn rows_without_vector(
    conn: &Connection,
    tenant: TenantId,
    model: &str,
    limit: usize,
) -> Result<Vec<(u64, [u8; 16])>, Fault> {
    let tenant_id = id_bytes(tenant.0);
    let mut next_model =
        conn.prepare_cached("select min(model) from recall where tenant = ?1 and state = 'active' and model > ?2")?;
    let mut rows = conn.prepare_cached(
        "select seq, memory
         from recall
         where tenant = ?1 and state = 'active' and model is ?2
         order by seq
         limit ?3",
    )?;
    let mut found = Vec::new();
    // `None` first: rows without any model.
    let mut other: Option<String> = None;
    loop {
        if other.as_deref() != Some(model) {
            let found_rows = rows
                .query_map((tenant_id, &other, limit.min(i64::MAX as usize)), |row| Ok((row.get(0)?, row.get(1)?)))?;
            for row in found_rows {
                found.push(row?);
            }
        }
        other = next_model.query_row((tenant_id, other.unwrap_or_default()), |row| row.get(0))?;
        if other.is_none() {
            return Ok(found);
        }
    }
}
