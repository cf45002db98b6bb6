//! Compound words: German ones, and English ones such as `healthcheck`. A long word is also indexed by all its possible
//! beginnings and ends, as terms of their own kind, and a query word looks for these at a low weight. No dictionary is
//! needed: a cut that is not a word is a term that no query asks for.
use super::{Term, hash_term};

/// Letters of a word from which it is cut; the parts of shorter words mean nothing.
const WORD_LETTERS_MIN: usize = 10;
/// Letters above which a token is no word of any language.
const WORD_LETTERS_MAX: usize = 40;
/// Letters of a part, at least.
pub(super) const PIECE_LETTERS_MIN: usize = 4;
/// Letters that must remain after a beginning: an inflection is enough (`Verbindung·en`).
const ENDING_LETTERS_MIN: usize = 2;

/// Endings of long English words that are derivations, not compounds; cutting them would only fill the index.
const DERIVED_ENDINGS: &[&str] = &[
    "able", "ably", "al", "ally", "ance", "ant", "ate", "ated", "ates", "ation", "ations", "ed", "ence", "ency", "ent",
    "ful", "ible", "ic", "ical", "ily", "ing", "ings", "ion", "ions", "ism", "ist", "ities", "ity", "ive", "ize",
    "ized", "izing", "less", "ly", "ment", "ments", "ness", "ous", "sive", "tory",
];

/// Hands the possible beginnings and ends of a folded word to `sink`.
pub(super) fn for_each_part(word: &str, mut sink: impl FnMut(&str)) {
    if word.len() < WORD_LETTERS_MIN
        || !word.bytes().all(|byte| byte.is_ascii_lowercase())
        || word.len() > WORD_LETTERS_MAX
    {
        return;
    }
    let last = word.as_bytes().last();
    if DERIVED_ENDINGS.iter().any(|ending| ending.as_bytes().last() == last && word.ends_with(ending)) {
        return;
    }
    for cut in PIECE_LETTERS_MIN..=word.len() - ENDING_LETTERS_MIN {
        sink(&word[..cut]);
        if cut <= word.len() - PIECE_LETTERS_MIN {
            sink(&word[cut..]);
        }
    }
}

/// The term of a word as a piece of a longer one, distinct from the word itself.
pub(super) fn piece_term(piece: &str) -> Term {
    // No token begins with a tilde, so terms of parts and terms of words are hashes of different texts.
    hash_term(std::iter::once(b'~').chain(piece.bytes()))
}
