//! Writes a memory with its new version: its row in `memories`, the version itself, and its row of the recall index.

use engine::gate::VersionedEntry;
use engine::model::error::StoreError;
use engine::model::guard::{Guard, Place};
use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::Memory;
use engine::model::snapshot::Snapshot;
use engine::model::vector::Embedding;
use engine::model::vocabulary::State;
use engine::model::write_digest::WriteDigests;
use engine::text::words::IndexedWords;
use rusqlite::{Connection, OptionalExtension};

use super::commit::Head;
use super::fault::Fault;
use super::row_codec::{id_bytes, to_json, to_micros};
use super::scopes;
use crate::digests::version_columns;
use crate::matching::memory_fade_key;

pub(super) fn write_entry(
    conn: &Connection,
    head: &mut Head,
    entry: &VersionedEntry,
    digests: &mut WriteDigests,
) -> Result<(), Fault> {
    let memory = entry.memory();
    let scope = scopes::ensure_scope(conn, head, &memory.store, &memory.scope)?;
    let previous_row = match entry.previous() {
        None => None,
        Some(previous) => Some(check_previous(conn, memory, previous)?),
    };
    let seq = head.next_recall_seq();
    write_memory_row(conn, scope, seq, memory, entry.previous().is_some())
        .map_err(|fault| map_path_conflict(fault, memory))?;
    insert_version(conn, entry, digests)?;
    let live = i64::from(memory.state.is_live())
        - previous_row.as_ref().map_or(0, |previous_row| i64::from(previous_row.live));
    head.count_entry(conn, scope, seq, live)?;
    write_recall_row(conn, scope, seq, entry, previous_row)
}

/// The parts of the stored version that the next one needs.
struct PreviousVersion {
    live: bool,
    sha256: String,
    /// Key of its row in the recall index, with `recall_seq`.
    scope: i64,
    recall_seq: u64,
}

/// INVARIANT: a version follows the current one. Where the current one is another, a concurrent write came first.
fn check_previous(conn: &Connection, memory: &Memory, previous: VersionId) -> Result<PreviousVersion, Fault> {
    conn.prepare_cached(
        "select state = 'active', sha256, scope, recall_seq
         from memories
         where tenant = ?1 and id = ?2 and version = ?3 and number = ?4",
    )?
    .query_row(
        (
            id_bytes(memory.tenant.0),
            id_bytes(memory.id.0),
            id_bytes(previous.0),
            memory.version_number.saturating_sub(1),
        ),
        |row| {
            Ok(PreviousVersion { live: row.get(0)?, sha256: row.get(1)?, scope: row.get(2)?, recall_seq: row.get(3)? })
        },
    )
    .optional()?
    .ok_or_else(|| StoreError::Guard(Guard::VersionIs { memory: memory.id, version: previous }).into())
}

pub(super) fn write_memory_row(
    conn: &Connection,
    scope: i64,
    seq: u64,
    memory: &Memory,
    exists: bool,
) -> Result<(), Fault> {
    let sql = match exists {
        false => {
            "insert into memories (tenant, id, scope, state, kind, layer, trust, path, sha256, always_inject,
               importance, session, expires_at, created_at, updated_at, number, version, summary, author, fade, turn,
               tags, recall_seq)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
               ?22, ?23)"
        }
        true => {
            "update memories
             set scope = ?3, state = ?4, kind = ?5, layer = ?6, trust = ?7, path = ?8, sha256 = ?9,
               always_inject = ?10, importance = ?11, session = ?12, expires_at = ?13, created_at = ?14,
               updated_at = ?15, number = ?16, version = ?17, summary = ?18, author = ?19, fade = ?20, turn = ?21,
               tags = ?22, recall_seq = ?23
             where tenant = ?1 and id = ?2"
        }
    };
    conn.prepare_cached(sql)?.execute(rusqlite::params![
        id_bytes(memory.tenant.0),
        id_bytes(memory.id.0),
        scope,
        memory.state.as_str(),
        memory.kind.as_str(),
        memory.layer.as_str(),
        memory.trust.as_str(),
        memory.path,
        memory.sha256,
        memory.always_inject,
        memory.importance,
        memory.session,
        memory.expires_at.map(to_micros),
        to_micros(memory.created_at),
        to_micros(memory.updated_at),
        memory.version_number,
        id_bytes(memory.version.0),
        memory.summary_line().to_lowercase(),
        memory.author,
        memory_fade_key(memory),
        memory.turn,
        to_json(&memory.tags)?,
        seq,
    ])?;
    Ok(())
}

/// The only constraint a write of this row can violate is the unique path: another active memory has it.
fn map_path_conflict(fault: Fault, memory: &Memory) -> Fault {
    match &memory.path {
        Some(path) if fault.is_constraint_violation() => {
            let place = Place { store: memory.store.clone(), scope: memory.scope.clone() };
            StoreError::Guard(Guard::PathFree { place, path: path.clone() }).into()
        }
        _ => fault,
    }
}

