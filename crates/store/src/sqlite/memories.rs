//! Reads memories and their versions. Every query restricts to readable scopes, and every row read is tested again by
//! `Readable::shows_memory`.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::{Address, Filter, ListCursor, PageRequest, SortOrder};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params_from_iter};

use super::fault::Fault;
use super::filter::{self, Clauses};
use super::row_codec::{self, MEMORY_COLUMNS, VERSION_COLUMNS, id_bytes, to_micros};
use super::scopes::{self, VisibleScope};
use crate::matching::{self, compare_memories, is_after_cursor};

/// A memory `m` with its scope `s` and store `t`, which [`ACCESS_CONDITION`] tests.
const PLACE_JOINS: &str = "from memories m
    join scopes s on s.tenant = m.tenant and s.id = m.scope
    join stores t on t.tenant = s.tenant and t.id = s.store";
/// Which memories a caller may see; parameters 1 to 3 are those of [`AccessParams`].
const ACCESS_CONDITION: &str = "m.tenant = ?1
    and t.state <> 'archived'
    and (?2 is null or exists (
      select 1
      from json_each(?2) j
      where j.value ->> 0 = s.kind and j.value ->> 1 = s.first and j.value ->> 2 = s.second))
    and (m.state <> 'constrained' or ?3 is null or m.author = ?3)";

/// Parameters 1 to 3 of [`ACCESS_CONDITION`], in order.
struct AccessParams {
    tenant: [u8; 16],
    /// JSON list of `[kind, first, second]`; `None`: every scope.
    scopes: Option<String>,
    /// Whose constrained memories are visible; `None`: everybody's.
    author: Option<String>,
}

impl AccessParams {
    fn from_readable(readable: &Readable) -> Result<AccessParams, Fault> {
        let scopes = match &readable.scopes {
            ReadableScopes::All => None,
            ReadableScopes::These(scopes) => {
                let names: Vec<_> = scopes.iter().map(|scope| (scope.kind(), scope.name_columns())).collect();
                let flat: Vec<_> = names.iter().map(|(kind, (first, second))| (kind, first, second)).collect();
                Some(row_codec::to_json(&flat)?)
            }
        };
        let author = match &readable.constrained {
            VisibleCandidates::All => None,
            VisibleCandidates::AuthoredBy(author) => Some(author.clone()),
        };
        Ok(AccessParams { tenant: id_bytes(readable.tenant.0), scopes, author })
    }
}

pub(super) fn get_memory(conn: &Connection, readable: &Readable, address: &Address) -> Result<Option<Memory>, Fault> {
    let scope_id = |place| scopes::find_scope_id(conn, readable.tenant, place);
    let (clause, value, scope) = match address {
        // Names parameter 5 too, so that all three statements take the same parameters.
        Address::Id(id) => ("m.id = ?4 and ?5 is null", Value::Blob(id_bytes(id.0).to_vec()), None),
        Address::Path { place, path } => {
            ("m.scope = ?5 and m.path = ?4 and m.state = 'active'", path.clone().into(), scope_id(place)?)
        }
        Address::Hash { place, sha256 } => (
            "m.scope = ?5 and m.sha256 = ?4 and m.state = 'active' and m.path is null",
            sha256.clone().into(),
            scope_id(place)?,
        ),
    };
    let access = AccessParams::from_readable(readable)?;
    let sql = format!(
        "select {MEMORY_COLUMNS}
         {PLACE_JOINS}
         join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where {ACCESS_CONDITION} and {clause}
         order by m.id
         limit 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((access.tenant, access.scopes, access.author, value, scope))?;
    let memory = rows.next()?.map(row_codec::read_memory).transpose()?;
    Ok(memory.filter(|memory| readable.shows_memory(memory)))
}

pub(super) fn list_versions(
    conn: &Connection,
    readable: &Readable,
    memory: MemoryId,
    below: Option<u32>,
    limit: usize,
) -> Result<Vec<Version>, Fault> {
    let params: [&dyn ToSql; 3] = [&id_bytes(memory.0), &below, &limit.min(i64::MAX as usize)];
    let clause = "m.id = ?4 and (?5 is null or v.number < ?5) order by v.number desc limit ?6";
    query_versions(conn, readable, clause, &params)
}

pub(super) fn get_version(
    conn: &Connection,
    readable: &Readable,
    version: VersionId,
) -> Result<Option<Version>, Fault> {
    Ok(query_versions(conn, readable, "v.id = ?4", &[&id_bytes(version.0)])?.pop())
}

/// Versions of memories that the caller sees today, without those whose own scope or state hides them from the caller.
fn query_versions(
    conn: &Connection,
    readable: &Readable,
    clause: &str,
    clause_params: &[&dyn ToSql],
) -> Result<Vec<Version>, Fault> {
    let access = AccessParams::from_readable(readable)?;
    let sql = format!(
        "select {VERSION_COLUMNS}
         {PLACE_JOINS}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         where {ACCESS_CONDITION} and {clause}"
    );
    let mut params: Vec<&dyn ToSql> = vec![&access.tenant, &access.scopes, &access.author];
    params.extend_from_slice(clause_params);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(&*params)?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let version = row_codec::read_version(row)?;
        if readable.shows_memory(&version.memory) {
            versions.push(version);
        }
    }
    Ok(versions)
}

