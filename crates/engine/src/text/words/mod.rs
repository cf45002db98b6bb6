//! How Ingrain reads words: text to terms, at write time ([`index`]) and at search time ([`query`]).
//! Both sides go through the same scanner, so what was written one way is found when asked another way.
mod bytes;
mod compound;
mod fold;
mod identifier;
mod porter;
mod query;
mod scan;
mod stem;

pub use query::{QUERY_TERMS_MAX, QueryTerm, QueryWords, query};
pub(crate) use stem::is_stop_word;

use scan::scan;
use unicode_segmentation::UnicodeSegmentation;

/// A normalised token as a number: 64-bit FNV-1a over its UTF-8 bytes, the upper half folded into the lower by xor.
/// Written out here because it is stored: the same token must give the same term on every platform and in every version.
pub type Term = u32;

/// What a memory says, as counted terms: the forward index a store keeps beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// Sorted by term, each once, with how often it occurs (saturating).
    pub terms: Vec<(Term, u8)>,
    /// Number of counted tokens: ordinary words and parts of identifiers, neither stop words nor expansions.
    pub len: u32,
}

/// The texts of a memory that can be found by words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    pub title: Option<&'a str>,
    pub hint: Option<&'a str>,
    pub content: &'a str,
    pub tags: &'a [String],
    pub path: Option<&'a str>,
    pub speaker: Option<&'a str>,
}

/// Times a token of a title, hint or tag counts: somebody chose these words to find the memory by.
const CHOSEN_FIELD_COUNT: usize = 2;

/// Characters of a token that make its term; the rest of a longer one (base64, minified code) is not read.
pub(crate) const TOKEN_CHARS_MAX: usize = 64;

/// The forward index of one memory. Linear in the text.
pub fn index(fields: &Fields) -> Words {
    let words = count(fields, false);
    // "The Who" and "it is what it is" consist of stop words only; they stay findable by them.
    if words.terms.is_empty() { count(fields, true) } else { words }
}

fn count(fields: &Fields, keep_stop_words: bool) -> Words {
    let mut terms = Vec::with_capacity(fields.content.len() / 6 + 16);
    let mut len = 0;
    let mut read = |text: &str, times: usize| {
        scan(text, keep_stop_words, &mut |class, token| {
            len += u32::from(class.counted());
            let term = class.term(token);
            (0..times).for_each(|_| terms.push(term));
            if class.is_word() {
                compound::parts(token, |part| terms.push(compound::term(part)));
                terms.extend(fold::without_umlaut_digraphs(token).map(|other| compound::term(&other)));
            }
        });
    };
    fields.title.into_iter().chain(fields.hint).for_each(|text| read(text, CHOSEN_FIELD_COUNT));
    fields.tags.iter().for_each(|text| read(text, CHOSEN_FIELD_COUNT));
    fields.path.into_iter().chain(fields.speaker).for_each(|text| read(text, 1));
    read(fields.content, 1);
    Words { terms: tally(terms), len }
}

fn tally(mut terms: Vec<Term>) -> Vec<(Term, u8)> {
    terms.sort_unstable();
    let mut counted: Vec<(Term, u8)> = Vec::with_capacity(terms.len());
    for term in terms {
        match counted.last_mut() {
            Some((last, times)) if *last == term => *times = times.saturating_add(1),
            _ => counted.push((term, 1)),
        }
    }
    counted
}

impl Words {
    /// How often a term occurs.
    pub fn tf(&self, term: Term) -> u8 {
        self.terms.binary_search_by_key(&term, |(term, _)| *term).map_or(0, |at| self.terms[at].1)
    }
}

/// Lower-cased word tokens without stemming or stop words: for comparing two short texts with each other.
pub fn tokens(text: &str) -> Vec<String> {
    let normal = fold::compatible(text);
    normal.unicode_words().map(fold::folded).collect()
}

/// The stored number of a token.
pub(crate) fn term(token: &str) -> Term {
    term_of(token.bytes())
}

pub(crate) fn term_of(bytes: impl Iterator<Item = u8>) -> Term {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    // Truncation is the point: both halves are in the result.
    ((hash >> 32) ^ (hash & 0xffff_ffff)) as Term
}

#[cfg(test)]
mod tests;
