//! One search over partitions in memory: filter, count statistics, score by words and by vector, choose the best.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::RwLockReadGuard;

use engine::model::vocabulary::State;
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::{CandidateQuery, CorpusStats, Filter};
use engine::text::words::Term;
use rusqlite::{Connection, params_from_iter};

use super::partition::{Doc, DocMeta, Partition, PickedMemory, Totals};
use super::postings::Postings;
use super::top_ranked::{RankedDoc, TopRanked};
use super::vector_search::top_by_vector;
use crate::matching;
use crate::sqlite::fault::Fault;
use crate::sqlite::filter;
use crate::sqlite::row_codec::to_micros;
use crate::sqlite::scopes::VisibleScope;
use crate::word_score::Scorer;

type PartitionGuards<'a> = [RwLockReadGuard<'a, Partition>];
type MemoryIds = HashSet<[u8; 16]>;

/// The chosen memories, best first, each once.
#[derive(Default)]
pub(super) struct SearchPicks {
    pub(super) memories: Vec<PickedMemory>,
    /// The best by words and by vector, whose neighbouring turns are wanted too.
    pub(super) best: Vec<[u8; 16]>,
    pub(super) stats: CorpusStats,
}

/// The memories that pass the conditions on columns that only the table `memories` has. `None`: there are no such
/// conditions.
pub(super) fn allowed_memories(
    conn: &Connection,
    readable: &Readable,
    filter: &Filter,
    scopes: &[VisibleScope],
) -> Result<Option<MemoryIds>, Fault> {
    if !matching::needs_memory_table(filter) || scopes.is_empty() {
        return Ok(None);
    }
    let mut clauses = filter::within_scopes(readable, scopes);
    filter::filter_conditions(&mut clauses, readable, filter);
    let table = filter::indexed_table(filter, None, scopes);
    let mut statement = conn.prepare_cached(&format!("select m.id from {table} where {}", clauses.sql))?;
    let ids = statement.query_map(params_from_iter(clauses.params), |row| row.get(0))?;
    Ok(Some(ids.collect::<Result<_, _>>()?))
}

pub(super) fn search_partitions(
    parts: &PartitionGuards<'_>,
    readable: &Readable,
    find: &CandidateQuery,
    allowed: Option<&MemoryIds>,
) -> SearchPicks {
    let tests = FilterTests::from_filter(readable, &find.filter);
    let terms: Vec<Term> = find.words.terms.iter().map(|term| term.term).collect();
    let views: Vec<PartitionView<'_>> =
        parts.iter().map(|part| PartitionView::new(part, &tests, allowed, &terms)).collect();
    let mut picks = SearchPicks { memories: Vec::new(), best: Vec::new(), stats: count_stats(&views, &terms) };
    let mut chosen = vec![top_by_words(&views, find, &picks.stats)];
    if find.vector.is_some() {
        chosen.push(top_by_vector(&views, find));
    }
    // Neighbours are loaded for matches only; a memory chosen because it is new matches nothing.
    let match_lists = chosen.len();
    if find.newest && terms.is_empty() {
        chosen.push(top_newest(&views, find.pool));
    }
    parts.iter().for_each(|part| part.mark_searched());
    let chosen: Vec<Vec<RankedDoc>> = chosen.into_iter().map(TopRanked::into_sorted).collect();
    let of_best = find.neighbours.map_or(0, |neighbours| neighbours.of_best);
    picks
        .best
        .extend(chosen.iter().take(match_lists).flat_map(|list| list.iter().take(of_best)).map(|ranked| ranked.memory));
    let mut seen = MemoryIds::new();
    let chosen = chosen.into_iter().flatten().filter(|ranked| seen.insert(ranked.memory));
    picks.memories.extend(chosen.map(|RankedDoc { at: (part, doc), .. }| parts[part].pick_doc(doc)));
    picks
}

