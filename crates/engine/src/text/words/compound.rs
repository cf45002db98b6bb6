//! Words written as one: German compounds, and English ones such as `healthcheck`.
//! A long word also carries its possible beginnings and ends, under terms of their own; a query word asks for those at
//! a low weight. No dictionary: a cut that is no word is a term nobody asks for.
use super::{Term, hash_term};

/// Letters a word needs to be cut. Below, the pieces are too short to mean anything.
const WORD_LETTERS_MIN: usize = 10;
/// Letters above which a token is not a word of any language.
const WORD_LETTERS_MAX: usize = 40;
/// Letters of a piece.
pub(super) const PIECE_LETTERS_MIN: usize = 4;
/// Letters that may be left over after a beginning: an inflection (`Verbindung·en`) suffices.
const ENDING_LETTERS_MIN: usize = 2;

/// Endings of long English words that are derived, not compounded; cutting these would only fill the index.
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
    // A tilde cannot begin a token, so the two kinds of term never mean the same.
    hash_term(std::iter::once(b'~').chain(piece.bytes()))
}
