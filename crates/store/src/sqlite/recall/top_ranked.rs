//! The best `limit` documents, in a total order: score, then newer first, then lower id first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

#[derive(Clone, Copy)]
pub(super) struct RankedDoc {
    pub(super) score: f32,
    pub(super) updated: i64,
    pub(super) memory: [u8; 16],
    /// Index of the partition and of the document in it. Not compared.
    pub(super) at: (usize, usize),
}

impl Ord for RankedDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score).then(self.updated.cmp(&other.updated));
        by_score.then_with(|| other.memory.cmp(&self.memory))
    }
}

impl PartialOrd for RankedDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedDoc {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedDoc {}

pub(super) struct TopRanked {
    limit: usize,
    /// The worst of the best on top.
    best: BinaryHeap<Reverse<RankedDoc>>,
}

impl TopRanked {
    pub(super) fn new(limit: usize) -> TopRanked {
        TopRanked { limit, best: BinaryHeap::new() }
    }

    /// Whether a score is too low to get in. Tested before building a `RankedDoc`, because most are.
    pub(super) fn is_beaten(&self, score: f32) -> bool {
        self.best.len() >= self.limit && self.best.peek().is_none_or(|Reverse(worst)| score < worst.score)
    }

    pub(super) fn offer(&mut self, ranked: RankedDoc) {
        self.best.push(Reverse(ranked));
        if self.best.len() > self.limit {
            self.best.pop();
        }
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<RankedDoc> {
        self.best.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_are_settled() {
        let mut top = TopRanked::new(3);
        for (score, updated, id) in [(1.0, 1, 1), (2.0, 1, 2), (2.0, 2, 3), (2.0, 1, 4), (0.5, 9, 5)] {
            if !top.is_beaten(score) {
                top.offer(RankedDoc { score, updated, memory: [id; 16], at: (0, 0) });
            }
        }
        let ids: Vec<u8> = top.into_sorted().iter().map(|ranked| ranked.memory[0]).collect();
        assert_eq!(ids, [3, 2, 4]);
        assert!(TopRanked::new(0).is_beaten(1.0));
    }
}
