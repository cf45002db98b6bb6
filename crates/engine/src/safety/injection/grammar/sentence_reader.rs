//! Splits a sentence into words, each with the classes that the lexicon gives it.
use std::sync::LazyLock;

use super::super::super::word_index::WordIndex;
use super::lexicon::{LEXICON, WordMeaning, class_bit};

/// One word, or a phrase that the lexicon has as one entry.
pub(in super::super) struct SentenceWord {
    pub(super) start: usize,
    pub(super) end: usize,
    /// One bit per class of the lexicon.
    pub(super) classes: u128,
    /// An imperative: in base form, at a position where an order can stand.
    pub(super) ordered: bool,
}

/// Bytes of the longest elided article with its apostrophe: `dell'`.
const ELISION_BYTES_MAX: usize = 5;

/// Words of a sentence that are read; bounds the work on texts without stops.
const WORDS_MAX: usize = 160;

/// Reads a sentence in lower case into `words`, and returns the union of their classes.
pub(in super::super) fn read_sentence(sentence: &str, words: &mut Vec<SentenceWord>) -> u128 {
    let grammar: &Grammar = &GRAMMAR;
    words.clear();
    let (mut all, mut at, mut fresh) = (0, 0, true);
    while at < sentence.len() && words.len() < WORDS_MAX {
        let (bytes, kind) = next_piece(sentence, at);
        match kind {
            CharKind::Gap => at += bytes,
            CharKind::Break => {
                fresh = true;
                at += bytes;
            }
            CharKind::Word => {
                let (end, classes, foreign) = grammar.longest_meaning(sentence, at, at + bytes);
                // Other languages mark the imperative in the word itself, so any position counts there.
                let ordered = classes != 0
                    && (foreign
                        || (fresh || grammar.expects_order(words)) && is_base_form(&sentence.as_bytes()[at..end]));
                all |= classes;
                words.push(SentenceWord { start: at, end, classes, ordered });
                fresh = false;
                at = end;
            }
        }
    }
    all
}

#[derive(Clone, Copy, PartialEq)]
enum CharKind {
    Word,
    /// Separates words.
    Gap,
    /// Separates clauses: a verb after it can be an order.
    Break,
}

/// Kind of each ASCII character.
static CHAR_KINDS: [CharKind; 128] = {
    let mut kinds = [CharKind::Break; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'@' | b'.' | b'/' => CharKind::Word,
            b' ' | b'\t' | b'*' | b'\'' => CharKind::Gap,
            _ => CharKind::Break,
        };
        byte += 1;
    }
    kinds
};

/// Length and kind of the piece at `at`.
fn next_piece(sentence: &str, at: usize) -> (usize, CharKind) {
    let bytes = &sentence.as_bytes()[at..];
    // Entries of the lexicon begin with these: `<system>`, `~/.aws`, `| sh`.
    if matches!(bytes[0], b'<' | b'~' | b'|') {
        return (1, CharKind::Word);
    }
    if let Some(kind) = CHAR_KINDS.get(usize::from(bytes[0])) {
        if *kind != CharKind::Word {
            return (1, *kind);
        }
        let plain = |byte: &&u8| **byte == b'\'' || CHAR_KINDS.get(usize::from(**byte)) == Some(&CharKind::Word);
        let length = bytes.iter().take_while(plain).count();
        if bytes.get(length).is_none_or(u8::is_ascii) {
            return (length, CharKind::Word);
        }
    }
    let rest = &sentence[at..];
    let letter = rest.chars().next().unwrap_or(' ');
    if is_unspaced(letter) {
        return (letter.len_utf8(), CharKind::Word);
    }
    match rest.find(|mark| !is_word_char(mark)).unwrap_or(rest.len()) {
        0 => (letter.len_utf8(), CharKind::Break),
        length => (length, CharKind::Word),
    }
}

fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() && !is_unspaced(letter)
        || matches!(letter, '\'' | '@' | '.' | '/')
        || is_joiner_or_mark(letter)
}

/// Whether the letter belongs to a script without spaces between words; any letter may start a word there.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{e00}'..='\u{e7f}')
}

/// The lexicon, and the class masks that the reader itself uses.
struct Grammar {
    lexicon: &'static WordIndex<WordMeaning>,
    /// Class of addresses.
    away: u128,
    /// Words after which a verb is an order: "please", "and".
    lead: u128,
    /// Words after which a verb is an order if the agent is addressed: "you must".
    modal: u128,
    /// Words that address the agent.
    spoken_to: u128,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let spoken_to = class_bit("agent") | class_bit("future") | class_bit("session");
    Grammar {
        lexicon: &LEXICON,
        away: class_bit("away"),
        lead: class_bit("lead") | class_bit("hide") | spoken_to,
        modal: class_bit("modal") | class_bit("cleared") | class_bit("to"),
        spoken_to,
    }
});

