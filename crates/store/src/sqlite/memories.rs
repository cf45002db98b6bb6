//! Reading memories and their versions. The scope filter is in every query, and the predicate is asked again after it.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::{Constrained, Readable, Scopes};
use engine::ports::{Address, Cursor, Filter, Order, Page};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params_from_iter};

use super::fault::Fault;
use super::filter::{self, Clauses};
use super::rows::{self, MEMORY, VERSION, key, micros};
use super::scopes::{self, Seen};
use crate::matching::{self, compare, is_after};

/// What a caller sees of a memory `m` at the place `s` of the store `t`: parameters 1 to 3 of [`Wall`].
const SEEN: &str = "from memories m
    join scopes s on s.tenant = m.tenant and s.id = m.scope
    join stores t on t.tenant = s.tenant and t.id = s.store";
const WALL: &str = "m.tenant = ?1
    and t.state <> 'archived'
    and (?2 is null or exists (
      select 1
      from json_each(?2) j
      where j.value ->> 0 = s.kind and j.value ->> 1 = s.first and j.value ->> 2 = s.second))
    and (m.state <> 'constrained' or ?3 is null or m.author = ?3)";

/// The parameters of [`WALL`].
struct Wall {
    tenant: [u8; 16],
    scopes: Option<String>,
    author: Option<String>,
}

impl Wall {
    fn of(readable: &Readable) -> Result<Wall, Fault> {
        let scopes = match &readable.scopes {
            Scopes::All => None,
            Scopes::These(scopes) => {
                let names: Vec<_> = scopes.iter().map(|scope| (scope.kind(), scope.names())).collect();
                let flat: Vec<_> = names.iter().map(|(kind, (first, second))| (kind, first, second)).collect();
                Some(rows::to_json(&flat)?)
            }
        };
        let author = match &readable.constrained {
            Constrained::All => None,
            Constrained::Of(author) => Some(author.clone()),
        };
        Ok(Wall { tenant: key(readable.tenant.0), scopes, author })
    }
}

pub(super) fn get(conn: &Connection, readable: &Readable, address: &Address) -> Result<Option<Memory>, Fault> {
    let place = |place| scopes::id(conn, readable.tenant, place);
    let (clause, value, scope) = match address {
        Address::Id(id) => ("m.id = ?4 and ?5 is null", Value::Blob(key(id.0).to_vec()), None),
        Address::Path { place: at, path } => {
            ("m.scope = ?5 and m.path = ?4 and m.state = 'active'", path.clone().into(), place(at)?)
        }
        Address::Hash { place: at, sha256 } => (
            "m.scope = ?5 and m.sha256 = ?4 and m.state = 'active' and m.path is null",
            sha256.clone().into(),
            place(at)?,
        ),
    };
    let wall = Wall::of(readable)?;
    let sql = format!(
        "select {MEMORY}
         {SEEN}
         join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where {WALL} and {clause}
         order by m.id
         limit 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((wall.tenant, wall.scopes, wall.author, value, scope))?;
    let memory = rows.next()?.map(rows::memory).transpose()?;
    Ok(memory.filter(|memory| readable.shows(memory)))
}

pub(super) fn versions(
    conn: &Connection,
    readable: &Readable,
    memory: MemoryId,
    below: Option<u32>,
    limit: usize,
) -> Result<Vec<Version>, Fault> {
    let params: [&dyn ToSql; 3] = [&key(memory.0), &below, &limit.min(i64::MAX as usize)];
    let clause = "m.id = ?4 and (?5 is null or v.number < ?5) order by v.number desc limit ?6";
    log(conn, readable, clause, &params)
}

pub(super) fn version(conn: &Connection, readable: &Readable, version: VersionId) -> Result<Option<Version>, Fault> {
    Ok(log(conn, readable, "v.id = ?4", &[&key(version.0)])?.pop())
}

/// Versions of memories the caller sees, as far as he saw them when they stood.
fn log(conn: &Connection, readable: &Readable, clause: &str, more: &[&dyn ToSql]) -> Result<Vec<Version>, Fault> {
    let wall = Wall::of(readable)?;
    let sql = format!(
        "select {VERSION}
         {SEEN}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         where {WALL} and {clause}"
    );
    let mut params: Vec<&dyn ToSql> = vec![&wall.tenant, &wall.scopes, &wall.author];
    params.extend_from_slice(more);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(&*params)?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let version = rows::version(row)?;
        if readable.shows(&version.memory) {
            versions.push(version);
        }
    }
    Ok(versions)
}

