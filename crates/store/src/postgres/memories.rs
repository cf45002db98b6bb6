//! Reads memories and their versions. Every query restricts to readable scopes, and every row read is tested again by
//! `Readable::shows_memory`.

use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::{Memory, Version};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::{Address, Filter, ListCursor, PageRequest, SortOrder};
use jiff::Timestamp;
use tokio_postgres::Row;

use super::fault::Fault;
use super::filter;
use super::pool::Pool;
use super::row_codec::{self, MEMORY_COLUMNS, Param, Statement, VERSION_COLUMNS, row_limit, to_micros};
use super::scopes::{self, push_param};
use crate::matching::{self, compare_memories, is_after_cursor};

/// Joins a memory `m` with its current version `v` and its recall counters `r`.
pub(super) const CURRENT_VERSION_JOINS: &str =
    "join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
    left join recalls r on r.tenant = m.tenant and r.memory = m.id";

/// Joins a memory `m` with its scope `s` and store `t`, which [`access_conditions`] tests.
const PLACE_JOINS: &str = "join scopes s on s.tenant = m.tenant and s.id = m.scope
    join stores t on t.tenant = s.tenant and t.id = s.store";

/// Which memories a caller may see.
fn access_conditions(readable: &Readable, params: &mut Vec<Param>) -> String {
    let mut sql = format!("m.tenant = {} and t.state <> 'archived'", push_param(params, readable.tenant.0));
    if let ReadableScopes::These(scopes) = &readable.scopes {
        let list = |pick: fn(&engine::model::scope::Scope) -> &str| {
            scopes.iter().map(|scope| pick(scope).to_owned()).collect::<Vec<String>>()
        };
        // Three arrays rather than one condition per scope, so that the statement does not grow with the caller's
        // scopes.
        let kinds = push_param(params, list(|scope| scope.kind().as_str()));
        let firsts = push_param(params, list(|scope| scope.name_columns().0));
        let seconds = push_param(params, list(|scope| scope.name_columns().1));
        sql += &format!(" and (s.kind, s.first, s.second) in (select * from unnest({kinds}, {firsts}, {seconds}))");
    }
    // A constrained memory waits for a decision, so only its author sees it.
    if let VisibleCandidates::AuthoredBy(author) = &readable.constrained {
        sql += &format!(" and (m.state <> 'constrained' or m.author = {})", push_param(params, author));
    }
    sql
}

pub(super) async fn get_memory(pool: &Pool, readable: &Readable, address: &Address) -> Result<Option<Memory>, Fault> {
    let mut params = Vec::new();
    let access = access_conditions(readable, &mut params);
    let mut at_place = |place: &engine::model::guard::Place, column: &str, value: &String| {
        let (first, second) = place.scope.name_columns();
        let names =
            [place.scope.kind().as_str(), first, second, &place.store].map(|name| push_param(&mut params, name));
        let [kind, first, second, store] = names;
        format!(
            "m.{column} = {} and m.state = 'active'
             and s.kind = {kind} and s.first = {first} and s.second = {second} and s.store = {store}",
            push_param(&mut params, value)
        )
    };
    let clause = match address {
        Address::Id(id) => format!("m.id = {}", push_param(&mut params, id.0)),
        Address::Path { place, path } => at_place(place, "path", path),
        Address::Hash { place, sha256 } => at_place(place, "path is null and m.sha256", sha256),
    };
    let sql = format!(
        "select {MEMORY_COLUMNS}
         from memories m
         {PLACE_JOINS}
         {CURRENT_VERSION_JOINS}
         where {access} and {clause}
         order by m.id
         limit 1"
    );
    let memories = query_memories(pool, readable, sql, params).await?;
    Ok(memories.into_iter().next())
}

pub(super) async fn list_versions(
    pool: &Pool,
    readable: &Readable,
    memory: MemoryId,
    below: Option<u32>,
    limit: usize,
) -> Result<Vec<Version>, Fault> {
    let mut params = Vec::new();
    let access = access_conditions(readable, &mut params);
    let mut clause = format!("m.id = {}", push_param(&mut params, memory.0));
    if let Some(below) = below {
        clause += &format!(" and v.number < {}", push_param(&mut params, i64::from(below)));
    }
    clause += &format!(" order by v.number desc limit {}", push_param(&mut params, row_limit(limit)));
    query_versions(pool, readable, &access, &clause, params).await
}

pub(super) async fn get_version(
    pool: &Pool,
    readable: &Readable,
    version: VersionId,
) -> Result<Option<Version>, Fault> {
    let mut params = Vec::new();
    let access = access_conditions(readable, &mut params);
    let clause = format!("v.id = {}", push_param(&mut params, version.0));
    Ok(query_versions(pool, readable, &access, &clause, params).await?.pop())
}

/// Versions of memories that the caller sees today, without those whose own scope or state hides them from the caller.
async fn query_versions(
    pool: &Pool,
    readable: &Readable,
    access: &str,
    clause: &str,
    params: Vec<Param>,
) -> Result<Vec<Version>, Fault> {
    let sql = format!(
        "select {VERSION_COLUMNS}
         from memories m
         {PLACE_JOINS}
         join versions v on v.tenant = m.tenant and v.memory = m.id
         where {access} and {clause}"
    );
    let results = pool.query_read_only(Some(readable.tenant), &[Statement::new(sql, params)]).await?;
    let mut versions = Vec::new();
    for row in results.iter().flatten() {
        versions.push(row_codec::read_version(row)?);
    }
    versions.retain(|version| readable.shows_memory(&version.memory));
    Ok(versions)
}

