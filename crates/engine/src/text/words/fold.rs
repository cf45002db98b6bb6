//! Folding of letters: compatibility forms, case and accents.
use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Unicode form NFKC: full-width and half-width forms and ligatures become ordinary letters, accents are composed.
pub(super) fn to_nfkc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The token in lower case without accents.
pub(super) fn to_folded(token: &str) -> String {
    let mut out = String::with_capacity(token.len());
    fold_into(token, &mut out);
    out
}

/// Appends the folded token.
pub(super) fn fold_into(token: &str, out: &mut String) {
    if token.is_ascii() {
        out.extend(token.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
        return;
    }
    for letter in token.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => out.push(letter),
            // Letters that do not decompose into a base letter and an accent.
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            _ if is_invisible(letter) => {}
            // Only the accents of Latin, Greek and Cyrillic are dropped: in kana and Indic scripts a mark makes another
            // letter.
            '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => {
                out.extend(std::iter::once(letter).nfd().filter(|part| !is_accent(*part)));
            }
            _ if is_accent(letter) => {}
            _ => out.push(letter),
        }
    }
}

/// Joiners, soft hyphens and variation selectors: they change how a word looks, not which word it is.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// The token with `ae`, `oe` and `ue` as single vowels, as folding leaves umlauts: `stoerung` and `störung` both become
/// `storung`. `None` if it has none of them.
pub(super) fn without_umlaut_digraphs(token: &str) -> Option<String> {
    // English has these pairs too (`queue`, `value`, `shoe`): they are ignored after `q` and `g`, at the end of a word
    // and in short words.
    const LETTERS_MIN: usize = 5;
    let digraph = |at: usize| {
        let bytes = token.as_bytes();
        let ordinary = at > 0 && matches!(bytes[at - 1], b'q' | b'g');
        matches!(bytes[at], b'a' | b'o' | b'u') && bytes.get(at + 1) == Some(&b'e') && at + 2 < bytes.len() && !ordinary
    };
    if token.len() < LETTERS_MIN
        || !token.bytes().all(|byte| byte.is_ascii_lowercase())
        || !(0..token.len()).any(digraph)
    {
        return None;
    }
    Some(token.char_indices().filter(|(at, _)| *at == 0 || !digraph(at - 1)).map(|(_, letter)| letter).collect())
}
