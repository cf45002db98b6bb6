//! Writes what is derived from versions anew: live rows, tags, rows of the recall index, counters of places.

use engine::model::guard::Place;
use engine::model::id::TenantId;
use engine::ports::change::DerivedRows;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{CurrentState, Head};
use super::entry::{insert_scope, write_memory_row, write_recall_row, write_tags};
use super::fault::Fault;
use super::row_codec::{Statement, from_micros, params, read_column};
use super::scopes;

/// What is stored about a memory to be rebuilt.
pub(super) struct StoredMemory {
    newest_number: Option<i64>,
    has_live_row: bool,
    last_recall: Option<i64>,
}

/// Two queries for each memory, in the order in which [`read_stored`] reads their results.
pub(super) fn rebuild_queries(tenant: TenantId, memories: &[DerivedRows]) -> impl Iterator<Item = Statement> {
    memories.iter().flat_map(move |rows| {
        let stored = Statement::new(
            "select (select max(number) from versions where tenant = $1 and memory = $2),
               exists (select 1 from memories where tenant = $1 and id = $2),
               (select last from recalls where tenant = $1 and memory = $2)",
            params![tenant.0, rows.memory.id.0],
        );
        [scopes::place_query(tenant, &place_of(rows)), stored]
    })
}

pub(super) fn read_stored(
    memories: &[DerivedRows],
    next: &mut impl FnMut() -> Vec<Row>,
    state: &mut CurrentState,
) -> Result<(), Fault> {
    for rows in memories {
        if let Some(row) = next().first() {
            state.scopes.insert(place_of(rows), read_column(row, 0)?);
        }
        if let Some(row) = next().first() {
            let stored = StoredMemory {
                newest_number: read_column(row, 0)?,
                has_live_row: read_column(row, 1)?,
                last_recall: read_column(row, 2)?,
            };
            state.rebuilt.insert(rows.memory.id, stored);
        }
    }
    Ok(())
}

fn place_of(rows: &DerivedRows) -> Place {
    Place { store: rows.memory.store.clone(), scope: rows.memory.scope.clone() }
}

pub(super) fn rebuild_memories(
    head: &mut Head,
    state: &mut CurrentState,
    statements: &mut Vec<Statement>,
    memories: &[DerivedRows],
) -> Result<(), Fault> {
    let mut rebuilt: Vec<(&DerivedRows, StoredMemory)> = Vec::new();
    for rows in memories {
        // A version that came meanwhile has written its own rows.
        let number = i64::from(rows.memory.version_number);
        let stored = state.rebuilt.remove(&rows.memory.id).filter(|stored| stored.newest_number == Some(number));
        rebuilt.extend(stored.map(|stored| (rows, stored)));
    }
    // First of all of them: one may hold the path of another, and a path belongs to one active memory.
    let ids: Vec<Uuid> = rebuilt.iter().map(|(rows, _)| rows.memory.id.0).collect();
    statements.push(Statement::new(
        "update memories set path = null where tenant = $1 and id = any($2)",
        params![head.tenant.0, ids],
    ));
    for (rows, stored) in rebuilt {
        let mut memory = rows.memory.clone();
        // Recalls are counted outside of versions; the decay goes by the last one.
        memory.last_recalled_at = stored.last_recall.map(from_micros).transpose()?.or(memory.last_recalled_at);
        let place = place_of(rows);
        let scope = match state.scopes.get(&place) {
            Some(scope) => *scope,
            None => {
                let scope = head.next_scope_id();
                statements.push(insert_scope(head, scope, &place));
                state.scopes.insert(place, scope);
                scope
            }
        };
        statements.push(write_memory_row(scope, &memory, stored.has_live_row));
        write_tags(statements, &memory, true);
        statements.push(write_recall_row(scope, head.next_recall_seq(), &memory, &rows.words, None, false));
    }
    Ok(())
}

pub(super) fn recount_places(head: &mut Head) -> Statement {
    Statement::new(
        "update scopes s
         set generation = $2, live = c.live, live_len = c.len
         from (
           select p.id, count(m.id) as live, coalesce(sum(r.len), 0)::bigint as len
           from scopes p
           left join memories m on m.tenant = p.tenant and m.scope = p.id and m.state = 'active'
           left join recall r on r.tenant = m.tenant and r.memory = m.id
           where p.tenant = $1
           group by p.id) c
         where s.tenant = $1 and s.id = c.id",
        params![head.tenant.0, head.next_recall_seq()],
    )
}
