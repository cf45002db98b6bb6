//! The event log of each tenant: numbered without gaps, each entry hashed together with the one before.

use engine::model::event::{Event, EventBody, chain_hash};
use engine::model::id::TenantId;
use engine::model::write_digest::WriteDigests;

use super::commit::Head;
use super::fault::Fault;
use super::pool::Pool;
use super::row_codec::{Statement, params, read_column, read_count, read_json, row_limit, to_json, to_micros};

/// Notification channel for grown event logs; the payload is the tenant id.
pub(super) const EVENTS_CHANNEL: &str = "ingrain_events";

/// The statement that appends an event with the digests of what its change wrote. Advances the head.
pub(super) fn append_event(head: &mut Head, happening: &EventBody, digests: WriteDigests) -> Result<Statement, Fault> {
    let text = to_json(happening)?;
    let seq = head.event_seq + 1;
    let hash = chain_hash(&head.event_hash, seq, &text, Some(digests.as_bytes()));
    let statement = Statement::new(
        "insert into events (tenant, seq, name, at, happening, hash, digests)
         values ($1, $2, $3, $4, $5, $6, $7)",
        params![
            head.tenant.0,
            seq as i64,
            happening.name.as_str(),
            to_micros(happening.at),
            text,
            &hash,
            digests.into_bytes()
        ],
    );
    (head.event_seq, head.event_hash) = (seq, hash);
    Ok(statement)
}

pub(super) async fn events_after(pool: &Pool, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
    // A number beyond `bigint` is after every event.
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let statement = Statement::new(
        "select seq, happening, hash
         from events
         where tenant = $1 and seq > $2
         order by seq
         limit $3",
        params![tenant.0, after, row_limit(limit)],
    );
    let answer = pool.query_read_only(Some(tenant), &[statement]).await?;
    let event = |row| Ok(Event { seq: read_count(row, 0)?, happening: read_json(row, 1)?, hash: read_column(row, 2)? });
    answer.iter().flatten().map(event).collect()
}

pub(super) async fn last_event_seq(pool: &Pool, tenant: TenantId) -> Result<u64, Fault> {
    let statement = Statement::new("select event_seq from heads where tenant = $1", params![tenant.0]);
    let answer = pool.query_read_only(Some(tenant), &[statement]).await?;
    answer.iter().flatten().next().map_or(Ok(0), |row| read_count(row, 0))
}

/// Query for this entry of the log: one row if the log holds it.
pub(super) fn event_query(tenant: TenantId, seq: u64, hash: &str) -> Statement {
    Statement::new(
        // By hash too: another writer may have taken the number.
        "select 1 from events where tenant = $1 and seq = $2 and hash = $3",
        params![tenant.0, seq as i64, hash],
    )
}
