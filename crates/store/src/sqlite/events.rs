//! The log: numbered and chained as it is written, read in order.

use engine::model::event::{Event, Happening, link};
use engine::model::id::TenantId;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::fault::Fault;
use super::rows::{json, key, micros, to_json};

/// The number of the new entry.
pub(super) fn append(conn: &Connection, head: &mut Head, happening: &Happening) -> Result<u64, Fault> {
    let text = to_json(happening)?;
    let seq = head.event_seq + 1;
    let hash = link(&head.event_hash, seq, &text);
    conn.prepare_cached(
        "insert into events (tenant, seq, name, at, happening, hash)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute((key(head.tenant.0), seq, happening.name.as_str(), micros(happening.at), text, &hash))?;
    (head.event_seq, head.event_hash) = (seq, hash);
    Ok(seq)
}

pub(super) fn after(conn: &Connection, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
    let mut statement = conn.prepare_cached(
        "select seq, happening, hash
         from events
         where tenant = ?1 and seq > ?2
         order by seq
         limit ?3",
    )?;
    let mut rows = statement.query((key(tenant.0), after.min(i64::MAX as u64), limit.min(i64::MAX as usize)))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(Event { seq: row.get(0)?, happening: json(row, 1)?, hash: row.get(2)? });
    }
    Ok(events)
}

pub(super) fn last(conn: &Connection, tenant: TenantId) -> Result<u64, Fault> {
    let last = conn
        .prepare_cached("select event_seq from heads where tenant = ?1")?
        .query_row([key(tenant.0)], |row| row.get(0))
        .optional()?;
    Ok(last.unwrap_or(0))
}
