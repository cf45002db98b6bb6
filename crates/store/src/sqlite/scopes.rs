//! Scopes: the row of each place with its id and counters, and which of them a caller may read.

use engine::model::guard::Place;
use engine::model::id::TenantId;
use engine::model::scope::Scope;
use engine::model::vocabulary::ScopeKind;
use engine::policy::{Readable, ReadableScopes};
use engine::ports::{Filter, PlaceState};
use rusqlite::{Connection, OptionalExtension, Params};

use super::commit::Head;
use super::fault::Fault;
use super::row_codec::{id_bytes, read_word};

/// A scope that the caller may read.
pub(super) struct VisibleScope {
    pub(super) id: i64,
    /// Sequence number of its newest row in the recall index.
    pub(super) recall_seq: u64,
    /// Number of active memories.
    pub(super) live: usize,
}

pub(super) fn find_scope_id(conn: &Connection, tenant: TenantId, place: &Place) -> Result<Option<i64>, Fault> {
    let (first, second) = place.scope.name_columns();
    let id = conn
        .prepare_cached(
            "select id
             from scopes
             where tenant = ?1 and kind = ?2 and first = ?3 and second = ?4 and store = ?5",
        )?
        .query_row((id_bytes(tenant.0), place.scope.kind().as_str(), first, second, &place.store), |row| row.get(0))
        .optional()?;
    Ok(id)
}

/// The scope id of a place; the row is inserted on its first write.
pub(super) fn ensure_scope(conn: &Connection, head: &mut Head, store: &str, scope: &Scope) -> Result<i64, Fault> {
    let place = Place { store: store.to_owned(), scope: scope.clone() };
    if let Some(id) = head.scope_id(conn, &place)? {
        return Ok(id);
    }
    let id = head.next_scope_id();
    let (first, second) = scope.name_columns();
    conn.prepare_cached(
        "insert into scopes (tenant, id, store, kind, first, second)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute((id_bytes(head.tenant.0), id, store, scope.kind().as_str(), first, second))?;
    Ok(id)
}

/// Active memories per store.
pub(super) fn live_counts(conn: &Connection, tenant: TenantId) -> Result<Vec<(String, u64)>, Fault> {
    let mut statement = conn.prepare_cached(
        "select store, sum(live)
         from scopes
         where tenant = ?1
         group by store
         order by store",
    )?;
    let rows = statement.query_map([id_bytes(tenant.0)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Places of one kind of scope with their active memories.
pub(super) fn list_places(conn: &Connection, tenant: TenantId, kind: ScopeKind) -> Result<Vec<(Place, u64)>, Fault> {
    let mut statement = conn.prepare_cached(
        "select first, second, store, live
         from scopes
         where tenant = ?1 and kind = ?2
         order by first, second, store",
    )?;
    let mut rows = statement.query((id_bytes(tenant.0), kind.as_str()))?;
    let mut places = Vec::new();
    while let Some(row) = rows.next()? {
        let (first, second): (String, String) = (row.get(0)?, row.get(1)?);
        let scope = Scope::from_name_columns(kind, &first, &second);
        places.push((Place { store: row.get(2)?, scope }, row.get(3)?));
    }
    Ok(places)
}

pub(super) fn place_state(conn: &Connection, tenant: TenantId, place: &Place) -> Result<PlaceState, Fault> {
    find_scope_id(conn, tenant, place)?.map_or(Ok(PlaceState::default()), |scope| scope_state(conn, tenant, scope))
}

pub(super) fn scope_state(conn: &Connection, tenant: TenantId, scope: i64) -> Result<PlaceState, Fault> {
    let state = conn
        .prepare_cached("select generation, live from scopes where tenant = ?1 and id = ?2")?
        .query_row((id_bytes(tenant.0), scope), |row| Ok(PlaceState { generation: row.get(0)?, live: row.get(1)? }))
        .optional()?;
    Ok(state.unwrap_or_default())
}

/// The scopes that are readable and that the filter asks for, by ascending id. Archived and hidden stores are left out
/// here, before ranking, so that their memories take no place among the candidates.
pub(super) fn visible_scopes(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
) -> Result<Vec<VisibleScope>, Fault> {
    let tenant = id_bytes(readable.tenant.0);
    let by_scope = "s.kind = ?2 and s.first = ?3 and s.second = ?4";
    let mut visible = Vec::new();
    let mut collect =
        |clause: &str, run: &dyn Fn(&mut rusqlite::CachedStatement) -> Result<Vec<VisibleScope>, Fault>| {
            let sql = format!(
                "select s.id, s.recall_seq, s.store, s.kind, s.live
             from scopes s
             join stores t on t.tenant = s.tenant and t.id = s.store
             where s.tenant = ?1 and t.state <> 'archived' and {clause}"
            );
            visible.extend(run(&mut conn.prepare_cached(&sql)?)?);
            Ok::<(), Fault>(())
        };
    // The narrowest condition goes into the query, so that it uses an index; `collect_visible` tests the rest.
    match (&readable.scopes, filter) {
        (_, Filter { places, .. }) if !places.is_empty() => {
            for place in places.iter().filter(|place| readable.sees_scope(&place.scope)) {
                let (first, second) = place.scope.name_columns();
                collect(&format!("{by_scope} and s.store = ?5"), &|statement| {
                    let params = (tenant, place.scope.kind().as_str(), first, second, &place.store);
                    collect_visible(statement, params, readable, filter)
                })?;
            }
        }
        (ReadableScopes::These(scopes), _) => {
            for scope in scopes {
                let (first, second) = scope.name_columns();
                collect(by_scope, &|statement| {
                    collect_visible(statement, (tenant, scope.kind().as_str(), first, second), readable, filter)
                })?;
            }
        }
        (ReadableScopes::All, Filter { stores, .. }) if !stores.is_empty() => {
            for store in stores {
                collect("s.store = ?2", &|statement| collect_visible(statement, (tenant, store), readable, filter))?;
            }
        }
        (ReadableScopes::All, _) => {
            collect("true", &|statement| collect_visible(statement, [tenant], readable, filter))?
        }
    }
    // A filter may name a place twice. The ascending order is also the order in which partitions are locked.
    visible.sort_unstable_by_key(|scope: &VisibleScope| scope.id);
    visible.dedup_by_key(|scope| scope.id);
    Ok(visible)
}

fn collect_visible(
    statement: &mut rusqlite::CachedStatement<'_>,
    params: impl Params,
    readable: &Readable,
    filter: &Filter,
) -> Result<Vec<VisibleScope>, Fault> {
    let mut rows = statement.query(params)?;
    let mut visible = Vec::new();
    while let Some(row) = rows.next()? {
        let store = row.get_ref(2)?.as_str().map_err(Fault::corrupt)?;
        let kind = read_word(row, 3)?;
        let is_visible = !readable.hidden_stores.iter().any(|slug| slug == store)
            && (filter.stores.is_empty() || filter.stores.iter().any(|slug| slug == store))
            && (filter.scopes.is_empty() || filter.scopes.contains(&kind));
        if is_visible {
            visible.push(VisibleScope { id: row.get(0)?, recall_seq: row.get(1)?, live: row.get(4)? });
        }
    }
    Ok(visible)
}
