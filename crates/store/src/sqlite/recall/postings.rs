//! The inverted index: which memories hold a term. A log-structured merge: sorted runs that are merged as they grow,
//! and the newest postings unsorted.

use std::borrow::Cow;

use engine::text::words::{IndexedWords, Term};

use super::one_shot::TermFilter;
use super::partition::Doc;

/// A document number (24 bits) and a term frequency (8 bits).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Posting(u32);

impl Posting {
    fn new(doc: Doc, frequency: u8) -> Posting {
        Posting(doc << 8 | u32::from(frequency))
    }

    pub(super) fn doc(self) -> usize {
        (self.0 >> 8) as usize
    }

    pub(super) fn frequency(self) -> u8 {
        self.0 as u8
    }
}

/// Unsorted postings from which they are sorted: so few that scanning them for each term costs a search next to
/// nothing, even over many partitions.
const FRESH_MAX: usize = 256;
/// Unsorted postings while a partition is loaded: bounds the memory that sorting needs in addition.
const RUN_MAX: usize = 1 << 20;
/// Length from which a radix sort is used. Below it, sorting in place takes a millisecond or two longer and needs no
/// second buffer.
const RADIX_MIN: usize = 1 << 18;

#[derive(Clone, Default)]
pub(super) struct Postings {
    /// Each at least twice as long as the next, so there are few.
    runs: Vec<SortedRun>,
    /// Unsorted: term in the upper half, posting in the lower.
    fresh: Vec<u64>,
}

/// Postings by ascending term, the lists one after the other.
#[derive(Clone, Default)]
struct SortedRun {
    terms: Vec<Term>,
    /// End of each term's list in `postings`.
    ends: Vec<u32>,
    postings: Vec<Posting>,
}

impl Postings {
    /// Adds a memory by its stored words, or by those of them that are `wanted`. Numbers must ascend. Returns the
    /// length of all its words; `None`, with nothing added, where they cannot be decoded.
    pub(super) fn add_doc(&mut self, doc: Doc, words: &[u8], wanted: Option<&[Term]>) -> Option<u32> {
        let before = self.fresh.len();
        let keep = |term: Term, frequency: u8| {
            self.fresh.push(u64::from(term) << 32 | u64::from(Posting::new(doc, frequency).0));
        };
        let len = match wanted {
            Some(wanted) => IndexedWords::pick_terms(words, wanted, keep),
            None => IndexedWords::for_each_term(words, keep),
        };
        if len.is_none() {
            self.fresh.truncate(before);
        }
        if self.fresh.len() >= RUN_MAX {
            self.sort_fresh();
        }
        len
    }

    /// Whether more is unsorted than searches should scan.
    pub(super) fn is_unsorted(&self) -> bool {
        self.fresh.len() >= FRESH_MAX
    }

    /// Calls `posting` for every memory that holds the term, by ascending number.
    pub(super) fn for_each_posting(&self, term: Term, mut posting: impl FnMut(Posting)) {
        self.runs.iter().flat_map(|run| run.postings_of(term)).for_each(|one| posting(*one));
        let fresh = self.fresh.iter().filter(|packed| unpack_term(**packed) == term);
        fresh.for_each(|packed| posting(Posting(*packed as u32)));
    }

    pub(super) fn count_postings(&self, term: Term) -> usize {
        let sorted: usize = self.runs.iter().map(|run| run.postings_of(term).len()).sum();
        sorted + self.fresh.iter().filter(|packed| unpack_term(**packed) == term).count()
    }

    /// The postings of a query's terms: where many are unsorted, they are scanned once and not once per term.
    pub(super) fn for_terms(&self, terms: &[Term]) -> Cow<'_, Postings> {
        if !self.is_unsorted() {
            return Cow::Borrowed(self);
        }
        let filter = TermFilter::from_terms(terms.to_vec());
        let wanted = |packed: &u64| filter.contains_term(unpack_term(*packed));
        let fresh = SortedRun::from_packed(self.fresh.iter().copied().filter(wanted).collect());
        Cow::Owned(Postings {
            runs: self.runs.iter().map(|run| run.only_terms(terms)).chain([fresh]).collect(),
            fresh: Vec::new(),
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let runs = self.runs.iter().map(|run| run.terms.capacity() * 8 + run.postings.capacity() * 4);
        runs.sum::<usize>() + self.fresh.capacity() * 8
    }

    pub(super) fn sort_fresh(&mut self) {
        self.runs.push(SortedRun::from_packed(std::mem::take(&mut self.fresh)));
        // Merging only runs of similar length keeps the total work at n log n.
        while let [.., older, newer] = self.runs.as_slice() {
            if older.postings.len() >= newer.postings.len() * 2 {
                break;
            }
            let merged = SortedRun::merge_runs(older, newer);
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
    }
}

impl SortedRun {
    fn from_packed(packed: Vec<u64>) -> SortedRun {
        let packed = sort_by_term(packed);
        let mut run = SortedRun { postings: Vec::with_capacity(packed.len()), ..SortedRun::default() };
        for packed in packed {
            run.push_postings(unpack_term(packed), &[Posting(packed as u32)]);
        }
        run
    }

    fn push_postings(&mut self, term: Term, postings: &[Posting]) {
        self.postings.extend_from_slice(postings);
        let end = self.postings.len() as u32;
        match (self.terms.last(), self.ends.last_mut()) {
            (Some(last), Some(last_end)) if *last == term => *last_end = end,
            _ => {
                self.terms.push(term);
                self.ends.push(end);
            }
        }
    }

    fn only_terms(&self, terms: &[Term]) -> SortedRun {
        let mut terms = terms.to_vec();
        terms.sort_unstable();
        terms.dedup();
        let mut run = SortedRun::default();
        terms.iter().for_each(|term| run.push_postings(*term, self.postings_of(*term)));
        run
    }

    fn postings_at(&self, at: usize) -> &[Posting] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..self.ends[at] as usize]
    }

