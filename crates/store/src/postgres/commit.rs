//! Turns a change (guards, writes, events) into SQL, for one transaction that holds the lock on the tenant's head.
//!
//! Two round trips per change: first the head is locked, so that no other write of this tenant runs, and everything the
//! change depends on is read; then all its writes are sent together with the commit.

use std::collections::HashMap;

use engine::model::error::StoreError;
use engine::model::event::EventBody;
use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::model::row::Row as SideRow;
use engine::model::write_digest::{RowColumns, WriteDigests};
use engine::ports::change::{Change, CommitResult, Write};
use tokio_postgres::Row;

use super::fault::Fault;
use super::row_codec::{Statement, params, read_column, read_count, to_json, to_micros};
use super::{entry, erase, events, guards, rebuild, records, scopes};
use crate::digests::row_columns;

/// The last number of each of a tenant's sequences.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) tenant: TenantId,
    pub(super) event_seq: u64,
    pub(super) event_hash: String,
    recall_seq: u64,
    scope_seq: i64,
}

/// Stored state that the writes of one change depend on, kept up to date while its writes are planned.
#[derive(Default)]
pub(super) struct CurrentState {
    pub(super) scopes: HashMap<Place, i64>,
    pub(super) versions: HashMap<MemoryId, entry::PreviousVersion>,
    pub(super) snapshots: erase::VersionSnapshots,
    /// Ids and version numbers of the memories in places to be erased.
    pub(super) erased: HashMap<Place, Vec<(MemoryId, u32)>>,
    /// What is stored about memories to be rebuilt.
    pub(super) rebuilt: HashMap<MemoryId, rebuild::StoredMemory>,
    /// The stored form of records to be touched, by id.
    pub(super) touched: HashMap<String, SideRow>,
    /// Digests of what is written, for the log entry.
    pub(super) digests: WriteDigests,
    /// Whether the change redacts. Then versions it writes itself are kept in `snapshots`, as it may redact those too.
    pub(super) redacts: bool,
}

/// Locks the tenant's head, which serialises all writes of the tenant, and reads it.
pub(super) fn lock_head(tenant: TenantId) -> Statement {
    Statement::new(
        "select event_seq, event_hash, recall_seq, scope_seq from heads where tenant = $1 for update",
        params![tenant.0],
    )
}

/// The queries to run before writing, in the order in which [`plan_change`] reads their results.
pub(super) fn change_queries(change: &Change) -> Vec<Statement> {
    let tenant = change.tenant;
    let mut statements: Vec<Statement> = change.guards.iter().map(|guard| guards::guard_query(tenant, guard)).collect();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                statements.push(scopes::place_query(tenant, &entry::entry_place(entry)));
                statements.push(entry::previous_query(entry));
            }
            Write::Erase { place } => {
                statements.push(scopes::place_query(tenant, place));
                statements.push(erase::memories_query(tenant, place));
            }
            Write::TouchRow(row) => statements.push(records::row_query(tenant, row.kind, &row.id)),
            Write::Rebuild(memories) => statements.extend(rebuild::rebuild_queries(tenant, memories)),
            Write::Redact { memory, versions } => statements.push(erase::versions_query(tenant, *memory, versions)),
            _ => {}
        }
    }
    statements
}

/// The statements that write a change.
pub(super) struct WritePlan {
    pub(super) statements: Vec<Statement>,
    /// Indexes of the statements that return the number of erased memories.
    pub(super) erasures: Vec<usize>,
    pub(super) last_event: u64,
}

