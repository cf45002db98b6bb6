//! Changes: their guards, their writes, their events, in one transaction that holds the tenant's head.
//!
//! Two messages a change: what must be known (the head locked first, so that nothing of this tenant moves any more),
//! then everything it writes with the commit.

use std::collections::HashMap;

use engine::model::error::StoreError;
use engine::model::guard::Place;
use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::ports::change::{Change, CommitResult, Write};
use tokio_postgres::Row;

use super::fault::Fault;
use super::row_codec::{Statement, params, read_column, read_count, to_micros};
use super::{entry, erase, events, guards, records, scopes};

/// The last number given of each of a tenant's sequences.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) tenant: TenantId,
    pub(super) event_seq: u64,
    pub(super) event_hash: String,
    recall_seq: u64,
    scope_seq: i64,
}

/// What the writes of one change need to know of what stands.
#[derive(Default)]
pub(super) struct CurrentState {
    pub(super) scopes: HashMap<Place, i64>,
    pub(super) versions: HashMap<MemoryId, entry::PreviousVersion>,
    pub(super) snapshots: erase::VersionSnapshots,
    /// Whether the change redacts, so that what it writes itself is remembered until then.
    pub(super) redacts: bool,
}

/// Locks the tenant: whoever writes for it waits here.
pub(super) fn lock_head(tenant: TenantId) -> Statement {
    Statement::new(
        "select event_seq, event_hash, recall_seq, scope_seq from heads where tenant = $1 for update",
        params![tenant.0],
    )
}

/// Everything to ask before writing, in the order [`plan`] reads the answers.
pub(super) fn change_queries(change: &Change) -> Vec<Statement> {
    let tenant = change.tenant;
    let mut steps: Vec<Statement> = change.guards.iter().map(|guard| guards::guard_query(tenant, guard)).collect();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                steps.push(scopes::place_query(tenant, &entry::entry_place(entry)));
                steps.push(entry::previous_query(entry));
            }
            Write::Erase { place } => steps.push(scopes::place_query(tenant, place)),
            Write::Redact { memory, versions } => steps.push(erase::versions_query(tenant, *memory, versions)),
            _ => {}
        }
    }
    steps
}

/// What a change comes to: the statements that write it, and which of them counts the erased.
pub(super) struct WritePlan {
    pub(super) steps: Vec<Statement>,
    pub(super) erasures: Vec<usize>,
    pub(super) last_event: u64,
}

/// Judges the guards and turns the change into statements. The head moves on.
pub(super) fn plan_change(change: &Change, head: &mut Head, answers: Vec<Vec<Row>>) -> Result<WritePlan, Fault> {
    let mut answers = answers.into_iter();
    for guard in &change.guards {
        if !guards::guard_holds(guard, &answers.next().unwrap_or_default())? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
    }
    let mut world = read_current_state(change, answers)?;
    let mut plan = WritePlan { steps: Vec::new(), erasures: Vec::new(), last_event: 0 };
    for write in &change.writes {
        plan_write(change, head, &mut world, &mut plan, write)?;
    }
    for happening in &change.events {
        plan.steps.push(events::append_event(head, happening)?);
        plan.last_event = head.event_seq;
    }
    Ok(plan)
}

fn read_current_state(change: &Change, mut answers: impl Iterator<Item = Vec<Row>>) -> Result<CurrentState, Fault> {
    let redacts = change.writes.iter().any(|write| matches!(write, Write::Redact { .. }));
    let mut world = CurrentState { redacts, ..CurrentState::default() };
    let mut next = || answers.next().unwrap_or_default();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                if let Some(row) = next().first() {
                    world.scopes.insert(entry::entry_place(entry), read_column(row, 0)?);
                }
                if let Some(row) = next().first() {
                    world.versions.insert(entry.memory().id, entry::PreviousVersion::from_row(row, 0)?);
                }
            }
            Write::Erase { place } => {
                if let Some(row) = next().first() {
                    world.scopes.insert(place.clone(), read_column(row, 0)?);
                }
            }
            Write::Redact { memory, .. } => erase::read_snapshots(&next(), *memory, &mut world)?,
            _ => {}
        }
    }
    Ok(world)
}

fn plan_write(
    change: &Change,
    head: &mut Head,
    world: &mut CurrentState,
    plan: &mut WritePlan,
    write: &Write,
) -> Result<(), Fault> {
    let (tenant, steps) = (change.tenant, &mut plan.steps);
    match write {
        Write::Entry(entry) => entry::write_entry(head, world, steps, entry)?,
        Write::Row(row) => steps.push(records::upsert_row(tenant, row)?),
        Write::DeleteRow { kind, id } => steps.push(records::delete_row(tenant, *kind, id)),
        Write::CountRecalls { memories, fading } => steps.extend(record_recalls(change, memories, fading)),
        Write::CountRunSave { run } => steps.push(count_run_save(tenant, run)),
        Write::Redact { memory, versions } => erase::redact_versions(head, world, steps, change.at, *memory, versions)?,
        Write::Erase { place } => {
            if let Some(scope) = world.scopes.remove(place) {
                plan.erasures.push(steps.len());
                steps.push(Statement::new(
                    "select erase_place($1) from heads where tenant = $2",
                    params![scope, tenant.0],
                ));
            }
        }
        Write::SetEmbedding { memory, version, embedding } => {
            steps.push(entry::set_embedding(head, *memory, *version, embedding));
        }
    }
    Ok(())
}

fn record_recalls(change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> [Statement; 2] {
    let ids = |memories: &[MemoryId]| memories.iter().map(|memory| memory.0).collect::<Vec<uuid::Uuid>>();
    // Episodes fade from their last recall on.
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
    // From the table, so that a memory erased since it was recalled counts nothing.
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

/// What a change did, from what its statements answered.
pub(super) fn to_committed(plan: &WritePlan, answers: &[Vec<Row>]) -> Result<CommitResult, Fault> {
    let mut committed = CommitResult { last_event_seq: plan.last_event, erased_count: 0 };
    for step in &plan.erasures {
        let row = answers.get(*step).and_then(|rows| rows.first());
        committed.erased_count += row.map_or(Ok(0), |row| read_count(row, 0))?;
    }
    Ok(committed)
}

impl Head {
    pub(super) fn from_rows(tenant: TenantId, rows: &[Row]) -> Result<Head, Fault> {
        let missing = || Fault::corrupt(format!("tenant `{tenant}` was never made"));
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

    /// A number newer than every row of the recall index.
    pub(super) fn next_recall_seq(&mut self) -> i64 {
        self.recall_seq += 1;
        self.recall_seq as i64
    }

    /// A place's number, never given before: what still names an erased place cannot mean the new one.
    pub(super) fn next_scope_id(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
