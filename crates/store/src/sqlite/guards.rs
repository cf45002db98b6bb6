//! Guards: conditions the engine decided on, checked again inside the writing transaction.

use engine::model::guard::{Guard, Place};
use engine::ports::PlaceState;
use rusqlite::{Connection, OptionalExtension, Params};

use super::commit::Head;
use super::fault::Fault;
use super::row_codec::id_bytes;
use super::scopes;

pub(super) fn guard_holds(conn: &Connection, head: &mut Head, guard: &Guard) -> Result<bool, Fault> {
    let tenant = id_bytes(head.tenant.0);
    match guard {
        Guard::VersionIs { memory, version } => row_exists(
            conn,
            "select 1 from memories where tenant = ?1 and id = ?2 and version = ?3",
            (tenant, id_bytes(memory.0), id_bytes(version.0)),
        ),
        Guard::PathFree { place, path } => is_free(
            conn,
            head,
            place,
            "select 1 from memories where tenant = ?1 and scope = ?2 and path = ?3 and state = 'active'",
            path,
        ),
        Guard::HashFree { place, sha256 } => is_free(
            conn,
            head,
            place,
            "select 1
             from memories
             where tenant = ?1 and scope = ?2 and sha256 = ?3 and state = 'active' and path is null",
            sha256,
        ),
        Guard::PlaceUnchanged { place, generation } => Ok(place_state(conn, head, place)?.generation == *generation),
        Guard::RoomLeft { place, live_max } => Ok(place_state(conn, head, place)?.live < *live_max),
        Guard::TurnsBefore { place, session, turn } => {
            // A place that was never written to holds no turn.
            let Some(scope) = head.scope_id(conn, place)? else { return Ok(true) };
            let later_turn = "select 1
                 from memories indexed by memories_by_session
                 where tenant = ?1 and session = ?2 and turn >= ?3 and scope = ?4 and state = 'active'";
            Ok(!row_exists(conn, later_turn, (tenant, session, turn, scope))?)
        }
        Guard::RunSavesLeft { run, saves_max } => {
            let saves: Option<u32> = conn
                .prepare_cached("select saves from run_saves where tenant = ?1 and run = ?2")?
                .query_row((tenant, run), |row| row.get(0))
                .optional()?;
            Ok(saves.unwrap_or(0) < *saves_max)
        }
        Guard::RowInState { kind, id, state } => {
            let found: Option<String> = conn
                .prepare_cached(&format!("select state from {kind} where tenant = ?1 and id = ?2"))?
                .query_row((tenant, id), |row| row.get(0))
                .optional()?;
            Ok(found == *state)
        }
        Guard::RowCountIs { kind, state, count } => {
            let found: u64 = conn
                .prepare_cached(&format!("select count(*) from {kind} where tenant = ?1 and state = ?2"))?
                .query_row((tenant, state), |row| row.get(0))?;
            Ok(found == *count)
        }
    }
}

fn row_exists(conn: &Connection, sql: &str, params: impl Params) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(sql)?.exists(params)?)
}

/// The counters of a place, including those of this transaction that are not written yet.
fn place_state(conn: &Connection, head: &mut Head, place: &Place) -> Result<PlaceState, Fault> {
    let Some(scope) = head.scope_id(conn, place)? else { return Ok(PlaceState::default()) };
    Ok(head.with_pending_counts(scope, scopes::scope_state(conn, head.tenant, scope)?))
}

/// Whether no active memory of a place matches. A place without a scope row was never written to.
fn is_free(conn: &Connection, head: &mut Head, place: &Place, sql: &str, value: &str) -> Result<bool, Fault> {
    match head.scope_id(conn, place)? {
        Some(scope) => Ok(!row_exists(conn, sql, (id_bytes(head.tenant.0), scope, value))?),
        None => Ok(true),
    }
}
