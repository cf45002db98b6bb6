//! Finding among memories as they stood at a time: from the log, slower, without an index.

use crate::matching;
use std::collections::HashMap;

use engine::model::id::MemoryId;
use engine::model::memory::Memory;
use engine::model::vector::Vector;
use engine::policy::Readable;
use engine::ports::{Address, Candidate, Filter, Find, Found, Stats};
use engine::text::words::{self, Fields};
use uuid::Uuid;

use super::choose::{self, Pick, Why};
use crate::postgres::fault::Fault;
use crate::postgres::pool::Pool;
use crate::postgres::rows::{Step, column, count, params};
use crate::postgres::{memories, scopes};

pub(super) async fn find(pool: &Pool, readable: &Readable, find: &Find) -> Result<Found, Fault> {
    let searched = searched(pool, readable, find).await?;
    let (Some(at), true) = (find.filter.as_of, searched > 0) else { return Ok(Found::default()) };
    // The statistics look at what stood then; the other conditions come after.
    let counted = Filter {
        states: find.filter.states.clone(),
        unexpired_at: find.filter.unexpired_at,
        stores: find.filter.stores.clone(),
        scopes: find.filter.scopes.clone(),
        places: find.filter.places.clone(),
        ..Filter::default()
    };
    let stood = memories::as_of(pool, readable, &counted, at).await?;
    let mut vectors = vectors(pool, readable, find, &stood).await?;
    let stood: Vec<Candidate> = stood.into_iter().map(|memory| candidate(memory, &mut vectors)).collect();
    let stats = stats(&stood, find);
    let also = also(pool, readable, find).await?;
    let picks = stood.into_iter().map(|candidate| pick(candidate, find, &also)).collect();
    let candidates = choose::chosen(picks, find, &stats);
    Ok(Found { candidates, stats, searched })
}

fn pick(candidate: Candidate, find: &Find, also: &[MemoryId]) -> Pick {
    let memory = &candidate.memory;
    let also = also.contains(&memory.id);
    if !matching::matches(&find.filter, memory) {
        return Pick { candidate, why: Why { also, ..Why::default() } };
    }
    let summary = || memory.summary().to_lowercase();
    let why = Why {
        words: find.words.terms.iter().any(|term| candidate.words.tf(term.term) > 0),
        meaning: find.vector.is_some() && candidate.vector.is_some(),
        newest: find.newest && find.words.terms.is_empty(),
        substring: find.substring.as_ref().is_some_and(|text| summary().contains(text)),
        also,
    };
    Pick { candidate, why }
}

fn candidate(memory: Memory, vectors: &mut HashMap<Uuid, (u64, Vector)>) -> Candidate {
    let words = words::index(&Fields {
        title: memory.title.as_deref(),
        hint: memory.recall_hint.as_deref(),
        content: &memory.content,
        tags: &memory.tags,
        path: memory.path.as_deref(),
        speaker: memory.speaker.as_deref(),
    });
    // Only the newest version has a vector.
    let newest = vectors.remove(&memory.id.0).filter(|(number, _)| *number == u64::from(memory.version_number));
    Candidate { memory, words, vector: newest.map(|(_, vector)| vector) }
}

/// The vectors of the model asked for, with the version they belong to.
async fn vectors(
    pool: &Pool,
    readable: &Readable,
    find: &Find,
    stood: &[Memory],
) -> Result<HashMap<Uuid, (u64, Vector)>, Fault> {
    let Some(asked) = &find.vector else { return Ok(HashMap::new()) };
    let ids: Vec<Uuid> = stood.iter().map(|memory| memory.id.0).collect();
    let step = Step::new(
        "select memory, number, scale, vector
         from recall
         where tenant = $1 and memory = any($2) and model = $3",
        params![readable.tenant.0, ids, &asked.model],
    );
    let mut vectors = HashMap::new();
    for row in pool.read(Some(readable.tenant), &[step]).await?.iter().flatten() {
        if let Some(vector) = super::vector(row, 2)? {
            vectors.insert(column(row, 0)?, (count(row, 1)?, vector));
        }
    }
    Ok(vectors)
}

fn stats(stood: &[Candidate], find: &Find) -> Stats {
    let df = |term| stood.iter().filter(|candidate| candidate.words.tf(term) > 0).count() as u32;
    Stats {
        docs: stood.len() as u64,
        total_len: stood.iter().map(|candidate| u64::from(candidate.words.len)).sum(),
        df: find.words.terms.iter().map(|term| df(term.term)).collect(),
    }
}

async fn also(pool: &Pool, readable: &Readable, find: &Find) -> Result<Vec<MemoryId>, Fault> {
    let mut seen = Vec::new();
    for id in &find.also {
        seen.extend(memories::get(pool, readable, &Address::Id(*id)).await?.map(|memory| memory.id));
    }
    Ok(seen)
}

async fn searched(pool: &Pool, readable: &Readable, find: &Find) -> Result<u64, Fault> {
    let mut params = Vec::new();
    let visible = scopes::visible(readable, &find.filter, &mut params);
    let step = Step::new(format!("select count(*) from ({visible}) seen"), params);
    let answer = pool.read(Some(readable.tenant), &[step]).await?;
    answer.iter().flatten().next().map_or(Ok(0), |row| count(row, 0))
}
