//! Searches memories in the versions that were current at an earlier time. Reads them all and scores them one by one:
//! the recall index holds current versions only.

use std::collections::HashMap;

use engine::gate::index_memory;
use engine::model::id::MemoryId;
use engine::model::memory::Memory;
use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Address, Candidate, CandidateQuery, CandidateSet, Filter};
use uuid::Uuid;

use super::ranking::{self, PickReasons, PickedCandidate};
use crate::as_of::{count_stats, matches_substring};
use crate::matching;
use crate::postgres::fault::Fault;
use crate::postgres::pool::Pool;
use crate::postgres::row_codec::{Statement, params, read_column, read_count};
use crate::postgres::{memories, scopes};

pub(super) async fn find_as_of(pool: &Pool, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, Fault> {
    let searched = count_searched_scopes(pool, readable, find).await?;
    let (Some(at), true) = (find.filter.as_of, searched > 0) else { return Ok(CandidateSet::default()) };
    // Corpus statistics count every memory of these scopes that was current; the other conditions of the filter only
    // choose the candidates, as in a search of the present.
    let counted = Filter {
        states: find.filter.states.clone(),
        unexpired_at: find.filter.unexpired_at,
        stores: find.filter.stores.clone(),
        scopes: find.filter.scopes.clone(),
        places: find.filter.places.clone(),
        ..Filter::default()
    };
    let memories = memories::memories_as_of(pool, readable, &counted, at).await?;
    let mut vectors = load_vectors(pool, readable, find, &memories).await?;
    let candidates: Vec<Candidate> = memories.into_iter().map(|memory| build_candidate(memory, &mut vectors)).collect();
    let stats = count_stats(&candidates, find);
    let requested = requested_ids(pool, readable, find).await?;
    let picks = candidates.into_iter().map(|candidate| pick_candidate(candidate, find, &requested)).collect();
    let candidates = ranking::choose_candidates(picks, find, &stats);
    Ok(CandidateSet { candidates, stats, searched })
}

/// A candidate with the reasons for which the search statement would have chosen it.
fn pick_candidate(candidate: Candidate, find: &CandidateQuery, requested: &[MemoryId]) -> PickedCandidate {
    let memory = &candidate.memory;
    let requested = requested.contains(&memory.id);
    if !matching::matches_filter(&find.filter, memory) {
        return PickedCandidate { candidate, reasons: PickReasons { requested, ..PickReasons::default() } };
    }
    let reasons = PickReasons {
        words: find.words.terms.iter().any(|term| candidate.words.term_frequency(term.term) > 0),
        meaning: find.vector.is_some() && candidate.vector.is_some(),
        newest: find.newest && find.words.terms.is_empty(),
        substring: matches_substring(memory, find),
        requested,
    };
    PickedCandidate { candidate, reasons }
}

fn build_candidate(memory: Memory, vectors: &mut HashMap<Uuid, (u64, Vector)>) -> Candidate {
    let words = index_memory(&memory);
    // Vectors are stored for current versions only, so an older version has none.
    let current = vectors.remove(&memory.id.0).filter(|(number, _)| *number == u64::from(memory.version_number));
    Candidate { memory, words, vector: current.map(|(_, vector)| vector) }
}

/// The stored vectors of the query's model, with the number of the version they belong to.
async fn load_vectors(
    pool: &Pool,
    readable: &Readable,
    find: &CandidateQuery,
    memories: &[Memory],
) -> Result<HashMap<Uuid, (u64, Vector)>, Fault> {
    let Some(query) = &find.vector else { return Ok(HashMap::new()) };
    let ids: Vec<Uuid> = memories.iter().map(|memory| memory.id.0).collect();
    let statement = Statement::new(
        "select memory, number, scale, vector
         from recall
         where tenant = $1 and memory = any($2) and model = $3",
        params![readable.tenant.0, ids, &query.model],
    );
    let mut vectors = HashMap::new();
    for row in pool.query_read_only(Some(readable.tenant), &[statement]).await?.iter().flatten() {
        if let Some(vector) = super::read_vector(row, 2)? {
            vectors.insert(read_column(row, 0)?, (read_count(row, 1)?, vector));
        }
    }
    Ok(vectors)
}

/// The memories that the query always includes, without those hidden from the caller.
async fn requested_ids(pool: &Pool, readable: &Readable, find: &CandidateQuery) -> Result<Vec<MemoryId>, Fault> {
    let mut visible = Vec::new();
    for id in &find.always_include {
        // `get_memory` checks access; a hidden id is dropped without an error, so that it reveals nothing.
        visible.extend(memories::get_memory(pool, readable, &Address::Id(*id)).await?.map(|memory| memory.id));
    }
    Ok(visible)
}

async fn count_searched_scopes(pool: &Pool, readable: &Readable, find: &CandidateQuery) -> Result<u64, Fault> {
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, &find.filter, &mut params);
    let statement = Statement::new(format!("select count(*) from ({visible}) seen"), params);
    let results = pool.query_read_only(Some(readable.tenant), &[statement]).await?;
    results.iter().flatten().next().map_or(Ok(0), |row| read_count(row, 0))
}