/// Checks the guards and turns the change into statements. Advances the head.
pub(super) fn plan_change(change: &Change, head: &mut Head, results: Vec<Vec<Row>>) -> Result<WritePlan, Fault> {
    let mut results = results.into_iter();
    for guard in &change.guards {
        // Every guard is checked before the first write is planned, so a failed one leaves nothing to undo.
        if !guards::guard_holds(guard, &results.next().unwrap_or_default())? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
    }
    let mut state = read_current_state(change, results)?;
    // Zero means that the change has no event. Then a lost answer to the commit cannot be resolved.
    let mut plan = WritePlan { statements: Vec::new(), erasures: Vec::new(), last_event: 0 };
    for write in &change.writes {
        plan_write(change, head, &mut state, &mut plan, write)?;
    }
    let digests = std::mem::take(&mut state.digests);
    if change.events.is_empty() && !digests.is_empty() {
        plan.statements.push(events::append_event(head, &EventBody::recorded(change.at), digests)?);
        plan.last_event = head.event_seq;
    } else if let Some((last, before)) = change.events.split_last() {
        for happening in before {
            plan.statements.push(events::append_event(head, happening, WriteDigests::default())?);
        }
        plan.statements.push(events::append_event(head, last, digests)?);
        plan.last_event = head.event_seq;
    }
    Ok(plan)
}

fn read_current_state(change: &Change, mut results: impl Iterator<Item = Vec<Row>>) -> Result<CurrentState, Fault> {
    let redacts = change.writes.iter().any(|write| matches!(write, Write::Redact { .. }));
    let mut state = CurrentState { redacts, ..CurrentState::default() };
    let mut next = || results.next().unwrap_or_default();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                if let Some(row) = next().first() {
                    state.scopes.insert(entry::entry_place(entry), read_column(row, 0)?);
                }
                if let Some(row) = next().first() {
                    state.versions.insert(entry.memory().id, entry::PreviousVersion::from_row(row, 0)?);
                }
            }
            Write::Erase { place } => {
                if let Some(row) = next().first() {
                    state.scopes.insert(place.clone(), read_column(row, 0)?);
                }
                state.erased.insert(place.clone(), erase::read_memories(&next())?);
            }
            Write::TouchRow(row) => {
                let stored = next().first().map(|stored| records::to_row(row.kind, stored)).transpose()?;
                state.touched.extend(stored.map(|stored| (row.id.clone(), stored)));
            }
            Write::Redact { memory, .. } => erase::read_snapshots(&next(), *memory, &mut state)?,
            Write::Rebuild(memories) => rebuild::read_stored(memories, &mut next, &mut state)?,
            _ => {}
        }
    }
    Ok(state)
}

fn plan_write(
    change: &Change,
    head: &mut Head,
    state: &mut CurrentState,
    plan: &mut WritePlan,
    write: &Write,
) -> Result<(), Fault> {
    let (tenant, statements) = (change.tenant, &mut plan.statements);
    match write {
        Write::Entry(entry) => entry::write_entry(head, state, statements, entry)?,
        Write::Row(row) => {
            let body = to_json(&row.body)?;
            state.digests.add_row(&RowColumns { body_text: Some(&body), ..row_columns(row) });
            statements.push(records::upsert_row(tenant, row, body));
        }
        Write::TouchRow(row) => {
            let is_same = |stored: &SideRow| row_columns(stored).digest() == row_columns(row).digest();
            if state.touched.get(&row.id).is_some_and(is_same) {
                statements.push(records::upsert_row(tenant, row, to_json(&row.body)?));
            }
        }
        Write::DeleteRow { kind, id } => {
            statements.push(records::delete_row(tenant, *kind, id));
            state.digests.add_row_deletion(*kind, id);
        }
        Write::CountRecalls { memories, fading } => statements.extend(record_recalls(change, memories, fading)),
        Write::CountRunSave { run } => statements.push(count_run_save(tenant, run)),
        Write::Redact { memory, versions } => {
            erase::redact_versions(head, state, statements, change.at, *memory, versions)?
        }
        Write::Erase { place } => {
            // Removed, so that an entry written later in the same change creates the place under a new id.
            if let Some(scope) = state.scopes.remove(place) {
                let stored = state.erased.remove(place).unwrap_or_default();
                // What this change itself wrote there before goes too.
                let written = change.writes.iter().take_while(|before| !std::ptr::eq(*before, write));
                let written = written.filter_map(|write| match write {
                    Write::Entry(entry) if entry::entry_place(entry) == *place => {
                        Some((entry.memory().id, entry.memory().version_number))
                    }
                    _ => None,
                });
                stored.into_iter().chain(written).for_each(|(id, number)| state.digests.add_erasure(id, number));
                plan.erasures.push(statements.len());
                statements.push(Statement::new(
                    "select erase_place($1) from heads where tenant = $2",
                    params![scope, tenant.0],
                ));
            }
        }
        Write::SetEmbedding { memory, version, embedding } => {
            statements.push(entry::set_embedding(head, *memory, *version, embedding));
        }
        Write::Adopt(writes) => writes.iter().for_each(|write| state.digests.add(write)),
        Write::Rebuild(memories) => rebuild::rebuild_memories(head, state, statements, memories)?,
        Write::RecountPlaces => statements.push(rebuild::recount_places(head)),
    }
    Ok(())
}

