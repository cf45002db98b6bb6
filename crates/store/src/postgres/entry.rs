//! A memory with its new version: the row it is found by, the version that holds it, its words and vector.

use engine::gate::Entry;
use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::Memory;
use engine::model::snapshot::Snapshot;
use engine::model::vector::Embedding;
use engine::model::vocabulary::State;
use engine::ports::StoreError;
use engine::ports::change::{Guard, Place};
use engine::text::words::Words;
use tokio_postgres::Row;
use uuid::Uuid;

use super::commit::{Head, World};
use super::fault::Fault;
use super::recall;
use super::rows::{Step, column, micros, params, to_json};
use crate::matching::fade;

/// What matters of the version before.
#[derive(Clone)]
pub(super) struct Before {
    pub(super) version: Uuid,
    number: i64,
    live: bool,
    sha256: String,
    len: i64,
}

impl Before {
    /// From the columns that start at `at`.
    pub(super) fn read(row: &Row, at: usize) -> Result<Before, Fault> {
        Ok(Before {
            version: column(row, at)?,
            number: column(row, at + 1)?,
            live: column(row, at + 2)?,
            sha256: column(row, at + 3)?,
            len: column(row, at + 4)?,
        })
    }

    fn of(entry: &Entry) -> Before {
        let memory = entry.memory();
        Before {
            version: memory.version.0,
            number: i64::from(memory.version_number),
            live: memory.state.is_live(),
            sha256: memory.sha256.clone(),
            len: len(entry),
        }
    }

    /// What it adds to its scope's counters.
    fn counted(&self) -> (i64, i64) {
        if self.live { (1, self.len) } else { (0, 0) }
    }
}

/// The columns [`Before::read`] reads, of a memory `m` and its row `c` of the recall index.
pub(super) const BEFORE: &str = "m.version, m.number, m.state = 'active', m.sha256, c.len::bigint";

/// Counted tokens, as the index keeps them: what was forgotten is found by nothing.
fn len(entry: &Entry) -> i64 {
    if entry.memory().state == State::Tombstoned { 0 } else { i64::from(entry.words().len) }
}

pub(super) fn place(entry: &Entry) -> Place {
    Place { store: entry.memory().store.clone(), scope: entry.memory().scope.clone() }
}

/// What stands of the memory.
pub(super) fn question(entry: &Entry) -> Step {
    Step::new(
        format!(
            "select {BEFORE}
             from memories m
             join recall c on c.tenant = m.tenant and c.memory = m.id
             where m.tenant = $1 and m.id = $2"
        ),
        params![entry.memory().tenant.0, entry.memory().id.0],
    )
}

pub(super) fn write(head: &mut Head, world: &mut World, steps: &mut Vec<Step>, entry: &Entry) -> Result<(), Fault> {
    let memory = entry.memory();
    let before = match entry.previous() {
        None => None,
        Some(previous) => Some(standing(world, memory, previous)?),
    };
    let place = place(entry);
    let scope = match world.scopes.get(&place) {
        Some(scope) => *scope,
        None => {
            let scope = head.next_scope();
            steps.push(make_scope(head, scope, &place));
            world.scopes.insert(place, scope);
            scope
        }
    };
    steps.push(put(scope, memory, entry.previous().is_some()));
    steps.push(log(entry)?);
    tag(steps, memory, before.is_some());
    let seq = head.next_recall();
    let after = Before::of(entry);
    let (old, new) = (before.as_ref().map_or((0, 0), Before::counted), after.counted());
    steps.push(tally(memory, scope, seq, (new.0 - old.0, new.1 - old.1)));
    let keep = entry.embedding().is_none() && before.is_some_and(|before| before.sha256 == memory.sha256);
    steps.push(index(scope, seq, entry, keep));
    world.standing.insert(memory.id, after);
    if world.redacts {
        world.redacted.insert(memory.version.0, (memory.clone(), entry.evidence().to_vec()));
    }
    Ok(())
}