pub(super) async fn list_memories(
    pool: &Pool,
    readable: &Readable,
    filter: &Filter,
    page: &PageRequest,
) -> Result<Vec<Memory>, Fault> {
    if page.limit == 0 {
        return Ok(Vec::new());
    }
    if let Some(at) = filter.as_of {
        // Columns and indexes describe current versions only, so order, cursor and limit are applied here.
        let mut memories = memories_as_of(pool, readable, filter, at).await?;
        memories.sort_by(|a, b| compare_memories(page.order, a, b));
        return Ok(memories.into_iter().filter(|memory| is_after_cursor(page, memory)).take(page.limit).collect());
    }
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, filter, &mut params);
    let conditions = filter::filter_conditions(readable, filter, &mut params);
    let (after, order) = page_conditions(page, filter.fade_below.is_some(), &mut params);
    // The inner query finds the page by an index; versions are joined for its rows only.
    let sql = format!(
        "select {MEMORY_COLUMNS}
         from (
           select m.*
           from memories m
           where m.tenant = $1 and m.scope in (select id from ({visible}) seen){conditions}{after}
           order by {order}
           limit {}) m
         {CURRENT_VERSION_JOINS}
         order by {order}",
        push_param(&mut params, row_limit(page.limit))
    );
    query_memories(pool, readable, sql, params).await
}

async fn query_memories(
    pool: &Pool,
    readable: &Readable,
    sql: String,
    params: Vec<Param>,
) -> Result<Vec<Memory>, Fault> {
    let results = pool.query_read_only(Some(readable.tenant), &[Statement::new(sql, params)]).await?;
    // The engine's predicate has the last word, in case the SQL shows too much.
    visible_memories(readable, results.iter().flatten())
}

pub(super) fn visible_memories<'a>(
    readable: &Readable,
    rows: impl Iterator<Item = &'a Row>,
) -> Result<Vec<Memory>, Fault> {
    let memories = rows.map(row_codec::read_memory).collect::<Result<Vec<_>, _>>()?;
    Ok(memories.into_iter().filter(|memory| readable.shows_memory(memory)).collect())
}

/// The condition for rows after the cursor, and the `order by` list. A memory without a path sorts first.
fn page_conditions(page: &PageRequest, faded: bool, params: &mut Vec<Param>) -> (String, &'static str) {
    let after = match (page.order, &page.after) {
        (SortOrder::Path, Some(ListCursor::Path(path, last))) => {
            let path = push_param(params, path);
            // The column `path` compares by bytes; an expression over it needs the collation spelled out.
            format!(" and (coalesce(m.path, ''), m.id) > ({path} collate \"C\", {})", push_param(params, last.0))
        }
        (SortOrder::Newest, Some(ListCursor::Time(at, last))) => {
            format!(
                " and (m.updated_at, m.id) < ({}, {})",
                push_param(params, to_micros(*at)),
                push_param(params, last.0)
            )
        }
        (SortOrder::Oldest, Some(ListCursor::Time(at, last))) => {
            format!(
                " and (m.created_at, m.id) > ({}, {})",
                push_param(params, to_micros(*at)),
                push_param(params, last.0)
            )
        }
        (SortOrder::Expiring, Some(ListCursor::Time(at, last))) => {
            format!(
                " and (m.expires_at, m.id) > ({}, {})",
                push_param(params, to_micros(*at)),
                push_param(params, last.0)
            )
        }
        // In descending order Postgres sorts nulls first.
        (SortOrder::LastTurn, _) => " and m.turn is not null".to_owned(),
        // A cursor of another order marks no place in this one.
        _ => String::new(),
    };
    let order = match page.order {
        SortOrder::Path => "coalesce(m.path, '') collate \"C\", m.id",
        SortOrder::Newest => "m.updated_at desc, m.id desc",
        SortOrder::Oldest => "m.created_at, m.id",
        SortOrder::Expiring => "m.expires_at, m.id",
        SortOrder::LastTurn => "m.turn desc, m.id desc",
        // The order of the index: sorting everything that is due for each batch would take longer than the upkeep
        // itself.
        SortOrder::Fading if faded => "m.scope, m.fade, m.id",
        SortOrder::Fading => "m.fade, m.id",
    };
    (after, order)
}

/// The memories of the filter's scopes in the version that was current at a time. The filter is tested on that version.
pub(super) async fn memories_as_of(
    pool: &Pool,
    readable: &Readable,
    filter: &Filter,
    at: Timestamp,
) -> Result<Vec<Memory>, Fault> {
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, filter, &mut params);
    // The join drops memories that were created later anyway; the condition on `created_at` saves their look-up.
    let at = push_param(&mut params, to_micros(at));
    let sql = format!(
        "select {MEMORY_COLUMNS}
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
    let mut memories = query_memories(pool, readable, sql, params).await?;
    memories.retain(|memory| matching::matches_filter(filter, memory));
    Ok(memories)
}
