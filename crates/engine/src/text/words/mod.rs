//! Text to search terms, when a memory is written ([`index_fields`]) and when a query is read ([`parse_query`]). Both
//! use the same tokenizer, so different spellings of a word meet in the same term.
//!
//! - `tokenizer`: text to words, identifiers and pairs of characters
//! - `identifier`: parts of `deployment/web`, `ERR_CONN_RESET`, `v1.2.3`
//! - `fold`: case, accents and compatibility forms
//! - `stem`, `porter`: stop words and English endings
//! - `compound`: parts of long words
//! - `query`: weighted terms of a query
//! - `codec`: stored form of the index of one memory
mod codec;
mod compound;
mod fold;
mod identifier;
mod porter;
mod query;
mod stem;
mod tokenizer;

pub use query::{QUERY_TERMS_MAX, QueryTerm, QueryWords, parse_query};
pub(crate) use stem::is_stop_word;

use tokenizer::scan_tokens;
use unicode_segmentation::UnicodeSegmentation;

/// A token as a number: 64-bit FNV-1a over its UTF-8 bytes, the upper half folded into the lower by xor.
///
/// INVARIANT: terms are stored, so a token must give the same term on every platform and in every version.
pub type Term = u32;

/// Forward index of one memory: its terms with counts. A store keeps it beside the memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexedWords {
    /// Distinct terms, ascending, with their number of occurrences (saturating at 255).
    pub terms: Vec<(Term, u8)>,
    /// Length of the memory in tokens, for ranking: words and parts of identifiers, without stop words and expansions.
    pub len: u32,
}

/// Fields of a memory that are searched.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexedFields<'a> {
    pub title: Option<&'a str>,
    pub hint: Option<&'a str>,
    pub content: &'a str,
    pub tags: &'a [String],
    pub path: Option<&'a str>,
    pub speaker: Option<&'a str>,
}

/// Count of a token in title, hint or tags: these words were chosen to find the memory by.
const CHOSEN_FIELD_COUNT: usize = 2;

/// Characters of a token that enter its term; the rest of a longer one (base64, minified code) is ignored.
pub(crate) const TOKEN_CHARS_MAX: usize = 64;

/// The forward index of one memory. Linear in the text.
pub fn index_fields(fields: &IndexedFields) -> IndexedWords {
    let words = count_terms(fields, false);
    // A text of stop words only ("The Who", "it is what it is") is indexed with them, or it could not be found.
    if words.terms.is_empty() { count_terms(fields, true) } else { words }
}

fn count_terms(fields: &IndexedFields, keep_stop_words: bool) -> IndexedWords {
    let mut terms = Vec::with_capacity(fields.content.len() / 6 + 16);
    let mut len = 0;
    let mut read = |text: &str, times: usize| {
        scan_tokens(text, keep_stop_words, &mut |class, token| {
            len += u32::from(class.is_counted());
            let term = class.to_term(token);
            (0..times).for_each(|_| terms.push(term));
            if class.is_word() {
                compound::for_each_part(token, |part| terms.push(compound::piece_term(part)));
                terms.extend(fold::without_umlaut_digraphs(token).map(|other| compound::piece_term(&other)));
            }
        });
    };
    fields.title.into_iter().chain(fields.hint).for_each(|text| read(text, CHOSEN_FIELD_COUNT));
    fields.tags.iter().for_each(|text| read(text, CHOSEN_FIELD_COUNT));
    fields.path.into_iter().chain(fields.speaker).for_each(|text| read(text, 1));
    read(fields.content, 1);
    IndexedWords { terms: tally_terms(terms), len }
}

fn tally_terms(mut terms: Vec<Term>) -> Vec<(Term, u8)> {
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

impl IndexedWords {
    /// Number of occurrences of a term.
    pub fn term_frequency(&self, term: Term) -> u8 {
        self.terms.binary_search_by_key(&term, |(term, _)| *term).map_or(0, |at| self.terms[at].1)
    }
}

/// Folded words with stop words and without stemming, for comparing two short texts.
pub fn folded_words(text: &str) -> Vec<String> {
    let normal = fold::to_nfkc(text);
    normal.unicode_words().map(fold::to_folded).collect()
}

/// The term of a token.
pub(crate) fn token_term(token: &str) -> Term {
    hash_term(token.bytes())
}

pub(crate) fn hash_term(bytes: impl Iterator<Item = u8>) -> Term {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    // The cast drops nothing: both halves are in the lower 32 bits.
    ((hash >> 32) ^ (hash & 0xffff_ffff)) as Term
}

#[cfg(test)]
mod tests;
