//! The event log of each tenant: numbered without gaps, each entry hashed together with the one before.

use engine::model::event::{Event, EventBody, chain_hash};
use engine::model::id::TenantId;
use engine::model::write_digest::WriteDigests;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::fault::Fault;
use super::row_codec::{id_bytes, read_json, to_json, to_micros};

/// Appends an event with the digests of what its change wrote; returns its number.
pub(super) fn append_event(
    conn: &Connection,
    head: &mut Head,
    happening: &EventBody,
    digests: &WriteDigests,
) -> Result<u64, Fault> {
    let text = to_json(happening)?;
    let seq = head.event_seq + 1;
    let hash = chain_hash(&head.event_hash, seq, &text, Some(digests.as_bytes()));
    conn.prepare_cached(
        "insert into events (tenant, seq, name, at, happening, hash, digests)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute((
        id_bytes(head.tenant.0),
        seq,
        happening.name.as_str(),
        to_micros(happening.at),
        text,
        &hash,
        digests.as_bytes(),
    ))?;
    (head.event_seq, head.event_hash) = (seq, hash);
    Ok(seq)
}

pub(super) fn events_after(conn: &Connection, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
    let mut statement = conn.prepare_cached(
        "select seq, happening, hash
         from events
         where tenant = ?1 and seq > ?2
         order by seq
         limit ?3",
    )?;
    // SQLite integers are signed, and the driver refuses larger numbers.
    let mut rows = statement.query((id_bytes(tenant.0), after.min(i64::MAX as u64), limit.min(i64::MAX as usize)))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(Event { seq: row.get(0)?, happening: read_json(row, 1)?, hash: row.get(2)? });
    }
    Ok(events)
}

pub(super) fn last_event_seq(conn: &Connection, tenant: TenantId) -> Result<u64, Fault> {
    let last = conn
        .prepare_cached("select event_seq from heads where tenant = ?1")?
        .query_row([id_bytes(tenant.0)], |row| row.get(0))
        .optional()?;
    Ok(last.unwrap_or(0))
}
