//! One find over the parts in memory: filter, count, score by words, score by vector, choose.

use crate::matching;
use std::collections::HashSet;
use std::sync::RwLockReadGuard;

use engine::policy::{Constrained, Readable};
use engine::ports::{Filter, Find, Stats};
use engine::vocabulary::State;
use rusqlite::{Connection, params_from_iter};

use super::dot::dots;
use super::partition::{Meta, Partition, Pick};
use super::top::{Ranked, Top};
use crate::score::Scorer;
use crate::sqlite::fault::Fault;
use crate::sqlite::filter;
use crate::sqlite::rows::micros;
use crate::sqlite::scopes::Seen;

type Parts<'a> = [RwLockReadGuard<'a, Partition>];
type Memories = HashSet<[u8; 16]>;

/// What was chosen, best first, each once.
#[derive(Default)]
pub(super) struct Picks {
    pub(super) memories: Vec<Pick>,
    /// The best of each way of finding, whose neighbours are wanted too.
    pub(super) best: Vec<[u8; 16]>,
    pub(super) stats: Stats,
}

/// The memories that pass the conditions only the tables know. `None`: there are none.
pub(super) fn allowed(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
    scopes: &[Seen],
) -> Result<Option<Memories>, Fault> {
    if !matching::is_narrow(filter) || scopes.is_empty() {
        return Ok(None);
    }
    let mut clauses = filter::within(readable, scopes);
    filter::all(&mut clauses, readable, filter);
    let table = filter::table(filter, None, scopes);
    let mut statement = conn.prepare_cached(&format!("select m.id from {table} where {}", clauses.sql))?;
    let ids = statement.query_map(params_from_iter(clauses.params), |row| row.get(0))?;
    Ok(Some(ids.collect::<Result<_, _>>()?))
}

pub(super) fn run(parts: &Parts<'_>, readable: &Readable, find: &Find, allowed: Option<&Memories>) -> Picks {
    let tests = Tests::of(readable, &find.filter);
    let masks: Vec<Mask> = parts.iter().map(|part| Mask::of(part, &tests, allowed)).collect();
    let mut picks = Picks { memories: Vec::new(), best: Vec::new(), stats: counted(parts, &masks, find) };
    let mut chosen = vec![by_words(parts, &masks, find, &picks.stats)];
    if find.vector.is_some() {
        chosen.push(by_vector(parts, &masks, find));
    }
    if find.newest && find.words.terms.is_empty() {
        chosen.push(newest(parts, &masks, find.pool));
    }
    let chosen: Vec<Vec<Ranked>> = chosen.into_iter().map(|top| top.into_sorted().into_iter().collect()).collect();
    let of_best = find.neighbours.map_or(0, |neighbours| neighbours.of_best);
    picks.best.extend(chosen.iter().flat_map(|way| way.iter().take(of_best)).map(|ranked| ranked.memory));
    let mut seen = Memories::new();
    let chosen = chosen.into_iter().flatten().filter(|ranked| seen.insert(ranked.memory));
    picks.memories.extend(chosen.map(|Ranked { at: (part, doc), .. }| parts[part].pick(doc)));
    picks
}

/// A filter as numbers.
struct Tests<'a> {
    states: u8,
    kinds: u64,
    layers: u64,
    trust_min: u8,
    updated_after: i64,
    updated_before: i64,
    unexpired_at: i64,
    expired_by: i64,
    /// Sees only its own among those waiting for review.
    author: Option<&'a str>,
}

/// A bit for each word of a list; all of them where the list is empty.
fn bits(words: impl ExactSizeIterator<Item = u8>) -> u64 {
    if words.len() == 0 { u64::MAX } else { words.fold(0, |bits, word| bits | 1 << word) }
}