impl Grammar {
    /// End and classes of the longest entry of the lexicon at `at`, and whether it is not English. `end` is the end of
    /// the word that starts there.
    fn longest_meaning(&self, sentence: &str, at: usize, end: usize) -> (usize, u128, bool) {
        let bytes = sentence.as_bytes();
        if bytes[at..end].contains(&b'@') && is_address(&sentence[at..end]) {
            return (end, self.away, false);
        }
        // Stops and dashes may end an address, but not a word.
        let stop = at + sentence[at..end].trim_end_matches(['.', '/', '-', '\'']).len();
        let unspaced = !bytes[at].is_ascii() && sentence[at..].chars().next().is_some_and(is_unspaced);
        let (mut until, mut classes, mut foreign) = (0, 0, false);
        self.lexicon.find_at(bytes, at, |meaning, to| {
            let to = if bytes[to - 1] == b' ' { to - 1 } else { to };
            // An entry must end with a word, unless it is open (`*`), a tag, or in a script without spaces.
            let whole = unspaced || meaning.open || bytes[to - 1] == b'>' || is_word_end(sentence, to);
            // An open entry takes the rest of its word.
            let to = if meaning.open && to < stop { stop } else { to };
            // The longest entry wins; entries of equal length add up their classes.
            if whole && to >= until {
                if to > until {
                    (until, classes, foreign) = (to, 0, false);
                }
                classes |= 1 << meaning.class;
                foreign |= meaning.foreign;
            }
        });
        if until == 0 {
            // An elided article or preposition is a word of its own: `l'utente`.
            if let Some(cut) = bytes[at..end].iter().take(ELISION_BYTES_MAX).position(|byte| *byte == b'\'')
                && cut > 0
                && at + cut + 1 < end
            {
                return (at + cut + 1, 0, false);
            }
            let classes = if is_address(&sentence[at..end]) { self.away } else { 0 };
            return (end, classes, false);
        }
        if unspaced || is_word_end(sentence, until) {
            return (until, classes, foreign);
        }
        // The entry ended inside a word: the word is used up to its end.
        let tail = sentence[until..].find(|mark| !continues_word(mark)).unwrap_or(sentence.len() - until);
        (until + tail, classes, foreign)
    }

    /// Whether a verb after these words is an order: at the start, after "please" or "and", after "you must".
    fn expects_order(&self, words: &[SentenceWord]) -> bool {
        const SUBJECT_WORDS: usize = 5;
        let Some((last, before)) = words.split_last() else { return true };
        if last.classes & self.modal != 0 {
            return before.iter().rev().take(SUBJECT_WORDS).any(|word| word.classes & self.spoken_to != 0);
        }
        // A single letter is "and" in Italian, Spanish, Portuguese or Polish (`e`, `y`, `i`).
        last.classes & self.lead != 0 || last.end - last.start == 1
    }
}

fn is_word_end(sentence: &str, at: usize) -> bool {
    match sentence.as_bytes().get(at) {
        None => true,
        Some(byte) if byte.is_ascii() => !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-'),
        Some(_) => sentence[at..].chars().next().is_none_or(|next| !continues_word(next)),
    }
}

fn continues_word(letter: char) -> bool {
    letter.is_alphanumeric() || is_joiner_or_mark(letter)
}

/// Whether the character is `_`, `-`, a combining accent or a Devanagari vowel sign, which all continue a word. The two
/// Devanagari full stops (U+0964, U+0965) do not.
fn is_joiner_or_mark(letter: char) -> bool {
    matches!(letter, '_' | '-' | '\u{300}'..='\u{36f}' | '\u{900}'..='\u{963}' | '\u{966}'..='\u{97f}')
}

/// Whether the word is a mail address, an IPv4 address or the scheme of a URL.
fn is_address(word: &str) -> bool {
    if !word.contains(['@', '.']) {
        return matches!(word, "https" | "http" | "ftp" | "s3" | "gs");
    }
    let mailbox = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    mailbox || word.split(['.', '/']).take_while(|part| digits(part)).count() == 4
}

/// Whether an English verb is in base form: no `-ed`, `-ing` or third-person `-s`.
fn is_base_form(word: &[u8]) -> bool {
    let plain = word.split(|byte| *byte == b' ').next().unwrap_or(word);
    let other = plain.ends_with(b"ing")
        || plain.ends_with(b"ed") && plain.len() > 4
        || plain.ends_with(b"s") && !plain.ends_with(b"ss");
    !other
}
