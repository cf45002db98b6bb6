//! Applies one change (guards, writes, events) inside a transaction that the writer opened.

use std::sync::Arc;

use engine::model::error::StoreError;
use engine::model::event::EventBody;
use engine::model::guard::{Guard, Place};
use engine::model::id::{MemoryId, TenantId};
use engine::model::lifecycle::FADE_PER_MICROSECOND;
use engine::model::row::RowKind;
use engine::model::write_digest::{RowColumns, WriteDigests};
use engine::ports::PlaceState;
use engine::ports::change::{Change, CommitResult, Write};
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::row_codec::{id_bytes, to_json, to_micros};
use super::{entry, erase, events, guards, rebuild, records, scopes};
use crate::digests::row_columns;

/// The last number of each of a tenant's sequences, with counters that are ahead of their rows.
#[derive(Clone, PartialEq)]
pub(super) struct Head {
    pub(super) tenant: TenantId,
    pub(super) event_seq: u64,
    pub(super) event_hash: String,
    pub(super) recall_seq: u64,
    pub(super) scope_seq: i64,
    /// Number of the first entry that must have digests.
    pub(super) covered_from: u64,
    /// Scope id of the place looked up last: most changes are about one place and look it up several times.
    pub(super) last_place: Option<Arc<(Place, i64)>>,
    /// Counters not yet written to the scope row: changes of one group mostly go to one place.
    pending: Option<PendingCounts>,
}

/// Changes to the counters of one scope.
#[derive(Clone, Copy, PartialEq)]
struct PendingCounts {
    scope: i64,
    seq: u64,
    /// Difference in active memories.
    live: i64,
}

/// Tenants whose heads are cached.
const HEADS_MAX: usize = 64;
/// Guards cached per tenant: each save has the same few.
const HELD_GUARDS_MAX: usize = 16;

/// The heads of recently written tenants: read once, written once per transaction and kept between transactions.
/// INVARIANT: a cached head is valid only while no other connection writes, which `pragma data_version` tells
/// ([`HeadCache::drop_if_outdated`]). Nothing from a failed transaction may stay in the cache.
#[derive(Default)]
pub(super) struct HeadCache {
    cached: Vec<CachedHead>,
    /// `pragma data_version` at the time of caching; it changes when another connection commits.
    version: Option<i64>,
}

struct CachedHead {
    head: Head,
    /// Differs from its row in `heads`.
    is_changed: bool,
    /// Written to its row since [`HeadCache::take_saved`].
    is_saved: bool,
    /// Guards on record rows that held, valid until a record row is written.
    held_guards: Vec<Guard>,
}

impl HeadCache {
    /// Called inside the transaction: only then can no other connection write any more.
    pub(super) fn drop_if_outdated(&mut self, conn: &Connection) -> Result<(), Fault> {
        let version = conn.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        // Dropping all is simpler than evicting some, and rare.
        if self.version != Some(version) || self.cached.len() > HEADS_MAX {
            self.cached.clear();
        }
        self.version = Some(version);
        Ok(())
    }

    fn head_for(&mut self, conn: &Connection, tenant: TenantId) -> Result<&mut CachedHead, Fault> {
        let found = self.cached.iter().position(|cached| cached.head.tenant == tenant);
        let at = match found {
            Some(at) => at,
            None => {
                self.cached.push(CachedHead {
                    head: Head::load(conn, tenant)?,
                    is_changed: false,
                    is_saved: false,
                    held_guards: Vec::new(),
                });
                self.cached.len() - 1
            }
        };
        Ok(&mut self.cached[at])
    }

    pub(super) fn save_changed(&mut self, conn: &Connection) -> Result<(), Fault> {
        for cached in self.cached.iter_mut().filter(|cached| cached.is_changed) {
            cached.head.save(conn)?;
            cached.is_changed = false;
            cached.is_saved = true;
        }
        Ok(())
    }

    /// The heads that were saved since the last call; after a commit.
    pub(super) fn take_saved(&mut self) -> impl Iterator<Item = &Head> {
        self.cached.iter_mut().filter_map(|cached| std::mem::take(&mut cached.is_saved).then_some(&cached.head))
    }
}

/// Applies a change to a copy of the head, so that a failed change leaves the cached one as it was.
pub(super) fn apply_change(conn: &Connection, heads: &mut HeadCache, change: &Change) -> Result<CommitResult, Fault> {
    let cached = heads.head_for(conn, change.tenant)?;
    let mut head = cached.head.clone();
    let committed = write_change(conn, &mut head, &mut cached.held_guards, change)?;
    cached.is_changed |= head != cached.head;
    cached.head = head;
    Ok(committed)
}