impl<'a> Tests<'a> {
    fn of(readable: &'a Readable, filter: &Filter) -> Tests<'a> {
        let waiting = matching::states(filter).contains(&State::Constrained);
        Tests {
            states: bits(matching::states(filter).iter().map(|state| *state as u8)) as u8,
            kinds: bits(filter.kinds.iter().map(|kind| *kind as u8)),
            layers: bits(filter.layers.iter().map(|layer| *layer as u8)),
            trust_min: filter.trust_min.map_or(0, |trust| trust as u8),
            updated_after: filter.updated_after.map_or(i64::MIN, micros),
            updated_before: filter.updated_before.map_or(i64::MAX, micros),
            unexpired_at: filter.unexpired_at.map_or(i64::MIN, micros),
            expired_by: filter.expired_by.map_or(i64::MAX, micros),
            author: match &readable.constrained {
                Constrained::Of(author) if waiting => Some(author),
                _ => None,
            },
        }
    }

    /// Among those the statistics are made of.
    fn counts(&self, meta: &Meta) -> bool {
        meta.state & self.states != 0 && meta.expires > self.unexpired_at
    }

    fn wants(&self, meta: &Meta) -> bool {
        self.kinds >> meta.kind & 1 == 1
            && self.layers >> meta.layer & 1 == 1
            && meta.trust >= self.trust_min
            && meta.updated > self.updated_after
            && meta.updated < self.updated_before
            && meta.expires <= self.expired_by
    }
}

/// Which memories of a part count, and which of them are wanted.
struct Mask {
    counted: Vec<bool>,
    /// `None`: the same.
    wanted: Option<Vec<bool>>,
    docs: u64,
    total_len: u64,
}

impl Mask {
    fn of(part: &Partition, tests: &Tests<'_>, allowed: Option<&Memories>) -> Mask {
        let mut counted: Vec<bool> = part.metas.iter().map(|meta| tests.counts(meta)).collect();
        if let Some(author) = tests.author {
            for (doc, _) in part.authors.iter().filter(|(_, name)| *name != author) {
                counted[*doc as usize] = false;
            }
        }
        let of_counted = part.metas.iter().zip(&counted).filter(|(_, counted)| **counted);
        let (docs, total_len) =
            of_counted.fold((0, 0), |(docs, total), (meta, _)| (docs + 1, total + u64::from(meta.len)));
        let mut wanted: Vec<bool> =
            part.metas.iter().zip(&counted).map(|(meta, counted)| *counted && tests.wants(meta)).collect();
        if let Some(allowed) = allowed {
            for (wanted, memory) in wanted.iter_mut().zip(&part.memories) {
                *wanted = *wanted && allowed.contains(memory);
            }
        }
        let wanted = (wanted != counted).then_some(wanted);
        Mask { counted, wanted, docs, total_len }
    }

    fn wanted(&self) -> &[bool] {
        self.wanted.as_deref().unwrap_or(&self.counted)
    }
}

fn counted(parts: &Parts<'_>, masks: &[Mask], find: &Find) -> Stats {
    let df = |term| {
        let of_part = |(part, mask): (&RwLockReadGuard<'_, Partition>, &Mask)| {
            part.postings.of(term).filter(|posting| mask.counted[posting.doc()]).count() as u32
        };
        parts.iter().zip(masks).map(of_part).sum()
    };
    Stats {
        docs: masks.iter().map(|mask| mask.docs).sum(),
        total_len: masks.iter().map(|mask| mask.total_len).sum(),
        df: find.words.terms.iter().map(|term| df(term.term)).collect(),
    }
}

fn by_words(parts: &Parts<'_>, masks: &[Mask], find: &Find, stats: &Stats) -> Top {
    let mut scorer = Scorer::new(find, stats);
    let mut top = Top::new(find.pool);
    for (at, (part, mask)) in parts.iter().zip(masks).enumerate() {
        let mut scores = vec![0.0_f32; part.metas.len()];
        let (wanted, mut touched) = (mask.wanted(), Vec::new());
        for (term, df) in find.words.terms.iter().zip(&stats.df) {
            let weight = term.weight * scorer.idf(*df);
            for posting in part.postings.of(term.term).filter(|posting| wanted[posting.doc()]) {
                let score = &mut scores[posting.doc()];
                if *score == 0.0 {
                    touched.push(posting.doc());
                }
                *score += weight * scorer.saturated(posting.times(), part.metas[posting.doc()].len);
            }
        }
        for doc in touched {
            offer(&mut top, part, (at, doc), scores[doc]);
        }
    }
    top
}

fn by_vector(parts: &Parts<'_>, masks: &[Mask], find: &Find) -> Top {
    let mut top = Top::new(find.pool);
    let Some(query) = &find.vector else { return top };
    for (at, (part, mask)) in parts.iter().zip(masks).enumerate() {
        let vectors = &part.vectors;
        if vectors.dimensions != query.vector.values.len() || vectors.model.as_ref() != Some(&query.model) {
            continue;
        }
        let mut products = vec![0; part.metas.len()];
        dots(&query.vector.values, &vectors.values, mask.wanted(), &mut products);
        let wanted = mask.wanted().iter().zip(&vectors.scales).zip(products).enumerate();
        for (doc, ((_, scale), product)) in wanted.filter(|(_, ((wanted, scale), _))| **wanted && **scale > 0.0) {
            offer(&mut top, part, (at, doc), product as f32 * scale);
        }
    }
    top
}

fn newest(parts: &Parts<'_>, masks: &[Mask], pool: usize) -> Top {
    let mut top = Top::new(pool);
    for (at, (part, mask)) in parts.iter().zip(masks).enumerate() {
        for (doc, _) in mask.wanted().iter().enumerate().filter(|(_, wanted)| **wanted) {
            offer(&mut top, part, (at, doc), 0.0);
        }
    }
    top
}

fn offer(top: &mut Top, part: &Partition, at: (usize, usize), score: f32) {
    if !top.is_beaten(score) {
        top.offer(Ranked { score, updated: part.metas[at.1].updated, memory: part.memories[at.1], at });
    }
}
