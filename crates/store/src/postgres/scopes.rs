//! Scopes: the row of each place with its id and counters, and which of them a caller may read.

use engine::model::guard::Place;
use engine::model::id::TenantId;
use engine::model::scope::Scope;
use engine::model::vocabulary::ScopeKind;
use engine::policy::{Readable, ReadableScopes};
use engine::ports::{Filter, PlaceState};
use tokio_postgres::Row;

use super::fault::Fault;
use super::row_codec::{Param, Statement, params, read_count};

/// Query for a place: scope id, generation, active memories. No row where it was never written to.
pub(super) fn place_query(tenant: TenantId, place: &Place) -> Statement {
    let (first, second) = place.scope.name_columns();
    Statement::new(
        "select id, generation, live
         from scopes
         where tenant = $1 and kind = $2 and first = $3 and second = $4 and store = $5",
        params![tenant.0, place.scope.kind().as_str(), first, second, &place.store],
    )
}

pub(super) fn read_place_state(rows: &[Row]) -> Result<PlaceState, Fault> {
    match rows.first() {
        Some(row) => Ok(PlaceState { generation: read_count(row, 1)?, live: read_count(row, 2)? }),
        // A place gets its row with its first memory.
        None => Ok(PlaceState::default()),
    }
}

/// Query for the active memories per store.
pub(super) fn live_counts_query(tenant: TenantId) -> Statement {
    Statement::new(
        "select store, sum(live)::bigint
         from scopes
         where tenant = $1
         group by store
         order by store",
        params![tenant.0],
    )
}

/// Query for the places of one kind of scope with their active memories.
pub(super) fn list_places_query(tenant: TenantId, kind: ScopeKind) -> Statement {
    Statement::new(
        "select first, second, store, live
         from scopes
         where tenant = $1 and kind = $2
         order by first, second, store",
        params![tenant.0, kind.as_str()],
    )
}

pub(super) fn read_places(kind: ScopeKind, rows: &[Row]) -> Result<Vec<(Place, u64)>, Fault> {
    let read = |row: &Row| {
        let scope = Scope::from_name_columns(kind, row.try_get(0)?, row.try_get(1)?);
        Ok((Place { store: row.try_get(2)?, scope }, read_count(row, 3)?))
    };
    rows.iter().map(read).collect()
}

pub(super) fn read_live_counts(rows: &[Row]) -> Result<Vec<(String, u64)>, Fault> {
    rows.iter().map(|row| Ok((row.try_get(0)?, read_count(row, 1)?))).collect()
}

/// Query for the ids and counters of the scopes that are readable and that the filter asks for. Archived and hidden
/// stores are left out here, before ranking, so that their memories take no place among the candidates.
///
/// One of three conditions instead of one with `or`, so that the planner looks a few names up by index. The tenant is
/// always the first parameter: callers refer to it as `$1`.
pub(super) fn visible_scopes(readable: &Readable, filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = format!(
        "select s.id, s.live, s.live_len
         from scopes s
         join stores t on t.tenant = s.tenant and t.id = s.store
         where s.tenant = {} and t.state <> 'archived'",
        push_param(params, readable.tenant.0)
    );
    let places: Vec<&Place> = filter.places.iter().filter(|place| readable.sees_scope(&place.scope)).collect();
    let name_arrays = |scopes: &[&Scope], params: &mut Vec<Param>| {
        let list = |pick: fn(&Scope) -> &str| scopes.iter().map(|scope| pick(scope).to_owned()).collect::<Vec<_>>();
        let kinds = push_param(params, list(|scope| scope.kind().as_str()));
        let firsts = push_param(params, list(|scope| scope.name_columns().0));
        let seconds = push_param(params, list(|scope| scope.name_columns().1));
        format!("{kinds}, {firsts}, {seconds}")
    };
    // The unfiltered list is tested: where none of its places is readable, the empty arrays match nothing.
    if !filter.places.is_empty() {
        let scopes: Vec<&Scope> = places.iter().map(|place| &place.scope).collect();
        let names = name_arrays(&scopes, params);
        let stores = push_param(params, places.iter().map(|place| place.store.clone()).collect::<Vec<_>>());
        sql += &format!(" and (s.kind, s.first, s.second, s.store) in (select * from unnest({names}, {stores}))");
    } else if let ReadableScopes::These(scopes) = &readable.scopes {
        let names = name_arrays(&scopes.iter().collect::<Vec<_>>(), params);
        sql += &format!(" and (s.kind, s.first, s.second) in (select * from unnest({names}))");
    }
    if !readable.hidden_stores.is_empty() {
        sql += &format!(" and s.store <> all({})", push_param(params, readable.hidden_stores.clone()));
    }
    if !filter.stores.is_empty() {
        sql += &format!(" and s.store = any({})", push_param(params, filter.stores.clone()));
    }
    if !filter.scopes.is_empty() {
        let kinds: Vec<String> = filter.scopes.iter().map(|kind| kind.as_str().to_owned()).collect();
        sql += &format!(" and s.kind = any({})", push_param(params, kinds));
    }
    sql
}

/// Adds a parameter; returns its placeholder, such as `$3`.
pub(super) fn push_param(params: &mut Vec<Param>, value: impl Into<Param>) -> String {
    params.push(value.into());
    format!("${}", params.len())
}
