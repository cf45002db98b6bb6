//! One change: its guards, its writes, its events, inside a transaction the writer opened.

use std::sync::Arc;

use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::ports::change::{Change, Committed, Guard, Place, Write};
use engine::ports::row::RowKind;
use engine::ports::{PlaceState, StoreError};
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::rows::{key, micros};
use super::{entry, erase, events, guards, records, scopes};

/// The last number given of each of a tenant's sequences.
#[derive(Clone, PartialEq)]
pub(super) struct Head {
    pub(super) tenant: TenantId,
    pub(super) event_seq: u64,
    pub(super) event_hash: String,
    pub(super) recall_seq: u64,
    pub(super) scope_seq: i64,
    /// The place looked up last and its number: most changes are about one place, and ask about it several times.
    pub(super) place: Option<Arc<(Place, i64)>>,
    /// Ahead of the place's row: those who save together mostly save to one place.
    counted: Option<Counted>,
}

/// What entries moved in one place.
#[derive(Clone, Copy, PartialEq)]
struct Counted {
    scope: i64,
    seq: u64,
    live: i64,
}

/// Tenants whose heads are remembered.
const HEADS_MAX: usize = 64;
/// Guards of one tenant that are remembered: each save relies on the same few.
const STANDING_MAX: usize = 16;

/// The heads of the tenants that were written to: read once, written once a transaction, however many changes it takes,
/// and remembered from one transaction to the next. INVARIANT: what is remembered holds only while no other connection
/// writes, which SQLite counts ([`Heads::begin`]); of a transaction that fails nothing may be remembered.
#[derive(Default)]
pub(super) struct Heads {
    known: Vec<Known>,
    /// SQLite's count of what others wrote, when this was known.
    version: Option<i64>,
}

struct Known {
    head: Head,
    /// Ahead of its row.
    moved: bool,
    /// Guards about rows that held, since when no row was written.
    standing: Vec<Guard>,
}

impl Heads {
    /// To be called once a transaction has begun.
    pub(super) fn begin(&mut self, conn: &Connection) -> Result<(), Fault> {
        let version = conn.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.known.len() > HEADS_MAX {
            self.known.clear();
        }
        self.version = Some(version);
        Ok(())
    }

    fn of(&mut self, conn: &Connection, tenant: TenantId) -> Result<&mut Known, Fault> {
        let known = self.known.iter().position(|known| known.head.tenant == tenant);
        let at = match known {
            Some(at) => at,
            None => {
                self.known.push(Known { head: Head::read(conn, tenant)?, moved: false, standing: Vec::new() });
                self.known.len() - 1
            }
        };
        Ok(&mut self.known[at])
    }

    pub(super) fn save(&mut self, conn: &Connection) -> Result<(), Fault> {
        for known in self.known.iter_mut().filter(|known| known.moved) {
            known.head.save(conn)?;
            known.moved = false;
        }
        Ok(())
    }
}

/// A change that fails moves no head.
pub(super) fn apply(conn: &Connection, heads: &mut Heads, change: &Change) -> Result<Committed, Fault> {
    let known = heads.of(conn, change.tenant)?;
    let mut head = known.head.clone();
    let committed = work(conn, &mut head, &mut known.standing, change)?;
    known.moved |= head != known.head;
    known.head = head;
    Ok(committed)
}

fn work(conn: &Connection, head: &mut Head, standing: &mut Vec<Guard>, change: &Change) -> Result<Committed, Fault> {
    for guard in &change.guards {
        if standing.contains(guard) {
            continue;
        }
        if !guards::holds(conn, head, guard)? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
        if is_relied_on(guard) && standing.len() < STANDING_MAX {
            standing.push(guard.clone());
        }
    }
    if change.writes.iter().any(writes_rows) {
        standing.clear();
    }
    let mut committed = Committed::default();
    for write in &change.writes {
        committed.erased += perform(conn, head, change, write)?;
    }
    for happening in &change.events {
        committed.last_event = events::append(conn, head, happening)?;
    }
    Ok(committed)
}

/// What save after save asks again: that a store is open, and how often something was done to the tenant.
fn is_relied_on(guard: &Guard) -> bool {
    matches!(guard, Guard::RowIs { kind: RowKind::Stores, .. } | Guard::RowsAre { .. })
}

fn writes_rows(write: &Write) -> bool {
    match write {
        Write::Row(_) | Write::RowGone { .. } => true,
        Write::Entry(_)
        | Write::Recalled { .. }
        | Write::RunSave { .. }
        | Write::Redact { .. }
        | Write::Erase { .. }
        | Write::Embedded { .. } => false,
    }
}

/// Whether text goes that must not stay anywhere in the files.
pub(super) fn erases(change: &Change) -> bool {
    change.writes.iter().any(|write| matches!(write, Write::Redact { .. } | Write::Erase { .. }))
}

