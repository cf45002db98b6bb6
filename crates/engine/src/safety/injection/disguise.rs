//! Disguises that people and models read through and a filter does not: leet, spaced letters, mirrored lines, ROT13.
//!
//! Mirrored text and ROT13 are recognised by words in `DISGUISED_WORDS`; leet and spaced text by their characters.
use super::super::byte_set::byte_set;
use super::super::view::Rewrite;

/// A disguise that can be undone letter by letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Disguise {
    /// Digits and symbols for letters: `1gn0r3`.
    Leet,
    /// Separators between letters or groups: `i g n o r e`.
    Spaced,
    /// Lines written from right to left.
    Mirrored,
    Rot13,
}

/// Words that occur only in disguised text: words of orders, mirrored or in ROT13. To add one, write it in its
/// disguise, lower case.
pub(in super::super) const DISGUISED_WORDS: &[(&str, Disguise)] = &[
    ("//:", Disguise::Mirrored),
    ("snoitcurtsni", Disguise::Mirrored),
    ("erongi", Disguise::Mirrored),
    ("dragersid", Disguise::Mirrored),
    ("tpmorp", Disguise::Mirrored),
    ("lavorppa", Disguise::Mirrored),
    ("vafgehpgvba", Disguise::Rot13),
    ("vtaber", Disguise::Rot13),
    ("qvfertneq", Disguise::Rot13),
    ("nccebiny", Disguise::Rot13),
    ("cebzcg", Disguise::Rot13),
    ("rot13", Disguise::Rot13),
    ("rot-13", Disguise::Rot13),
];

/// The letter that a digit or symbol stands for in leet.
fn leet_letter(sign: u8) -> Option<u8> {
    Some(match sign {
        b'0' => b'o',
        b'1' | b'!' | b'|' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' | b'+' => b't',
        b'8' => b'b',
        _ => return None,
    })
}

/// Disguises recognised by the characters of the text.
pub(in super::super) fn detect_disguises(text: &str) -> impl Iterator<Item = Disguise> {
    // Leet words and keys in groups both need two digits; spaced letters do not.
    let digits = text.bytes().filter(u8::is_ascii_digit).take(2).count() == 2;
    [(digits && has_leet_words(text), Disguise::Leet), (has_spaced_runs(text.as_bytes(), digits), Disguise::Spaced)]
        .into_iter()
        .filter_map(|(seen, disguise)| seen.then_some(disguise))
}

/// Whether two neighbouring words are leet; one alone is an identifier such as `web01`.
fn has_leet_words(text: &str) -> bool {
    let mut last = false;
    text.as_bytes().split(|byte| matches!(byte, b' ' | b'\n' | b'\t')).any(|word| {
        let leet = is_leet_word(word);
        let both = leet && last;
        last = leet;
        both
    })
}

fn is_leet_word(word: &[u8]) -> bool {
    // Most words have no such character and are done here.
    if word.len() < 4 || word.len() > 20 || !word.iter().any(|&byte| leet_letter(byte).is_some()) {
        return false;
    }
    let letters = word.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    // Digits that leet does not use and the separators of identifiers, dates and paths.
    let plain = |byte: &u8| matches!(byte, b'2' | b'6' | b'9' | b'-' | b'_' | b'/' | b':' | b'=' | b'.');
    letters >= 2 && !word.iter().any(plain)
}

/// Whether the text has spaced letters or groups.
fn has_spaced_runs(bytes: &[u8], digits: bool) -> bool {
    may_have_spaced_runs(bytes, digits) && spaced_runs(bytes).next().is_some()
}

/// Cheap pre-check without state: equal separators two bytes apart, or digits next to letters.
fn may_have_spaced_runs(bytes: &[u8], digits: bool) -> bool {
    const SINGLES_MIN: usize = 4;
    const MIXED_MIN: usize = 2;
    let after = bytes.get(2..).unwrap_or_default();
    let singles =
        bytes.iter().zip(after).filter(|(one, other)| one == other && is_gap(**one)).take(SINGLES_MIN).count();
    let next = bytes.get(1..).unwrap_or_default();
    let mixed = || {
        bytes
            .iter()
            .zip(next)
            .filter(|(one, other)| {
                one.is_ascii_digit() != other.is_ascii_digit()
                    && one.is_ascii_alphanumeric()
                    && other.is_ascii_alphanumeric()
            })
            .take(MIXED_MIN)
            .count()
    };
    singles == SINGLES_MIN || digits && mixed() == MIXED_MIN
}

fn is_gap(byte: u8) -> bool {
    const GAPS: [bool; 256] = byte_set(b" \t.-_*|");
    GAPS[usize::from(byte)]
}

/// A stretch of pieces of equal width with one kind of separator between them.
struct SpacedRun {
    start: usize,
    end: usize,
    width: usize,
}

/// Spaced letters (`i g n o r e`) and keys in groups (`ghp_ IMgA 9bmz …`).
fn spaced_runs(bytes: &[u8]) -> impl Iterator<Item = SpacedRun> {
    const LETTERS_MIN: usize = 6;
    // After a first run, short words count too: they are spaced like the rest.
    const MORE_LETTERS_MIN: usize = 2;
    let mut at = 0;
    let mut letters_min = LETTERS_MIN;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let from = at;
            let fresh = from == 0 || !bytes[from - 1].is_ascii_alphanumeric();
            let run = if fresh && bytes[from].is_ascii_alphanumeric() {
                spaced_run_at(bytes, from, letters_min)
            } else {
                None
            };
            at = run.as_ref().map_or(from + 1, |run| run.end.max(from + 1));
            if run.is_some() {
                letters_min = MORE_LETTERS_MIN;
                return run;
            }
        }
        None
    })
}

