//! Statistics of a value's characters: whether it is random, made of words, masked, hex or a UUID.

use super::read_counter;

/// Counts over one value, made in one pass; all judgements about randomness use them.
pub(super) struct ValueStats {
    pub(super) chars: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) symbols: usize,
    /// Shannon entropy in bits per character.
    pub(super) bits: f32,
    /// Letters that belong to readable words.
    word_letters: usize,
    /// Occurrences of the most common character.
    mode_count: usize,
    /// Length of the longest ascending sequence, such as `abcdef` or `123456`.
    longest_sequence: usize,
    /// Only hex digits and dashes.
    hex: bool,
}

/// Length of an ascending sequence from which a value was typed as an example.
const MASK_SEQUENCE_CHARS_MIN: usize = 8;
const VOWELS: &[u8] = b"aeiouyAEIOUY";

impl ValueStats {
    pub(super) fn from_bytes(value: &[u8]) -> Self {
        let mut counts = [0_u16; 256];
        let mut stats = ValueStats {
            chars: value.len(),
            lower: 0,
            upper: 0,
            digits: 0,
            symbols: 0,
            bits: 0.0,
            word_letters: 0,
            mode_count: 0,
            longest_sequence: 0,
            hex: true,
        };
        read_counter::record_read(value.len());
        let mut sequence = 1;
        for (index, &byte) in value.iter().enumerate() {
            counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1);
            match byte {
                b'a'..=b'z' => stats.lower += 1,
                b'A'..=b'Z' => stats.upper += 1,
                b'0'..=b'9' => stats.digits += 1,
                _ => stats.symbols += 1,
            }
            stats.hex &= byte.is_ascii_hexdigit() || byte == b'-';
            sequence = if index > 0 && byte == value[index - 1].wrapping_add(1) { sequence + 1 } else { 1 };
            stats.longest_sequence = stats.longest_sequence.max(sequence);
        }
        (stats.bits, stats.mode_count) = entropy_and_mode(&mut counts, value);
        stats.word_letters = count_word_letters(value);
        stats
    }

    /// Whether this is a mask (`xxxx…`), a count (`1234…`) or an alphabet, as documentation has them: one character
    /// makes up more than half, or a third is one ascending sequence.
    pub(super) fn is_masked(&self) -> bool {
        self.chars > 0
            && (self.mode_count * 2 > self.chars
                || self.longest_sequence >= MASK_SEQUENCE_CHARS_MIN.max(self.chars / 3))
    }

    /// Whether a number is an example: counted up, or few digits repeated.
    pub(super) fn is_sequential(&self) -> bool {
        const NUMBER_SEQUENCE_CHARS_MIN: usize = 4;
        self.longest_sequence >= NUMBER_SEQUENCE_CHARS_MIN || self.is_masked() || self.bits < 1.5
    }

    /// Whether 60 % of the characters belong to readable words, in any case style.
    pub(super) fn is_wordy(&self) -> bool {
        self.chars > 0 && self.word_letters * 10 >= self.chars * 6
    }

    /// Whether at least `tenths` of ten characters belong to readable words.
    pub(super) fn has_wordy_share(&self, tenths: usize) -> bool {
        self.word_letters * 10 >= self.chars * tenths
    }

    pub(super) fn letter_count(&self) -> usize {
        self.lower + self.upper
    }

    /// Whether this is hex, with optional dashes: hashes, UUIDs and many keys. Needs a digit: `deadbeef` can be a word.
    pub(super) fn is_hex(&self) -> bool {
        self.hex && self.digits > 0
    }

    /// Whether the value looks machine-generated: digits among letters or mixed case, no mask, no words.
    pub(super) fn is_random(&self) -> bool {
        // Low, because short values cannot reach more: eight different characters have 3 bits each.
        const BITS_MIN: f32 = 2.8;
        // Without digits, each case must make up more than a fifth: a capital at the start of a word is no mixture.
        let mixed =
            self.digits > 0 && self.letter_count() > 0 || self.upper * 5 > self.chars && self.lower * 5 > self.chars;
        mixed && !self.is_masked() && !self.is_wordy() && self.bits >= BITS_MIN
    }
}

/// Entropy in bits per character, and the count of the most common character. Clears `counts`.
fn entropy_and_mode(counts: &mut [u16; 256], value: &[u8]) -> (f32, usize) {
    let total = value.len() as f32;
    let mut bits = 0.0;
    let mut commonest = 0;
    for &byte in value {
        // Taking the count at the first occurrence visits each distinct byte once, without a loop over all 256.
        let count = std::mem::take(&mut counts[usize::from(byte)]);
        if count > 0 {
            let share = f32::from(count) / total;
            bits -= share * share.log2();
            commonest = commonest.max(usize::from(count));
        }
    }
    (bits, commonest)
}

/// Letters inside readable chunks. A chunk is a run of letters, cut where lower case turns to upper case.
fn count_word_letters(value: &[u8]) -> usize {
    let mut total = 0;
    let mut start = 0;
    while start < value.len() {
        if !value[start].is_ascii_alphabetic() {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while end < value.len()
            && value[end].is_ascii_alphabetic()
            && !(value[end - 1].is_ascii_lowercase() && value[end].is_ascii_uppercase())
        {
            end += 1;
        }
        if is_readable(&value[start..end]) {
            total += end - start;
        }
        start = end;
    }
    total
}

/// For each letter, the letters that follow it in words: one bit each, `a` lowest. The pairs cover 98.8 % of those in
/// technical English, with some of German and Polish.
const LETTER_PAIRS: [u32; 26] = [
    0x1febd6e, 0x116cb15, 0x11ecd95, 0x11e4959, 0x1eff9ff, 0x11a5935, 0x01e69d1, 0x01a5111, 0x2aefc7f, 0x0140110,
    0x0140111, 0x11cc979, 0x01cd953, 0x13cfdfd, 0x0feff7f, 0x11ed999, 0x0120800, 0x17efd7d, 0x13fdd95, 0x15ed9bd,
    0x00eb97f, 0x0004151, 0x0466191, 0x0188115, 0x00ee910, 0x0004011,
];

/// Whether a chunk reads as a word: four letters or more, one vowel in six, and four of five letter pairs usual.
fn is_readable(chunk: &[u8]) -> bool {
    const WORD_CHARS_MIN: usize = 4;
    // Either no capitals after the first letter or only capitals; random case is no word.
    let upper = chunk[1..].iter().filter(|byte| byte.is_ascii_uppercase()).count();
    if chunk.len() < WORD_CHARS_MIN || (upper > 0 && upper + 1 < chunk.len()) {
        return false;
    }
    let vowels = chunk.iter().filter(|byte| VOWELS.contains(byte)).count();
    let place = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
    let usual = chunk.windows(2).filter(|two| LETTER_PAIRS[place(two[0])] >> place(two[1]) & 1 == 1).count();
    vowels * 6 >= chunk.len() && usual * 5 >= (chunk.len() - 1) * 4
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
