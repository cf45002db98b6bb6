//! Raw rows for verification, in key order. Text is read whatever its bytes are, because damage must be named and not
//! end the scan.

use engine::model::id::{MemoryId, TenantId};
use engine::model::live_row::join_tags;
use engine::model::row::RowKind;
use engine::ports::scan::{LogEntry, LogHead, ScanFrom, ScannedMemory, ScannedPlace, ScannedRow, ScannedVersion};
use engine::text::words::IndexedWords;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use uuid::Uuid;

use super::fault::Fault;
use super::row_codec::id_bytes;

pub(super) fn scan_log(conn: &Connection, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<LogEntry>, Fault> {
    let mut statement = conn.prepare_cached(
        "select seq, name, at, happening, digests, hash
         from events
         where tenant = ?1 and seq > ?2
         order by seq
         limit ?3",
    )?;
    let mut rows = statement.query((id_bytes(tenant.0), after.min(i64::MAX as u64), limit))?;
    let mut entries = Vec::with_capacity(limit);
    while let Some(row) = rows.next()? {
        let digests = match row.get_ref(4)? {
            ValueRef::Null => None,
            ValueRef::Blob(bytes) => Some(bytes.to_vec()),
            // Never written, so the hash does not fit either.
            _ => Some(vec![0]),
        };
        entries.push(LogEntry {
            seq: row.get(0)?,
            name: text(row, 1)?,
            at: integer(row, 2)?,
            body: text(row, 3)?,
            digests,
            hash: text(row, 5)?,
        });
    }
    Ok(entries)
}

pub(super) fn log_head(conn: &Connection, tenant: TenantId) -> Result<LogHead, Fault> {
    let head = conn
        .prepare_cached("select event_seq, event_hash, covered_from from heads where tenant = ?1")?
        .query_row([id_bytes(tenant.0)], |row| {
            Ok(LogHead { seq: row.get(0)?, hash: row.get(1)?, covered_from: row.get(2)? })
        })
        .optional()?;
    Ok(head.unwrap_or_default())
}

const VERSION_COLUMNS: &str = "memory, number, id, operation, snapshot, content, sha256, previous, actor, run,
    conversation, reason, evidence, at, redacted_at";

pub(super) fn scan_versions(
    conn: &Connection,
    tenant: TenantId,
    from: &ScanFrom<(MemoryId, u32)>,
    limit: usize,
) -> Result<Vec<ScannedVersion>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and (memory, number) > (?2, ?3)", Some(key)),
        ScanFrom::Only(key) => ("and (memory, number) = (?2, ?3)", Some(key)),
    };
    let sql = format!(
        "select {VERSION_COLUMNS}
         from versions
         where tenant = ?1 {condition}
         order by memory, number
         limit {limit}"
    );
    let key = key.map(|(memory, number)| [id_value(memory.0), Value::Integer(i64::from(*number))]);
    let params = std::iter::once(id_value(tenant.0)).chain(key.into_iter().flatten());
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        versions.push(read_version(row)?);
    }
    Ok(versions)
}

