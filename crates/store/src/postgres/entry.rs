//! Statements that write a memory with its new version: its row in `memories`, the version itself, its tags, and its
//! row of the recall index.

use engine::gate::VersionedEntry;
use engine::model::error::StoreError;
use engine::model::guard::{Guard, Place};
use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::Memory;
use engine::model::snapshot::Snapshot;
use engine::model::vector::Embedding;
use engine::model::vocabulary::State;
use engine::text::words::IndexedWords;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{CurrentState, Head};
use super::fault::Fault;
use super::recall;
use super::row_codec::{Statement, params, read_column, to_json, to_micros};
use crate::digests::{to_scanned_version, version_columns};
use crate::matching::memory_fade_key;

/// The parts of the stored version that the next one needs.
#[derive(Clone)]
pub(super) struct PreviousVersion {
    pub(super) version: Uuid,
    number: i64,
    live: bool,
    sha256: String,
    /// Counted tokens in the recall index.
    len: i64,
}

impl PreviousVersion {
    /// Reads [`PREVIOUS_COLUMNS`], which start at column `at`.
    pub(super) fn from_row(row: &Row, at: usize) -> Result<PreviousVersion, Fault> {
        Ok(PreviousVersion {
            version: read_column(row, at)?,
            number: read_column(row, at + 1)?,
            live: read_column(row, at + 2)?,
            sha256: read_column(row, at + 3)?,
            len: read_column(row, at + 4)?,
        })
    }

    fn from_entry(entry: &VersionedEntry) -> PreviousVersion {
        let memory = entry.memory();
        PreviousVersion {
            version: memory.version.0,
            number: i64::from(memory.version_number),
            live: memory.state.is_live(),
            sha256: memory.sha256.clone(),
            len: indexed_len(entry),
        }
    }

    /// Its share of the scope's counters: active memories and their length.
    fn scope_counts(&self) -> (i64, i64) {
        if self.live { (1, self.len) } else { (0, 0) }
    }
}

/// The columns [`PreviousVersion::from_row`] reads, of a memory `m` and its row `c` of the recall index.
pub(super) const PREVIOUS_COLUMNS: &str = "m.version, m.number, m.state = 'active', m.sha256, c.len::bigint";

/// Counted tokens in the recall index: zero for a forgotten memory, which has no words there.
fn indexed_len(entry: &VersionedEntry) -> i64 {
    if entry.memory().state == State::Tombstoned { 0 } else { i64::from(entry.words().len) }
}

pub(super) fn entry_place(entry: &VersionedEntry) -> Place {
    Place { store: entry.memory().store.clone(), scope: entry.memory().scope.clone() }
}

/// Query for the current version of the memory.
pub(super) fn previous_query(entry: &VersionedEntry) -> Statement {
    Statement::new(
        format!(
            "select {PREVIOUS_COLUMNS}
             from memories m
             join recall c on c.tenant = m.tenant and c.memory = m.id
             where m.tenant = $1 and m.id = $2"
        ),
        params![entry.memory().tenant.0, entry.memory().id.0],
    )
}

pub(super) fn write_entry(
    head: &mut Head,
    state: &mut CurrentState,
    statements: &mut Vec<Statement>,
    entry: &VersionedEntry,
) -> Result<(), Fault> {
    let memory = entry.memory();
    let previous_row = match entry.previous() {
        None => None,
        Some(previous) => Some(check_previous(state, memory, previous)?),
    };
    let place = entry_place(entry);
    // Taken from the plan's own state: an earlier write of this change may have created or erased the place.
    let scope = match state.scopes.get(&place) {
        Some(scope) => *scope,
        None => {
            let scope = head.next_scope_id();
            statements.push(insert_scope(head, scope, &place));
            state.scopes.insert(place, scope);
            scope
        }
    };
    // Before the version, which refers to it.
    statements.push(write_memory_row(scope, memory, entry.previous().is_some()));
    let (snapshot, evidence) = (to_json(&Snapshot(memory))?, to_json(&entry.evidence())?);
    let columns = version_columns(entry, &snapshot, &evidence);
    state.digests.add_version(&columns);
    if state.redacts {
        state.snapshots.insert(memory.version.0, to_scanned_version(&columns));
    }
    statements.push(insert_version(entry, snapshot, evidence));
    write_tags(statements, memory, previous_row.is_some());
    let seq = head.next_recall_seq();
    let after = PreviousVersion::from_entry(entry);
    let (old, new) = (previous_row.as_ref().map_or((0, 0), PreviousVersion::scope_counts), after.scope_counts());
    statements.push(update_scope_counts(memory, scope, seq, (new.0 - old.0, new.1 - old.1)));
    // The content is the same, so its vector still fits.
    let keep_vector =
        entry.embedding().is_none() && previous_row.is_some_and(|previous_row| previous_row.sha256 == memory.sha256);
    statements.push(write_recall_row(scope, seq, memory, entry.words(), entry.embedding(), keep_vector));
    // A later write of the same change follows this version, which the database does not show yet.
    state.versions.insert(memory.id, after);
    Ok(())
}

