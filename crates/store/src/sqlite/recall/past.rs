//! Finding among memories as they stood at a time: from the log, slower, without an index.

use crate::matching;
use engine::model::memory::Memory;
use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Address, Candidate, Filter, Find, Found, Stats};
use engine::text::words::{self, Fields, Words};
use rusqlite::{Connection, OptionalExtension};

use super::top::{Ranked, Top};
use crate::score::Scorer;
use crate::sqlite::fault::Fault;
use crate::sqlite::memories;
use crate::sqlite::rows::key;
use crate::sqlite::scopes::Seen;

pub(super) fn find(conn: &Connection, readable: &Readable, find: &Find, scopes: &[Seen]) -> Result<Found, Fault> {
    let (Some(at), false) = (find.filter.as_of, scopes.is_empty()) else { return Ok(Found::default()) };
    // The statistics look at what stood then; the other conditions come after.
    let counted =
        Filter { states: find.filter.states.clone(), unexpired_at: find.filter.unexpired_at, ..Filter::default() };
    let stood: Vec<Candidate> = memories::as_of(conn, readable, &counted, scopes, at)?
        .into_iter()
        .map(|memory| candidate(conn, memory, find))
        .collect::<Result<_, _>>()?;
    let stats = stats(&stood, find);
    let mut chosen = Vec::new();
    let wanted: Vec<&Candidate> =
        stood.iter().filter(|candidate| matching::matches(&find.filter, &candidate.memory)).collect();
    let plain = [newest(&wanted, find), by_substring(&wanted, find)];
    for top in [by_words(&wanted, find, &stats), by_vector(&wanted, find)].into_iter().chain(plain) {
        chosen.extend(top.into_sorted().into_iter().map(|ranked| ranked.memory));
    }
    for id in &find.also {
        let seen = memories::get(conn, readable, &Address::Id(*id))?;
        chosen.extend(seen.map(|memory| key(memory.id.0)));
    }
    chosen.sort_unstable();
    chosen.dedup();
    let candidates =
        stood.into_iter().filter(|candidate| chosen.binary_search(&key(candidate.memory.id.0)).is_ok()).collect();
    Ok(Found { candidates, stats, searched: scopes.len() as u64 })
}

fn candidate(conn: &Connection, memory: Memory, find: &Find) -> Result<Candidate, Fault> {
    let words = words::index(&Fields {
        title: memory.title.as_deref(),
        hint: memory.recall_hint.as_deref(),
        content: &memory.content,
        tags: &memory.tags,
        path: memory.path.as_deref(),
        speaker: memory.speaker.as_deref(),
    });
    let Some(asked) = &find.vector else { return Ok(Candidate { memory, words, vector: None }) };
    // Only the newest version has a vector.
    let vector: Option<Vec<u8>> = conn
        .prepare_cached(
            "select c.vector
             from memories m
             join recall c on c.tenant = m.tenant and c.scope = m.scope and c.seq = m.recall_seq
             where m.tenant = ?1 and m.id = ?2 and c.number = ?3 and c.model = ?4",
        )?
        .query_row((key(memory.tenant.0), key(memory.id.0), memory.version_number, &asked.model), |row| row.get(0))
        .optional()?;
    Ok(Candidate { memory, words, vector: vector.as_deref().and_then(Vector::from_bytes) })
}

fn times(words: &Words, term: words::Term) -> u8 {
    words.terms.binary_search_by_key(&term, |(term, _)| *term).map_or(0, |at| words.terms[at].1)
}

fn stats(stood: &[Candidate], find: &Find) -> Stats {
    let df = |term| stood.iter().filter(|candidate| times(&candidate.words, term) > 0).count() as u32;
    Stats {
        docs: stood.len() as u64,
        total_len: stood.iter().map(|candidate| u64::from(candidate.words.len)).sum(),
        df: find.words.terms.iter().map(|term| df(term.term)).collect(),
    }
}

fn offer(top: &mut Top, candidate: &Candidate, score: f32) {
    let memory = &candidate.memory;
    top.offer(Ranked { score, updated: memory.updated_at.as_microsecond(), memory: key(memory.id.0), at: (0, 0) });
}

fn by_words(wanted: &[&Candidate], find: &Find, stats: &Stats) -> Top {
    let (mut scorer, mut top) = (Scorer::new(find, stats), Top::new(find.pool));
    for candidate in wanted {
        let part = |(term, df): (&words::QueryTerm, &u32)| match times(&candidate.words, term.term) {
            0 => 0.0,
            times => term.weight * scorer.idf(*df) * scorer.saturated(times, candidate.words.len),
        };
        let score: f32 = find.words.terms.iter().zip(&stats.df).map(part).sum();
        if score > 0.0 {
            offer(&mut top, candidate, score);
        }
    }
    top
}

fn by_vector(wanted: &[&Candidate], find: &Find) -> Top {
    let mut top = Top::new(find.pool);
    for candidate in wanted {
        if let (Some(asked), Some(vector)) = (&find.vector, &candidate.vector) {
            offer(&mut top, candidate, asked.vector.cosine(vector));
        }
    }
    top
}

/// The newest, where nothing was asked.
fn newest(wanted: &[&Candidate], find: &Find) -> Top {
    let mut top = Top::new(find.pool);
    if find.newest && find.words.terms.is_empty() {
        wanted.iter().for_each(|candidate| offer(&mut top, candidate, 0.0));
    }
    top
}

fn by_substring(wanted: &[&Candidate], find: &Find) -> Top {
    let mut top = Top::new(find.pool);
    for candidate in wanted {
        let summary = || candidate.memory.summary().to_lowercase();
        if find.substring.as_ref().is_some_and(|text| summary().contains(text)) {
            offer(&mut top, candidate, 0.0);
        }
    }
    top
}