/// One stored version, for a redaction, which changes its digest.
pub(super) fn find_version(
    conn: &Connection,
    tenant: TenantId,
    memory: MemoryId,
    version: Uuid,
) -> Result<Option<ScannedVersion>, Fault> {
    let sql = format!("select {VERSION_COLUMNS} from versions where tenant = ?1 and id = ?2 and memory = ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((id_bytes(tenant.0), id_bytes(version), id_bytes(memory.0)))?;
    rows.next()?.map(read_version).transpose()
}

fn read_version(row: &Row<'_>) -> Result<ScannedVersion, Fault> {
    Ok(ScannedVersion {
        memory: MemoryId(uuid(row, 0)?),
        number: u32::try_from(integer(row, 1)?).unwrap_or(u32::MAX),
        id: uuid(row, 2)?,
        operation: text(row, 3)?,
        snapshot: text(row, 4)?,
        content: text(row, 5)?,
        sha256: text(row, 6)?,
        previous: match row.get_ref(7)? {
            ValueRef::Null => None,
            _ => Some(uuid(row, 7)?),
        },
        actor: text(row, 8)?,
        run: optional_text(row, 9)?,
        conversation: optional_text(row, 10)?,
        reason: optional_text(row, 11)?,
        evidence: text(row, 12)?,
        at: integer(row, 13)?,
        redacted_at: match row.get_ref(14)? {
            ValueRef::Null => None,
            _ => Some(integer(row, 14)?),
        },
    })
}

pub(super) fn scan_memories(
    conn: &Connection,
    tenant: TenantId,
    from: &ScanFrom<MemoryId>,
    limit: usize,
) -> Result<Vec<ScannedMemory>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and m.id > ?2", Some(key)),
        ScanFrom::Only(key) => ("and m.id = ?2", Some(key)),
    };
    // Cross joins keep the order of the tables: by id, which is the key of the first one. The columns from the fourth
    // on are those of the engine's `LIVE_COLUMNS`.
    let sql = format!(
        "select m.id, m.number, v.snapshot, v.content,
           r.number is m.number and r.state is m.state and r.kind is m.kind and r.layer is m.layer
             and r.trust is m.trust and r.author is m.author and r.updated_at is m.updated_at
             and r.expires_at is m.expires_at and r.memory is m.id,
           s.store, s.kind, s.first, s.second, m.state, m.kind, m.layer, m.trust, m.path, m.sha256, m.always_inject,
           m.importance, m.session, m.turn, m.expires_at, m.created_at, m.updated_at, m.number, m.version, m.author,
           m.summary, m.tags, m.tenant, r.words
         from (select * from memories m where m.tenant = ?1 {condition} order by m.id limit {limit}) m
         left join scopes s on s.tenant = m.tenant and s.id = m.scope
         left join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recall r on r.tenant = m.tenant and r.scope = m.scope and r.seq = m.recall_seq
         order by m.id"
    );
    let params = std::iter::once(id_value(tenant.0)).chain(key.map(|memory| id_value(memory.0)));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut memories = Vec::new();
    while let Some(row) = rows.next()? {
        memories.push(read_memory(row)?);
    }
    Ok(memories)
}

const FIRST_LIVE_COLUMN: usize = 5;
const LAST_LIVE_COLUMN: usize = 27;
const TAGS_COLUMN: usize = 26;
/// Version and tenant.
const ID_COLUMNS: [usize; 2] = [23, 27];

fn read_memory(row: &Row<'_>) -> Result<ScannedMemory, Fault> {
    let mut columns = Vec::with_capacity(LAST_LIVE_COLUMN - FIRST_LIVE_COLUMN + 1);
    for at in FIRST_LIVE_COLUMN..=LAST_LIVE_COLUMN {
        columns.push(match row.get_ref(at)? {
            ValueRef::Null => None,
            ValueRef::Blob(_) if ID_COLUMNS.contains(&at) => Some(uuid(row, at)?.to_string()),
            value if ID_COLUMNS.contains(&at) => Some(never_written(value)),
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(tags) if at == TAGS_COLUMN => Some(match serde_json::from_slice::<Vec<String>>(tags) {
                Ok(tags) => join_tags(tags.into_iter()),
                Err(_) => String::from_utf8_lossy(tags).into_owned(),
            }),
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            value @ ValueRef::Blob(_) => Some(never_written(value)),
        });
    }
    Ok(ScannedMemory {
        id: MemoryId(uuid(row, 0)?),
        number: u32::try_from(integer(row, 1)?).unwrap_or(u32::MAX),
        columns,
        version: optional_text(row, 2)?.zip(optional_text(row, 3)?),
        is_indexed: integer(row, 4)? == 1,
        words: match row.get_ref(LAST_LIVE_COLUMN + 1)? {
            // Of a forgotten memory.
            ValueRef::Blob([]) => Some(IndexedWords::default()),
            ValueRef::Blob(bytes) => IndexedWords::from_bytes(bytes),
            _ => None,
        },
    })
}

