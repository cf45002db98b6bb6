//! Changes: their guards, their writes, their events, in one transaction that holds the tenant's head.
//!
//! Two messages a change: what must be known (the head locked first, so that nothing of this tenant moves any more),
//! then everything it writes with the commit.

use std::collections::HashMap;

use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::ports::StoreError;
use engine::ports::change::{Change, Committed, Place, Write};
use tokio_postgres::Row;

use super::fault::Fault;
use super::rows::{Step, column, count, micros, params};
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
pub(super) struct World {
    pub(super) scopes: HashMap<Place, i64>,
    pub(super) standing: HashMap<MemoryId, entry::Before>,
    pub(super) redacted: erase::Snapshots,
    /// Whether the change redacts, so that what it writes itself is remembered until then.
    pub(super) redacts: bool,
}

/// Locks the tenant: whoever writes for it waits here.
pub(super) fn lock(tenant: TenantId) -> Step {
    Step::new(
        "select event_seq, event_hash, recall_seq, scope_seq from heads where tenant = $1 for update",
        params![tenant.0],
    )
}

/// Everything to ask before writing, in the order [`plan`] reads the answers.
pub(super) fn questions(change: &Change) -> Vec<Step> {
    let tenant = change.tenant;
    let mut steps: Vec<Step> = change.guards.iter().map(|guard| guards::question(tenant, guard)).collect();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                steps.push(scopes::ask(tenant, &entry::place(entry)));
                steps.push(entry::question(entry));
            }
            Write::Erase { place } => steps.push(scopes::ask(tenant, place)),
            Write::Redact { memory, versions } => steps.push(erase::question(tenant, *memory, versions)),
            _ => {}
        }
    }
    steps
}

/// What a change comes to: the statements that write it, and which of them counts the erased.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) erasures: Vec<usize>,
    pub(super) last_event: u64,
}

/// Judges the guards and turns the change into statements. The head moves on.
pub(super) fn plan(change: &Change, head: &mut Head, answers: Vec<Vec<Row>>) -> Result<Plan, Fault> {
    let mut answers = answers.into_iter();
    for guard in &change.guards {
        if !guards::holds(guard, &answers.next().unwrap_or_default())? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
    }
    let mut world = learn(change, answers)?;
    let mut plan = Plan { steps: Vec::new(), erasures: Vec::new(), last_event: 0 };
    for write in &change.writes {
        perform(change, head, &mut world, &mut plan, write)?;
    }
    for happening in &change.events {
        plan.steps.push(events::append(head, happening)?);
        plan.last_event = head.event_seq;
    }
    Ok(plan)
}

fn learn(change: &Change, mut answers: impl Iterator<Item = Vec<Row>>) -> Result<World, Fault> {
    let redacts = change.writes.iter().any(|write| matches!(write, Write::Redact { .. }));
    let mut world = World { redacts, ..World::default() };
    let mut next = || answers.next().unwrap_or_default();
    for write in &change.writes {
        match write {
            Write::Entry(entry) => {
                if let Some(row) = next().first() {
                    world.scopes.insert(entry::place(entry), column(row, 0)?);
                }
                if let Some(row) = next().first() {
                    world.standing.insert(entry.memory().id, entry::Before::read(row, 0)?);
                }
            }
            Write::Erase { place } => {
                if let Some(row) = next().first() {
                    world.scopes.insert(place.clone(), column(row, 0)?);
                }
            }
            Write::Redact { memory, .. } => erase::read(&next(), *memory, &mut world)?,
            _ => {}
        }
    }
    Ok(world)
}

