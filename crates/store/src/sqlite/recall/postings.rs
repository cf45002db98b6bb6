//! Which memories hold a term: sorted runs, merged as they grow, and the newest few unsorted.

use engine::words::Term;

use super::partition::Doc;

/// A memory and how often it holds a term, in four bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Posting(u32);

impl Posting {
    fn new(doc: Doc, times: u8) -> Posting {
        Posting(doc << 8 | u32::from(times))
    }

    pub(super) fn doc(self) -> usize {
        (self.0 >> 8) as usize
    }

    pub(super) fn times(self) -> u8 {
        self.0 as u8
    }
}

/// Postings that wait unsorted: so few that walking them costs a find nothing worth saving.
const FRESH_MAX: usize = 2_048;
/// Postings sorted at once while a part is loaded: bounds what the sorting needs besides.
const RUN_MAX: usize = 1 << 22;
/// Runs shorter than this are not worth counting buckets for.
const RADIX_MIN: usize = 4_096;

#[derive(Default)]
pub(super) struct Postings {
    /// Each at least twice as long as the next.
    runs: Vec<Run>,
    /// Term in the upper half, posting in the lower.
    fresh: Vec<u64>,
    loading: bool,
}

/// Lists of postings, one after the other, by ascending term.
#[derive(Default)]
struct Run {
    terms: Vec<Term>,
    /// Where each term's list ends.
    ends: Vec<u32>,
    postings: Vec<Posting>,
}

impl Postings {
    /// Memories are added in ascending order.
    pub(super) fn add(&mut self, doc: Doc, terms: &[(Term, u8)]) {
        let packed = |(term, times): &(Term, u8)| u64::from(*term) << 32 | u64::from(Posting::new(doc, *times).0);
        self.fresh.extend(terms.iter().map(packed));
        if self.fresh.len() >= if self.loading { RUN_MAX } else { FRESH_MAX } {
            self.settle();
        }
    }

    /// While much comes at once, it is sorted at once.
    pub(super) fn loading(&mut self, loading: bool) {
        self.loading = loading;
        if !loading && self.fresh.len() >= FRESH_MAX {
            self.settle();
        }
    }

    pub(super) fn of(&self, term: Term) -> impl Iterator<Item = Posting> {
        let sorted = self.runs.iter().flat_map(move |run| run.of(term)).copied();
        let fresh = self.fresh.iter().filter(move |packed| (**packed >> 32) as Term == term);
        sorted.chain(fresh.map(|packed| Posting(*packed as u32)))
    }

    pub(super) fn bytes(&self) -> usize {
        let runs = self.runs.iter().map(|run| run.terms.capacity() * 8 + run.postings.capacity() * 4);
        runs.sum::<usize>() + self.fresh.capacity() * 8
    }

    fn settle(&mut self) {
        self.runs.push(Run::sorted(std::mem::take(&mut self.fresh)));
        while let [.., older, newer] = self.runs.as_slice() {
            if older.postings.len() >= newer.postings.len() * 2 {
                break;
            }
            let merged = Run::merged(older, newer);
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
    }
}

impl Run {
    fn sorted(packed: Vec<u64>) -> Run {
        let packed = by_term(packed);
        let mut run = Run { postings: Vec::with_capacity(packed.len()), ..Run::default() };
        for packed in packed {
            run.push((packed >> 32) as Term, &[Posting(packed as u32)]);
        }
        run
    }

    fn push(&mut self, term: Term, postings: &[Posting]) {
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

    fn list(&self, at: usize) -> &[Posting] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..self.ends[at] as usize]
    }

    fn of(&self, term: Term) -> &[Posting] {
        self.terms.binary_search(&term).map_or(&[], |at| self.list(at))
    }

    /// The older run's memories come first, so lists stay in order.
    fn merged(older: &Run, newer: &Run) -> Run {
        let mut run =
            Run { postings: Vec::with_capacity(older.postings.len() + newer.postings.len()), ..Run::default() };
        let (mut a, mut b) = (0, 0);
        while a < older.terms.len() || b < newer.terms.len() {
            let old = older.terms.get(a).copied();
            let new = newer.terms.get(b).copied();
            if new.is_none_or(|new| old.is_some_and(|old| old <= new)) {
                run.push(older.terms[a], older.list(a));
                a += 1;
            } else {
                run.push(newer.terms[b], newer.list(b));
                b += 1;
            }
        }
        run
    }
}

/// Sorts by the upper half and keeps the order of equals: three passes over eleven bits each.
fn by_term(mut packed: Vec<u64>) -> Vec<u64> {
    const BITS: u32 = 11;
    const BUCKETS: usize = 1 << BITS;
    if packed.len() < RADIX_MIN {
        packed.sort_by_key(|packed| packed >> 32);
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
        for (docs, at_once) in [(0_u32, 0), (10, 10), (5_000, 0), (5_000, 5_000), (9_000, 6_000)] {
            let (mut postings, mut expected) = (Postings::default(), BTreeMap::<Term, Vec<Posting>>::new());
            postings.loading(true);
            for doc in 0..docs {
                if doc == at_once {
                    postings.loading(false);
                }
                // Some terms in every memory, some in few, over the whole range of numbers.
                let terms: Vec<(Term, u8)> = [1, doc % 7, doc.wrapping_mul(0x9e37_79b9), u32::MAX]
                    .map(|term| (term, (doc % 3 + 1) as u8))
                    .into();
                let terms: BTreeMap<Term, u8> = terms.into_iter().collect();
                let terms: Vec<(Term, u8)> = terms.into_iter().collect();
                postings.add(doc, &terms);
                for (term, times) in terms {
                    expected.entry(term).or_default().push(Posting::new(doc, times));
                }
            }
            for (term, list) in expected {
                assert_eq!(postings.of(term).collect::<Vec<_>>(), list, "{term} of {docs}");
            }
            assert_eq!(postings.of(12_345).count(), 0);
            assert!(postings.runs.len() < 12, "{}", postings.runs.len());
        }
    }
}
