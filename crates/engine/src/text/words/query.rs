//! Queries as weighted terms.
use super::tokenizer::{TokenClass, scan_tokens};
use super::{Term, compound, fold, stem, token_term};

/// Terms of a query, those of the query itself before derived ones; empty if the query has no words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryWords {
    pub terms: Vec<QueryTerm>,
}

/// One term that a memory may contain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryTerm {
    pub term: Term,
    /// 1 for a word of the query, less for parts and derived forms.
    pub weight: f32,
    /// Terms of one group stand for the same word: the word itself first, then its derived forms.
    pub group: u16,
    /// A whole identifier as written; an exact match can count for more.
    pub exact: bool,
}

/// Terms of one query, at most: bounds the cost of a search with a whole page as its query.
pub const QUERY_TERMS_MAX: usize = 64;

// Weights, tuned on conversations and operational notes.
/// A part of an identifier.
const PART_WEIGHT: f32 = 0.7;
/// A whole identifier.
const WHOLE_WEIGHT: f32 = 1.0;
/// A word inside a longer one or the reverse: often another subject.
const COMPOUND_WEIGHT: f32 = 0.3;
/// The other spelling of an umlaut: `Störung`, `Stoerung`.
const UMLAUT_WEIGHT: f32 = 0.8;
/// Two hiragana, mostly an ending.
const KANA_WEIGHT: f32 = 0.2;

/// Reads a query. Stop words are left out unless it has nothing else.
pub fn parse_query(text: &str) -> QueryWords {
    let words = read_terms(text, false);
    if words.terms.is_empty() { read_terms(text, true) } else { words }
}

fn read_terms(text: &str, keep_stop_words: bool) -> QueryWords {
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut derived: Vec<QueryTerm> = Vec::new();
    let mut group = 0;
    scan_tokens(text, keep_stop_words, &mut |class, token| {
        group += 1;
        let weight = match class {
            TokenClass::Word | TokenClass::Pair | TokenClass::Alone => 1.0,
            TokenClass::Part => PART_WEIGHT,
            TokenClass::Whole => WHOLE_WEIGHT,
            TokenClass::Kana => KANA_WEIGHT,
            // The pairs of the run cover it.
            TokenClass::Single => return,
        };
        terms.push(QueryTerm { term: class.to_term(token), weight, group, exact: class == TokenClass::Whole });
        if class.is_word() {
            add_derived_terms(token, weight, group, &mut derived);
        }
    });
    // Derived terms come last, so the bound cuts them first.
    terms.append(&mut derived);
    QueryWords { terms: distinct_terms(terms) }
}

fn add_derived_terms(token: &str, weight: f32, group: u16, derived: &mut Vec<QueryTerm>) {
    let mut add = |term, share: f32| derived.push(QueryTerm { term, weight: weight * share, group, exact: false });
    if token.len() >= compound::PIECE_LETTERS_MIN && token.bytes().all(|byte| byte.is_ascii_lowercase()) {
        add(compound::piece_term(token), COMPOUND_WEIGHT);
    }
    compound::for_each_part(token, |part| add(token_term(&stem::stem_word(part)), COMPOUND_WEIGHT));
    if let Some(other) = fold::without_umlaut_digraphs(token) {
        add(token_term(&stem::stem_word(&other)), UMLAUT_WEIGHT);
    }
}

/// The terms without duplicates, each with its greatest weight, at most [`QUERY_TERMS_MAX`].
fn distinct_terms(terms: Vec<QueryTerm>) -> Vec<QueryTerm> {
    let mut kept: Vec<QueryTerm> = Vec::with_capacity(terms.len().min(QUERY_TERMS_MAX));
    for term in terms {
        if let Some(known) = kept.iter_mut().find(|known| known.term == term.term) {
            known.weight = known.weight.max(term.weight);
        } else if kept.len() < QUERY_TERMS_MAX {
            kept.push(term);
        }
    }
    kept
}