pub(super) fn list_memories(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
    page: &PageRequest,
) -> Result<Vec<Memory>, Fault> {
    let scopes = scopes::visible_scopes(conn, readable, filter)?;
    if scopes.is_empty() || page.limit == 0 {
        return Ok(Vec::new());
    }
    if let Some(at) = filter.as_of {
        let mut memories = memories_as_of(conn, readable, filter, &scopes, at)?;
        memories.sort_by(|a, b| compare_memories(page.order, a, b));
        return Ok(memories.into_iter().filter(|memory| is_after_cursor(page, memory)).take(page.limit).collect());
    }
    let mut clauses = match page.order {
        SortOrder::Expiring => filter::across_scopes(readable, &scopes),
        _ => filter::within_scopes(readable, &scopes),
    };
    filter::filter_conditions(&mut clauses, readable, filter);
    let order = page_conditions(&mut clauses, page, filter.fade_below.is_some());
    let table = filter::indexed_table(filter, Some(page.order), &scopes);
    // The inner query finds the page by an index; versions are joined for its rows only.
    let sql = format!(
        "select {MEMORY_COLUMNS}
         from (
           select m.*
           from {table}
           where {}
           order by {order}
           limit ?) m
         join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         order by {order}",
        clauses.sql
    );
    clauses.params.push(i64::try_from(page.limit).unwrap_or(i64::MAX).into());
    query_memories(conn, readable, &sql, clauses.params)
}

fn query_memories(conn: &Connection, readable: &Readable, sql: &str, params: Vec<Value>) -> Result<Vec<Memory>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut memories = Vec::new();
    while let Some(row) = rows.next()? {
        let memory = row_codec::read_memory(row)?;
        if readable.shows_memory(&memory) {
            memories.push(memory);
        }
    }
    Ok(memories)
}

/// Adds the condition for rows after the cursor; returns the `order by` list. A memory without a path sorts first.
fn page_conditions(clauses: &mut Clauses, page: &PageRequest, faded: bool) -> &'static str {
    let id = |id: &MemoryId| Value::Blob(id_bytes(id.0).to_vec());
    match (page.order, &page.after) {
        (SortOrder::Path, Some(ListCursor::Path(path, last))) => {
            clauses.add_condition("(coalesce(m.path, ''), m.id) > (?, ?)", [path.clone().into(), id(last)]);
        }
        (SortOrder::Newest, Some(ListCursor::Time(at, last))) => {
            clauses.add_condition("(m.updated_at, m.id) < (?, ?)", [to_micros(*at).into(), id(last)]);
        }
        (SortOrder::Oldest, Some(ListCursor::Time(at, last))) => {
            clauses.add_condition("(m.created_at, m.id) > (?, ?)", [to_micros(*at).into(), id(last)]);
        }
        (SortOrder::Expiring, Some(ListCursor::Time(at, last))) => {
            clauses.add_condition("(m.expires_at, m.id) > (?, ?)", [to_micros(*at).into(), id(last)]);
        }
        (SortOrder::LastTurn, _) => clauses.add_condition("m.turn is not null", []),
        // A cursor of another order marks no place in this one.
        (SortOrder::Path | SortOrder::Newest | SortOrder::Oldest | SortOrder::Expiring | SortOrder::Fading, _) => {}
    }
    match page.order {
        SortOrder::Path => "coalesce(m.path, ''), m.id",
        SortOrder::Newest => "m.updated_at desc, m.id desc",
        SortOrder::Oldest => "m.created_at, m.id",
        SortOrder::Expiring => "m.expires_at, m.id",
        SortOrder::LastTurn => "m.turn desc, m.id desc",
        // The order of the index: sorting everything that is due for each batch would take longer than the upkeep
        // itself.
        SortOrder::Fading if faded => "m.scope, m.fade, m.id",
        SortOrder::Fading => "m.fade, m.id",
    }
}

/// The memories of these scopes in the version that was current at a time.
pub(super) fn memories_as_of(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
    scopes: &[VisibleScope],
    at: Timestamp,
) -> Result<Vec<Memory>, Fault> {
    let mut clauses = filter::within_scopes(readable, scopes);
    // Only conditions that held at the time may narrow the query; the filter is tested on the old version below.
    clauses.add_condition("m.created_at <= ?", [to_micros(at).into()]);
    clauses.add_condition(
        "v.number = (
           select max(w.number)
           from versions w
           where w.tenant = m.tenant and w.memory = m.id and w.at <= ?)",
        [to_micros(at).into()],
    );
    let table = filter::indexed_table(&Filter::default(), None, scopes);
    let sql = format!(
        "select {MEMORY_COLUMNS}
         from {table}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where {}",
        clauses.sql
    );
    let mut memories = query_memories(conn, readable, &sql, clauses.params)?;
    memories.retain(|memory| matching::matches_filter(filter, memory));
    Ok(memories)
}
