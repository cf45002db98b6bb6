//! Finding: one statement chooses by words, by meaning and by time and brings what was chosen, with the statistics.

mod as_of;
mod ranking;
mod search_query;
mod unembedded;
mod vector_support;

pub(super) use unembedded::list_unembedded;
pub(super) use vector_support::{IndexedModels, VectorSupport, add_model_index, detect_vectors};

use engine::model::id::MemoryId;
use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Candidate, CandidateQuery, CandidateSet, CorpusStats};
use engine::text::words::{IndexedWords, Term};
use tokio_postgres::Row;

use super::fault::Fault;
use super::pool::Pool;
use super::row_codec::{self, read_column, read_count};

pub(super) async fn find_candidates(
    pool: &Pool,
    vectors: &VectorSupport,
    readable: &Readable,
    find: &CandidateQuery,
) -> Result<CandidateSet, Fault> {
    if find.filter.as_of.is_some() {
        return as_of::find_as_of(pool, readable, find).await;
    }
    let mut found = query_candidates(pool, vectors, readable, find, find).await?;
    let beside = find_neighbours(pool, readable, find, &found.candidates).await?;
    if !beside.is_empty() {
        let more = CandidateQuery { filter: find.filter.clone(), always_include: beside, ..CandidateQuery::default() };
        let mut more = query_candidates(pool, vectors, readable, &more, find).await?;
        // In the order every backend gives them.
        more.candidates.sort_by_key(|candidate| candidate.memory.id);
        found.candidates.extend(more.candidates);
    }
    Ok(found)
}

/// What one statement finds; vectors are given for the model `asked` with.
async fn query_candidates(
    pool: &Pool,
    vectors: &VectorSupport,
    readable: &Readable,
    find: &CandidateQuery,
    asked: &CandidateQuery,
) -> Result<CandidateSet, Fault> {
    let step = search_query::search_statement(vectors, pool.options.exact_max, readable, find);
    let answer = pool.query_read_only(Some(readable.tenant), &[step]).await?;
    let rows = answer.first().map_or(&[][..], Vec::as_slice);
    let (stats, searched) = rows.first().map_or(Ok((CorpusStats::default(), 0)), |row| read_stats(row, find))?;
    let mut picks = Vec::with_capacity(rows.len());
    for row in rows {
        // One row always comes, to carry the statistics; it holds no memory where nothing was found.
        if read_column::<Option<&str>>(row, 0)?.is_some() {
            picks
                .push(ranking::PickedCandidate { candidate: read_candidate(row, asked)?, reasons: read_reasons(row)? });
        }
    }
    // The one predicate for every read, whatever the index said.
    picks.retain(|pick| readable.shows_memory(&pick.candidate.memory));
    Ok(CandidateSet { candidates: ranking::choose_candidates(picks, find, &stats), stats, searched })
}

/// The turns beside the best that were not found themselves. Costs a second trip only where the best are turns.
async fn find_neighbours(
    pool: &Pool,
    readable: &Readable,
    find: &CandidateQuery,
    found: &[Candidate],
) -> Result<Vec<MemoryId>, Fault> {
    let Some(neighbours) = find.neighbours else { return Ok(Vec::new()) };
    let best: Vec<MemoryId> = ranking::best_turns(found, find, neighbours.of_best);
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let step = search_query::neighbours_query(readable, find, neighbours.reach, &best);
    let answer = pool.query_read_only(Some(readable.tenant), &[step]).await?;
    let mut ids = Vec::new();
    for row in answer.first().map_or(&[][..], Vec::as_slice) {
        let id = MemoryId(read_column(row, 0)?);
        if !found.iter().any(|candidate| candidate.memory.id == id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Columns 4 to 10 of [`query::statement`], after those of a memory.
fn read_candidate(row: &Row, find: &CandidateQuery) -> Result<Candidate, Fault> {
    let words = read_words(row, 4)?;
    let asked = find.vector.as_ref().map(|embedding| embedding.model.as_str());
    let model: Option<&str> = read_column(row, 8)?;
    let vector = if model.is_some() && model == asked { read_vector(row, 9)? } else { None };
    Ok(Candidate { memory: row_codec::read_memory(row)?, words, vector })
}

/// The columns `once`, `often`, `times` and `len`. Few terms are said twice.
pub(super) fn word_columns(words: &IndexedWords) -> (Vec<i32>, Vec<i32>, Vec<u8>, i32) {
    let (once, often): (Vec<_>, Vec<_>) = words.terms.iter().partition(|(_, times)| *times == 1);
    let terms = |list: &[(Term, u8)]| list.iter().map(|(term, _)| term.cast_signed()).collect::<Vec<i32>>();
    let times = often.iter().map(|(_, times)| *times).collect();
    (terms(&once), terms(&often), times, i32::try_from(words.len).unwrap_or(i32::MAX))
}

/// The column `vector`: one byte a dimension, as the engine counts them.
pub(super) fn vector_column(vector: &Vector) -> Vec<u8> {
    vector.values.iter().map(|value| value.cast_unsigned()).collect()
}

/// From the columns `once`, `often`, `times` and `len`.
pub(super) fn read_words(row: &Row, at: usize) -> Result<IndexedWords, Fault> {
    let once: Vec<i32> = read_column(row, at)?;
    let often: Vec<i32> = read_column(row, at + 1)?;
    let times: &[u8] = read_column(row, at + 2)?;
    let said_once = once.into_iter().map(|term| (term.cast_unsigned(), 1));
    let mut terms: Vec<_> =
        said_once.chain(often.into_iter().map(i32::cast_unsigned).zip(times.iter().copied())).collect();
    terms.sort_unstable();
    let len = u32::try_from(read_column::<i32>(row, at + 3)?).map_err(Fault::corrupt)?;
    Ok(IndexedWords { terms, len })
}

/// From the columns `scale` and `vector`.
pub(super) fn read_vector(row: &Row, at: usize) -> Result<Option<Vector>, Fault> {
    let scale: Option<f32> = read_column(row, at)?;
    let values: Option<&[u8]> = read_column(row, at + 1)?;
    let values = values.map(|bytes| bytes.iter().map(|byte| byte.cast_signed()).collect());
    Ok(scale.zip(values).map(|(scale, values)| Vector { scale, values }))
}

fn read_reasons(row: &Row) -> Result<ranking::PickReasons, Fault> {
    Ok(ranking::PickReasons {
        words: read_column(row, 11)?,
        meaning: read_column(row, 12)?,
        newest: read_column(row, 13)?,
        substring: read_column(row, 14)?,
        also: read_column(row, 15)?,
    })
}

fn read_stats(row: &Row, find: &CandidateQuery) -> Result<(CorpusStats, u64), Fault> {
    let frequency: Vec<i64> = read_column::<Option<Vec<i64>>>(row, 18)?.unwrap_or_default();
    let mut df = Vec::with_capacity(find.words.terms.len());
    for at in 0..find.words.terms.len() {
        df.push(u32::try_from(frequency.get(at).copied().unwrap_or(0)).map_err(Fault::corrupt)?);
    }
    Ok((CorpusStats { docs: read_count(row, 16)?, total_len: read_count(row, 17)?, df }, read_count(row, 19)?))
}
