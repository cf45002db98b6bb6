//! Places: their numbers, their counters, and which of them a caller sees.

use engine::model::id::TenantId;
use engine::model::scope::Scope;
use engine::policy::{Readable, Scopes};
use engine::ports::change::Place;
use engine::ports::{Filter, PlaceState};
use tokio_postgres::Row;

use super::fault::Fault;
use super::rows::{Param, Step, count, params};

/// Asks for a place: number, generation, live memories. No row where nobody has written to it.
pub(super) fn ask(tenant: TenantId, place: &Place) -> Step {
    let (first, second) = place.scope.names();
    Step::new(
        "select id, generation, live
         from scopes
         where tenant = $1 and kind = $2 and first = $3 and second = $4 and store = $5",
        params![tenant.0, place.scope.kind().as_str(), first, second, &place.store],
    )
}

pub(super) fn state(rows: &[Row]) -> Result<PlaceState, Fault> {
    match rows.first() {
        Some(row) => Ok(PlaceState { generation: count(row, 1)?, live: count(row, 2)? }),
        None => Ok(PlaceState::default()),
    }
}

/// Asks for the live memories by store.
pub(super) fn ask_live(tenant: TenantId) -> Step {
    Step::new(
        "select store, sum(live)::bigint
         from scopes
         where tenant = $1
         group by store
         order by store",
        params![tenant.0],
    )
}

pub(super) fn live(rows: &[Row]) -> Result<Vec<(String, u64)>, Fault> {
    rows.iter().map(|row| Ok((row.try_get(0)?, count(row, 1)?))).collect()
}

/// A query for the ids and counters of the places that are both readable and asked for. Archived and closed
/// stores are not looked into, so that what stands there takes no place in a pool.
/// Three spellings rather than one with `or`, so that a few names are looked up and not searched for.
pub(super) fn visible(readable: &Readable, filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = format!(
        "select s.id, s.live, s.live_len
         from scopes s
         join stores t on t.tenant = s.tenant and t.id = s.store
         where s.tenant = {} and t.state <> 'archived'",
        next(params, readable.tenant.0)
    );
    let places: Vec<&Place> = filter.places.iter().filter(|place| readable.sees(&place.scope)).collect();
    let named = |scopes: &[&Scope], params: &mut Vec<Param>| {
        let list = |pick: fn(&Scope) -> &str| scopes.iter().map(|scope| pick(scope).to_owned()).collect::<Vec<_>>();
        let kinds = next(params, list(|scope| scope.kind().as_str()));
        let firsts = next(params, list(|scope| scope.names().0));
        let seconds = next(params, list(|scope| scope.names().1));
        format!("{kinds}, {firsts}, {seconds}")
    };
    if !filter.places.is_empty() {
        let scopes: Vec<&Scope> = places.iter().map(|place| &place.scope).collect();
        let names = named(&scopes, params);
        let stores = next(params, places.iter().map(|place| place.store.clone()).collect::<Vec<_>>());
        sql += &format!(" and (s.kind, s.first, s.second, s.store) in (select * from unnest({names}, {stores}))");
    } else if let Scopes::These(scopes) = &readable.scopes {
        let names = named(&scopes.iter().collect::<Vec<_>>(), params);
        sql += &format!(" and (s.kind, s.first, s.second) in (select * from unnest({names}))");
    }
    if !readable.closed.is_empty() {
        sql += &format!(" and s.store <> all({})", next(params, readable.closed.clone()));
    }
    if !filter.stores.is_empty() {
        sql += &format!(" and s.store = any({})", next(params, filter.stores.clone()));
    }
    if !filter.scopes.is_empty() {
        let kinds: Vec<String> = filter.scopes.iter().map(|kind| kind.as_str().to_owned()).collect();
        sql += &format!(" and s.kind = any({})", next(params, kinds));
    }
    sql
}

/// Adds a parameter; answers its name.
pub(super) fn next(params: &mut Vec<Param>, value: impl Into<Param>) -> String {
    params.push(value.into());
    format!("${}", params.len())
}