fn spaced_run_at(bytes: &[u8], start: usize, letters_min: usize) -> Option<SpacedRun> {
    const GROUPS_MIN: usize = 5;
    const GROUP_CHARS: std::ops::RangeInclusive<usize> = 3..=8;
    let solid = |byte: &u8| byte.is_ascii_graphic();
    let letter = bytes.get(start + 1).is_some_and(|&byte| is_gap(byte));
    let width = if letter { 1 } else { bytes[start..].iter().take(9).take_while(|byte| solid(byte)).count() };
    let separator = *bytes.get(start + width)?;
    let wide = width > 1;
    // Quick rejection: the second piece must have the same width.
    if bytes.get(start + 2 * width + 1) != Some(&separator) {
        return None;
    }
    if wide && (!GROUP_CHARS.contains(&width) || separator != b' ') || !is_gap(separator) {
        return None;
    }
    let (mut at, mut pieces, mut mixed) = (start, 0, 0);
    loop {
        let piece = bytes.get(at..at + width).filter(|piece| piece.iter().all(solid));
        // The separator may also be a letter of the text: `t---S` is `t`, `-`, `S`.
        let own = |at: usize| {
            bytes.get(at + 1) == Some(&separator) && bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
        };
        let Some(piece) = piece.filter(|_| wide || bytes[at] != separator || own(at)) else { break };
        pieces += 1;
        mixed += usize::from(piece.iter().any(u8::is_ascii_digit) && piece.iter().any(u8::is_ascii_alphabetic));
        at += width;
        if bytes.get(at) != Some(&separator) {
            break;
        }
        at += 1;
    }
    // The last group of a key may be shorter than the others.
    let last = bytes[at..].iter().take(width).take_while(|byte| solid(byte)).count();
    // Groups must mix letters and digits: words of equal length side by side are prose.
    let enough = if wide { pieces >= GROUPS_MIN && mixed >= 2 } else { pieces >= letters_min };
    enough.then_some(SpacedRun { start, end: at + if wide { last } else { 0 }, width })
}

/// The text with the disguise removed.
pub(in super::super) fn undo_disguise(disguise: Disguise, text: &str) -> Rewrite {
    match disguise {
        Disguise::Leet => undo_leet(text),
        Disguise::Spaced => undo_spacing(text),
        Disguise::Mirrored => undo_mirroring(text),
        Disguise::Rot13 => map_chars(text, |letter| match letter {
            'a'..='m' | 'A'..='M' => char::from(letter as u8 + 13),
            'n'..='z' | 'N'..='Z' => char::from(letter as u8 - 13),
            other => other,
        }),
    }
}

fn map_chars(text: &str, change: impl Fn(char) -> char) -> Rewrite {
    let mut out = Rewrite::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        out.push(change(letter), at);
    }
    out
}

fn undo_leet(text: &str) -> Rewrite {
    let mut out = Rewrite::with_capacity(text.len());
    let mut at = 0;
    for piece in text.split_inclusive([' ', '\n', '\t']) {
        // Numbers without letters stay numbers.
        let mixed = piece.bytes().any(|byte| byte.is_ascii_alphabetic());
        for (index, letter) in piece.char_indices() {
            let plain = u8::try_from(letter).ok().filter(|_| mixed).and_then(leet_letter).map_or(letter, char::from);
            out.push(plain, at + index);
        }
        at += piece.len();
    }
    out
}

/// The runs without their separators and the text near them. Long stretches in between are left out: they are scanned
/// in the view as written.
fn undo_spacing(text: &str) -> Rewrite {
    let bytes = text.as_bytes();
    let mut out = Rewrite::with_capacity(text.len());
    let mut seen = 0;
    for run in spaced_runs(bytes) {
        copy_both_ends(text, seen, run.start, &mut out);
        for (index, &byte) in bytes[run.start..run.end].iter().enumerate() {
            if index % (run.width + 1) != run.width {
                out.push(char::from(byte), run.start + index);
            }
        }
        seen = run.end;
    }
    copy_both_ends(text, seen, text.len(), &mut out);
    out
}

/// Copies both ends of a stretch with a line break between them, or all of it if it is short.
fn copy_both_ends(text: &str, from: usize, to: usize, out: &mut Rewrite) {
    const NEAR_BYTES: usize = 120;
    if to - from <= 2 * NEAR_BYTES {
        out.push_range(text, from, to);
        return;
    }
    out.push_range(text, from, text.floor_char_boundary(from + NEAR_BYTES));
    let resume = text.floor_char_boundary(to - NEAR_BYTES);
    out.push('\n', resume);
    out.push_range(text, resume, to);
}

/// Reverses each line.
fn undo_mirroring(text: &str) -> Rewrite {
    let mut out = Rewrite::with_capacity(text.len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        for (at, letter) in line.trim_end_matches('\n').char_indices().rev() {
            out.push(letter, start + at);
        }
        out.push('\n', start + line.len() - 1);
        start += line.len();
    }
    out
}