/// A filter as bit sets and bounds, for fast tests.
struct FilterTests<'a> {
    states: u8,
    kinds: u64,
    layers: u64,
    trust_min: u8,
    updated_after: i64,
    updated_before: i64,
    unexpired_at: i64,
    expired_by: i64,
    /// Whose memories waiting for review are visible; `None`: everybody's, or none are asked for.
    author: Option<&'a str>,
}

/// A bit for each value of a list; all bits where the list is empty, which means no restriction.
fn bit_set(words: impl ExactSizeIterator<Item = u8>) -> u64 {
    if words.len() == 0 { u64::MAX } else { words.fold(0, |bits, word| bits | 1 << word) }
}

impl<'a> FilterTests<'a> {
    fn from_filter(readable: &'a Readable, filter: &Filter) -> FilterTests<'a> {
        let wants_constrained = matching::wanted_states(filter).contains(&State::Constrained);
        FilterTests {
            states: bit_set(matching::wanted_states(filter).iter().map(|state| *state as u8)) as u8,
            kinds: bit_set(filter.kinds.iter().map(|kind| *kind as u8)),
            layers: bit_set(filter.layers.iter().map(|layer| *layer as u8)),
            trust_min: filter.trust_min.map_or(0, |trust| trust as u8),
            updated_after: filter.updated_after.map_or(i64::MIN, to_micros),
            updated_before: filter.updated_before.map_or(i64::MAX, to_micros),
            unexpired_at: filter.unexpired_at.map_or(i64::MIN, to_micros),
            expired_by: filter.expired_by.map_or(i64::MAX, to_micros),
            author: match &readable.constrained {
                VisibleCandidates::AuthoredBy(author) if wants_constrained => Some(author),
                _ => None,
            },
        }
    }

    /// Whether every memory of a partition with these totals passes.
    fn passes_all(&self, totals: &Totals) -> bool {
        let any_kind = self.kinds == u64::MAX && self.layers == u64::MAX && self.trust_min == 0;
        let any_time = self.updated_after == i64::MIN && self.updated_before == i64::MAX && self.expired_by == i64::MAX;
        let all_active = self.states >> State::Active as u8 & 1 == 1 && !totals.is_mixed;
        any_kind && any_time && all_active && totals.expires > self.unexpired_at
    }

    /// Whether a memory counts in the corpus statistics. Fewer conditions than for a result: a filter must not change
    /// how rare a word is.
    fn is_counted(&self, meta: &DocMeta) -> bool {
        meta.state & self.states != 0 && meta.expires > self.unexpired_at
    }

    fn is_wanted(&self, meta: &DocMeta) -> bool {
        self.kinds >> meta.kind & 1 == 1
            && self.layers >> meta.layer & 1 == 1
            && meta.trust >= self.trust_min
            && meta.updated > self.updated_after
            && meta.updated < self.updated_before
            && meta.expires <= self.expired_by
    }
}

/// A partition under the filter of one search.
pub(super) struct PartitionView<'a> {
    pub(super) part: &'a Partition,
    postings: Cow<'a, Postings>,
    /// Memories that count in the statistics, and memories that may be chosen.
    counted: Mask,
    wanted: Mask,
    docs: u64,
    total_len: u64,
}

/// Some memories of a partition; `None`: all of them.
type Mask = Option<Vec<bool>>;

