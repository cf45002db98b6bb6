//! Guards: conditions the engine decided on, checked again inside the writing transaction.

use engine::model::guard::{Guard, Place};
use engine::model::id::TenantId;
use tokio_postgres::Row;

use super::fault::Fault;
use super::row_codec::{Param, Statement, params, read_column, read_count};
use super::scopes;

/// Query for a guard. The tenant's head is locked when it runs, so its result stays true until the commit.
pub(super) fn guard_query(tenant: TenantId, guard: &Guard) -> Statement {
    match guard {
        Guard::VersionIs { memory, version } => Statement::new(
            "select 1 from memories where tenant = $1 and id = $2 and version = $3",
            params![tenant.0, memory.0, version.0],
        ),
        Guard::PathFree { place, path } => active_memory_query(tenant, place, "m.path = $6", params![path]),
        Guard::HashFree { place, sha256 } => {
            active_memory_query(tenant, place, "m.path is null and m.sha256 = $6", params![sha256])
        }
        Guard::TurnsBefore { place, session, turn } => {
            active_memory_query(tenant, place, "m.session = $6 and m.turn >= $7", params![session, i64::from(*turn)])
        }
        Guard::PlaceUnchanged { place, .. } | Guard::RoomLeft { place, .. } => scopes::place_query(tenant, place),
        Guard::RunSavesLeft { run, .. } => {
            Statement::new("select saves from run_saves where tenant = $1 and run = $2", params![tenant.0, run])
        }
        Guard::RowInState { kind, id, .. } => {
            // INVARIANT: a kind is a word of the engine's vocabulary, never input, so it may name the table.
            Statement::new(format!("select state from {kind} where tenant = $1 and id = $2"), params![tenant.0, id])
        }
        Guard::RowCountIs { kind, state, .. } => Statement::new(
            format!("select count(*) from {kind} where tenant = $1 and state = $2"),
            params![tenant.0, *state],
        ),
    }
}

/// Query for an active memory of a place that meets `condition`. No row for a place that was never written to.
fn active_memory_query(tenant: TenantId, place: &Place, condition: &str, values: Vec<Param>) -> Statement {
    let (first, second) = place.scope.name_columns();
    let mut params = params![tenant.0, place.scope.kind().as_str(), first, second, &place.store];
    params.extend(values);
    Statement::new(
        format!(
            "select 1
             from scopes s
             join memories m on m.tenant = s.tenant and m.scope = s.id and m.state = 'active' and {condition}
             where s.tenant = $1 and s.kind = $2 and s.first = $3 and s.second = $4 and s.store = $5
             limit 1"
        ),
        params,
    )
}

/// Whether a guard holds, from the rows of its [`guard_query`].
pub(super) fn guard_holds(guard: &Guard, rows: &[Row]) -> Result<bool, Fault> {
    Ok(match guard {
        Guard::VersionIs { .. } => !rows.is_empty(),
        Guard::PathFree { .. } | Guard::HashFree { .. } | Guard::TurnsBefore { .. } => rows.is_empty(),
        // A place without a row has generation zero, so a guard on a new place holds until its first write.
        Guard::PlaceUnchanged { generation, .. } => scopes::read_place_state(rows)?.generation == *generation,
        Guard::RoomLeft { live_max, .. } => scopes::read_place_state(rows)?.live < *live_max,
        Guard::RunSavesLeft { saves_max, .. } => {
            rows.first().map_or(Ok(0), |row| read_count(row, 0))? < u64::from(*saves_max)
        }
        Guard::RowInState { state, .. } => {
            // `None` in the guard means that the row must not exist.
            rows.first().map(|row| read_column::<String>(row, 0)).transpose()?.as_ref() == state.as_ref()
        }
        Guard::RowCountIs { count: expected, .. } => rows.first().map_or(Ok(0), |row| read_count(row, 0))? == *expected,
    })
}
