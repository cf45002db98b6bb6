//! The sentence around a place, and its lower case of equal length.

/// The sentence around `at`, at most `reach` bytes to either side, on character boundaries.
pub(super) fn around(text: &str, at: usize, reach: usize) -> (usize, usize) {
    let from = floor(text, at.saturating_sub(reach));
    let to = floor(text, text.len().min(at + reach));
    let before = &text[from..at];
    let after = &text[at..to];
    (from + last_break(before), at + first_break(after))
}

/// The character boundary at or before `at`.
pub(super) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// True when the bytes from `at` end a sentence: a stop before white space, or an empty line.
fn breaks(bytes: &[u8], at: usize) -> bool {
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

fn last_break(before: &str) -> usize {
    let bytes = before.as_bytes();
    (0..bytes.len().saturating_sub(1)).rev().find(|&at| breaks(bytes, at)).map_or(0, |at| at + 1)
}

fn first_break(after: &str) -> usize {
    let bytes = after.as_bytes();
    (0..bytes.len()).find(|&at| breaks(bytes, at)).map_or(bytes.len(), |at| at + 1)
}

/// Lower case where it has the same size, so that offsets stay true.
pub(super) fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .map(|letter| {
            let mut lowered = letter.to_lowercase();
            match (lowered.next(), lowered.next()) {
                (Some(small), None) if small.len_utf8() == letter.len_utf8() => small,
                _ => letter,
            }
        })
        .collect()
}
