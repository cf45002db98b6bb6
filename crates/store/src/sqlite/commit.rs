//! One change: its guards, its writes, its events, inside a transaction the writer opened.

use std::sync::Arc;

use engine::model::error::StoreError;
use engine::model::guard::{Guard, Place};
use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::model::row::RowKind;
use engine::ports::PlaceState;
use engine::ports::change::{Change, CommitResult, Write};
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::row_codec::{id_bytes, to_micros};
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
    pub(super) last_place: Option<Arc<(Place, i64)>>,
    /// Ahead of the place's row: those who save together mostly save to one place.
    pending: Option<PendingCounts>,
}

/// What entries moved in one place.
#[derive(Clone, Copy, PartialEq)]
struct PendingCounts {
    scope: i64,
    seq: u64,
    live: i64,
}

/// Tenants whose heads are remembered.
const HEADS_MAX: usize = 64;
/// Guards of one tenant that are remembered: each save relies on the same few.
const HELD_GUARDS_MAX: usize = 16;

/// The heads of the tenants that were written to: read once, written once a transaction, however many changes it takes,
/// and remembered from one transaction to the next. INVARIANT: what is remembered holds only while no other connection
/// writes, which SQLite counts ([`Heads::begin`]); of a transaction that fails nothing may be remembered.
#[derive(Default)]
pub(super) struct HeadCache {
    cached: Vec<CachedHead>,
    /// SQLite's count of what others wrote, when this was known.
    version: Option<i64>,
}

struct CachedHead {
    head: Head,
    /// Ahead of its row.
    is_changed: bool,
    /// Guards about rows that held, since when no row was written.
    held_guards: Vec<Guard>,
}

impl HeadCache {
    /// To be called once a transaction has begun.
    pub(super) fn drop_if_outdated(&mut self, conn: &Connection) -> Result<(), Fault> {
        let version = conn.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.cached.len() > HEADS_MAX {
            self.cached.clear();
        }
        self.version = Some(version);
        Ok(())
    }

    fn head_for(&mut self, conn: &Connection, tenant: TenantId) -> Result<&mut CachedHead, Fault> {
        let known = self.cached.iter().position(|known| known.head.tenant == tenant);
        let at = match known {
            Some(at) => at,
            None => {
                self.cached.push(CachedHead {
                    head: Head::load(conn, tenant)?,
                    is_changed: false,
                    held_guards: Vec::new(),
                });
                self.cached.len() - 1
            }
        };
        Ok(&mut self.cached[at])
    }

    pub(super) fn save_changed(&mut self, conn: &Connection) -> Result<(), Fault> {
        for known in self.cached.iter_mut().filter(|known| known.is_changed) {
            known.head.save(conn)?;
            known.is_changed = false;
        }
        Ok(())
    }
}

/// A change that fails moves no head.
pub(super) fn apply_change(conn: &Connection, heads: &mut HeadCache, change: &Change) -> Result<CommitResult, Fault> {
    let known = heads.head_for(conn, change.tenant)?;
    let mut head = known.head.clone();
    let committed = write_change(conn, &mut head, &mut known.held_guards, change)?;
    known.is_changed |= head != known.head;
    known.head = head;
    Ok(committed)
}

fn write_change(
    conn: &Connection,
    head: &mut Head,
    standing: &mut Vec<Guard>,
    change: &Change,
) -> Result<CommitResult, Fault> {
    for guard in &change.guards {
        if standing.contains(guard) {
            continue;
        }
        if !guards::guard_holds(conn, head, guard)? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
        if is_reusable_guard(guard) && standing.len() < HELD_GUARDS_MAX {
            standing.push(guard.clone());
        }
    }
    if change.writes.iter().any(writes_rows) {
        standing.clear();
    }
    let mut committed = CommitResult::default();
    for write in &change.writes {
        committed.erased_count += apply_write(conn, head, change, write)?;
    }
    for happening in &change.events {
        committed.last_event_seq = events::append_event(conn, head, happening)?;
    }
    Ok(committed)
}

/// What save after save asks again: that a store is open, and how often something was done to the tenant.
fn is_reusable_guard(guard: &Guard) -> bool {
    matches!(guard, Guard::RowInState { kind: RowKind::Stores, .. } | Guard::RowCountIs { .. })
}

fn writes_rows(write: &Write) -> bool {
    match write {
        Write::Row(_) | Write::DeleteRow { .. } => true,
        Write::Entry(_)
        | Write::CountRecalls { .. }
        | Write::CountRunSave { .. }
        | Write::Redact { .. }
        | Write::Erase { .. }
        | Write::SetEmbedding { .. } => false,
    }
}

/// Whether text goes that must not stay anywhere in the files.
pub(super) fn erases_text(change: &Change) -> bool {
    change.writes.iter().any(|write| matches!(write, Write::Redact { .. } | Write::Erase { .. }))
}

