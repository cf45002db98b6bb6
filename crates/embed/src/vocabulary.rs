//! The vocabulary of the default model with the vector of each token, read in place from `model/static.bin`.
//!
//! The file contains a ready hash table, so nothing is parsed or built at start-up. `scripts/model/modelfile.py` writes
//! the file and describes its layout.

use engine::ports::{Calibration, EmbedError};

/// FNV-1a, 32 bit: the hash function of the file's table.
const FNV_START: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

const MAGIC: &[u8; 8] = b"INGRVEC1";
const HEADER_BYTES: usize = 96;

/// The file and the offsets of its parts (`*_at`); see `modelfile.py`.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    bytes: &'static [u8],
    tokens: usize,
    dimensions: usize,
    slots: usize,
    slots_at: usize,
    ids_at: usize,
    ends_at: usize,
    text_at: usize,
    scales_at: usize,
    rows_at: usize,
    token_bytes_max: usize,
    calibration: Calibration,
    name: &'static str,
}

impl Vocabulary {
    pub(crate) fn open(bytes: &'static [u8]) -> Result<Vocabulary, EmbedError> {
        if bytes.len() < HEADER_BYTES || &bytes[..8] != MAGIC {
            return Err(broken_error("the file is not a vector table"));
        }
        // Header: magic, then little-endian fields of 32 bits, then the name, padded with zeros.
        let number = |at: usize| u32_at(bytes, at) as usize;
        let name = bytes[64..HEADER_BYTES].split(|b| *b == 0).next().unwrap_or_default();
        let vocabulary = Vocabulary {
            bytes,
            tokens: number(8),
            dimensions: number(12),
            slots: number(16),
            slots_at: number(20),
            ids_at: number(24),
            ends_at: number(28),
            text_at: number(32),
            scales_at: number(36),
            rows_at: number(40),
            token_bytes_max: number(56),
            calibration: Calibration { unrelated: f32_at(bytes, 48), same: f32_at(bytes, 52) },
            name: std::str::from_utf8(name).map_err(|_| broken_error("the model's name is not text"))?,
        };
        // The file states its own length, so that one cut at a lucky place is found too.
        if number(44) != bytes.len() || !vocabulary.is_within_file() {
            return Err(broken_error("the vector table is cut short"));
        }
        Ok(vocabulary)
    }

    /// Whether every part lies inside the file, so that later reads stay in bounds.
    fn is_within_file(&self) -> bool {
        let end = |at: usize, count: usize, width: usize| count.checked_mul(width).and_then(|n| n.checked_add(at));
        let within = |part: Option<usize>| part.is_some_and(|end| end <= self.bytes.len());
        // More slots than tokens, so that a look-up always ends at an empty slot.
        self.slots.is_power_of_two()
            && self.tokens < self.slots
            && self.tokens > 0
            && within(end(self.slots_at, self.slots, 2))
            && within(end(self.ids_at, self.tokens, 2))
            && within(end(self.ends_at, self.tokens, 4))
            && within(end(self.scales_at, self.tokens, 4))
            && within(end(self.rows_at, self.tokens, self.dimensions))
            && within(end(self.text_at, self.token_text_end(self.tokens - 1), 1))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// Length of the longest token in bytes: longer prefixes need no look-up.
    pub(crate) fn token_bytes_max(&self) -> usize {
        self.token_bytes_max
    }

    /// The token with the text `prefix` + `rest`. The caller has computed its hash already.
    pub(crate) fn find_token(&self, hash: FnvHash, prefix: &[u8], rest: &[u8]) -> Option<usize> {
        let mask = self.slots - 1;
        let length = prefix.len() + rest.len();
        let mut slot = hash.0 as usize & mask;
        loop {
            let entry = u16_at(self.bytes, self.slots_at + 2 * slot);
            // Slots hold the token number plus one; zero is empty.
            let token = usize::from(entry).checked_sub(1)?;
            let (start, end) = self.token_range(token);
            // The length first: nearly all texts that share a slot differ in it, and need no look at the text.
            if end.checked_sub(start) == Some(length) {
                let text = &self.bytes[self.text_at + start..self.text_at + end];
                if text.starts_with(prefix) && text.ends_with(rest) {
                    return Some(token);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The token's id in the published vocabulary.
    pub(crate) fn reference_id(&self, token: usize) -> u16 {
        u16_at(self.bytes, self.ids_at + 2 * token)
    }

    /// The token's quantised vector: its scale, and one signed byte per dimension.
    pub(crate) fn token_vector(&self, token: usize) -> (f32, &'static [u8]) {
        let at = self.rows_at + token * self.dimensions;
        let scale = f32_at(self.bytes, self.scales_at + 4 * token);
        (scale, &self.bytes[at..at + self.dimensions])
    }

    /// Where a token's text is, from `text_at` on.
    #[inline]
    fn token_range(&self, token: usize) -> (usize, usize) {
        let start = if token == 0 { 0 } else { self.token_text_end(token - 1) };
        (start, self.token_text_end(token))
    }

    #[inline]
    fn token_text_end(&self, token: usize) -> usize {
        u32_at(self.bytes, self.ends_at + 4 * token) as usize
    }
}

/// An FNV-1a hash that grows byte by byte, so that all prefixes of a word are hashed in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FnvHash(u32);

impl FnvHash {
    pub(crate) fn new() -> FnvHash {
        FnvHash(FNV_START)
    }

    #[inline]
    pub(crate) fn push_byte(self, byte: u8) -> FnvHash {
        FnvHash((self.0 ^ u32::from(byte)).wrapping_mul(FNV_PRIME))
    }

    pub(crate) fn extend_bytes(self, bytes: &[u8]) -> FnvHash {
        bytes.iter().fold(self, |hash, byte| hash.push_byte(*byte))
    }
}

pub(crate) fn broken_error(reason: &str) -> EmbedError {
    EmbedError::Broken(reason.to_owned())
}

#[inline]
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let mut field = [0; 2];
    // As a slice: checked against the end once.
    field.copy_from_slice(&bytes[at..at + 2]);
    u16::from_le_bytes(field)
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(field)
}

#[inline]
fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(u32_at(bytes, at))
}
