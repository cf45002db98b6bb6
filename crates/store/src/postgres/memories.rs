//! Reading memories and their versions. The scope filter is in every query, and the predicate is asked again after it.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::{Constrained, Readable, Scopes};
use engine::ports::{Address, Cursor, Filter, Order, Page};
use jiff::Timestamp;
use tokio_postgres::Row;

use super::fault::Fault;
use super::filter;
use super::pool::Pool;
use super::rows::{self, MEMORY, Param, Step, VERSION, limit, micros};
use super::scopes::{self, next};
use crate::matching::{self, compare, is_after};

/// A memory `m` with what stands of it.
pub(super) const STANDING: &str = "join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
    left join recalls r on r.tenant = m.tenant and r.memory = m.id";

/// What a caller sees of a memory `m` at the place `s` of the store `t`.
const SEEN: &str = "join scopes s on s.tenant = m.tenant and s.id = m.scope
    join stores t on t.tenant = s.tenant and t.id = s.store";

fn wall(readable: &Readable, params: &mut Vec<Param>) -> String {
    let mut sql = format!("m.tenant = {} and t.state <> 'archived'", next(params, readable.tenant.0));
    if let Scopes::These(scopes) = &readable.scopes {
        let list = |pick: fn(&engine::model::scope::Scope) -> &str| {
            scopes.iter().map(|scope| pick(scope).to_owned()).collect::<Vec<String>>()
        };
        let kinds = next(params, list(|scope| scope.kind().as_str()));
        let firsts = next(params, list(|scope| scope.names().0));
        let seconds = next(params, list(|scope| scope.names().1));
        sql += &format!(" and (s.kind, s.first, s.second) in (select * from unnest({kinds}, {firsts}, {seconds}))");
    }
    if let Constrained::Of(author) = &readable.constrained {
        sql += &format!(" and (m.state <> 'constrained' or m.author = {})", next(params, author));
    }
    sql
}

pub(super) async fn get(pool: &Pool, readable: &Readable, address: &Address) -> Result<Option<Memory>, Fault> {
    let mut params = Vec::new();
    let wall = wall(readable, &mut params);
    let mut at = |place: &engine::ports::change::Place, column: &str, value: &String| {
        let (first, second) = place.scope.names();
        let names = [place.scope.kind().as_str(), first, second, &place.store].map(|name| next(&mut params, name));
        let [kind, first, second, store] = names;
        format!(
            "m.{column} = {} and m.state = 'active'
             and s.kind = {kind} and s.first = {first} and s.second = {second} and s.store = {store}",
            next(&mut params, value)
        )
    };
    let clause = match address {
        Address::Id(id) => format!("m.id = {}", next(&mut params, id.0)),
        Address::Path { place, path } => at(place, "path", path),
        Address::Hash { place, sha256 } => at(place, "path is null and m.sha256", sha256),
    };
    let sql = format!(
        "select {MEMORY}
         from memories m
         {SEEN}
         {STANDING}
         where {wall} and {clause}
         order by m.id
         limit 1"
    );
    let memories = ask(pool, readable, sql, params).await?;
    Ok(memories.into_iter().next())
}

pub(super) async fn versions(
    pool: &Pool,
    readable: &Readable,
    memory: MemoryId,
    below: Option<u32>,
    rows: usize,
) -> Result<Vec<Version>, Fault> {
    let mut params = Vec::new();
    let wall = wall(readable, &mut params);
    let mut clause = format!("m.id = {}", next(&mut params, memory.0));
    if let Some(below) = below {
        clause += &format!(" and v.number < {}", next(&mut params, i64::from(below)));
    }
    clause += &format!(" order by v.number desc limit {}", next(&mut params, limit(rows)));
    log(pool, readable, &wall, &clause, params).await
}

pub(super) async fn version(pool: &Pool, readable: &Readable, version: VersionId) -> Result<Option<Version>, Fault> {
    let mut params = Vec::new();
    let wall = wall(readable, &mut params);
    let clause = format!("v.id = {}", next(&mut params, version.0));
    Ok(log(pool, readable, &wall, &clause, params).await?.pop())
}

/// Versions of memories the caller sees, as far as he saw them when they stood.
async fn log(
    pool: &Pool,
    readable: &Readable,
    wall: &str,
    clause: &str,
    params: Vec<Param>,
) -> Result<Vec<Version>, Fault> {
    let sql = format!(
        "select {VERSION}
         from memories m
         {SEEN}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         where {wall} and {clause}"
    );
    let answer = pool.read(Some(readable.tenant), &[Step::new(sql, params)]).await?;
    let mut versions = Vec::new();
    for row in answer.iter().flatten() {
        versions.push(rows::version(row)?);
    }
    versions.retain(|version| readable.shows(&version.memory));
    Ok(versions)
}