pub(super) fn scan_places(conn: &Connection, tenant: TenantId) -> Result<Vec<ScannedPlace>, Fault> {
    let mut statement = conn.prepare_cached(
        "select s.store, s.kind, s.first, s.live, s.recall_seq, coalesce(m.live, 0), coalesce(m.rows, 0),
           coalesce(m.newest, 0), coalesce(r.rows, 0)
         from scopes s
         left join (
           select scope, sum(state = 'active') as live, count(*) as rows, max(recall_seq) as newest
           from memories
           where tenant = ?1
           group by scope) m on m.scope = s.id
         left join (select scope, count(*) as rows from recall where tenant = ?1 group by scope) r on r.scope = s.id
         where s.tenant = ?1
         order by s.id",
    )?;
    let mut rows = statement.query([id_bytes(tenant.0)])?;
    let mut places = Vec::new();
    while let Some(row) = rows.next()? {
        let name = format!("{}/{} {}", text(row, 0)?, text(row, 1)?, text(row, 2)?);
        let (recall_seq, newest) = (integer(row, 4)?, integer(row, 7)?);
        places.push(ScannedPlace {
            name: name.trim_end().to_owned(),
            counters: vec![
                ("the number of its active memories", integer(row, 3)?, integer(row, 5)?),
                ("the number of its rows in the search index", integer(row, 8)?, integer(row, 6)?),
                // It may be ahead.
                ("the number of its newest row in the search index", recall_seq, recall_seq.max(newest)),
            ],
        });
    }
    Ok(places)
}

pub(super) fn scan_rows(
    conn: &Connection,
    tenant: TenantId,
    kind: RowKind,
    from: &ScanFrom<String>,
    limit: usize,
) -> Result<Vec<ScannedRow>, Fault> {
    let (condition, key) = match from {
        ScanFrom::Start => ("", None),
        ScanFrom::After(key) => ("and id > ?2", Some(key)),
        ScanFrom::Only(key) => ("and id = ?2", Some(key)),
    };
    let sql = format!(
        "select id, state, subject, parent, at, body
         from {kind}
         where tenant = ?1 {condition}
         order by id
         limit {limit}"
    );
    let params = std::iter::once(id_value(tenant.0)).chain(key.map(|id| Value::Text(id.clone())));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(ScannedRow {
            kind,
            id: text(row, 0)?,
            state: text(row, 1)?,
            subject: text(row, 2)?,
            parent: text(row, 3)?,
            at: integer(row, 4)?,
            body: text(row, 5)?,
        });
    }
    Ok(found)
}

fn id_value(id: Uuid) -> Value {
    Value::Blob(id_bytes(id).to_vec())
}

fn text(row: &Row<'_>, at: usize) -> Result<String, Fault> {
    Ok(optional_text(row, at)?.unwrap_or_default())
}

fn optional_text(row: &Row<'_>, at: usize) -> Result<Option<String>, Fault> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        value => Some(never_written(value)),
    })
}

/// Stands for a value of another storage class than was written: the same bytes in another class are compared, sorted
/// and found otherwise. Starts with a character that no stored text starts with, so that it is not what the log says.
fn never_written(value: ValueRef<'_>) -> String {
    let text = match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Null => "number".into(),
    };
    format!("\u{0}{}: {text}", value.data_type())
}

/// A value of another type is one that was never written.
fn integer(row: &Row<'_>, at: usize) -> Result<i64, Fault> {
    Ok(match row.get_ref(at)? {
        ValueRef::Integer(number) => number,
        _ => i64::MIN,
    })
}

/// Bytes of another length give an id that was never written.
fn uuid(row: &Row<'_>, at: usize) -> Result<Uuid, Fault> {
    Ok(match row.get_ref(at)? {
        ValueRef::Blob(bytes) => <[u8; 16]>::try_from(bytes).map_or(Uuid::max(), Uuid::from_bytes),
        _ => Uuid::max(),
    })
}