fn insert_version(conn: &Connection, entry: &VersionedEntry, digests: &mut WriteDigests) -> Result<(), Fault> {
    let (memory, stamp) = (entry.memory(), entry.stamp());
    let (snapshot, evidence) = (to_json(&Snapshot(memory))?, to_json(&entry.evidence())?);
    digests.add_version(&version_columns(entry, &snapshot, &evidence));
    conn.prepare_cached(
        "insert into versions (tenant, memory, number, id, operation, snapshot, content, sha256, previous, actor, run,
           conversation, reason, evidence, at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(rusqlite::params![
        id_bytes(memory.tenant.0),
        id_bytes(memory.id.0),
        memory.version_number,
        id_bytes(stamp.version.0),
        entry.operation().as_str(),
        snapshot,
        memory.content,
        memory.sha256,
        entry.previous().map(|id| id_bytes(id.0)),
        stamp.actor,
        stamp.run,
        stamp.conversation,
        stamp.reason,
        evidence,
        to_micros(stamp.at),
    ])?;
    Ok(())
}

/// Writes the row of the recall index under a new sequence number, which tells readers to load it.
fn write_recall_row(
    conn: &Connection,
    scope: i64,
    seq: u64,
    entry: &VersionedEntry,
    previous_row: Option<PreviousVersion>,
) -> Result<(), Fault> {
    let memory = entry.memory();
    let tenant = id_bytes(memory.tenant.0);
    let mut vector = entry.embedding().map(|embedding| (embedding.model.clone(), embedding.vector.to_bytes()));
    if let Some(previous_row) = previous_row {
        // The content is the same, so its vector still fits.
        if vector.is_none() && previous_row.sha256 == memory.sha256 {
            vector = conn
                .prepare_cached(
                    "select model, vector
                     from recall
                     where tenant = ?1 and scope = ?2 and seq = ?3 and model is not null",
                )?
                .query_row((tenant, previous_row.scope, previous_row.recall_seq), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
        }
        conn.prepare_cached("delete from recall where tenant = ?1 and scope = ?2 and seq = ?3")?.execute((
            tenant,
            previous_row.scope,
            previous_row.recall_seq,
        ))?;
    }
    insert_recall_row(conn, scope, seq, memory, entry.words(), vector)
}

/// `vector`: its model and bytes.
pub(super) fn insert_recall_row(
    conn: &Connection,
    scope: i64,
    seq: u64,
    memory: &Memory,
    words: &IndexedWords,
    vector: Option<(String, Vec<u8>)>,
) -> Result<(), Fault> {
    // A forgotten memory has no words and no vector. Its row stays, so that index partitions in memory drop the old
    // one.
    let is_forgotten = memory.state == State::Tombstoned;
    let (model, vector) = vector.filter(|_| !is_forgotten).unzip();
    conn.prepare_cached(
        "insert into recall (tenant, scope, seq, memory, number, state, kind, layer, trust, author, updated_at,
           expires_at, words, model, vector)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(rusqlite::params![
        id_bytes(memory.tenant.0),
        scope,
        seq,
        id_bytes(memory.id.0),
        memory.version_number,
        memory.state.as_str(),
        memory.kind.as_str(),
        memory.layer.as_str(),
        memory.trust.as_str(),
        memory.author,
        to_micros(memory.updated_at),
        memory.expires_at.map(to_micros),
        if is_forgotten { Vec::new() } else { words.to_bytes() },
        model,
        vector,
    ])?;
    Ok(())
}

/// Sets a missing vector, if the version it was computed from is still the current one.
pub(super) fn set_embedding(
    conn: &Connection,
    head: &mut Head,
    memory: MemoryId,
    version: VersionId,
    embedding: &Embedding,
) -> Result<(), Fault> {
    let is_current: bool = conn
        .prepare_cached(
            "select 1 from memories where tenant = ?1 and id = ?2 and version = ?3 and state <> 'tombstoned'",
        )?
        .exists((id_bytes(head.tenant.0), id_bytes(memory.0), id_bytes(version.0)))?;
    match is_current {
        true => reindex_memory(conn, head, memory, None, Some(embedding)),
        false => Ok(()),
    }
}

/// Moves a memory's row of the recall index to a new sequence number, with another vector and, where given, other
/// words. The scope's `recall_seq` moves too, so that index partitions in memory reload the row.
pub(super) fn reindex_memory(
    conn: &Connection,
    head: &mut Head,
    memory: MemoryId,
    words: Option<Vec<u8>>,
    embedding: Option<&Embedding>,
) -> Result<(), Fault> {
    let (tenant, id, seq) = (id_bytes(head.tenant.0), id_bytes(memory.0), head.next_recall_seq());
    let (model, vector) = embedding.map(|embedding| (&embedding.model, embedding.vector.to_bytes())).unzip();
    conn.prepare_cached(
        "update recall
         set seq = ?3, words = coalesce(?4, words), model = ?5, vector = ?6
         where (tenant, scope, seq) = (select tenant, scope, recall_seq from memories where tenant = ?1 and id = ?2)",
    )?
    .execute((tenant, id, seq, words, model, vector))?;
    conn.prepare_cached("update memories set recall_seq = ?3 where tenant = ?1 and id = ?2")?
        .execute((tenant, id, seq))?;
    conn.prepare_cached(
        "update scopes
         set recall_seq = ?3
         where tenant = ?1 and id = (select scope from memories where tenant = ?1 and id = ?2)",
    )?
    .execute((tenant, id, seq))?;
    Ok(())
}
