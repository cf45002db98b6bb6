//! Search: one statement chooses candidates by words, vector, time, substring and id, and returns them with the corpus
//! statistics.

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
    let ids = find_neighbours(pool, readable, find, &found.candidates).await?;
    if !ids.is_empty() {
        let by_id = CandidateQuery { filter: find.filter.clone(), always_include: ids, ..CandidateQuery::default() };
        let mut neighbours = query_candidates(pool, vectors, readable, &by_id, find).await?;
        // The order that both backends return them in.
        neighbours.candidates.sort_by_key(|candidate| candidate.memory.id);
        found.candidates.extend(neighbours.candidates);
    }
    Ok(found)
}

/// Runs one search statement. Vectors are loaded for the model of `original`, the query that the caller asked.
async fn query_candidates(
    pool: &Pool,
    vectors: &VectorSupport,
    readable: &Readable,
    find: &CandidateQuery,
    original: &CandidateQuery,
) -> Result<CandidateSet, Fault> {
    let statement = search_query::search_statement(vectors, pool.options.exact_max, readable, find);
    let results = pool.query_read_only(Some(readable.tenant), &[statement]).await?;
    let rows = results.first().map_or(&[][..], Vec::as_slice);
    let (stats, searched) = rows.first().map_or(Ok((CorpusStats::default(), 0)), |row| read_stats(row, find))?;
    let mut picks = Vec::with_capacity(rows.len());
    for row in rows {
        // At least one row is returned, for the statistics; it has no memory where nothing was found.
        if read_column::<Option<&str>>(row, 0)?.is_some() {
            picks.push(ranking::PickedCandidate {
                candidate: read_candidate(row, original)?,
                reasons: read_reasons(row)?,
            });
        }
    }
    // Access is decided by the engine's predicate on each memory, not by the index.
    picks.retain(|pick| readable.shows_memory(&pick.candidate.memory));
    Ok(CandidateSet { candidates: ranking::choose_candidates(picks, find, &stats), stats, searched })
}

/// The turns beside the best ones that were not found themselves. Another round trip, only where the best are turns.
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
    let statement = search_query::neighbours_query(readable, find, neighbours.reach, &best);
    let results = pool.query_read_only(Some(readable.tenant), &[statement]).await?;
    let mut ids = Vec::new();
    for row in results.first().map_or(&[][..], Vec::as_slice) {
        let id = MemoryId(read_column(row, 0)?);
        if !found.iter().any(|candidate| candidate.memory.id == id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Reads columns 0 to 10 of [`search_query::search_statement`]: those of a memory, then words, model and vector.
fn read_candidate(row: &Row, find: &CandidateQuery) -> Result<Candidate, Fault> {
    let words = read_words(row, 4)?;
    let query_model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
    // Vectors of different models cannot be compared.
    let model: Option<&str> = read_column(row, 8)?;
    let vector = if model.is_some() && model == query_model { read_vector(row, 9)? } else { None };
    Ok(Candidate { memory: row_codec::read_memory(row)?, words, vector })
}

/// The columns `once`, `often`, `times` and `len`. Most terms occur once, so their frequency is not stored. Terms are
/// unsigned and stored as signed integers of the same bits.
pub(super) fn word_columns(words: &IndexedWords) -> (Vec<i32>, Vec<i32>, Vec<u8>, i32) {
    let (once, often): (Vec<_>, Vec<_>) = words.terms.iter().partition(|(_, times)| *times == 1);
    let terms = |list: &[(Term, u8)]| list.iter().map(|(term, _)| term.cast_signed()).collect::<Vec<i32>>();
    let times = often.iter().map(|(_, times)| *times).collect();
    (terms(&once), terms(&often), times, i32::try_from(words.len).unwrap_or(i32::MAX))
}

/// The column `vector`: one byte per dimension.
pub(super) fn vector_column(vector: &Vector) -> Vec<u8> {
    vector.values.iter().map(|value| value.cast_unsigned()).collect()
}

/// Reads the columns `once`, `often`, `times` and `len`, which start at column `at`.
pub(super) fn read_words(row: &Row, at: usize) -> Result<IndexedWords, Fault> {
    let once: Vec<i32> = read_column(row, at)?;
    let often: Vec<i32> = read_column(row, at + 1)?;
    let times: &[u8] = read_column(row, at + 2)?;
    let once_terms = once.into_iter().map(|term| (term.cast_unsigned(), 1));
    let mut terms: Vec<_> =
        once_terms.chain(often.into_iter().map(i32::cast_unsigned).zip(times.iter().copied())).collect();
    // `term_frequency` searches by bisection, and the two columns are sorted only one by one.
    terms.sort_unstable();
    let len = u32::try_from(read_column::<i32>(row, at + 3)?).map_err(Fault::corrupt)?;
    Ok(IndexedWords { terms, len })
}

/// Reads the columns `scale` and `vector`, which start at column `at`.
pub(super) fn read_vector(row: &Row, at: usize) -> Result<Option<Vector>, Fault> {
    let scale: Option<f32> = read_column(row, at)?;
    let values: Option<&[u8]> = read_column(row, at + 1)?;
    let values = values.map(|bytes| bytes.iter().map(|byte| byte.cast_signed()).collect());
    Ok(scale.zip(values).map(|(scale, values)| Vector { scale, values }))
}

/// Columns 11 to 15 of the search statement.
fn read_reasons(row: &Row) -> Result<ranking::PickReasons, Fault> {
    Ok(ranking::PickReasons {
        words: read_column(row, 11)?,
        meaning: read_column(row, 12)?,
        newest: read_column(row, 13)?,
        substring: read_column(row, 14)?,
        requested: read_column(row, 15)?,
    })
}

/// Columns 16 to 19 of the search statement: statistics and the number of scopes searched.
fn read_stats(row: &Row, find: &CandidateQuery) -> Result<(CorpusStats, u64), Fault> {
    // Null for a query without words, as `array_agg` returns for no rows.
    let frequency: Vec<i64> = read_column::<Option<Vec<i64>>>(row, 18)?.unwrap_or_default();
    let mut df = Vec::with_capacity(find.words.terms.len());
    for at in 0..find.words.terms.len() {
        df.push(u32::try_from(frequency.get(at).copied().unwrap_or(0)).map_err(Fault::corrupt)?);
    }
    Ok((CorpusStats { docs: read_count(row, 16)?, total_len: read_count(row, 17)?, df }, read_count(row, 19)?))
}
