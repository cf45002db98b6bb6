//! Searches memories in the versions that were current at an earlier time. Reads them all and scores them one by one:
//! the recall index holds current versions only.

use engine::gate::index_memory;
use engine::model::memory::Memory;
use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Address, Candidate, CandidateQuery, CandidateSet, CorpusStats, Filter};
use engine::text::words::QueryTerm;
use rusqlite::{Connection, OptionalExtension};

use super::top_ranked::{RankedDoc, TopRanked};
use crate::as_of::{count_stats, matches_substring};
use crate::matching;
use crate::sqlite::fault::Fault;
use crate::sqlite::memories;
use crate::sqlite::row_codec::id_bytes;
use crate::sqlite::scopes::VisibleScope;
use crate::word_score::Scorer;

pub(super) fn find_as_of(
    conn: &Connection,
    readable: &Readable,
    find: &CandidateQuery,
    scopes: &[VisibleScope],
) -> Result<CandidateSet, Fault> {
    let (Some(at), false) = (find.filter.as_of, scopes.is_empty()) else { return Ok(CandidateSet::default()) };
    // Corpus statistics count every memory of these scopes that was current; the other conditions of the filter only
    // choose the candidates, as in a search of the present.
    let counted =
        Filter { states: find.filter.states.clone(), unexpired_at: find.filter.unexpired_at, ..Filter::default() };
    let candidates: Vec<Candidate> = memories::memories_as_of(conn, readable, &counted, scopes, at)?
        .into_iter()
        .map(|memory| build_candidate(conn, memory, find))
        .collect::<Result<_, _>>()?;
    let stats = count_stats(&candidates, find);
    let mut chosen_ids = Vec::new();
    let wanted: Vec<&Candidate> =
        candidates.iter().filter(|candidate| matching::matches_filter(&find.filter, &candidate.memory)).collect();
    let plain = [top_newest(&wanted, find), top_by_substring(&wanted, find)];
    for top in [top_by_words(&wanted, find, &stats), top_by_vector(&wanted, find)].into_iter().chain(plain) {
        chosen_ids.extend(top.into_sorted().into_iter().map(|ranked| ranked.memory));
    }
    for id in &find.always_include {
        let visible = memories::get_memory(conn, readable, &Address::Id(*id))?;
        chosen_ids.extend(visible.map(|memory| id_bytes(memory.id.0)));
    }
    chosen_ids.sort_unstable();
    chosen_ids.dedup();
    let chosen = candidates
        .into_iter()
        .filter(|candidate| chosen_ids.binary_search(&id_bytes(candidate.memory.id.0)).is_ok())
        .collect();
    Ok(CandidateSet { candidates: chosen, stats, searched: scopes.len() as u64 })
}

fn build_candidate(conn: &Connection, memory: Memory, find: &CandidateQuery) -> Result<Candidate, Fault> {
    let words = index_memory(&memory);
    let Some(query_vector) = &find.vector else { return Ok(Candidate { memory, words, vector: None }) };
    // Vectors are stored for current versions only, so an older version has none.
    let vector: Option<Vec<u8>> = conn
        .prepare_cached(
            "select c.vector
             from memories m
             join recall c on c.tenant = m.tenant and c.scope = m.scope and c.seq = m.recall_seq
             where m.tenant = ?1 and m.id = ?2 and c.number = ?3 and c.model = ?4",
        )?
        .query_row(
            (id_bytes(memory.tenant.0), id_bytes(memory.id.0), memory.version_number, &query_vector.model),
            |row| row.get(0),
        )
        .optional()?;
    Ok(Candidate { memory, words, vector: vector.as_deref().and_then(Vector::from_bytes) })
}

fn offer_candidate(top: &mut TopRanked, candidate: &Candidate, score: f32) {
    let memory = &candidate.memory;
    top.offer(RankedDoc {
        score,
        updated: memory.updated_at.as_microsecond(),
        memory: id_bytes(memory.id.0),
        at: (0, 0),
    });
}

fn top_by_words(wanted: &[&Candidate], find: &CandidateQuery, stats: &CorpusStats) -> TopRanked {
    let (mut scorer, mut top) = (Scorer::new(find, stats), TopRanked::new(find.pool));
    for candidate in wanted {
        let part = |(term, df): (&QueryTerm, &u32)| match candidate.words.term_frequency(term.term) {
            0 => 0.0,
            times => term.weight * scorer.rarity(*df) * scorer.term_saturation(times, candidate.words.len),
        };
        let score: f32 = find.words.terms.iter().zip(&stats.df).map(part).sum();
        if score > 0.0 {
            offer_candidate(&mut top, candidate, score);
        }
    }
    top
}

fn top_by_vector(wanted: &[&Candidate], find: &CandidateQuery) -> TopRanked {
    let mut top = TopRanked::new(find.pool);
    for candidate in wanted {
        if let (Some(query), Some(vector)) = (&find.vector, &candidate.vector) {
            offer_candidate(&mut top, candidate, query.vector.cosine(vector));
        }
    }
    top
}

/// The newest memories, for a query without words.
fn top_newest(wanted: &[&Candidate], find: &CandidateQuery) -> TopRanked {
    let mut top = TopRanked::new(find.pool);
    if find.newest && find.words.terms.is_empty() {
        wanted.iter().for_each(|candidate| offer_candidate(&mut top, candidate, 0.0));
    }
    top
}

fn top_by_substring(wanted: &[&Candidate], find: &CandidateQuery) -> TopRanked {
    let mut top = TopRanked::new(find.pool);
    for candidate in wanted {
        if matches_substring(&candidate.memory, find) {
            offer_candidate(&mut top, candidate, 0.0);
        }
    }
    top
}
