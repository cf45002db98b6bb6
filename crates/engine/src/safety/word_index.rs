//! Finds the anchor words of all rules in one pass over the text.
//!
//! Some five thousand words, most of them rare: a bit per folded prefix turns nearly every position away
//! for two loads, and the few that remain are compared in full. It is built in well under a millisecond,
//! which a full automaton over the same words is not.

use super::read_counter;

/// Words are told apart by their first bytes; shorter words are not allowed.
pub(super) const WORD_BYTES_MIN: usize = 3;

/// One bit in some thirty is set, so that few positions are looked at closer; 32 KiB stay in the nearest cache.
const FILTER_BITS: u32 = 18;
const FILTER_WORDS: usize = (1 << FILTER_BITS) / 64;
/// Words are kept in this many buckets, by the same hash.
const BUCKET_BITS: u32 = 13;
/// Clears the case bit's absence: `A` and `a` fold alike, and so do the few signs that differ by it.
const CASE_MASK: u32 = 0x2020_2020;
const THREE_BYTES_MASK: u32 = 0x00ff_ffff;

/// As many words and bytes of words as the tables hold, roughly: growing on the way would cost start-up time.
const WORDS_EXPECTED: usize = 12 * 1024;
const TEXT_EXPECTED_BYTES: usize = 128 * 1024;

/// An index over words, case-insensitive for ASCII, each with what it stands for.
pub(super) struct WordIndex<T> {
    /// Words of four bytes and more, and those of three.
    long: PrefixIndex,
    short: PrefixIndex,
    /// All words, one behind the other; each knows where it ends.
    text: Vec<u8>,
    ends: Vec<(u32, T)>,
}

/// Words of one size class by their folded prefix.
#[derive(Default)]
struct PrefixIndex {
    filter: Box<[u64]>,
    /// Where each bucket's entries start; one more than there are buckets.
    starts: Box<[u16]>,
    /// Ordered by bucket.
    entries: Vec<WordEntry>,
}

/// A word's first eight bytes, so that most comparisons never touch the word.
#[derive(Clone, Copy, Default)]
struct WordEntry {
    key: u32,
    /// The four bytes after the key, folded, as far as the word has them.
    next: u32,
    mask: u32,
    word: u32,
}

impl<T: Copy> WordIndex<T> {
    pub(super) fn new() -> Self {
        WordIndex {
            long: PrefixIndex::default(),
            short: PrefixIndex::default(),
            text: Vec::with_capacity(TEXT_EXPECTED_BYTES),
            ends: Vec::with_capacity(WORDS_EXPECTED),
        }
    }

    pub(super) fn add_word(&mut self, word: &str, target: T) {
        debug_assert!(word.len() >= WORD_BYTES_MIN, "`{word}` is too short to look for");
        self.text.extend_from_slice(word.as_bytes());
        self.ends.push((self.text.len() as u32, target));
    }

    /// Makes the index, once all words are in.
    pub(super) fn build_index(&mut self) {
        let mut long = Vec::with_capacity(self.ends.len());
        let mut short = Vec::new();
        for word in 0..self.ends.len() {
            let text = self.word_bytes(word);
            let (mask, entries) =
                if text.len() == WORD_BYTES_MIN { (THREE_BYTES_MASK, &mut short) } else { (u32::MAX, &mut long) };
            entries.push(WordEntry::new(text, mask, word as u32));
        }
        (self.long, self.short) = (PrefixIndex::new(&long), PrefixIndex::new(&short));
    }

    fn word_bytes(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.text[start as usize..self.ends[index].0 as usize]
    }

    /// Calls `visit` with what each word stands for, its start and end, ordered by start.
    pub(super) fn find_all(&self, bytes: &[u8], mut visit: impl FnMut(T, usize, usize)) {
        read_counter::record_read(bytes.len());
        for (at, four) in bytes.windows(4).enumerate() {
            let key = u32::from_le_bytes([four[0], four[1], four[2], four[3]]) | CASE_MASK;
            if self.long.may_contain(key) {
                self.visit_matches(&self.long, key, bytes, at, &mut visit);
            }
            if self.short.may_contain(key & THREE_BYTES_MASK) {
                self.visit_matches(&self.short, key & THREE_BYTES_MASK, bytes, at, &mut visit);
            }
        }
        // The last three bytes have no fourth.
        if let Some(at) = bytes.len().checked_sub(WORD_BYTES_MIN) {
            self.visit_matches(&self.short, folded_prefix(&bytes[at..]) & THREE_BYTES_MASK, bytes, at, &mut visit);
        }
    }