/// INVARIANT: a version follows the current one. Where the current one is another, a concurrent write came first.
fn check_previous(state: &CurrentState, memory: &Memory, previous: VersionId) -> Result<PreviousVersion, Fault> {
    let number = i64::from(memory.version_number.saturating_sub(1));
    let conflict = || StoreError::Guard(Guard::VersionIs { memory: memory.id, version: previous });
    let previous_row = state.versions.get(&memory.id);
    Ok(previous_row
        .filter(|previous_row| previous_row.version == previous.0 && previous_row.number == number)
        .cloned()
        .ok_or_else(conflict)?)
}

pub(super) fn insert_scope(head: &Head, scope: i64, place: &Place) -> Statement {
    let (first, second) = place.scope.name_columns();
    Statement::new(
        "insert into scopes (tenant, id, store, kind, first, second)
         values ($1, $2, $3, $4, $5, $6)",
        params![head.tenant.0, scope, &place.store, place.scope.kind().as_str(), first, second],
    )
}

pub(super) fn write_memory_row(scope: i64, memory: &Memory, exists: bool) -> Statement {
    let sql = if exists {
        "update memories
         set scope = $3, state = $4, kind = $5, layer = $6, trust = $7, path = $8, sha256 = $9, always_inject = $10,
           importance = $11, session = $12, expires_at = $13, created_at = $14, updated_at = $15, number = $16,
           version = $17, summary = $18, author = $19, fade = $20, turn = $21
         where tenant = $1 and id = $2"
    } else {
        "insert into memories (tenant, id, scope, state, kind, layer, trust, path, sha256, always_inject, importance,
           session, expires_at, created_at, updated_at, number, version, summary, author, fade, turn)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)"
    };
    Statement::new(
        sql,
        params![
            memory.tenant.0,
            memory.id.0,
            scope,
            memory.state.as_str(),
            memory.kind.as_str(),
            memory.layer.as_str(),
            memory.trust.as_str(),
            memory.path.clone(),
            &memory.sha256,
            memory.always_inject,
            memory.importance,
            memory.session.clone(),
            memory.expires_at.map(to_micros),
            to_micros(memory.created_at),
            to_micros(memory.updated_at),
            i64::from(memory.version_number),
            memory.version.0,
            memory.summary_line().to_lowercase(),
            &memory.author,
            memory_fade_key(memory),
            memory.turn.map(i64::from),
        ],
    )
}

/// The only constraint a write of these rows can violate is the unique path: another active memory has it. Statements
/// are pipelined, so the error does not tell which entry of the change it was; the last one with a path is named.
pub(super) fn map_path_conflict(fault: Fault, change: &engine::ports::change::Change) -> Fault {
    let mut paths = change.writes.iter().filter_map(|write| match write {
        engine::ports::change::Write::Entry(entry) => {
            entry.memory().path.clone().map(|path| (entry_place(entry), path))
        }
        _ => None,
    });
    match paths.next_back() {
        Some((place, path)) if fault.is_unique_violation() => StoreError::Guard(Guard::PathFree { place, path }).into(),
        _ => fault,
    }
}

