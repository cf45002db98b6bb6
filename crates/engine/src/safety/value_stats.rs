//! What a value looks like: random, worded, masked, a UUID.

use super::read_counter;

/// Counts over one value, from which every judgement is made.
pub(super) struct ValueStats {
    pub(super) chars: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) symbols: usize,
    /// Shannon entropy in bits a character.
    pub(super) bits: f32,
    /// Letters that belong to something a person could read aloud.
    word_letters: usize,
    /// The share of the commonest character would hide a mask such as `xxxx`.
    mode_count: usize,
    /// The longest stretch of neighbours such as `abcdef` or `123456`.
    longest_sequence: usize,
    hex: bool,
}

/// From this many characters of climbing neighbours a value was typed, not drawn.
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

    /// A mask (`xxxx…`), a count (`1234…`) or an alphabet, as documentation writes.
    pub(super) fn is_masked(&self) -> bool {
        self.chars > 0
            && (self.mode_count * 2 > self.chars
                || self.longest_sequence >= MASK_SEQUENCE_CHARS_MIN.max(self.chars / 3))
    }

    /// Counted up, or one digit over and over: typed as an example.
    pub(super) fn is_sequential(&self) -> bool {
        const NUMBER_SEQUENCE_CHARS_MIN: usize = 4;
        self.longest_sequence >= NUMBER_SEQUENCE_CHARS_MIN || self.is_masked() || self.bits < 1.5
    }

    /// Mostly readable words, joined in any case style.
    pub(super) fn is_wordy(&self) -> bool {
        self.chars > 0 && self.word_letters * 10 >= self.chars * 6
    }

    /// At least `tenths` of ten characters belong to readable words.
    pub(super) fn has_wordy_share(&self, tenths: usize) -> bool {
        self.word_letters * 10 >= self.chars * tenths
    }

    pub(super) fn letter_count(&self) -> usize {
        self.lower + self.upper
    }

    /// Hexadecimal digits with optional dashes: hashes, UUIDs and many keys.
    pub(super) fn is_hex(&self) -> bool {
        self.hex && self.digits > 0
    }

    /// Drawn from an alphabet by a machine: digits among letters, or cases mixed inside words.
    pub(super) fn is_random(&self) -> bool {
        const BITS_MIN: f32 = 2.8;
        let mixed =
            self.digits > 0 && self.letter_count() > 0 || self.upper * 5 > self.chars && self.lower * 5 > self.chars;
        mixed && !self.is_masked() && !self.is_wordy() && self.bits >= BITS_MIN
    }
}

/// Entropy in bits a character, and how often the commonest character occurs.
fn entropy_and_mode(counts: &mut [u16; 256], value: &[u8]) -> (f32, usize) {
    let total = value.len() as f32;
    let mut bits = 0.0;
    let mut commonest = 0;
    for &byte in value {
        // Each character is counted where it is first met; most values use few of the 256.
        let count = std::mem::take(&mut counts[usize::from(byte)]);
        if count > 0 {
            let share = f32::from(count) / total;
            bits -= share * share.log2();
            commonest = commonest.max(usize::from(count));
        }
    }
    (bits, commonest)
}

/// Letters inside chunks (`[A-Z]?[a-z]+` or `[A-Z]+`) of four or more with believable vowels.
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

/// For each letter, the letters that follow it in words: one bit each, `a` lowest.
/// The pairs make up 98.8 % of those in technical English, with some of German and Polish.
const LETTER_PAIRS: [u32; 26] = [
    0x1febd6e, 0x116cb15, 0x11ecd95, 0x11e4959, 0x1eff9ff, 0x11a5935, 0x01e69d1, 0x01a5111, 0x2aefc7f, 0x0140110,
    0x0140111, 0x11cc979, 0x01cd953, 0x13cfdfd, 0x0feff7f, 0x11ed999, 0x0120800, 0x17efd7d, 0x13fdd95, 0x15ed9bd,
    0x00eb97f, 0x0004151, 0x0466191, 0x0188115, 0x00ee910, 0x0004011,
];

/// Enough vowels, and neighbours that words have; one pair in five may be odd.
fn is_readable(chunk: &[u8]) -> bool {
    const WORD_CHARS_MIN: usize = 4;
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
