//! Raw rows for verification, in key order.

use engine::model::id::{MemoryId, TenantId};
use engine::model::live_row::join_tags;
use engine::model::row::RowKind;
use engine::ports::scan::{LogEntry, LogHead, ScanFrom, ScannedMemory, ScannedPlace, ScannedRow, ScannedVersion};
use tokio_postgres::Row;
use uuid::Uuid;

use super::fault::Fault;
use super::pool::Pool;
use super::recall::read_words;
use super::row_codec::{Param, Statement, params, read_column, read_count, row_limit};

async fn query(pool: &Pool, tenant: TenantId, statement: Statement) -> Result<Vec<Row>, Fault> {
    Ok(pool.query_read_only(Some(tenant), &[statement]).await?.pop().unwrap_or_default())
}

pub(super) async fn scan_log(pool: &Pool, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<LogEntry>, Fault> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let statement = Statement::new(
        "select seq, name, at, happening, digests, hash
         from events
         where tenant = $1 and seq > $2
         order by seq
         limit $3",
        params![tenant.0, after, row_limit(limit)],
    );
    let entry = |row: &Row| {
        Ok(LogEntry {
            seq: read_count(row, 0)?,
            name: read_column(row, 1)?,
            at: read_column(row, 2)?,
            body: read_column(row, 3)?,
            digests: read_column(row, 4)?,
            hash: read_column(row, 5)?,
        })
    };
    query(pool, tenant, statement).await?.iter().map(entry).collect()
}

pub(super) async fn log_head(pool: &Pool, tenant: TenantId) -> Result<LogHead, Fault> {
    let sql = "select event_seq, event_hash, covered_from from heads where tenant = $1";
    let rows = query(pool, tenant, Statement::new(sql, params![tenant.0])).await?;
    let read =
        |row| Ok(LogHead { seq: read_count(row, 0)?, hash: read_column(row, 1)?, covered_from: read_count(row, 2)? });
    rows.first().map_or(Ok(LogHead::default()), read)
}

/// The columns [`read_version`] reads, of a version `v`.
pub(super) const VERSION_COLUMNS: &str = "v.memory, v.number, v.id, v.operation, v.snapshot, v.content, v.sha256,
    v.previous, v.actor, v.run, v.conversation, v.reason, v.evidence, v.at, v.redacted_at";
/// How many these are.
pub(super) const VERSION_COLUMN_COUNT: usize = 15;

pub(super) async fn scan_versions(
    pool: &Pool,
    tenant: TenantId,
    from: &ScanFrom<(MemoryId, u32)>,
    limit: usize,
) -> Result<Vec<ScannedVersion>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and (v.memory, v.number) > ($3, $4)", Some(key)),
        ScanFrom::Only(key) => ("and (v.memory, v.number) = ($3, $4)", Some(key)),
    };
    let mut params = params![tenant.0, row_limit(limit)];
    if let Some((memory, number)) = key {
        params.extend([Param::from(memory.0), Param::from(i64::from(*number))]);
    }
    let sql = format!(
        "select {VERSION_COLUMNS}
         from versions v
         where v.tenant = $1 {condition}
         order by v.memory, v.number
         limit $2"
    );
    query(pool, tenant, Statement::new(sql, params)).await?.iter().map(read_version).collect()
}

pub(super) fn read_version(row: &Row) -> Result<ScannedVersion, Fault> {
    Ok(ScannedVersion {
        memory: MemoryId(read_column(row, 0)?),
        number: read_number(row, 1)?,
        id: read_column(row, 2)?,
        operation: read_column(row, 3)?,
        snapshot: read_column(row, 4)?,
        content: read_column(row, 5)?,
        sha256: read_column(row, 6)?,
        previous: read_column(row, 7)?,
        actor: read_column(row, 8)?,
        run: read_column(row, 9)?,
        conversation: read_column(row, 10)?,
        reason: read_column(row, 11)?,
        evidence: read_column(row, 12)?,
        at: read_column(row, 13)?,
        redacted_at: read_column(row, 14)?,
    })
}

/// A number that was never given stands for one out of range.
fn read_number(row: &Row, at: usize) -> Result<u32, Fault> {
    Ok(u32::try_from(read_column::<i64>(row, at)?).unwrap_or(u32::MAX))
}

