//! The sentence around a place, and its lower case of equal length.
use super::super::byte_set::byte_set;
use super::super::read_counter;
use super::grammar::{self, SentenceWord};

/// Sentences are read up to this far on either side of a word.
const REACH_BYTES: usize = 400;

/// The sentence that was read last: its anchors and its triggers are judged on one reading.
#[derive(Default)]
pub(super) struct SentenceReading {
    pub(super) start: usize,
    /// Places before this one need no other reading.
    pub(super) read_until: usize,
    /// In lower case.
    pub(super) text: String,
    pub(super) words: Vec<SentenceWord>,
    /// What any of its words can mean.
    pub(super) classes: u128,
}

impl SentenceReading {
    /// Reads the sentence around `at`, unless it has just been read; places come in order.
    pub(super) fn read_around(&mut self, text: &str, at: usize) {
        if at < self.read_until {
            return;
        }
        let (start, end) = sentence_around(text, at, REACH_BYTES);
        read_counter::record_read(end - start);
        self.start = start;
        // An endless sentence is read in stretches that share their ends.
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

/// What a sentence may end with: a stop, or the last byte of an ideographic one.
const STOP_BYTES: [bool; 256] = byte_set(b".!?\n\x82");

/// True when the bytes from `at` end a sentence: a stop before white space, or an empty line.
#[inline]
fn is_sentence_end(bytes: &[u8], at: usize) -> bool {
    if !STOP_BYTES[usize::from(bytes[at])] {
        return false;
    }
    let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
    match bytes[at] {
        b'.' => next.is_ascii_whitespace() || next == b'"' || !next.is_ascii(),
        // In an address they are part of the word.
        b'!' | b'?' => !next.is_ascii_alphanumeric() && next != b'=',
        b'\n' => next == b'\n' || matches!(next, b'-' | b'*' | b'#' | b'|' | b'>') || next.is_ascii_digit(),
        // The ideographic full stop, U+3002.
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

/// Lower case where it has the same size, so that offsets stay true.
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
