//! Orders written so that a reader sees them and a filter does not.
use super::super::view::Rewrite;

/// A way of hiding words that can be undone letter by letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Disguise {
    Leet,
    Spaced,
    Mirrored,
    Rot13,
}

/// Words that show up only in disguised text.
pub(in super::super) const DISGUISES: &[(&str, Disguise)] = &[
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

/// Digits and signs that stand for letters.
fn letter_of(sign: u8) -> Option<u8> {
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

/// Disguises that only a look at the letters shows.
pub(in super::super) fn disguises(text: &str) -> impl Iterator<Item = Disguise> {
    [(is_leet(text), Disguise::Leet), (is_spaced(text.as_bytes()), Disguise::Spaced)]
        .into_iter()
        .filter_map(|(seen, disguise)| seen.then_some(disguise))
}

/// Two neighbouring words with digits among their letters.
fn is_leet(text: &str) -> bool {
    let mut last = false;
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.split([' ', '\n', '\t']).any(|word| {
            let leet = leet_word(word.as_bytes());
            let both = leet && last;
            last = leet;
            both
        })
}

fn leet_word(word: &[u8]) -> bool {
    // Most words have no sign at all and are done here.
    if word.len() < 4 || word.len() > 20 || !word.iter().any(|&byte| letter_of(byte).is_some()) {
        return false;
    }
    let letters = word.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let plain = |byte: &u8| matches!(byte, b'2' | b'6' | b'9' | b'-' | b'_' | b'/' | b':' | b'=' | b'.');
    letters >= 2 && !word.iter().any(plain)
}

/// Six single characters in a row with one separator between them.
fn is_spaced(bytes: &[u8]) -> bool {
    const LETTERS_MIN: usize = 6;
    let mut run = 0;
    let mut at = 0;
    while at + 1 < bytes.len() {
        let single = bytes[at].is_ascii_alphabetic()
            && is_gap(bytes[at + 1])
            && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
        run = if single { run + 1 } else { 0 };
        if run >= LETTERS_MIN {
            return true;
        }
        at += if single { 2 } else { 1 };
    }
    false
}

fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'_' | b'*' | b'|')
}

/// The text with the disguise taken off, letter by letter.
pub(in super::super) fn undo(disguise: Disguise, text: &str) -> Rewrite {
    match disguise {
        Disguise::Leet => leet(text),
        Disguise::Spaced => spaced(text),
        Disguise::Mirrored => mirrored(text),
        Disguise::Rot13 => each(text, |letter| match letter {
            'a'..='m' | 'A'..='M' => char::from(letter as u8 + 13),
            'n'..='z' | 'N'..='Z' => char::from(letter as u8 - 13),
            other => other,
        }),
    }
}

fn each(text: &str, change: impl Fn(char) -> char) -> Rewrite {
    let mut out = Rewrite::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        out.push(change(letter), at);
    }
    out
}

fn leet(text: &str) -> Rewrite {
    let mut out = Rewrite::with_capacity(text.len());
    let mut at = 0;
    for piece in text.split_inclusive([' ', '\n', '\t']) {
        let mixed = piece.bytes().any(|byte| byte.is_ascii_alphabetic());
        for (index, letter) in piece.char_indices() {
            let plain = u8::try_from(letter).ok().filter(|_| mixed).and_then(letter_of).map_or(letter, char::from);
            out.push(plain, at + index);
        }
        at += piece.len();
    }
    out
}

/// Joins single letters; two separators in a row were a word's end.
fn spaced(text: &str) -> Rewrite {
    let bytes = text.as_bytes();
    let mut out = Rewrite::with_capacity(text.len());
    let alone = |at: usize| {
        let before = at == 0 || is_gap(bytes[at - 1]) || bytes[at - 1].is_ascii_whitespace();
        let after = at + 1 >= bytes.len() || is_gap(bytes[at + 1]) || bytes[at + 1].is_ascii_whitespace();
        before && after
    };
    for (at, letter) in text.char_indices() {
        let between = letter.is_ascii()
            && is_gap(letter as u8)
            && at > 0
            && alone(at - 1)
            && bytes[at - 1].is_ascii()
            && at + 1 < bytes.len()
            && alone(at + 1)
            && !is_gap(bytes[at + 1]);
        if !between || is_gap(bytes[at - 1]) {
            out.push(letter, at);
        }
    }
    out
}

/// Each line from its end to its start.
fn mirrored(text: &str) -> Rewrite {
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