    fn postings_of(&self, term: Term) -> &[Posting] {
        self.terms.binary_search(&term).map_or(&[], |at| self.postings_at(at))
    }

    /// Merges two runs. Memories of the older run have lower numbers, so lists stay in order.
    fn merge_runs(older: &SortedRun, newer: &SortedRun) -> SortedRun {
        let mut run = SortedRun {
            postings: Vec::with_capacity(older.postings.len() + newer.postings.len()),
            ..SortedRun::default()
        };
        let (mut a, mut b) = (0, 0);
        while a < older.terms.len() || b < newer.terms.len() {
            let old = older.terms.get(a).copied();
            let new = newer.terms.get(b).copied();
            // On equal terms the older list goes first and `push_postings` appends the newer one to it.
            if new.is_none_or(|new| old.is_some_and(|old| old <= new)) {
                run.push_postings(older.terms[a], older.postings_at(a));
                a += 1;
            } else {
                run.push_postings(newer.terms[b], newer.postings_at(b));
                b += 1;
            }
        }
        run
    }
}

fn unpack_term(packed: u64) -> Term {
    (packed >> 32) as Term
}

/// Stable sort by term: a radix sort in three passes of eleven bits each.
fn sort_by_term(mut packed: Vec<u64>) -> Vec<u64> {
    const BITS: u32 = 11;
    const BUCKETS: usize = 1 << BITS;
    if packed.len() < RADIX_MIN {
        // The lower half holds the document number, so an unstable sort of the whole value keeps documents ascending.
        packed.sort_unstable();
        return packed;
    }
    let mut sorted = vec![0; packed.len()];
    for pass in 0..3 {
        let bucket = |packed: u64| (packed >> (32 + pass * BITS)) as usize & (BUCKETS - 1);
        let mut next = [0_usize; BUCKETS];
        packed.iter().for_each(|packed| next[bucket(*packed)] += 1);
        let mut start = 0;
        for count in &mut next {
            start += std::mem::replace(count, start);
        }
        for value in &packed {
            let at = &mut next[bucket(*value)];
            sorted[*at] = *value;
            *at += 1;
        }
        std::mem::swap(&mut packed, &mut sorted);
    }
    packed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn lists_are_whole_and_in_order_however_they_came() {
        for (docs, sorted_at) in [(0_u32, 0), (10, 10), (5_000, 0), (5_000, 4_999), (9_000, 6_000)] {
            let (mut postings, mut expected) = (Postings::default(), BTreeMap::<Term, Vec<Posting>>::new());
            for doc in 0..docs {
                if doc == sorted_at || (doc > sorted_at && postings.is_unsorted()) {
                    postings.sort_fresh();
                }
                // Some terms in every memory, some in few, over the whole range of numbers.
                let terms = [1, doc % 7, doc.wrapping_mul(0x9e37_79b9), u32::MAX];
                let terms: BTreeMap<Term, u8> = terms.map(|term| (term, (doc % 3 + 1) as u8)).into();
                let words = IndexedWords { terms: terms.clone().into_iter().collect(), len: doc };
                assert_eq!(postings.add_doc(doc, &words.to_bytes(), None), Some(doc));
                for (term, times) in terms {
                    expected.entry(term).or_default().push(Posting::new(doc, times));
                }
            }
            let asked: Vec<Term> = expected.keys().copied().take(9).chain([12_345, u32::MAX]).collect();
            let list = |postings: &Postings, term: Term| {
                let mut list = Vec::new();
                postings.for_each_posting(term, |posting| list.push(posting));
                assert_eq!(postings.count_postings(term), list.len());
                list
            };
            for term in &asked {
                let expected = expected.get(term).cloned().unwrap_or_default();
                assert_eq!(list(&postings.for_terms(&asked), *term), expected, "{term} of {docs}, picked out");
            }
            for (term, expected) in expected {
                assert_eq!(list(&postings, term), expected, "{term} of {docs}");
            }
            assert!(postings.runs.len() < 12, "{}", postings.runs.len());
        }
    }

    #[test]
    fn words_that_cannot_be_read_leave_nothing() {
        let mut postings = Postings::default();
        let mut bytes = IndexedWords { terms: vec![(1, 1), (2, 1)], len: 2 }.to_bytes();
        bytes.pop();
        assert_eq!(postings.add_doc(0, &bytes, None), None);
        assert_eq!(postings.count_postings(1), 0);
    }
}
