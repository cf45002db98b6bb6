//! The log: numbered and chained as it is written, read in order.

use engine::model::event::{Event, Happening, link};
use engine::model::id::TenantId;

use super::commit::Head;
use super::fault::Fault;
use super::pool::Pool;
use super::rows::{Step, column, count, json, limit, micros, params, to_json};

/// The channel that tells listeners a tenant's log has grown; the payload is the tenant.
pub(super) const CHANNEL: &str = "ingrain_events";

/// The statement that writes the next entry.
pub(super) fn append(head: &mut Head, happening: &Happening) -> Result<Step, Fault> {
    let text = to_json(happening)?;
    let seq = head.event_seq + 1;
    let hash = link(&head.event_hash, seq, &text);
    let step = Step::new(
        "insert into events (tenant, seq, name, at, happening, hash)
         values ($1, $2, $3, $4, $5, $6)",
        params![head.tenant.0, seq as i64, happening.name.as_str(), micros(happening.at), text, &hash],
    );
    (head.event_seq, head.event_hash) = (seq, hash);
    Ok(step)
}

pub(super) async fn after(pool: &Pool, tenant: TenantId, after: u64, rows: usize) -> Result<Vec<Event>, Fault> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let step = Step::new(
        "select seq, happening, hash
         from events
         where tenant = $1 and seq > $2
         order by seq
         limit $3",
        params![tenant.0, after, limit(rows)],
    );
    let answer = pool.read(Some(tenant), &[step]).await?;
    let event = |row| Ok(Event { seq: count(row, 0)?, happening: json(row, 1)?, hash: column(row, 2)? });
    answer.iter().flatten().map(event).collect()
}

pub(super) async fn last(pool: &Pool, tenant: TenantId) -> Result<u64, Fault> {
    let step = Step::new("select event_seq from heads where tenant = $1", params![tenant.0]);
    let answer = pool.read(Some(tenant), &[step]).await?;
    answer.iter().flatten().next().map_or(Ok(0), |row| count(row, 0))
}

/// Whether an entry stands in the log as it was meant to: what became of a commit whose answer was lost.
pub(super) async fn stands(pool: &Pool, tenant: TenantId, seq: u64, hash: &str) -> Result<bool, Fault> {
    let step = Step::new(
        "select 1 from events where tenant = $1 and seq = $2 and hash = $3",
        params![tenant.0, seq as i64, hash],
    );
    Ok(pool.read(Some(tenant), &[step]).await?.iter().flatten().next().is_some())
}
