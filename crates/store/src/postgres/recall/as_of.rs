//! Finding among memories as they stood at a time: from the log, slower, without an index.

use std::collections::HashMap;

use engine::gate::search_words;
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
    // The statistics look at what stood then; the other conditions come after.
    let counted = Filter {
        states: find.filter.states.clone(),
        unexpired_at: find.filter.unexpired_at,
        stores: find.filter.stores.clone(),
        scopes: find.filter.scopes.clone(),
        places: find.filter.places.clone(),
        ..Filter::default()
    };
    let stood = memories::memories_as_of(pool, readable, &counted, at).await?;
    let mut vectors = load_vectors(pool, readable, find, &stood).await?;
    let stood: Vec<Candidate> = stood.into_iter().map(|memory| build_candidate(memory, &mut vectors)).collect();
    let stats = count_stats(&stood, find);
    let also = requested_ids(pool, readable, find).await?;
    let picks = stood.into_iter().map(|candidate| pick_candidate(candidate, find, &also)).collect();
    let candidates = ranking::choose_candidates(picks, find, &stats);
    Ok(CandidateSet { candidates, stats, searched })
}

fn pick_candidate(candidate: Candidate, find: &CandidateQuery, also: &[MemoryId]) -> PickedCandidate {
    let memory = &candidate.memory;
    let also = also.contains(&memory.id);
    if !matching::matches_filter(&find.filter, memory) {
        return PickedCandidate { candidate, reasons: PickReasons { also, ..PickReasons::default() } };
    }
    let why = PickReasons {
        words: find.words.terms.iter().any(|term| candidate.words.term_frequency(term.term) > 0),
        meaning: find.vector.is_some() && candidate.vector.is_some(),
        newest: find.newest && find.words.terms.is_empty(),
        substring: matches_substring(memory, find),
        also,
    };
    PickedCandidate { candidate, reasons: why }
}

fn build_candidate(memory: Memory, vectors: &mut HashMap<Uuid, (u64, Vector)>) -> Candidate {
    let words = search_words(&memory);
    // Only the newest version has a vector.
    let newest = vectors.remove(&memory.id.0).filter(|(number, _)| *number == u64::from(memory.version_number));
    Candidate { memory, words, vector: newest.map(|(_, vector)| vector) }
}

/// The vectors of the model asked for, with the version they belong to.
async fn load_vectors(
    pool: &Pool,
    readable: &Readable,
    find: &CandidateQuery,
    stood: &[Memory],
) -> Result<HashMap<Uuid, (u64, Vector)>, Fault> {
    let Some(asked) = &find.vector else { return Ok(HashMap::new()) };
    let ids: Vec<Uuid> = stood.iter().map(|memory| memory.id.0).collect();
    let step = Statement::new(
        "select memory, number, scale, vector
         from recall
         where tenant = $1 and memory = any($2) and model = $3",
        params![readable.tenant.0, ids, &asked.model],
    );
    let mut vectors = HashMap::new();
    for row in pool.query_read_only(Some(readable.tenant), &[step]).await?.iter().flatten() {
        if let Some(vector) = super::read_vector(row, 2)? {
            vectors.insert(read_column(row, 0)?, (read_count(row, 1)?, vector));
        }
    }
    Ok(vectors)
}

async fn requested_ids(pool: &Pool, readable: &Readable, find: &CandidateQuery) -> Result<Vec<MemoryId>, Fault> {
    let mut seen = Vec::new();
    for id in &find.always_include {
        seen.extend(memories::get_memory(pool, readable, &Address::Id(*id)).await?.map(|memory| memory.id));
    }
    Ok(seen)
}

async fn count_searched_scopes(pool: &Pool, readable: &Readable, find: &CandidateQuery) -> Result<u64, Fault> {
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, &find.filter, &mut params);
    let step = Statement::new(format!("select count(*) from ({visible}) seen"), params);
    let answer = pool.query_read_only(Some(readable.tenant), &[step]).await?;
    answer.iter().flatten().next().map_or(Ok(0), |row| read_count(row, 0))
}
