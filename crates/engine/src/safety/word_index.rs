//! Finds thousands of words in one pass over a text.
//!
//! Most words are rare. A filter with one bit per hashed four-byte prefix rejects nearly every position at the cost of
//! two loads; the remaining positions are compared with the words of their bucket. The index is built in well under a
//! millisecond; an Aho-Corasick automaton over the same words takes far longer to build, and every process pays that at
//! its first scan.

use super::read_counter;

/// Length of the shortest word: the filter hashes at least three bytes.
pub(super) const WORD_BYTES_MIN: usize = 3;

/// Size of the filter: 2^18 bits are 32 KiB and fit into the first-level cache; about one bit in thirty is set.
const FILTER_BITS: u32 = 18;
const FILTER_WORDS: usize = (1 << FILTER_BITS) / 64;
/// Number of buckets: 2^13. A bucket is the upper bits of the filter's hash, so one hash serves both.
const BUCKET_BITS: u32 = 13;
/// Sets the case bit of four bytes: `A` becomes `a`. Some punctuation is folded too; the full comparison sorts that
/// out.
const CASE_MASK: u32 = 0x2020_2020;
const THREE_BYTES_MASK: u32 = 0x00ff_ffff;

/// Initial capacity, about what the tables hold: growing while the index is built would cost start-up time.
const WORDS_EXPECTED: usize = 12 * 1024;
const TEXT_EXPECTED_BYTES: usize = 128 * 1024;

/// Index of words with a target each; ignores ASCII case. Add all words, then call [`WordIndex::build_index`].
pub(super) struct WordIndex<T> {
    /// Words of four bytes and more, by their first four bytes.
    long: PrefixIndex,
    /// Words of three bytes.
    short: PrefixIndex,
    /// All words, concatenated.
    text: Vec<u8>,
    /// End of each word in `text`, and its target.
    ends: Vec<(u32, T)>,
}

/// Words of one length class, by their folded prefix.
#[derive(Default)]
struct PrefixIndex {
    filter: Box<[u64]>,
    /// Start of each bucket in `entries`, plus the end of the last one. `u16`: at most 65 535 words.
    starts: Box<[u16]>,
    /// Sorted by bucket.
    entries: Vec<WordEntry>,
}

/// First eight bytes of a word, so that most comparisons do not touch the word itself.
#[derive(Clone, Copy, Default)]
struct WordEntry {
    /// The first four bytes, folded (three for short words).
    key: u32,
    /// The four bytes after them, folded, as far as the word has them.
    next: u32,
    /// Bits of `next` that belong to the word.
    mask: u32,
    /// Position of the word in `ends`.
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

    /// Builds the index after the last word was added.
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

    /// Calls `visit` with target, start and end of every occurrence, ordered by start. Overlapping words are all
    /// visited.
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
        // The windows of four miss a word of three at the very end.
        if let Some(at) = bytes.len().checked_sub(WORD_BYTES_MIN) {
            self.visit_matches(&self.short, folded_prefix(&bytes[at..]) & THREE_BYTES_MASK, bytes, at, &mut visit);
        }
    }

    /// Calls `visit` with target and end of every word that starts at `at`.
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
        // Counting sort. It is stable: words of one bucket keep the order in which they were added.
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

/// The first four bytes with their case folded; missing bytes count as zero.
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