    /// Calls `visit` with what each word that stands at one place stands for, and its end.
    pub(super) fn find_at(&self, bytes: &[u8], at: usize, mut visit: impl FnMut(T, usize)) {
        let key = folded_prefix(&bytes[at..]);
        let mut visit = |target, _, end| visit(target, end);
        if self.long.may_contain(key) {
            self.visit_matches(&self.long, key, bytes, at, &mut visit);
        }
        if self.short.may_contain(key & THREE_BYTES_MASK) {
            self.visit_matches(&self.short, key & THREE_BYTES_MASK, bytes, at, &mut visit);
        }
    }

    fn visit_matches(
        &self,
        index: &PrefixIndex,
        key: u32,
        bytes: &[u8],
        at: usize,
        visit: &mut impl FnMut(T, usize, usize),
    ) {
        let next = folded_prefix(bytes.get(at + 4..).unwrap_or_default());
        for entry in
            index.bucket_entries(key).iter().filter(|entry| entry.key == key && next & entry.mask == entry.next)
        {
            let text = self.word_bytes(entry.word as usize);
            if bytes.get(at..at + text.len()).is_some_and(|found| found.eq_ignore_ascii_case(text)) {
                visit(self.ends[entry.word as usize].1, at, at + text.len());
            }
        }
    }
}

impl WordEntry {
    fn new(word: &[u8], key_mask: u32, index: u32) -> Self {
        let rest = word.get(4..).unwrap_or_default();
        let mask = match rest.len() {
            0 => 0,
            count @ 1..=3 => u32::MAX >> (8 * (4 - count)),
            _ => u32::MAX,
        };
        WordEntry { key: folded_prefix(word) & key_mask, next: folded_prefix(rest) & mask, mask, word: index }
    }
}

impl PrefixIndex {
    fn new(entries: &[WordEntry]) -> Self {
        let mut filter = vec![0_u64; FILTER_WORDS].into_boxed_slice();
        let mut starts = vec![0_u16; (1 << BUCKET_BITS) + 1].into_boxed_slice();
        for entry in entries {
            let bit = hash(entry.key);
            filter[bit / 64] |= 1 << (bit % 64);
            starts[bucket_index(entry.key) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        // Counting sort: words of one bucket keep the order in which they were added.
        let mut ordered = vec![WordEntry::default(); entries.len()];
        let mut next_free = starts.clone();
        for entry in entries {
            let place = &mut next_free[bucket_index(entry.key)];
            ordered[usize::from(*place)] = *entry;
            *place += 1;
        }
        PrefixIndex { filter, starts, entries: ordered }
    }

    fn may_contain(&self, key: u32) -> bool {
        let bit = hash(key);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bucket_entries(&self, key: u32) -> &[WordEntry] {
        let bucket = bucket_index(key);
        &self.entries[usize::from(self.starts[bucket])..usize::from(self.starts[bucket + 1])]
    }
}

/// The first four bytes with their case folded; zeros stand for what is missing.
fn folded_prefix(bytes: &[u8]) -> u32 {
    if let Some(four) = bytes.first_chunk() {
        return u32::from_le_bytes(*four) | CASE_MASK;
    }
    let mut four = [0; 4];
    four[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(four) | CASE_MASK
}

fn hash(prefix: u32) -> usize {
    // Fibonacci hashing: the high bits depend on all four bytes.
    (prefix.wrapping_mul(0x9e37_79b9) >> (32 - FILTER_BITS)) as usize
}

fn bucket_index(prefix: u32) -> usize {
    hash(prefix) >> (FILTER_BITS - BUCKET_BITS)
}
