//! English stop words, and stems of English words.
use std::borrow::Cow;

use super::porter;

/// Stem of a folded word. Words with other characters than `a` to `z` stay as they are.
pub(super) fn stem_word(word: &str) -> Cow<'_, str> {
    let mut stem = Cow::Borrowed(word);
    with_stem(word, |bytes| {
        if bytes != word.as_bytes() {
            // Stems are ASCII letters, so each byte is a character.
            stem = Cow::Owned(bytes.iter().copied().map(char::from).collect());
        }
    });
    stem
}

/// As [`stem_word`], without allocating a string.
pub(super) fn with_stem<T>(word: &str, use_stem: impl FnOnce(&[u8]) -> T) -> T {
    let plain = word.bytes().all(|byte| byte.is_ascii_lowercase());
    match plain.then(|| porter::stem_english(word)).flatten() {
        Some((bytes, len)) => use_stem(&bytes[..len]),
        None => use_stem(word.as_bytes()),
    }
}

/// Whether a folded word is a stop word: it carries grammar, not meaning.
pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= STOP_WORD_BYTES_MAX && PACKED_STOP_WORDS.binary_search(&pack_word(word.as_bytes())).is_ok()
}

/// [`STOP_WORDS`] as numbers. Every word of every text is looked up here; numbers compare in one step.
const PACKED_STOP_WORDS: [u128; STOP_WORDS.len()] = {
    let mut packed_words = [0; STOP_WORDS.len()];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        packed_words[at] = pack_word(STOP_WORDS[at].as_bytes());
        at += 1;
    }
    packed_words
};

/// A word of at most sixteen bytes as a big-endian number; the numbers sort as the words do.
const fn pack_word(word: &[u8]) -> u128 {
    let mut number = 0;
    let mut at = 0;
    while at < word.len() {
        number |= (word[at] as u128) << (120 - 8 * at);
        at += 1;
    }
    number
}

/// Longest entry of [`STOP_WORDS`].
const STOP_WORD_BYTES_MAX: usize = 10;

/// Sorted, for the binary search. Contractions are written without their apostrophe, as folding leaves them. To add a
/// word, insert it in its place; memories indexed before keep it in their index.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "arent", "as",
    "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "cant",
    "could", "couldnt", "d", "did", "didnt", "do", "does", "doesnt", "doing", "dont", "down", "during", "each", "few",
    "for", "from", "had", "hadnt", "has", "hasnt", "have", "havent", "having", "he", "hed", "her", "here", "heres",
    "hers", "herself", "hes", "him", "himself", "his", "how", "hows", "i", "if", "im", "in", "into", "is", "isnt", "it",
    "itd", "itll", "its", "itself", "ive", "just", "let", "lets", "ll", "m", "me", "more", "most", "my", "myself", "no",
    "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own",
    "re", "s", "same", "she", "shes", "should", "shouldnt", "so", "some", "such", "t", "than", "that", "thats", "the",
    "their", "theirs", "them", "themselves", "then", "there", "theres", "these", "they", "theyd", "theyll", "theyre",
    "theyve", "this", "those", "through", "to", "too", "under", "until", "up", "us", "ve", "very", "was", "wasnt", "we",
    "were", "werent", "weve", "what", "whats", "when", "whens", "where", "wheres", "which", "while", "who", "whom",
    "whos", "whose", "why", "whys", "will", "with", "wont", "would", "wouldnt", "yes", "you", "youd", "youll", "your",
    "youre", "yours", "yourself", "yourselves", "youve",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_and_within_their_bound() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(STOP_WORDS.iter().all(|word| word.len() <= STOP_WORD_BYTES_MAX));
    }

    #[test]
    fn endings_fall_names_stay() {
        let check = |word: &str, expected: &str| assert_eq!(stem_word(word), expected);
        check("crashes", "crash");
        check("crashed", "crash");
        check("crashing", "crash");
        check("restarts", "restart");
        check("e0432", "e0432");
        check("как", "как");
        check("go", "go");
    }

    /// Every word of up to four of these pieces, which between them reach all the rules.
    #[test]
    fn stems_agree_with_another_implementation() {
        const PIECES: &[&str] = &[
            "a", "e", "y", "s", "us", "ss", "ing", "ed", "li", "at", "iz", "bl", "tt", "ion", "al", "ate", "ogi",
            "ful", "ness", "ie", "eed", "ly", "gener", "commun", "hop", "rel", "st", "ti", "ve", "ous", "ment", "er",
            "ent", "ll", "c", "x",
        ];
        let other = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
        let check = |word: &str| assert_eq!(stem_word(word), other.stem(word), "{word}");
        for one in PIECES {
            for two in PIECES {
                for three in PIECES {
                    check(&format!("{one}{two}{three}"));
                    check(&format!("tr{one}n{two}{three}"));
                    check(&format!("{one}v{two}r{three}"));
                }
            }
        }
        for word in
            ["skis", "dying", "news", "innings", "exceed", "herring", "succeeds", "yellowy", "saying", "boyish", "bias"]
        {
            check(word);
        }
    }
}