fn write_change(
    conn: &Connection,
    head: &mut Head,
    held_guards: &mut Vec<Guard>,
    change: &Change,
) -> Result<CommitResult, Fault> {
    for guard in &change.guards {
        if held_guards.contains(guard) {
            continue;
        }
        if !guards::guard_holds(conn, head, guard)? {
            return Err(StoreError::Guard(guard.clone()).into());
        }
        if is_reusable_guard(guard) && held_guards.len() < HELD_GUARDS_MAX {
            held_guards.push(guard.clone());
        }
    }
    // Before the writes: where one fails half-way, the guards must not stay cached either.
    if change.writes.iter().any(writes_rows) {
        held_guards.clear();
    }
    let mut committed = CommitResult::default();
    let mut digests = WriteDigests::default();
    for write in &change.writes {
        committed.erased_count += apply_write(conn, head, change, write, &mut digests)?;
    }
    if change.events.is_empty() && !digests.is_empty() {
        // Not the number of the call's event: nobody may read this one.
        events::append_event(conn, head, &EventBody::recorded(change.at), &digests)?;
    }
    if let Some((last, before)) = change.events.split_last() {
        for happening in before {
            events::append_event(conn, head, happening, &WriteDigests::default())?;
        }
        committed.last_event_seq = events::append_event(conn, head, last, &digests)?;
    }
    Ok(committed)
}

/// Guards that save after save repeats: the state of a store, and the number of records in a state.
fn is_reusable_guard(guard: &Guard) -> bool {
    matches!(guard, Guard::RowInState { kind: RowKind::Stores, .. } | Guard::RowCountIs { .. })
}

fn writes_rows(write: &Write) -> bool {
    match write {
        Write::Row(_) | Write::TouchRow(_) | Write::DeleteRow { .. } => true,
        Write::Entry(_)
        | Write::CountRecalls { .. }
        | Write::CountRunSave { .. }
        | Write::Redact { .. }
        | Write::Erase { .. }
        | Write::SetEmbedding { .. }
        | Write::Adopt(_)
        | Write::Rebuild(_)
        | Write::RecountPlaces => false,
    }
}

/// Whether a change removes text that must not stay anywhere in the files.
pub(super) fn erases_text(change: &Change) -> bool {
    change.writes.iter().any(|write| matches!(write, Write::Redact { .. } | Write::Erase { .. }))
}

/// Returns the number of erased memories.
fn apply_write(
    conn: &Connection,
    head: &mut Head,
    change: &Change,
    write: &Write,
    digests: &mut WriteDigests,
) -> Result<u64, Fault> {
    let tenant = change.tenant;
    // These change the same counters by SQL, so the pending ones must be in the row.
    if matches!(
        write,
        Write::Redact { .. }
            | Write::Erase { .. }
            | Write::SetEmbedding { .. }
            | Write::Rebuild(_)
            | Write::RecountPlaces
    ) {
        head.flush_counts(conn)?;
    }
    match write {
        Write::Entry(entry) => entry::write_entry(conn, head, entry, digests)?,
        Write::Row(row) => {
            let body = to_json(&row.body)?;
            records::upsert_row(conn, tenant, row, &body)?;
            digests.add_row(&RowColumns { body_text: Some(&body), ..row_columns(row) });
        }
        Write::TouchRow(row) => records::touch_row(conn, tenant, row)?,
        Write::DeleteRow { kind, id } => {
            records::delete_row(conn, tenant, *kind, id)?;
            digests.add_row_deletion(*kind, id);
        }
        Write::CountRecalls { memories, fading } => record_recalls(conn, change, memories, fading)?,
        Write::CountRunSave { run } => count_run_save(conn, tenant, run)?,
        Write::Redact { memory, versions } => {
            erase::redact_versions(conn, head, change.at, *memory, versions, digests)?
        }
        Write::Erase { place } => {
            // Erasing deletes the scope row, so its cached id is invalid.
            head.last_place = None;
            return erase::erase_place(conn, tenant, change.at, place, digests);
        }
        Write::SetEmbedding { memory, version, embedding } => {
            entry::set_embedding(conn, head, *memory, *version, embedding)?
        }
        Write::Adopt(writes) => writes.iter().for_each(|write| digests.add(write)),
        Write::Rebuild(memories) => rebuild::rebuild_memories(conn, head, memories)?,
        Write::RecountPlaces => rebuild::recount_places(conn, head)?,
    }
    Ok(0)
}