/// How many memories were erased.
fn perform(conn: &Connection, head: &mut Head, change: &Change, write: &Write) -> Result<u64, Fault> {
    let tenant = change.tenant;
    if matches!(write, Write::Redact { .. } | Write::Erase { .. } | Write::Embedded { .. }) {
        head.settle(conn)?;
    }
    match write {
        Write::Entry(entry) => entry::write(conn, head, entry)?,
        Write::Row(row) => records::put(conn, tenant, row)?,
        Write::RowGone { kind, id } => records::remove(conn, tenant, *kind, id)?,
        Write::Recalled { memories, fading } => recalled(conn, change, memories, fading)?,
        Write::RunSave { run } => run_save(conn, tenant, run)?,
        Write::Redact { memory, versions } => erase::redact(conn, head, change.at, *memory, versions)?,
        Write::Erase { place } => {
            head.place = None;
            return erase::erase(conn, tenant, change.at, place);
        }
        Write::Embedded { memory, version, embedding } => entry::embed(conn, head, *memory, *version, embedding)?,
    }
    Ok(0)
}

fn recalled(conn: &Connection, change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> Result<(), Fault> {
    let (tenant, at) = (key(change.tenant.0), micros(change.at));
    // Episodes fade from their last recall on.
    let mut fade = conn.prepare_cached(
        "update memories
         set fade = fade + ?4 * (?3 - coalesce(
           (select r.last from recalls r where r.tenant = memories.tenant and r.memory = memories.id), created_at))
         where tenant = ?1 and id = ?2 and layer = 'episodic'",
    )?;
    for memory in fading {
        fade.execute((tenant, key(memory.0), at, FADE_PER_MICROSECOND))?;
    }
    let mut again = conn.prepare_cached(
        "update recalls set count = count + 1, last = max(last, ?3) where tenant = ?1 and memory = ?2",
    )?;
    // From the table, so that a memory erased since it was recalled counts nothing.
    let mut first = conn.prepare_cached(
        "insert into recalls (tenant, memory, count, last)
         select tenant, id, 1, ?3
         from memories
         where tenant = ?1 and id = ?2",
    )?;
    for memory in memories {
        if again.execute((tenant, key(memory.0), at))? == 0 {
            first.execute((tenant, key(memory.0), at))?;
        }
    }
    Ok(())
}

fn run_save(conn: &Connection, tenant: TenantId, run: &str) -> Result<(), Fault> {
    conn.prepare_cached(
        "insert into run_saves (tenant, run, saves)
         values (?1, ?2, 1)
         on conflict do update set saves = saves + 1",
    )?
    .execute((key(tenant.0), run))?;
    Ok(())
}

impl Head {
    fn read(conn: &Connection, tenant: TenantId) -> Result<Head, Fault> {
        conn.prepare_cached("select event_seq, event_hash, recall_seq, scope_seq from heads where tenant = ?1")?
            .query_row([key(tenant.0)], |row| {
                Ok(Head {
                    tenant,
                    event_seq: row.get(0)?,
                    event_hash: row.get(1)?,
                    recall_seq: row.get(2)?,
                    scope_seq: row.get(3)?,
                    place: None,
                    counted: None,
                })
            })
            .optional()?
            .ok_or_else(|| Fault::corrupt(format!("tenant `{tenant}` was never made")))
    }

    fn save(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.settle(conn)?;
        conn.prepare_cached(
            "update heads
             set event_seq = ?2, event_hash = ?3, recall_seq = ?4, scope_seq = ?5
             where tenant = ?1",
        )?
        .execute((key(self.tenant.0), self.event_seq, &self.event_hash, self.recall_seq, self.scope_seq))?;
        Ok(())
    }

    /// An entry was written to a place under this number; so many more are live there.
    pub(super) fn count(&mut self, conn: &Connection, scope: i64, seq: u64, live: i64) -> Result<(), Fault> {
        if self.counted.is_some_and(|counted| counted.scope != scope) {
            self.settle(conn)?;
        }
        let before = self.counted.map_or(0, |counted| counted.live);
        self.counted = Some(Counted { scope, seq, live: before + live });
        Ok(())
    }

    /// A place's state, with what was counted since.
    pub(super) fn ahead(&self, scope: i64, state: PlaceState) -> PlaceState {
        match self.counted {
            Some(counted) if counted.scope == scope => {
                PlaceState { generation: counted.seq, live: state.live.saturating_add_signed(counted.live) }
            }
            _ => state,
        }
    }

    /// Writes what was counted, before anybody else changes the same.
    pub(super) fn settle(&mut self, conn: &Connection) -> Result<(), Fault> {
        let Some(Counted { scope, seq, live }) = self.counted.take() else { return Ok(()) };
        // The generation is a number that only grows, so a place that was erased and made anew is never taken for the
        // old.
        conn.prepare_cached(
            "update scopes
             set generation = ?3, recall_seq = ?3, live = live + ?4
             where tenant = ?1 and id = ?2",
        )?
        .execute((key(self.tenant.0), scope, seq, live))?;
        Ok(())
    }

    /// A number newer than every row of the recall index.
    pub(super) fn next_recall(&mut self) -> u64 {
        self.recall_seq += 1;
        self.recall_seq
    }

    /// The number of a place; none where nobody has written to it.
    pub(super) fn scope(&mut self, conn: &Connection, place: &Place) -> Result<Option<i64>, Fault> {
        if let Some(known) = self.place.as_ref().filter(|known| known.0 == *place) {
            return Ok(Some(known.1));
        }
        let found = scopes::id(conn, self.tenant, place)?;
        self.place = found.map(|id| Arc::new((place.clone(), id)));
        Ok(found)
    }

    /// A place's number, never given before: copies of an erased place cannot pass for the new one.
    pub(super) fn next_scope(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