fn perform(change: &Change, head: &mut Head, world: &mut World, plan: &mut Plan, write: &Write) -> Result<(), Fault> {
    let (tenant, steps) = (change.tenant, &mut plan.steps);
    match write {
        Write::Entry(entry) => entry::write(head, world, steps, entry)?,
        Write::Row(row) => steps.push(records::put(tenant, row)?),
        Write::RowGone { kind, id } => steps.push(records::remove(tenant, *kind, id)),
        Write::Recalled { memories, fading } => steps.extend(recalled(change, memories, fading)),
        Write::RunSave { run } => steps.push(run_save(tenant, run)),
        Write::Redact { memory, versions } => erase::redact(head, world, steps, change.at, *memory, versions)?,
        Write::Erase { place } => {
            if let Some(scope) = world.scopes.remove(place) {
                plan.erasures.push(steps.len());
                steps.push(Step::new("select erase_place($1) from heads where tenant = $2", params![scope, tenant.0]));
            }
        }
        Write::Embedded { memory, version, embedding } => {
            steps.push(entry::embed(head, *memory, *version, embedding));
        }
    }
    Ok(())
}

fn recalled(change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> [Step; 2] {
    let ids = |memories: &[MemoryId]| memories.iter().map(|memory| memory.0).collect::<Vec<uuid::Uuid>>();
    // Episodes fade from their last recall on.
    let fade = Step::new(
        "update memories m
         set fade = fade + $4 * ($3 - e.since)
         from (
           select f.id, coalesce(r.last, f.created_at) as since
           from memories f
           left join recalls r on r.tenant = f.tenant and r.memory = f.id
           where f.tenant = $1 and f.id = any($2) and f.layer = 'episodic') e
         where m.tenant = $1 and m.id = e.id",
        params![change.tenant.0, ids(fading), micros(change.at), FADE_PER_MICROSECOND],
    );
    // From the table, so that a memory erased since it was recalled counts nothing.
    let count = Step::new(
        "insert into recalls (tenant, memory, count, last)
         select m.tenant, m.id, count(*), $3
         from unnest($2) recalled (id)
         join memories m on m.tenant = $1 and m.id = recalled.id
         group by m.tenant, m.id
         on conflict (tenant, memory) do update
         set count = recalls.count + excluded.count, last = greatest(recalls.last, excluded.last)",
        params![change.tenant.0, ids(memories), micros(change.at)],
    );
    [fade, count]
}

fn run_save(tenant: TenantId, run: &str) -> Step {
    Step::new(
        "insert into run_saves (tenant, run, saves)
         values ($1, $2, 1)
         on conflict (tenant, run) do update
         set saves = run_saves.saves + 1",
        params![tenant.0, run],
    )
}

/// What a change did, from what its statements answered.
pub(super) fn committed(plan: &Plan, answers: &[Vec<Row>]) -> Result<Committed, Fault> {
    let mut committed = Committed { last_event: plan.last_event, erased: 0 };
    for step in &plan.erasures {
        let row = answers.get(*step).and_then(|rows| rows.first());
        committed.erased += row.map_or(Ok(0), |row| count(row, 0))?;
    }
    Ok(committed)
}

impl Head {
    pub(super) fn read(tenant: TenantId, rows: &[Row]) -> Result<Head, Fault> {
        let missing = || Fault::corrupt(format!("tenant `{tenant}` was never made"));
        let row = rows.first().ok_or_else(missing)?;
        Ok(Head {
            tenant,
            event_seq: count(row, 0)?,
            event_hash: column(row, 1)?,
            recall_seq: count(row, 2)?,
            scope_seq: column(row, 3)?,
        })
    }

    pub(super) fn save(&self) -> Step {
        Step::new(
            "update heads
             set event_seq = $2, event_hash = $3, recall_seq = $4, scope_seq = $5
             where tenant = $1",
            params![self.tenant.0, self.event_seq as i64, &self.event_hash, self.recall_seq as i64, self.scope_seq],
        )
    }

    /// A number newer than every row of the recall index.
    pub(super) fn next_recall(&mut self) -> i64 {
        self.recall_seq += 1;
        self.recall_seq as i64
    }

    /// A place's number, never given before: what still names an erased place cannot mean the new one.
    pub(super) fn next_scope(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