pub(super) async fn list(pool: &Pool, readable: &Readable, filter: &Filter, page: &Page) -> Result<Vec<Memory>, Fault> {
    if page.limit == 0 {
        return Ok(Vec::new());
    }
    if let Some(at) = filter.as_of {
        let mut memories = as_of(pool, readable, filter, at).await?;
        memories.sort_by(|a, b| compare(page.order, a, b));
        return Ok(memories.into_iter().filter(|memory| is_after(page, memory)).take(page.limit).collect());
    }
    let mut params = Vec::new();
    let visible = scopes::visible(readable, filter, &mut params);
    let conditions = filter::all(readable, filter, &mut params);
    let (after, order) = paged(page, filter.fade_below.is_some(), &mut params);
    // Only what is on the page is read in full.
    let sql = format!(
        "select {MEMORY}
         from (
           select m.*
           from memories m
           where m.tenant = $1 and m.scope in (select id from ({visible}) seen){conditions}{after}
           order by {order}
           limit {}) m
         {STANDING}
         order by {order}",
        next(&mut params, limit(page.limit))
    );
    ask(pool, readable, sql, params).await
}

async fn ask(pool: &Pool, readable: &Readable, sql: String, params: Vec<Param>) -> Result<Vec<Memory>, Fault> {
    let answer = pool.read(Some(readable.tenant), &[Step::new(sql, params)]).await?;
    shown(readable, answer.iter().flatten())
}

pub(super) fn shown<'a>(readable: &Readable, rows: impl Iterator<Item = &'a Row>) -> Result<Vec<Memory>, Fault> {
    let memories = rows.map(rows::memory).collect::<Result<Vec<_>, _>>()?;
    Ok(memories.into_iter().filter(|memory| readable.shows(memory)).collect())
}

/// The stretch's beginning as a condition, and how it is sorted. A memory without a path sorts first.
fn paged(page: &Page, faded: bool, params: &mut Vec<Param>) -> (String, &'static str) {
    let after = match (page.order, &page.after) {
        (Order::Path, Some(Cursor::Path(path, last))) => {
            let path = next(params, path);
            // Beside a column the bytes decide; beside an expression we have to say so.
            format!(" and (coalesce(m.path, ''), m.id) > ({path} collate \"C\", {})", next(params, last.0))
        }
        (Order::Newest, Some(Cursor::Time(at, last))) => {
            format!(" and (m.updated_at, m.id) < ({}, {})", next(params, micros(*at)), next(params, last.0))
        }
        (Order::Oldest, Some(Cursor::Time(at, last))) => {
            format!(" and (m.created_at, m.id) > ({}, {})", next(params, micros(*at)), next(params, last.0))
        }
        (Order::Expiring, Some(Cursor::Time(at, last))) => {
            format!(" and (m.expires_at, m.id) > ({}, {})", next(params, micros(*at)), next(params, last.0))
        }
        (Order::LastTurn, _) => " and m.turn is not null".to_owned(),
        // A cursor of another order marks no place in this one.
        _ => String::new(),
    };
    let order = match page.order {
        Order::Path => "coalesce(m.path, '') collate \"C\", m.id",
        Order::Newest => "m.updated_at desc, m.id desc",
        Order::Oldest => "m.created_at, m.id",
        Order::Expiring => "m.expires_at, m.id",
        Order::LastTurn => "m.turn desc, m.id desc",
        // As the index has them: to sort all that is due for each batch would take longer than the work on it.
        Order::Fading if faded => "m.scope, m.fade, m.id",
        Order::Fading => "m.fade, m.id",
    };
    (after, order)
}

/// The memories of the places asked for as they stood at a time, from the log.
pub(super) async fn as_of(
    pool: &Pool,
    readable: &Readable,
    filter: &Filter,
    at: Timestamp,
) -> Result<Vec<Memory>, Fault> {
    let mut params = Vec::new();
    let visible = scopes::visible(readable, filter, &mut params);
    let at = next(&mut params, micros(at));
    let sql = format!(
        "select {MEMORY}
         from memories m
         join lateral (
           select *
           from versions w
           where w.tenant = m.tenant and w.memory = m.id and w.at <= {at}
           order by w.number desc
           limit 1) v on true
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where m.tenant = $1 and m.scope in (select id from ({visible}) seen) and m.created_at <= {at}"
    );
    let mut memories = ask(pool, readable, sql, params).await?;
    memories.retain(|memory| matching::matches(filter, memory));
    Ok(memories)
}
