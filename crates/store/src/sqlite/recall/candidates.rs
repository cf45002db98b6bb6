//! Loads the memories that the index chose, and those found by other means: by substring, by id, and turns beside the
//! best.

use std::collections::HashSet;

use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Address, Candidate, CandidateQuery, CandidateSet};
use engine::text::words::IndexedWords;
use rusqlite::{Connection, params_from_iter};

use super::partition::{PickedMemory, ScoringData};
use super::search::SearchPicks;
use crate::sqlite::fault::Fault;
use crate::sqlite::row_codec::{self, MEMORY_COLUMNS, id_bytes};
use crate::sqlite::scopes::VisibleScope;
use crate::sqlite::{filter, memories};

pub(super) fn load_candidates(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    scopes: &[VisibleScope],
    picks: SearchPicks,
) -> Result<CandidateSet, Fault> {
    let mut loaded: HashSet<[u8; 16]> = picks.memories.iter().map(|pick| pick.memory).collect();
    let mut candidates = load_picked(conn, readable, find, picks.memories)?;
    let neighbours = find_neighbours(conn, readable, find, &best_turns(&candidates, &picks.best))?;
    let more = find_by_substring(conn, readable, find, scopes)?
        .into_iter()
        .chain(neighbours)
        .chain(requested_ids(conn, readable, find)?);
    for memory in more.filter(|memory| loaded.insert(*memory)) {
        candidates.extend(load_by_id(conn, readable, find, memory)?);
    }
    // Access is decided by the engine's predicate on each memory, not by the index.
    candidates.retain(|candidate| readable.shows_memory(&candidate.memory));
    Ok(CandidateSet { candidates, stats: picks.stats, searched: scopes.len() as u64 })
}

/// Loads the memories chosen by the index, which holds their words and vectors; a one-shot partition holds neither.
fn load_picked(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    picks: Vec<PickedMemory>,
) -> Result<Vec<Candidate>, Fault> {
    let mut statement = conn.prepare_cached(&format!(
        "select {MEMORY_COLUMNS}
         from versions v
         left join recalls r on r.tenant = v.tenant and r.memory = v.memory
         where v.tenant = ?1 and v.memory = ?2 and v.number = ?3"
    ))?;
    let mut candidates = Vec::with_capacity(picks.len());
    for PickedMemory { memory, scoring } in picks {
        let Some(ScoringData { number, words, vector }) = scoring else {
            candidates.extend(load_by_id(conn, readable, find, memory)?);
            continue;
        };
        // By the number that the words belong to: the index may be ahead of this transaction.
        let mut rows = statement.query((id_bytes(readable.tenant.0), memory, number))?;
        if let Some(row) = rows.next()? {
            let vector = vector.filter(|_| find.vector.is_some());
            candidates.push(Candidate { memory: row_codec::read_memory(row)?, words, vector });
        }
    }
    Ok(candidates)
}

fn load_by_id(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    memory: [u8; 16],
) -> Result<Option<Candidate>, Fault> {
    let mut statement = conn.prepare_cached(&format!(
        "select {MEMORY_COLUMNS}, c.words, c.model, c.vector
         from memories m
         join versions v on v.tenant = m.tenant and v.memory = m.id and v.number = m.number
         join recall c on c.tenant = m.tenant and c.scope = m.scope and c.seq = m.recall_seq
         left join recalls r on r.tenant = m.tenant and r.memory = m.id
         where m.tenant = ?1 and m.id = ?2"
    ))?;
    let mut rows = statement.query((id_bytes(readable.tenant.0), memory))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let words = IndexedWords::from_bytes(row.get_ref(4)?.as_blob().map_err(Fault::corrupt)?).unwrap_or_default();
    let model = row.get_ref(5)?.as_str_or_null().map_err(Fault::corrupt)?;
    let query_model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
    // Vectors of different models cannot be compared.
    let vector = match model.is_some() && model == query_model {
        true => row.get_ref(6)?.as_blob_or_null().map_err(Fault::corrupt)?.and_then(Vector::from_bytes),
        false => None,
    };
    Ok(Some(Candidate { memory: row_codec::read_memory(row)?, words, vector }))
}

/// The newest memories whose summary line contains the text as typed.
fn find_by_substring(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    scopes: &[VisibleScope],
) -> Result<Vec<[u8; 16]>, Fault> {
    let Some(text) = find.substring.as_ref().filter(|_| !scopes.is_empty()) else { return Ok(Vec::new()) };
    let mut clauses = filter::within_scopes(readable, scopes);
    filter::filter_conditions(&mut clauses, readable, &find.filter);
    clauses.add_condition("instr(m.summary, ?) > 0", [text.clone().into()]);
    let table = filter::indexed_table(&find.filter, None, scopes);
    let sql = format!(
        "select m.id
         from {table}
         where {}
         order by m.updated_at desc, m.id
         limit ?",
        clauses.sql
    );
    clauses.params.push(i64::try_from(find.pool).unwrap_or(i64::MAX).into());
    let mut statement = conn.prepare_cached(&sql)?;
    let ids = statement.query_map(params_from_iter(clauses.params), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Those of the best that are turns of a session; only turns have neighbours.
fn best_turns(candidates: &[Candidate], best: &[[u8; 16]]) -> Vec<[u8; 16]> {
    let turns = candidates.iter().map(|candidate| &candidate.memory);
    let turns = turns.filter(|memory| memory.session.is_some() && memory.turn.is_some());
    turns.map(|memory| id_bytes(memory.id.0)).filter(|turn| best.contains(turn)).collect()
}

/// The turns beside the best ones in the same session, as far as they pass the filter. They are in the same scope, so
/// the scopes need not be tested again.
fn find_neighbours(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    best: &[[u8; 16]],
) -> Result<Vec<[u8; 16]>, Fault> {
    let Some(neighbours) = find.neighbours.filter(|_| !best.is_empty()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    // No scopes: the join keeps each neighbour in the scope of its turn.
    let mut clauses = filter::within_scopes(readable, &[]);
    filter::filter_conditions(&mut clauses, readable, &find.filter);
    let sql = format!(
        "select m.id
         from memories b
         cross join memories m indexed by memories_by_session
           on m.tenant = b.tenant and m.scope = b.scope and m.session = b.session
           and m.turn between b.turn - ? and b.turn + ?
         where b.id = ? and {}",
        clauses.sql
    );
    let mut statement = conn.prepare_cached(&sql)?;
    for id in best {
        let reach = i64::from(neighbours.reach);
        let mut params = vec![reach.into(), reach.into(), rusqlite::types::Value::Blob(id.to_vec())];
        params.extend(clauses.params.iter().cloned());
        let ids = statement.query_map(params_from_iter(params), |row| row.get(0))?;
        for id in ids {
            found.push(id?);
        }
    }
    // The order that both backends return them in.
    found.sort_unstable();
    Ok(found)
}

/// The memories that the query always includes, without those hidden from the caller.
fn requested_ids(conn: &Connection, readable: &Readable, find: &CandidateQuery) -> Result<Vec<[u8; 16]>, Fault> {
    let mut visible = Vec::new();
    for id in &find.always_include {
        visible.extend(memories::get_memory(conn, readable, &Address::Id(*id))?.map(|memory| id_bytes(memory.id.0)));
    }
    Ok(visible)
}