/// INVARIANT: a version follows the one that stands; anything else came second.
fn standing(world: &World, memory: &Memory, previous: VersionId) -> Result<Before, Fault> {
    let number = i64::from(memory.version_number.saturating_sub(1));
    let lost = || StoreError::Guard(Guard::VersionIs { memory: memory.id, version: previous });
    let before = world.standing.get(&memory.id);
    Ok(before.filter(|before| before.version == previous.0 && before.number == number).cloned().ok_or_else(lost)?)
}

fn make_scope(head: &Head, scope: i64, place: &Place) -> Step {
    let (first, second) = place.scope.names();
    Step::new(
        "insert into scopes (tenant, id, store, kind, first, second)
         values ($1, $2, $3, $4, $5, $6)",
        params![head.tenant.0, scope, &place.store, place.scope.kind().as_str(), first, second],
    )
}

fn put(scope: i64, memory: &Memory, stands: bool) -> Step {
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
    Step::new(
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
            memory.expires_at.map(micros),
            micros(memory.created_at),
            micros(memory.updated_at),
            i64::from(memory.version_number),
            memory.version.0,
            memory.summary().to_lowercase(),
            &memory.author,
            fade(memory),
            memory.turn.map(i64::from),
        ],
    )
}

/// The only rule a write of the narrow row can break is the path's: somebody else stands there.
pub(super) fn taken(fault: Fault, change: &engine::ports::change::Change) -> Fault {
    let mut paths = change.writes.iter().filter_map(|write| match write {
        engine::ports::change::Write::Entry(entry) => entry.memory().path.clone().map(|path| (place(entry), path)),
        _ => None,
    });
    match paths.next_back() {
        Some((place, path)) if fault.is_taken() => StoreError::Guard(Guard::PathFree { place, path }).into(),
        _ => fault,
    }
}

fn log(entry: &Entry) -> Result<Step, Fault> {
    let (memory, stamp) = (entry.memory(), entry.stamp());
    Ok(Step::new(
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
            micros(stamp.at),
        ],
    ))
}

fn tag(steps: &mut Vec<Step>, memory: &Memory, replace: bool) {
    let (tenant, id) = (memory.tenant.0, memory.id.0);
    if replace {
        steps.push(Step::new("delete from tags where tenant = $1 and memory = $2", params![tenant, id]));
    }
    if !memory.tags.is_empty() {
        steps.push(Step::new(
            "insert into tags (tenant, memory, tag) select $1, $2, unnest($3) on conflict do nothing",
            params![tenant, id, memory.tags.clone()],
        ));
    }
}

fn tally(memory: &Memory, scope: i64, seq: i64, (live, len): (i64, i64)) -> Step {
    // The generation is a number that only grows, so a place that was erased and made anew is never taken for the old.
    Step::new(
        "update scopes
         set generation = $3, live = live + $4, live_len = live_len + $5
         where tenant = $1 and id = $2",
        params![memory.tenant.0, scope, seq, live, len],
    )
}

/// The row of the recall index, under a fresh number. `keep`: the vector that is there is still right.
fn index(scope: i64, seq: i64, entry: &Entry, keep: bool) -> Step {
    let memory = entry.memory();
    // What was forgotten is found by nothing.
    let gone = memory.state == State::Tombstoned;
    let embedding = entry.embedding().filter(|_| !gone);
    let none = Words::default();
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
    Step::new(
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
            micros(memory.updated_at),
            memory.expires_at.map(micros),
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
pub(super) fn embed(head: &mut Head, memory: MemoryId, version: VersionId, embedding: &Embedding) -> Step {
    Step::new(
        "update recall
         set seq = $4, model = $5, scale = $6, vector = $7
         where tenant = $1 and memory = $2 and state <> 'tombstoned'
           and exists (select 1 from memories m where m.tenant = $1 and m.id = $2 and m.version = $3)",
        params![
            head.tenant.0,
            memory.0,
            version.0,
            head.next_recall(),
            &embedding.model,
            embedding.vector.scale,
            recall::vector_column(&embedding.vector)
        ],
    )
}