pub(super) fn list(conn: &Connection, readable: &Readable, filter: &Filter, page: &Page) -> Result<Vec<Memory>, Fault> {
    let scopes = scopes::visible(conn, readable, filter)?;
    if scopes.is_empty() || page.limit == 0 {
        return Ok(Vec::new());
    }
    if let Some(at) = filter.as_of {
        let mut memories = as_of(conn, readable, filter, &scopes, at)?;
        memories.sort_by(|a, b| compare(page.order, a, b));
        return Ok(memories.into_iter().filter(|memory| is_after(page, memory)).take(page.limit).collect());
    }
    let mut clauses = match page.order {
        Order::Expiring => filter::across(readable, &scopes),
        _ => filter::within(readable, &scopes),
    };
    filter::all(&mut clauses, readable, filter);
    let order = paged(&mut clauses, page, filter.fade_below.is_some());
    let table = filter::table(filter, Some(page.order), &scopes);
    // Only what is on the page is read in full.
    let sql = format!(
        "select {MEMORY}
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
    collect(conn, readable, &sql, clauses.params)
}

fn collect(conn: &Connection, readable: &Readable, sql: &str, params: Vec<Value>) -> Result<Vec<Memory>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut memories = Vec::new();
    while let Some(row) = rows.next()? {
        let memory = rows::memory(row)?;
        if readable.shows(&memory) {
            memories.push(memory);
        }
    }
    Ok(memories)
}

/// Adds where the stretch begins; answers how it is sorted. A memory without a path sorts first.
fn paged(clauses: &mut Clauses, page: &Page, faded: bool) -> &'static str {
    let id = |id: &MemoryId| Value::Blob(key(id.0).to_vec());
    match (page.order, &page.after) {
        (Order::Path, Some(Cursor::Path(path, last))) => {
            clauses.add("(coalesce(m.path, ''), m.id) > (?, ?)", [path.clone().into(), id(last)]);
        }
        (Order::Newest, Some(Cursor::Time(at, last))) => {
            clauses.add("(m.updated_at, m.id) < (?, ?)", [micros(*at).into(), id(last)]);
        }
        (Order::Oldest, Some(Cursor::Time(at, last))) => {
            clauses.add("(m.created_at, m.id) > (?, ?)", [micros(*at).into(), id(last)]);
        }
        (Order::Expiring, Some(Cursor::Time(at, last))) => {
            clauses.add("(m.expires_at, m.id) > (?, ?)", [micros(*at).into(), id(last)]);
        }
        (Order::LastTurn, _) => clauses.add("m.turn is not null", []),
        // A cursor of another order marks no place in this one.
        (Order::Path | Order::Newest | Order::Oldest | Order::Expiring | Order::Fading, _) => {}
    }
    match page.order {
        Order::Path => "coalesce(m.path, ''), m.id",
        Order::Newest => "m.updated_at desc, m.id desc",
        Order::Oldest => "m.created_at, m.id",
        Order::Expiring => "m.expires_at, m.id",
        Order::LastTurn => "m.turn desc, m.id desc",
        // As the index has them: to sort all that is due for each batch would take longer than the work on it.
        Order::Fading if faded => "m.scope, m.fade, m.id",
        Order::Fading => "m.fade, m.id",
    }
}

/// The memories of these places as they stood at a time, from the log.
pub(super) fn as_of(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
    scopes: &[Seen],
    at: Timestamp,
) -> Result<Vec<Memory>, Fault> {
    let mut clauses = filter::within(readable, scopes);
    clauses.add("m.created_at <= ?", [micros(at).into()]);
    clauses.add(
        "v.number = (
           select max(w.number)
           from versions w
           where w.tenant = m.tenant and w.memory = m.id and w.at <= ?)",
        [micros(at).into()],
    );
    let table = filter::table(&Filter::default(), None, scopes);
    let sql = format!(
        "select {MEMORY}
         from {table}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where {}",
        clauses.sql
    );
    let mut memories = collect(conn, readable, &sql, clauses.params)?;
    memories.retain(|memory| matching::matches(filter, memory));
    Ok(memories)
}
