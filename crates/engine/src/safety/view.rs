//! Views: rewritten texts with the original offset of every byte, so that a hit in a view gives a span of the original.
use std::borrow::Cow;

use unicode_normalization::char::decompose_compatible;

use super::read_counter;

/// One form of the original text: as written, unescaped, decoded or with a disguise removed.
pub(super) struct View<'a> {
    pub(super) text: Cow<'a, str>,
    map: OffsetMap,
    /// Number of decodings between the original and this view.
    pub(super) depth: u8,
}

/// Mapping from offsets of the view to offsets of the original.
enum OffsetMap {
    /// The view is the original.
    Identity,
    /// Original offset of every byte of the view, plus the original's length as the last entry.
    Offsets(Vec<u32>),
    /// The whole view was decoded from this span; every hit maps to all of it.
    EncodedSpan(usize, usize),
}

impl<'a> View<'a> {
    /// The original with compatibility forms and look-alike letters folded and invisible characters removed.
    pub(super) fn from_original(original: &'a str) -> Self {
        // ASCII has nothing to fold; most texts take this path and are not copied.
        if original.is_ascii() {
            return View { text: Cow::Borrowed(original), map: OffsetMap::Identity, depth: 0 };
        }
        View::from_rewrite(original, &Rewrite::from_text(original))
    }

    fn from_rewrite(original: &str, rewrite: &Rewrite) -> Self {
        let folded = fold_confusables(rewrite, original.len());
        View { text: Cow::Owned(folded.text), map: OffsetMap::Offsets(folded.offsets), depth: 0 }
    }

    /// View of a text that was decoded from `span` of the original.
    pub(super) fn from_decoded(text: &str, span: (usize, usize), depth: u8) -> View<'static> {
        let folded = if text.is_ascii() {
            text.to_owned()
        } else {
            fold_confusables(&Rewrite::from_text(text), text.len()).text
        };
        View { text: Cow::Owned(folded), map: OffsetMap::EncodedSpan(span.0, span.1), depth }
    }

    /// View of a rewritten text of this view, for example with escapes undone. The rewrite's offsets refer to this
    /// view.
    pub(super) fn derive_view(&self, rewrite: Rewrite) -> View<'static> {
        let mut folded = if rewrite.text.is_ascii() { rewrite } else { fold_confusables(&rewrite, self.text.len()) };
        let map = match &self.map {
            OffsetMap::EncodedSpan(start, end) => OffsetMap::EncodedSpan(*start, *end),
            OffsetMap::Identity => {
                folded.offsets.push(self.text.len() as u32);
                OffsetMap::Offsets(folded.offsets)
            }
            OffsetMap::Offsets(parent) => {
                folded.offsets.push(self.text.len() as u32);
                OffsetMap::Offsets(folded.offsets.iter().map(|&at| parent[at as usize]).collect())
            }
        };
        View { text: Cow::Owned(folded.text), map, depth: self.depth }
    }

    /// Span of the original that corresponds to `start..end` of this view.
    pub(super) fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        match &self.map {
            OffsetMap::Identity => (start, end),
            OffsetMap::EncodedSpan(start, end) => (*start, *end),
            OffsetMap::Offsets(offsets) => {
                let last = offsets.len() - 1;
                let (from, to) = (offsets[start.min(last)] as usize, offsets[end.min(last)] as usize);
                // In a mirrored view offsets descend: the last byte of the span comes first in the original.
                match end.checked_sub(1).filter(|&before| before > start && to <= from) {
                    Some(before) => (offsets[before.min(last)] as usize, from + 1),
                    None => (from, to),
                }
            }
        }
    }
}

/// Text under construction, with the source offset of each of its bytes.
///
/// INVARIANT: `offsets` has an entry for every byte of `text`. `u32` suffices: texts are far below 4 GiB.
pub(super) struct Rewrite {
    pub(super) text: String,
    pub(super) offsets: Vec<u32>,
}

impl Rewrite {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Rewrite { text: String::with_capacity(bytes), offsets: Vec::with_capacity(bytes + 1) }
    }

    fn from_text(text: &str) -> Self {
        Rewrite { text: text.to_owned(), offsets: (0..text.len() as u32).collect() }
    }

    pub(super) fn push(&mut self, letter: char, source: usize) {
        self.text.push(letter);
        for _ in 0..letter.len_utf8() {
            self.offsets.push(source as u32);
        }
    }

    /// Copies `from..to` of the source.
    pub(super) fn push_range(&mut self, source: &str, from: usize, to: usize) {
        for (index, letter) in source[from..to].char_indices() {
            self.push(letter, from + index);
        }
    }
}

/// Removes invisible characters, folds compatibility forms and folds look-alike letters in words with Latin letters.
/// The offsets end with the source's length.
fn fold_confusables(source: &Rewrite, source_len: usize) -> Rewrite {
    let mut out = Rewrite::with_capacity(source.text.len());
    let mut word = FoldingWord { start: 0, latin: false, alike: false };
    read_counter::record_read(source.text.len());
    let bytes = source.text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let plain = bytes[index..].iter().take_while(|byte| byte.is_ascii()).count();
        if plain > 0 {
            word.copy_ascii(&source.text[index..index + plain], &mut out, &source.offsets[index..index + plain]);
            index += plain;
            continue;
        }
        let letter = source.text[index..].chars().next().unwrap_or(' ');
        let at = source.offsets[index] as usize;
        index += letter.len_utf8();
        if !is_invisible(letter) {
            let start = out.text.len();
            fold_char(letter, at, &mut out);
            if letter.is_alphanumeric() {
                word.alike |= latin_lookalike(letter).is_some();
                word.latin |= out.text[start..].bytes().any(|byte| byte.is_ascii_alphabetic());
            } else {
                word.finish_word(&mut out);
            }
        }
    }
    word.finish_word(&mut out);
    out.offsets.push(source_len as u32);
    out
}