/// How many memories were erased.
fn apply_write(conn: &Connection, head: &mut Head, change: &Change, write: &Write) -> Result<u64, Fault> {
    let tenant = change.tenant;
    if matches!(write, Write::Redact { .. } | Write::Erase { .. } | Write::SetEmbedding { .. }) {
        head.flush_counts(conn)?;
    }
    match write {
        Write::Entry(entry) => entry::write_entry(conn, head, entry)?,
        Write::Row(row) => records::upsert_row(conn, tenant, row)?,
        Write::DeleteRow { kind, id } => records::delete_row(conn, tenant, *kind, id)?,
        Write::CountRecalls { memories, fading } => record_recalls(conn, change, memories, fading)?,
        Write::CountRunSave { run } => count_run_save(conn, tenant, run)?,
        Write::Redact { memory, versions } => erase::redact_versions(conn, head, change.at, *memory, versions)?,
        Write::Erase { place } => {
            head.last_place = None;
            return erase::erase_place(conn, tenant, change.at, place);
        }
        Write::SetEmbedding { memory, version, embedding } => {
            entry::set_embedding(conn, head, *memory, *version, embedding)?
        }
    }
    Ok(0)
}

fn record_recalls(conn: &Connection, change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> Result<(), Fault> {
    let (tenant, at) = (id_bytes(change.tenant.0), to_micros(change.at));
    // Episodes fade from their last recall on.
    let mut fade = conn.prepare_cached(
        "update memories
         set fade = fade + ?4 * (?3 - coalesce(
           (select r.last from recalls r where r.tenant = memories.tenant and r.memory = memories.id), created_at))
         where tenant = ?1 and id = ?2 and layer = 'episodic'",
    )?;
    for memory in fading {
        fade.execute((tenant, id_bytes(memory.0), at, FADE_PER_MICROSECOND))?;
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
        if again.execute((tenant, id_bytes(memory.0), at))? == 0 {
            first.execute((tenant, id_bytes(memory.0), at))?;
        }
    }
    Ok(())
}

fn count_run_save(conn: &Connection, tenant: TenantId, run: &str) -> Result<(), Fault> {
    conn.prepare_cached(
        "insert into run_saves (tenant, run, saves)
         values (?1, ?2, 1)
         on conflict do update set saves = saves + 1",
    )?
    .execute((id_bytes(tenant.0), run))?;
    Ok(())
}

impl Head {
    fn load(conn: &Connection, tenant: TenantId) -> Result<Head, Fault> {
        conn.prepare_cached("select event_seq, event_hash, recall_seq, scope_seq from heads where tenant = ?1")?
            .query_row([id_bytes(tenant.0)], |row| {
                Ok(Head {
                    tenant,
                    event_seq: row.get(0)?,
                    event_hash: row.get(1)?,
                    recall_seq: row.get(2)?,
                    scope_seq: row.get(3)?,
                    last_place: None,
                    pending: None,
                })
            })
            .optional()?
            .ok_or_else(|| Fault::corrupt(format!("tenant `{tenant}` was never made")))
    }

    fn save(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.flush_counts(conn)?;
        conn.prepare_cached(
            "update heads
             set event_seq = ?2, event_hash = ?3, recall_seq = ?4, scope_seq = ?5
             where tenant = ?1",
        )?
        .execute((
            id_bytes(self.tenant.0),
            self.event_seq,
            &self.event_hash,
            self.recall_seq,
            self.scope_seq,
        ))?;
        Ok(())
    }

    /// An entry was written to a place under this number; so many more are live there.
    pub(super) fn count_entry(&mut self, conn: &Connection, scope: i64, seq: u64, live: i64) -> Result<(), Fault> {
        if self.pending.is_some_and(|counted| counted.scope != scope) {
            self.flush_counts(conn)?;
        }
        let before = self.pending.map_or(0, |counted| counted.live);
        self.pending = Some(PendingCounts { scope, seq, live: before + live });
        Ok(())
    }

    /// A place's state, with what was counted since.
    pub(super) fn with_pending_counts(&self, scope: i64, state: PlaceState) -> PlaceState {
        match self.pending {
            Some(counted) if counted.scope == scope => {
                PlaceState { generation: counted.seq, live: state.live.saturating_add_signed(counted.live) }
            }
            _ => state,
        }
    }

    /// Writes what was counted, before anybody else changes the same.
    pub(super) fn flush_counts(&mut self, conn: &Connection) -> Result<(), Fault> {
        let Some(PendingCounts { scope, seq, live }) = self.pending.take() else { return Ok(()) };
        // The generation is a number that only grows, so a place that was erased and made anew is never taken for the
        // old.
        conn.prepare_cached(
            "update scopes
             set generation = ?3, recall_seq = ?3, live = live + ?4
             where tenant = ?1 and id = ?2",
        )?
        .execute((id_bytes(self.tenant.0), scope, seq, live))?;
        Ok(())
    }

    /// A number newer than every row of the recall index.
    pub(super) fn next_recall_seq(&mut self) -> u64 {
        self.recall_seq += 1;
        self.recall_seq
    }

    /// The number of a place; none where nobody has written to it.
    pub(super) fn scope_id(&mut self, conn: &Connection, place: &Place) -> Result<Option<i64>, Fault> {
        if let Some(known) = self.last_place.as_ref().filter(|known| known.0 == *place) {
            return Ok(Some(known.1));
        }
        let found = scopes::find_scope_id(conn, self.tenant, place)?;
        self.last_place = found.map(|id| Arc::new((place.clone(), id)));
        Ok(found)
    }

    /// A place's number, never given before: copies of an erased place cannot pass for the new one.
    pub(super) fn next_scope_id(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
