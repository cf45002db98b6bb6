//! Finds the anchor words of all rules in one pass over the text.
//!
//! Some two thousand words, most of them rare: a bit per folded prefix turns nearly every position away
//! for two loads, and the few that remain are compared in full. It is built in well under a millisecond,
//! which a full automaton over the same words is not.

/// Words are told apart by their first bytes; shorter words are not allowed.
pub(super) const WORD_BYTES_MIN: usize = 3;

const FILTER_BITS: u32 = 16;
const FILTER_WORDS: usize = (1 << FILTER_BITS) / 64;
/// Clears the case bit's absence: `A` and `a` fold alike, and so do the few signs that differ by it.
const CASE: u32 = 0x2020_2020;
const THREE: u32 = 0x00ff_ffff;

/// An index over words, case-insensitive for ASCII.
pub(super) struct Words {
    /// Prefixes of four bytes, and of three for the words that have no more.
    filters: [Box<[u64]>; 2],
    /// Folded prefix and word, ordered by prefix; equal prefixes are tried one after the other.
    entries: [Vec<(u32, u32)>; 2],
    words: Vec<String>,
}

impl Words {
    pub(super) fn new(words: Vec<String>) -> Self {
        let mut filters = [vec![0_u64; FILTER_WORDS].into_boxed_slice(), vec![0_u64; FILTER_WORDS].into_boxed_slice()];
        let mut entries = [Vec::new(), Vec::new()];
        for (index, word) in words.iter().enumerate() {
            let size = usize::from(word.len() == WORD_BYTES_MIN);
            let prefix = prefix(word.as_bytes(), 0) & [u32::MAX, THREE][size];
            entries[size].push((prefix, index as u32));
            let bit = hash(prefix);
            filters[size][bit / 64] |= 1 << (bit % 64);
        }
        entries.iter_mut().for_each(|list| list.sort_unstable());
        Words { filters, entries, words }
    }

    /// Calls `visit` with each word's index, start and end, ordered by start.
    pub(super) fn find(&self, bytes: &[u8], mut visit: impl FnMut(usize, usize, usize)) {
        for at in 0..bytes.len().saturating_sub(WORD_BYTES_MIN - 1) {
            let four = prefix(bytes, at);
            for (size, key) in [(0, four), (1, four & THREE)] {
                let bit = hash(key);
                if self.filters[size][bit / 64] >> (bit % 64) & 1 == 1 {
                    self.compare(size, key, bytes, at, &mut visit);
                }
            }
        }
    }

    fn compare(&self, size: usize, key: u32, bytes: &[u8], at: usize, visit: &mut impl FnMut(usize, usize, usize)) {
        let list = &self.entries[size];
        let from = list.partition_point(|entry| entry.0 < key);
        for &(_, index) in list[from..].iter().take_while(|entry| entry.0 == key) {
            let word = self.words[index as usize].as_bytes();
            if bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) {
                visit(index as usize, at, at + word.len());
            }
        }
    }
}

/// The next four bytes with their case folded; zeros stand for what is missing.
fn prefix(bytes: &[u8], at: usize) -> u32 {
    let four = match bytes.get(at..at + 4) {
        Some(four) => [four[0], four[1], four[2], four[3]],
        None => {
            let mut four = [0; 4];
            for (to, from) in four.iter_mut().zip(&bytes[at..]) {
                *to = *from;
            }
            four
        }
    };
    u32::from_le_bytes(four) | CASE
}

fn hash(prefix: u32) -> usize {
    // Fibonacci hashing: the high bits depend on all four bytes.
    (prefix.wrapping_mul(0x9e37_79b9) >> (32 - FILTER_BITS)) as usize
}
