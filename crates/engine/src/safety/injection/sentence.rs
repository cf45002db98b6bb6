//! The sentence around an offset, in lower case of the same length, with the meanings of its words.
use super::super::byte_set::byte_set;
use super::super::read_counter;
use super::grammar::{self, SentenceWord};

/// Bytes of a sentence that are read on each side of an offset.
const REACH_BYTES: usize = 400;

/// The sentence that was read last. All its anchors and triggers use one reading; the buffers are reused.
#[derive(Default)]
pub(super) struct SentenceReading {
    /// Offset of the sentence in the view.
    pub(super) start: usize,
    /// Offsets before this one are covered by the reading.
    pub(super) read_until: usize,
    /// The sentence in lower case.
    pub(super) text: String,
    pub(super) words: Vec<SentenceWord>,
    /// Union of the classes of all words.
    pub(super) classes: u128,
}

impl SentenceReading {
    /// Reads the sentence around `at`, unless the last reading covers it. Offsets must ascend.
    pub(super) fn read_around(&mut self, text: &str, at: usize) {
        if at < self.read_until {
            return;
        }
        let (start, end) = sentence_around(text, at, REACH_BYTES);
        read_counter::record_read(end - start);
        self.start = start;
        // A sentence longer than the reach is read in overlapping stretches, so that no order is cut in two.
        self.read_until = if end - at < REACH_BYTES { end } else { at + REACH_BYTES / 2 };
        lowercase_in_place(&text[start..end], &mut self.text);
        self.classes = grammar::read_sentence(&self.text, &mut self.words);
    }
}

/// The sentence around `at`, at most `reach` bytes to either side, on character boundaries.
pub(super) fn sentence_around(text: &str, at: usize, reach: usize) -> (usize, usize) {
    let from = text.floor_char_boundary(at.saturating_sub(reach));
    let to = text.floor_char_boundary(at + reach);
    let before = &text[from..at];
    let after = &text[at..to];
    (from + last_sentence_end(before), at + first_sentence_end(after))
}

/// Bytes that may end a sentence; `0x82` is the last byte of the ideographic full stop in UTF-8.
const STOP_BYTES: [bool; 256] = byte_set(b".!?\n\x82");

/// Whether the byte at `at` ends a sentence: a stop before white space, an empty line, or a line before a list item.
#[inline]
fn is_sentence_end(bytes: &[u8], at: usize) -> bool {
    if !STOP_BYTES[usize::from(bytes[at])] {
        return false;
    }
    let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
    match bytes[at] {
        b'.' => next.is_ascii_whitespace() || next == b'"' || !next.is_ascii(),
        // In a URL they are part of the word: `?page=2`.
        b'!' | b'?' => !next.is_ascii_alphanumeric() && next != b'=',
        b'\n' => next == b'\n' || matches!(next, b'-' | b'*' | b'#' | b'|' | b'>') || next.is_ascii_digit(),
        // U+3002, the ideographic full stop: e3 80 82.
        0x82 => at >= 2 && bytes[at - 2..at] == [0xe3, 0x80],
        _ => false,
    }
}

fn last_sentence_end(before: &str) -> usize {
    let bytes = before.as_bytes();
    (0..bytes.len().saturating_sub(1)).rev().find(|&at| is_sentence_end(bytes, at)).map_or(0, |at| at + 1)
}

fn first_sentence_end(after: &str) -> usize {
    let bytes = after.as_bytes();
    (0..bytes.len()).find(|&at| is_sentence_end(bytes, at)).map_or(bytes.len(), |at| at + 1)
}

/// Writes the lower case of the text. A letter whose lower case has another length in UTF-8 stays as it is, so that
/// offsets in the result are offsets in the text.
fn lowercase_in_place(text: &str, lowered: &mut String) {
    lowered.clear();
    if text.is_ascii() {
        lowered.push_str(text);
        lowered.make_ascii_lowercase();
        return;
    }
    lowered.extend(text.chars().map(|letter| {
        let mut small = letter.to_lowercase();
        match (small.next(), small.next()) {
            (Some(small), None) if small.len_utf8() == letter.len_utf8() => small,
            _ => letter,
        }
    }));
}
