//! A memory with its new version: the row it is found by, the version that holds it, its words and vector.

use engine::gate::VersionedEntry;
use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::Memory;
use engine::model::snapshot::Snapshot;
use engine::model::vector::Embedding;
use engine::model::vocabulary::State;
use engine::ports::StoreError;
use engine::ports::change::{Guard, Place};
use engine::text::words::IndexedWords;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{CurrentState, Head};
use super::fault::Fault;
use super::recall;
use super::row_codec::{Statement, params, read_column, to_json, to_micros};
use crate::matching::memory_fade_key;

/// What matters of the version before.
#[derive(Clone)]
pub(super) struct PreviousVersion {
    pub(super) version: Uuid,
    number: i64,
    live: bool,
    sha256: String,
    len: i64,
}

impl PreviousVersion {
    /// From the columns that start at `at`.
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

    /// What it adds to its scope's counters.
    fn scope_counts(&self) -> (i64, i64) {
        if self.live { (1, self.len) } else { (0, 0) }
    }
}

/// The columns [`Before::read`] reads, of a memory `m` and its row `c` of the recall index.
pub(super) const PREVIOUS_COLUMNS: &str = "m.version, m.number, m.state = 'active', m.sha256, c.len::bigint";

/// Counted tokens, as the index keeps them: what was forgotten is found by nothing.
fn indexed_len(entry: &VersionedEntry) -> i64 {
    if entry.memory().state == State::Tombstoned { 0 } else { i64::from(entry.words().len) }
}

pub(super) fn entry_place(entry: &VersionedEntry) -> Place {
    Place { store: entry.memory().store.clone(), scope: entry.memory().scope.clone() }
}

/// What stands of the memory.
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
    world: &mut CurrentState,
    steps: &mut Vec<Statement>,
    entry: &VersionedEntry,
) -> Result<(), Fault> {
    let memory = entry.memory();
    let before = match entry.previous() {
        None => None,
        Some(previous) => Some(check_previous(world, memory, previous)?),
    };
    let place = entry_place(entry);
    let scope = match world.scopes.get(&place) {
        Some(scope) => *scope,
        None => {
            let scope = head.next_scope_id();
            steps.push(insert_scope(head, scope, &place));
            world.scopes.insert(place, scope);
            scope
        }
    };
    steps.push(write_memory_row(scope, memory, entry.previous().is_some()));
    steps.push(insert_version(entry)?);
    write_tags(steps, memory, before.is_some());
    let seq = head.next_recall_seq();
    let after = PreviousVersion::from_entry(entry);
    let (old, new) = (before.as_ref().map_or((0, 0), PreviousVersion::scope_counts), after.scope_counts());
    steps.push(update_scope_counts(memory, scope, seq, (new.0 - old.0, new.1 - old.1)));
    let keep = entry.embedding().is_none() && before.is_some_and(|before| before.sha256 == memory.sha256);
    steps.push(write_recall_row(scope, seq, entry, keep));
    world.versions.insert(memory.id, after);
    if world.redacts {
        world.snapshots.insert(memory.version.0, (memory.clone(), entry.evidence().to_vec()));
    }
    Ok(())
}

/// INVARIANT: a version follows the one that stands; anything else came second.
fn check_previous(world: &CurrentState, memory: &Memory, previous: VersionId) -> Result<PreviousVersion, Fault> {
    let number = i64::from(memory.version_number.saturating_sub(1));
    let lost = || StoreError::Guard(Guard::VersionIs { memory: memory.id, version: previous });
    let before = world.versions.get(&memory.id);
    Ok(before.filter(|before| before.version == previous.0 && before.number == number).cloned().ok_or_else(lost)?)
}

fn insert_scope(head: &Head, scope: i64, place: &Place) -> Statement {
    let (first, second) = place.scope.name_columns();
    Statement::new(
        "insert into scopes (tenant, id, store, kind, first, second)
         values ($1, $2, $3, $4, $5, $6)",
        params![head.tenant.0, scope, &place.store, place.scope.kind().as_str(), first, second],
    )
}

fn write_memory_row(scope: i64, memory: &Memory, stands: bool) -> Statement {
    let sql = if stands {
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

/// The only rule a write of the narrow row can break is the path's: somebody else stands there.
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

fn insert_version(entry: &VersionedEntry) -> Result<Statement, Fault> {
    let (memory, stamp) = (entry.memory(), entry.stamp());
    Ok(Statement::new(
        "insert into versions (tenant, memory, number, id, operation, snapshot, content, sha256, previous, actor, run,
           conversation, reason, evidence, at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        params![
            memory.tenant.0,
            memory.id.0,
            i64::from(memory.version_number),
            stamp.version.0,
            entry.operation().as_str(),
            to_json(&Snapshot(memory))?,
            &memory.content,
            &memory.sha256,
            entry.previous().map(|id| id.0),
            &stamp.actor,
            stamp.run.clone(),
            stamp.conversation.clone(),
            stamp.reason.clone(),
            to_json(&entry.evidence())?,
            to_micros(stamp.at),
        ],
    ))
}

fn write_tags(steps: &mut Vec<Statement>, memory: &Memory, replace: bool) {
    let (tenant, id) = (memory.tenant.0, memory.id.0);
    if replace {
        steps.push(Statement::new("delete from tags where tenant = $1 and memory = $2", params![tenant, id]));
    }
    if !memory.tags.is_empty() {
        steps.push(Statement::new(
            "insert into tags (tenant, memory, tag) select $1, $2, unnest($3) on conflict do nothing",
            params![tenant, id, memory.tags.clone()],
        ));
    }
}

fn update_scope_counts(memory: &Memory, scope: i64, seq: i64, (live, len): (i64, i64)) -> Statement {
    // The generation is a number that only grows, so a place that was erased and made anew is never taken for the old.
    Statement::new(
        "update scopes
         set generation = $3, live = live + $4, live_len = live_len + $5
         where tenant = $1 and id = $2",
        params![memory.tenant.0, scope, seq, live, len],
    )
}

/// The row of the recall index, under a fresh number. `keep`: the vector that is there is still right.
fn write_recall_row(scope: i64, seq: i64, entry: &VersionedEntry, keep: bool) -> Statement {
    let memory = entry.memory();
    // What was forgotten is found by nothing.
    let gone = memory.state == State::Tombstoned;
    let embedding = entry.embedding().filter(|_| !gone);
    let none = IndexedWords::default();
    let words = if gone { &none } else { entry.words() };
    let (once, often, times, len) = recall::word_columns(words);
    let kept = |column: &str| match keep && !gone {
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
        kept("model"),
        kept("scale"),
        kept("vector")
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

/// Sets a vector that was missing, if the version it was made from still stands.
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