impl<'a> PartitionView<'a> {
    fn new(
        part: &'a Partition,
        tests: &FilterTests<'_>,
        allowed: Option<&MemoryIds>,
        terms: &[Term],
    ) -> PartitionView<'a> {
        let (totals, postings) = (part.totals(), part.postings.for_terms(terms));
        if allowed.is_none() && tests.passes_all(&totals) {
            let docs = part.metas.len() as u64;
            return PartitionView { part, postings, counted: None, wanted: None, docs, total_len: totals.len };
        }
        let mut counted: Vec<bool> = part.metas.iter().map(|meta| tests.is_counted(meta)).collect();
        if let Some(author) = tests.author {
            // Other authors' memories that wait for review must not even count in the statistics.
            for (doc, _) in part.authors.iter().filter(|(_, name)| *name != author) {
                counted[*doc as usize] = false;
            }
        }
        let mut wanted: Vec<bool> =
            part.metas.iter().zip(&counted).map(|(meta, counted)| *counted && tests.is_wanted(meta)).collect();
        if let Some(allowed) = allowed {
            for (wanted, memory) in wanted.iter_mut().zip(&part.memories) {
                *wanted = *wanted && allowed.contains(memory);
            }
        }
        let lens = part.lens.iter().zip(&counted);
        let total_len = lens.map(|(len, counted)| u64::from(*len) * u64::from(*counted)).sum();
        let docs = counted.iter().map(|counted| u64::from(*counted)).sum();
        // A mask that excludes nothing becomes `None`, which is faster to test.
        let some = |mask: Vec<bool>| mask.contains(&false).then_some(mask);
        PartitionView { part, postings, counted: some(counted), wanted: some(wanted), docs, total_len }
    }

    #[cfg(test)]
    pub(super) fn whole(part: &'a Partition) -> PartitionView<'a> {
        let postings = Cow::Borrowed(&part.postings);
        PartitionView { part, postings, counted: None, wanted: None, docs: 0, total_len: 0 }
    }

    pub(super) fn is_wanted(&self, doc: usize) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted[doc])
    }

    pub(super) fn offer_doc(&self, top: &mut TopRanked, at: usize, doc: usize, score: f32) {
        if !top.is_beaten(score) {
            let (updated, memory) = (self.part.metas[doc].updated, self.part.memories[doc]);
            top.offer(RankedDoc { score, updated, memory, at: (at, doc) });
        }
    }
}

fn count_stats(views: &[PartitionView<'_>], terms: &[Term]) -> CorpusStats {
    let df = |view: &PartitionView<'_>, term: Term| match &view.counted {
        None => view.postings.count_postings(term) as u32,
        Some(counted) => {
            let mut df = 0;
            view.postings.for_each_posting(term, |posting| df += u32::from(counted[posting.doc()]));
            df
        }
    };
    CorpusStats {
        docs: views.iter().map(|view| view.docs).sum(),
        total_len: views.iter().map(|view| view.total_len).sum(),
        df: terms.iter().map(|term| views.iter().map(|view| df(view, *term)).sum()).collect(),
    }
}

fn top_by_words(views: &[PartitionView<'_>], find: &CandidateQuery, stats: &CorpusStats) -> TopRanked {
    let mut scorer = Scorer::new(find, stats);
    let mut top = TopRanked::new(find.pool);
    for (at, view) in views.iter().enumerate() {
        let mut scores = vec![0.0_f32; view.part.metas.len()];
        let mut touched = Vec::new();
        for (term, df) in find.words.terms.iter().zip(&stats.df) {
            let weight = term.weight * scorer.rarity(*df);
            view.postings.for_each_posting(term.term, |posting| {
                let doc = posting.doc();
                if !view.is_wanted(doc) {
                    return;
                }
                // A score of zero means that no term has matched yet: each match adds more than zero.
                if scores[doc] == 0.0 {
                    touched.push(doc as Doc);
                }
                scores[doc] += weight * scorer.term_saturation(posting.frequency(), view.part.lens[doc]);
            });
        }
        for doc in touched {
            view.offer_doc(&mut top, at, doc as usize, scores[doc as usize]);
        }
    }
    top
}

fn top_newest(views: &[PartitionView<'_>], pool: usize) -> TopRanked {
    let mut top = TopRanked::new(pool);
    for (at, view) in views.iter().enumerate() {
        for doc in (0..view.part.metas.len()).filter(|doc| view.is_wanted(*doc)) {
            view.offer_doc(&mut top, at, doc, 0.0);
        }
    }
    top
}