/// State of the word being copied. Look-alikes are folded only in a word that also has Latin letters: `раssword` with a
/// Cyrillic `ра` is a disguise, a word that is Cyrillic throughout is Russian.
struct FoldingWord {
    /// Start of the word in the output.
    start: usize,
    /// Whether it has an ASCII letter.
    latin: bool,
    /// Whether it has a look-alike.
    alike: bool,
}

impl FoldingWord {
    /// Copies a run of ASCII. Only its first word and its last word can continue in other scripts, so the rest is
    /// copied as a whole.
    fn copy_ascii(&mut self, text: &str, out: &mut Rewrite, offsets: &[u32]) {
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let bytes = text.as_bytes();
        let head = bytes.iter().take_while(|byte| in_word(byte)).count();
        out.text.push_str(&text[..head]);
        out.offsets.extend_from_slice(&offsets[..head]);
        self.latin |= bytes[..head].iter().any(u8::is_ascii_alphabetic);
        if head == bytes.len() {
            return;
        }
        self.finish_word(out);
        let tail = bytes.iter().rev().take_while(|byte| in_word(byte)).count();
        out.text.push_str(&text[head..]);
        out.offsets.extend_from_slice(&offsets[head..]);
        self.start = out.text.len() - tail;
        self.latin = bytes[bytes.len() - tail..].iter().any(u8::is_ascii_alphabetic);
    }

    /// Folds the word's look-alikes if it is mixed, and starts the next word.
    fn finish_word(&mut self, out: &mut Rewrite) {
        if self.latin && self.alike {
            let tail = out.text.split_off(self.start);
            let offsets = out.offsets.split_off(self.start);
            for (index, letter) in tail.char_indices() {
                out.push(latin_lookalike(letter).unwrap_or(letter), offsets[index] as usize);
            }
        }
        *self = FoldingWord { start: out.text.len(), latin: false, alike: false };
    }
}

/// Pushes a character in its plain form. Only these ranges, not all of NFKC: letters of other scripts stay as written.
fn fold_char(letter: char, at: usize, out: &mut Rewrite) {
    match letter {
        // Full-width ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = u32::from(letter) - 0xfee0;
            out.push(char::from_u32(ascii).unwrap_or(letter), at);
        }
        // Tag characters: invisible copies of ASCII, used to smuggle text past people.
        '\u{e0020}'..='\u{e007e}' => {
            let ascii = u32::from(letter) - 0xe0000;
            out.push(char::from_u32(ascii).unwrap_or(letter), at);
        }
        // Spaces, single quotes, double quotes, hyphens.
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => out.push(' ', at),
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{2032}' => out.push('\'', at),
        '\u{201c}'..='\u{201e}' | '\u{ab}' | '\u{bb}' | '\u{300c}'..='\u{300f}' | '\u{2033}' => out.push('"', at),
        '\u{2010}'..='\u{2012}' | '\u{2212}' => out.push('-', at),
        // Super- and subscripts, letter-like symbols, number forms, enclosed and mathematical letters, ligatures.
        '\u{b2}'..='\u{b3}'
        | '\u{b9}'
        | '\u{2070}'..='\u{209c}'
        | '\u{2100}'..='\u{214f}'
        | '\u{2150}'..='\u{218b}'
        | '\u{2460}'..='\u{24ff}'
        | '\u{fb00}'..='\u{fb06}'
        | '\u{1d400}'..='\u{1d7ff}'
        | '\u{1f100}'..='\u{1f16b}' => {
            decompose_compatible(letter, |part| out.push(part, at));
        }
        _ => out.push(letter, at),
    }
}

/// Characters without width, direction marks, variation selectors, and strokes laid over letters. A wider set than
/// `text::words` ignores: any of these can be used to split a key.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{334}'..='\u{338}'
        | '\u{20d0}'..='\u{20e0}' | '\u{e0001}' | '\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// The Latin letter that a letter of another script looks like. To add a pair, append the letter and its Latin
/// counterpart to both strings of a row.
fn latin_lookalike(letter: char) -> Option<char> {
    // Cyrillic lower and upper case, Greek lower and upper case, other scripts and phonetic letters.
    const PAIRS: &[(&str, &str)] = &[
        ("аеорсухіјѕһԁԛԝкмтпвӏ", "aeopcyxijshdqwkmtnbl"),
        ("АВЕКМНОРСТХІЈЅҮԌ", "ABEKMHOPCTXIJSYG"),
        ("οανικρτυχωεηγ", "oavikptuxwenY"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
        ("ıɡɑօոհսցɩʟᴀᴇɪᴏᴜ", "igaonhugilaeiou"),
    ];
    PAIRS.iter().find_map(|(foreign, latin)| {
        let index = foreign.chars().position(|other| other == letter)?;
        latin.chars().nth(index)
    })
}