fn record_recalls(change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> [Statement; 2] {
    let ids = |memories: &[MemoryId]| memories.iter().map(|memory| memory.0).collect::<Vec<uuid::Uuid>>();
    // An episode fades from its last recall on. Before `recalls` is updated: the term needs the previous time.
    let fade = Statement::new(
        "update memories m
         set fade = fade + $4 * ($3 - e.since)
         from (
           select f.id, coalesce(r.last, f.created_at) as since
           from memories f
           left join recalls r on r.tenant = f.tenant and r.memory = f.id
           where f.tenant = $1 and f.id = any($2) and f.layer = 'episodic') e
         where m.tenant = $1 and m.id = e.id",
        params![change.tenant.0, ids(fading), to_micros(change.at), FADE_PER_MICROSECOND],
    );
    // Joined with `memories`, so that a memory erased since its recall gets no counter.
    let count = Statement::new(
        "insert into recalls (tenant, memory, count, last)
         select m.tenant, m.id, count(*), $3
         from unnest($2) recalled (id)
         join memories m on m.tenant = $1 and m.id = recalled.id
         group by m.tenant, m.id
         on conflict (tenant, memory) do update
         set count = recalls.count + excluded.count, last = greatest(recalls.last, excluded.last)",
        params![change.tenant.0, ids(memories), to_micros(change.at)],
    );
    [fade, count]
}

fn count_run_save(tenant: TenantId, run: &str) -> Statement {
    Statement::new(
        "insert into run_saves (tenant, run, saves)
         values ($1, $2, 1)
         on conflict (tenant, run) do update
         set saves = run_saves.saves + 1",
        params![tenant.0, run],
    )
}

/// The result of a change, from the results of its statements.
pub(super) fn to_committed(plan: &WritePlan, results: &[Vec<Row>]) -> Result<CommitResult, Fault> {
    let mut committed = CommitResult { last_event_seq: plan.last_event, erased_count: 0 };
    for index in &plan.erasures {
        let row = results.get(*index).and_then(|rows| rows.first());
        committed.erased_count += row.map_or(Ok(0), |row| read_count(row, 0))?;
    }
    Ok(committed)
}

impl Head {
    pub(super) fn from_rows(tenant: TenantId, rows: &[Row]) -> Result<Head, Fault> {
        // A tenant whose copy is unfinished has none either, which keeps writers away from it.
        let missing = || Fault::corrupt(format!("tenant `{tenant}` has no row in `heads`"));
        let row = rows.first().ok_or_else(missing)?;
        Ok(Head {
            tenant,
            event_seq: read_count(row, 0)?,
            event_hash: read_column(row, 1)?,
            recall_seq: read_count(row, 2)?,
            scope_seq: read_column(row, 3)?,
        })
    }

    pub(super) fn save(&self) -> Statement {
        Statement::new(
            "update heads
             set event_seq = $2, event_hash = $3, recall_seq = $4, scope_seq = $5
             where tenant = $1",
            params![self.tenant.0, self.event_seq as i64, &self.event_hash, self.recall_seq as i64, self.scope_seq],
        )
    }

    /// The next sequence number of the recall index, above every row in it.
    pub(super) fn next_recall_seq(&mut self) -> i64 {
        self.recall_seq += 1;
        self.recall_seq as i64
    }

    /// A scope id that was never used before: a stale reference to an erased place must not mean the new one.
    pub(super) fn next_scope_id(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