pub(super) async fn scan_memories(
    pool: &Pool,
    tenant: TenantId,
    from: &ScanFrom<MemoryId>,
    limit: usize,
) -> Result<Vec<ScannedMemory>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and m.id > $3", Some(key)),
        ScanFrom::Only(key) => ("and m.id = $3", Some(key)),
    };
    let mut params = params![tenant.0, row_limit(limit)];
    params.extend(key.map(|memory| Param::from(memory.0)));
    // The columns from the sixth on are those of the engine's `LIVE_COLUMNS`.
    let sql = format!(
        "select m.id, m.number, v.snapshot, v.content,
           coalesce((r.number, r.state, r.kind, r.layer, r.trust, r.author, r.updated_at, r.expires_at, r.scope)
             is not distinct from
             (m.number, m.state, m.kind, m.layer, m.trust, m.author, m.updated_at, m.expires_at, m.scope), false),
           s.store, s.kind, s.first, s.second, m.state, m.kind, m.layer, m.trust, m.path, m.sha256, m.always_inject,
           m.importance, m.session, m.turn, m.expires_at, m.created_at, m.updated_at, m.number, m.version, m.author,
           m.summary, t.tags, m.tenant, r.memory is not null, r.once, r.often, r.times, r.len
         from (select * from memories m where m.tenant = $1 {condition} order by m.id limit $2) m
         left join scopes s on s.tenant = m.tenant and s.id = m.scope
         left join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recall r on r.tenant = m.tenant and r.memory = m.id
         left join lateral
           (select array_agg(t.tag) as tags from tags t where t.tenant = m.tenant and t.memory = m.id) t on true
         order by m.id"
    );
    query(pool, tenant, Statement::new(sql, params)).await?.iter().map(read_memory).collect()
}

fn read_memory(row: &Row) -> Result<ScannedMemory, Fault> {
    let text = |at| read_column::<Option<String>>(row, at);
    let integer = |at| Ok::<_, Fault>(read_column::<Option<i64>>(row, at)?.map(|number| number.to_string()));
    let columns = vec![
        text(5)?,
        text(6)?,
        text(7)?,
        text(8)?,
        text(9)?,
        text(10)?,
        text(11)?,
        text(12)?,
        text(13)?,
        text(14)?,
        Some(u8::from(read_column::<bool>(row, 15)?).to_string()),
        Some(read_column::<f64>(row, 16)?.to_string()),
        text(17)?,
        integer(18)?,
        integer(19)?,
        integer(20)?,
        integer(21)?,
        integer(22)?,
        Some(read_column::<Uuid>(row, 23)?.to_string()),
        text(24)?,
        text(25)?,
        Some(join_tags(read_column::<Option<Vec<String>>>(row, 26)?.unwrap_or_default().into_iter())),
        Some(read_column::<Uuid>(row, 27)?.to_string()),
    ];
    Ok(ScannedMemory {
        id: MemoryId(read_column(row, 0)?),
        number: read_number(row, 1)?,
        columns,
        version: text(2)?.zip(text(3)?),
        is_indexed: read_column(row, 4)?,
        words: if read_column(row, 28)? { Some(read_words(row, 29)?) } else { None },
    })
}

pub(super) async fn scan_places(pool: &Pool, tenant: TenantId) -> Result<Vec<ScannedPlace>, Fault> {
    let statement = Statement::new(
        "select s.store, s.kind, s.first, s.live, s.live_len, coalesce(c.live, 0), coalesce(c.len, 0)
         from scopes s
         left join (
           select m.scope, count(*) as live, sum(r.len)::bigint as len
           from memories m
           left join recall r on r.tenant = m.tenant and r.memory = m.id
           where m.tenant = $1 and m.state = 'active'
           group by m.scope) c on c.scope = s.id
         where s.tenant = $1
         order by s.id",
        params![tenant.0],
    );
    let place = |row: &Row| {
        let text = |at| read_column::<String>(row, at);
        Ok(ScannedPlace {
            name: format!("{}/{} {}", text(0)?, text(1)?, text(2)?).trim_end().to_owned(),
            counters: vec![
                ("the number of its active memories", read_column(row, 3)?, read_column(row, 5)?),
                ("the length of its active memories", read_column(row, 4)?, read_column(row, 6)?),
            ],
        })
    };
    query(pool, tenant, statement).await?.iter().map(place).collect()
}

pub(super) async fn scan_rows(
    pool: &Pool,
    tenant: TenantId,
    kind: RowKind,
    from: &ScanFrom<String>,
    limit: usize,
) -> Result<Vec<ScannedRow>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and id > $3", Some(key)),
        ScanFrom::Only(key) => ("and id = $3", Some(key)),
    };
    let mut params = params![tenant.0, row_limit(limit)];
    params.extend(key.map(Param::from));
    let sql = format!(
        "select id, state, subject, parent, at, body::text
         from {kind}
         where tenant = $1 {condition}
         order by id
         limit $2"
    );
    let record = |row: &Row| {
        Ok(ScannedRow {
            kind,
            id: read_column(row, 0)?,
            state: read_column(row, 1)?,
            subject: read_column(row, 2)?,
            parent: read_column(row, 3)?,
            at: read_column(row, 4)?,
            body: read_column(row, 5)?,
        })
    };
    query(pool, tenant, Statement::new(sql, params)).await?.iter().map(record).collect()
}