fn insert_version(entry: &VersionedEntry, snapshot: String, evidence: String) -> Statement {
    let (memory, stamp) = (entry.memory(), entry.stamp());
    Statement::new(
        "insert into versions (tenant, memory, number, id, operation, snapshot, content, sha256, previous, actor, run,
           conversation, reason, evidence, at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        params![
            memory.tenant.0,
            memory.id.0,
            i64::from(memory.version_number),
            stamp.version.0,
            entry.operation().as_str(),
            snapshot,
            &memory.content,
            &memory.sha256,
            entry.previous().map(|id| id.0),
            &stamp.actor,
            stamp.run.clone(),
            stamp.conversation.clone(),
            stamp.reason.clone(),
            evidence,
            to_micros(stamp.at),
        ],
    )
}

pub(super) fn write_tags(statements: &mut Vec<Statement>, memory: &Memory, replace: bool) {
    let (tenant, id) = (memory.tenant.0, memory.id.0);
    if replace {
        statements.push(Statement::new("delete from tags where tenant = $1 and memory = $2", params![tenant, id]));
    }
    if !memory.tags.is_empty() {
        statements.push(Statement::new(
            "insert into tags (tenant, memory, tag) select $1, $2, unnest($3) on conflict do nothing",
            params![tenant, id, memory.tags.clone()],
        ));
    }
}

fn update_scope_counts(memory: &Memory, scope: i64, seq: i64, (live, len): (i64, i64)) -> Statement {
    // The generation is taken from a sequence that only grows, so a place that was erased and created again never has
    // the generation of the old one.
    Statement::new(
        "update scopes
         set generation = $3, live = live + $4, live_len = live_len + $5
         where tenant = $1 and id = $2",
        params![memory.tenant.0, scope, seq, live, len],
    )
}

/// Writes the row of the recall index under a new sequence number. `keep_vector`: the stored vector stays.
pub(super) fn write_recall_row(
    scope: i64,
    seq: i64,
    memory: &Memory,
    words: &IndexedWords,
    embedding: Option<&Embedding>,
    keep_vector: bool,
) -> Statement {
    // A forgotten memory has no words and no vector.
    let is_forgotten = memory.state == State::Tombstoned;
    let embedding = embedding.filter(|_| !is_forgotten);
    let no_words = IndexedWords::default();
    let words = if is_forgotten { &no_words } else { words };
    let (once, often, times, len) = recall::word_columns(words);
    let assign = |column: &str| match keep_vector && !is_forgotten {
        true => format!("{column} = recall.{column}"),
        false => format!("{column} = excluded.{column}"),
    };
    let sql = format!(
        "insert into recall (tenant, memory, scope, seq, number, state, kind, layer, trust, author, updated_at,
           expires_at, once, often, times, len, model, scale, vector)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
         on conflict (tenant, memory) do update
         set scope = excluded.scope, seq = excluded.seq, number = excluded.number, state = excluded.state,
           kind = excluded.kind, layer = excluded.layer, trust = excluded.trust, author = excluded.author,
           updated_at = excluded.updated_at, expires_at = excluded.expires_at, once = excluded.once,
           often = excluded.often, times = excluded.times, len = excluded.len, {}, {}, {}",
        assign("model"),
        assign("scale"),
        assign("vector")
    );
    Statement::new(
        sql,
        params![
            memory.tenant.0,
            memory.id.0,
            scope,
            seq,
            i64::from(memory.version_number),
            memory.state.as_str(),
            memory.kind.as_str(),
            memory.layer.as_str(),
            memory.trust.as_str(),
            &memory.author,
            to_micros(memory.updated_at),
            memory.expires_at.map(to_micros),
            once,
            often,
            times,
            len,
            embedding.map(|embedding| embedding.model.clone()),
            embedding.map(|embedding| embedding.vector.scale),
            embedding.map(|embedding| recall::vector_column(&embedding.vector)),
        ],
    )
}

/// Sets a missing vector, if the version it was computed from is still the current one.
pub(super) fn set_embedding(head: &mut Head, memory: MemoryId, version: VersionId, embedding: &Embedding) -> Statement {
    Statement::new(
        "update recall
         set seq = $4, model = $5, scale = $6, vector = $7
         where tenant = $1 and memory = $2 and state <> 'tombstoned'
           and exists (select 1 from memories m where m.tenant = $1 and m.id = $2 and m.version = $3)",
        params![
            head.tenant.0,
            memory.0,
            version.0,
            head.next_recall_seq(),
            &embedding.model,
            embedding.vector.scale,
            recall::vector_column(&embedding.vector)
        ],
    )
}
