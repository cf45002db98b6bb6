//! Places: their numbers, their counters, and which of them a caller sees.

use engine::model::id::TenantId;
use engine::model::scope::Scope;
use engine::policy::{Readable, Scopes};
use engine::ports::change::Place;
use engine::ports::{Filter, PlaceState};
use rusqlite::{Connection, OptionalExtension, Params};

use super::commit::Head;
use super::fault::Fault;
use super::rows::{key, word};

/// A place a caller sees into.
pub(super) struct Seen {
    pub(super) id: i64,
    /// The newest row of the recall index there.
    pub(super) recall_seq: u64,
    /// Active memories there.
    pub(super) live: usize,
}

pub(super) fn id(conn: &Connection, tenant: TenantId, place: &Place) -> Result<Option<i64>, Fault> {
    let (first, second) = place.scope.names();
    let id = conn
        .prepare_cached(
            "select id
             from scopes
             where tenant = ?1 and kind = ?2 and first = ?3 and second = ?4 and store = ?5",
        )?
        .query_row((key(tenant.0), place.scope.kind().as_str(), first, second, &place.store), |row| row.get(0))
        .optional()?;
    Ok(id)
}

/// The place's number; made on its first write.
pub(super) fn ensure(conn: &Connection, head: &mut Head, store: &str, scope: &Scope) -> Result<i64, Fault> {
    let place = Place { store: store.to_owned(), scope: scope.clone() };
    if let Some(id) = head.scope(conn, &place)? {
        return Ok(id);
    }
    let id = head.next_scope();
    let (first, second) = scope.names();
    conn.prepare_cached(
        "insert into scopes (tenant, id, store, kind, first, second)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute((key(head.tenant.0), id, store, scope.kind().as_str(), first, second))?;
    Ok(id)
}

/// Live memories by store.
pub(super) fn live(conn: &Connection, tenant: TenantId) -> Result<Vec<(String, u64)>, Fault> {
    let mut statement = conn.prepare_cached(
        "select store, sum(live)
         from scopes
         where tenant = ?1
         group by store
         order by store",
    )?;
    let rows = statement.query_map([key(tenant.0)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn state(conn: &Connection, tenant: TenantId, place: &Place) -> Result<PlaceState, Fault> {
    id(conn, tenant, place)?.map_or(Ok(PlaceState::default()), |scope| state_of(conn, tenant, scope))
}

pub(super) fn state_of(conn: &Connection, tenant: TenantId, scope: i64) -> Result<PlaceState, Fault> {
    let state = conn
        .prepare_cached("select generation, live from scopes where tenant = ?1 and id = ?2")?
        .query_row((key(tenant.0), scope), |row| Ok(PlaceState { generation: row.get(0)?, live: row.get(1)? }))
        .optional()?;
    Ok(state.unwrap_or_default())
}

/// The places that are both readable and asked for. Archived and closed stores are not looked into, so that what stands
/// there takes no place in a pool.
pub(super) fn visible(conn: &Connection, readable: &Readable, filter: &Filter) -> Result<Vec<Seen>, Fault> {
    let wall = key(readable.tenant.0);
    let by_scope = "s.kind = ?2 and s.first = ?3 and s.second = ?4";
    let mut seen = Vec::new();
    let mut take = |clause: &str, params: &dyn Fn(&mut rusqlite::CachedStatement) -> Result<Vec<Seen>, Fault>| {
        let sql = format!(
            "select s.id, s.recall_seq, s.store, s.kind, s.live
             from scopes s
             join stores t on t.tenant = s.tenant and t.id = s.store
             where s.tenant = ?1 and t.state <> 'archived' and {clause}"
        );
        seen.extend(params(&mut conn.prepare_cached(&sql)?)?);
        Ok::<(), Fault>(())
    };
    match (&readable.scopes, filter) {
        (_, Filter { places, .. }) if !places.is_empty() => {
            for place in places.iter().filter(|place| readable.sees(&place.scope)) {
                let (first, second) = place.scope.names();
                take(&format!("{by_scope} and s.store = ?5"), &|statement| {
                    let params = (wall, place.scope.kind().as_str(), first, second, &place.store);
                    collect(statement, params, readable, filter)
                })?;
            }
        }
        (Scopes::These(scopes), _) => {
            for scope in scopes {
                let (first, second) = scope.names();
                take(by_scope, &|statement| {
                    collect(statement, (wall, scope.kind().as_str(), first, second), readable, filter)
                })?;
            }
        }
        (Scopes::All, Filter { stores, .. }) if !stores.is_empty() => {
            for store in stores {
                take("s.store = ?2", &|statement| collect(statement, (wall, store), readable, filter))?;
            }
        }
        (Scopes::All, _) => take("true", &|statement| collect(statement, [wall], readable, filter))?,
    }
    seen.sort_unstable_by_key(|seen: &Seen| seen.id);
    seen.dedup_by_key(|seen| seen.id);
    Ok(seen)
}

fn collect(
    statement: &mut rusqlite::CachedStatement<'_>,
    params: impl Params,
    readable: &Readable,
    filter: &Filter,
) -> Result<Vec<Seen>, Fault> {
    let mut rows = statement.query(params)?;
    let mut seen = Vec::new();
    while let Some(row) = rows.next()? {
        let store = row.get_ref(2)?.as_str().map_err(Fault::corrupt)?;
        let kind = word(row, 3)?;
        let asked = !readable.closed.iter().any(|slug| slug == store)
            && (filter.stores.is_empty() || filter.stores.iter().any(|slug| slug == store))
            && (filter.scopes.is_empty() || filter.scopes.contains(&kind));
        if asked {
            seen.push(Seen { id: row.get(0)?, recall_seq: row.get(1)?, live: row.get(4)? });
        }
    }
    Ok(seen)
}
