//! One find over the parts in memory: filter, count, score by words, score by vector, choose.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::RwLockReadGuard;

use engine::model::vocabulary::State;
use engine::policy::{Constrained, Readable};
use engine::ports::{Filter, Find, Stats};
use engine::text::words::Term;
use rusqlite::{Connection, params_from_iter};

use super::near::by_vector;
use super::partition::{Doc, Meta, Partition, Pick, Totals};
use super::postings::Postings;
use super::top::{Ranked, Top};
use crate::matching;
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
    let terms: Vec<Term> = find.words.terms.iter().map(|term| term.term).collect();
    let views: Vec<View<'_>> = parts.iter().map(|part| View::of(part, &tests, allowed, &terms)).collect();
    let mut picks = Picks { memories: Vec::new(), best: Vec::new(), stats: counted(&views, &terms) };
    let mut chosen = vec![by_words(&views, find, &picks.stats)];
    if find.vector.is_some() {
        chosen.push(by_vector(&views, find));
    }
    // What is only new is no answer whose neighbours could be one too.
    let answers = chosen.len();
    if find.newest && terms.is_empty() {
        chosen.push(newest(&views, find.pool));
    }
    parts.iter().for_each(|part| part.mark_searched());
    let chosen: Vec<Vec<Ranked>> = chosen.into_iter().map(Top::into_sorted).collect();
    let of_best = find.neighbours.map_or(0, |neighbours| neighbours.of_best);
    picks.best.extend(chosen.iter().take(answers).flat_map(|way| way.iter().take(of_best)).map(|ranked| ranked.memory));
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

    /// Nothing is asked that some memory of such a part might not meet.
    fn pass_all(&self, totals: &Totals) -> bool {
        let open = self.kinds == u64::MAX && self.layers == u64::MAX && self.trust_min == 0;
        let timeless = self.updated_after == i64::MIN && self.updated_before == i64::MAX && self.expired_by == i64::MAX;
        let active = self.states >> State::Active as u8 & 1 == 1 && !totals.is_mixed;
        open && timeless && active && totals.expires > self.unexpired_at
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

/// A part as one find sees it.
pub(super) struct View<'a> {
    pub(super) part: &'a Partition,
    postings: Cow<'a, Postings>,
    counted: Mask,
    wanted: Mask,
    docs: u64,
    total_len: u64,
}

/// Which memories of a part; `None`: all of them.
type Mask = Option<Vec<bool>>;

impl<'a> View<'a> {
    fn of(part: &'a Partition, tests: &Tests<'_>, allowed: Option<&Memories>, terms: &[Term]) -> View<'a> {
        let (totals, postings) = (part.totals(), part.postings.ready(terms));
        if allowed.is_none() && tests.pass_all(&totals) {
            let docs = part.metas.len() as u64;
            return View { part, postings, counted: None, wanted: None, docs, total_len: totals.len };
        }
        let mut counted: Vec<bool> = part.metas.iter().map(|meta| tests.counts(meta)).collect();
        if let Some(author) = tests.author {
            for (doc, _) in part.authors.iter().filter(|(_, name)| *name != author) {
                counted[*doc as usize] = false;
            }
        }
        let mut wanted: Vec<bool> =
            part.metas.iter().zip(&counted).map(|(meta, counted)| *counted && tests.wants(meta)).collect();
        if let Some(allowed) = allowed {
            for (wanted, memory) in wanted.iter_mut().zip(&part.memories) {
                *wanted = *wanted && allowed.contains(memory);
            }
        }
        let lens = part.lens.iter().zip(&counted);
        let total_len = lens.map(|(len, counted)| u64::from(*len) * u64::from(*counted)).sum();
        let docs = counted.iter().map(|counted| u64::from(*counted)).sum();
        let some = |mask: Vec<bool>| mask.contains(&false).then_some(mask);
        View { part, postings, counted: some(counted), wanted: some(wanted), docs, total_len }
    }

    #[cfg(test)]
    pub(super) fn whole(part: &'a Partition) -> View<'a> {
        let postings = Cow::Borrowed(&part.postings);
        View { part, postings, counted: None, wanted: None, docs: 0, total_len: 0 }
    }

    pub(super) fn wants(&self, doc: usize) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted[doc])
    }

    pub(super) fn offer(&self, top: &mut Top, at: usize, doc: usize, score: f32) {
        if !top.is_beaten(score) {
            let (updated, memory) = (self.part.metas[doc].updated, self.part.memories[doc]);
            top.offer(Ranked { score, updated, memory, at: (at, doc) });
        }
    }
}

fn counted(views: &[View<'_>], terms: &[Term]) -> Stats {
    let df = |view: &View<'_>, term: Term| match &view.counted {
        None => view.postings.count(term) as u32,
        Some(counted) => {
            let mut df = 0;
            view.postings.each(term, |posting| df += u32::from(counted[posting.doc()]));
            df
        }
    };
    Stats {
        docs: views.iter().map(|view| view.docs).sum(),
        total_len: views.iter().map(|view| view.total_len).sum(),
        df: terms.iter().map(|term| views.iter().map(|view| df(view, *term)).sum()).collect(),
    }
}

fn by_words(views: &[View<'_>], find: &Find, stats: &Stats) -> Top {
    let mut scorer = Scorer::new(find, stats);
    let mut top = Top::new(find.pool);
    for (at, view) in views.iter().enumerate() {
        let mut scores = vec![0.0_f32; view.part.metas.len()];
        let mut touched = Vec::new();
        for (term, df) in find.words.terms.iter().zip(&stats.df) {
            let weight = term.weight * scorer.idf(*df);
            view.postings.each(term.term, |posting| {
                let doc = posting.doc();
                if !view.wants(doc) {
                    return;
                }
                if scores[doc] == 0.0 {
                    touched.push(doc as Doc);
                }
                scores[doc] += weight * scorer.saturated(posting.times(), view.part.lens[doc]);
            });
        }
        for doc in touched {
            view.offer(&mut top, at, doc as usize, scores[doc as usize]);
        }
    }
    top
}

fn newest(views: &[View<'_>], pool: usize) -> Top {
    let mut top = Top::new(pool);
    for (at, view) in views.iter().enumerate() {
        for doc in (0..view.part.metas.len()).filter(|doc| view.wants(*doc)) {
            view.offer(&mut top, at, doc, 0.0);
        }
    }
    top
}