fn record_recalls(conn: &Connection, change: &Change, memories: &[MemoryId], fading: &[MemoryId]) -> Result<(), Fault> {
    let (tenant, at) = (id_bytes(change.tenant.0), to_micros(change.at));
    // An episode fades from its last recall on. Before `recalls` is updated: the term needs the previous time.
    let mut fade = conn.prepare_cached(
        "update memories
         set fade = fade + ?4 * (?3 - coalesce(
           (select r.last from recalls r where r.tenant = memories.tenant and r.memory = memories.id), created_at))
         where tenant = ?1 and id = ?2 and layer = 'episodic'",
    )?;
    for memory in fading {
        fade.execute((tenant, id_bytes(memory.0), at, FADE_PER_MICROSECOND))?;
    }
    let mut increment = conn.prepare_cached(
        "update recalls set count = count + 1, last = max(last, ?3) where tenant = ?1 and memory = ?2",
    )?;
    // Selected from `memories`, so that a memory erased since its recall gets no counter.
    let mut insert = conn.prepare_cached(
        "insert into recalls (tenant, memory, count, last)
         select tenant, id, 1, ?3
         from memories
         where tenant = ?1 and id = ?2",
    )?;
    for memory in memories {
        if increment.execute((tenant, id_bytes(memory.0), at))? == 0 {
            insert.execute((tenant, id_bytes(memory.0), at))?;
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
        conn.prepare_cached(
            "select event_seq, event_hash, recall_seq, scope_seq, covered_from from heads where tenant = ?1",
        )?
        .query_row([id_bytes(tenant.0)], |row| {
            Ok(Head {
                tenant,
                event_seq: row.get(0)?,
                event_hash: row.get(1)?,
                recall_seq: row.get(2)?,
                scope_seq: row.get(3)?,
                covered_from: row.get(4)?,
                last_place: None,
                pending: None,
            })
        })
        .optional()?
        .ok_or_else(|| Fault::corrupt(format!("tenant `{tenant}` has no row in `heads`")))
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

    /// Counts an entry written to a scope under `seq`; `live` is the difference in active memories.
    pub(super) fn count_entry(&mut self, conn: &Connection, scope: i64, seq: u64, live: i64) -> Result<(), Fault> {
        if self.pending.is_some_and(|pending| pending.scope != scope) {
            self.flush_counts(conn)?;
        }
        let counted = self.pending.map_or(0, |pending| pending.live);
        self.pending = Some(PendingCounts { scope, seq, live: counted + live });
        Ok(())
    }

    /// The state of a scope, with the counters not written yet.
    pub(super) fn with_pending_counts(&self, scope: i64, state: PlaceState) -> PlaceState {
        match self.pending {
            Some(pending) if pending.scope == scope => {
                PlaceState { generation: pending.seq, live: state.live.saturating_add_signed(pending.live) }
            }
            _ => state,
        }
    }

    /// Writes the pending counters to the scope row.
    pub(super) fn flush_counts(&mut self, conn: &Connection) -> Result<(), Fault> {
        let Some(PendingCounts { scope, seq, live }) = self.pending.take() else { return Ok(()) };
        // The generation is taken from a sequence that only grows, so a place that was erased and created again never
        // has the generation of the old one.
        conn.prepare_cached(
            "update scopes
             set generation = ?3, recall_seq = ?3, live = live + ?4
             where tenant = ?1 and id = ?2",
        )?
        .execute((id_bytes(self.tenant.0), scope, seq, live))?;
        Ok(())
    }

    /// The next sequence number of the recall index, above every row in it.
    pub(super) fn next_recall_seq(&mut self) -> u64 {
        self.recall_seq += 1;
        self.recall_seq
    }

    /// Scope id of a place; `None` where it was never written to.
    pub(super) fn scope_id(&mut self, conn: &Connection, place: &Place) -> Result<Option<i64>, Fault> {
        if let Some(cached) = self.last_place.as_ref().filter(|cached| cached.0 == *place) {
            return Ok(Some(cached.1));
        }
        let found = scopes::find_scope_id(conn, self.tenant, place)?;
        self.last_place = found.map(|id| Arc::new((place.clone(), id)));
        Ok(found)
    }

    /// A scope id that was never used before: an index partition of an erased place must not be taken for the new one.
    pub(super) fn next_scope_id(&mut self) -> i64 {
        self.scope_seq += 1;
        self.scope_seq
    }
}
