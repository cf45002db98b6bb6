//! One form for texts that people consider the same, whatever their case, spacing, punctuation or Unicode variants; and
//! a keyed digest, so that a forgotten text is recognised without being kept.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::text::digest::to_hex;
use crate::text::words;

/// The text reduced to folded letters and digits. A text without any, such as emoji, keeps its characters.
pub(crate) fn normalise_text(text: &str) -> String {
    let folded = fold_words(text);
    match folded.is_empty() {
        true => text.nfkc().filter(|c| !c.is_whitespace()).collect(),
        false => folded,
    }
}

/// The sentences and lines of a text, each normalised; empty ones are left out.
pub(crate) fn normalised_sentences(text: &str) -> Vec<String> {
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '.' | '!' | '?' | ';' | '。' | '！' | '？' | '\u{2028}' | '\u{2029}');
    text.split(ends).map(fold_words).filter(|part| !part.is_empty()).collect()
}

fn fold_words(text: &str) -> String {
    words::folded_words(text).iter().flat_map(|token| token.chars()).filter_map(fold_confusable).collect()
}

/// Whether a normalised text is long enough that another text contains it for a reason: a forgotten `ok` must not match
/// every text with `ok` in it.
pub(crate) fn is_distinctive(value: &str) -> bool {
    const LETTERS_MIN: usize = 12;
    value.chars().count() >= LETTERS_MIN
}

/// The Latin letter for a look-alike of another script, `None` for marks and joiners. A set of its own: the scanner's
/// (`safety::view`) folds only in mixed words and has more pairs; digests that are already stored depend on this one.
fn fold_confusable(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'н' => 'h',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'у' | 'υ' => 'y',
        'х' | 'χ' => 'x',
        'ν' => 'v',
        c if c.is_alphanumeric() => c,
        _ => return None,
    })
}

/// HMAC-SHA-256 (RFC 2104) over the parts, as hex.
pub(crate) fn hmac_sha256_hex(key: &str, parts: &[&str]) -> String {
    const BLOCK_BYTES: usize = 64;
    let mut block = [0_u8; BLOCK_BYTES];
    // RFC 2104: a key longer than a block is hashed first.
    let hashed = Sha256::digest(key.as_bytes());
    let key = if key.len() > BLOCK_BYTES { hashed.as_slice() } else { key.as_bytes() };
    block[..key.len()].copy_from_slice(key);
    let mut inner = Sha256::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    for part in parts {
        // Each part is preceded by its length, so that `["x", "y"]` and `["xy"]` differ.
        inner.update((part.len() as u64).to_be_bytes());
        inner.update(part.as_bytes());
    }
    let mut outer = Sha256::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    to_hex(&outer.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_seen_through() {
        let plain = normalise_text("The door code is 4711.");
        for disguise in [
            "the DOOR code is 4711",
            "  The\tdoor\n\ncode   is: 4711 !!",
            "Ｔｈｅ ｄｏｏｒ ｃｏｄｅ ｉｓ ４７１１",
            "The d\u{200b}oor co\u{ad}de is 4711",
            "Thé dóor cöde is 4711",
            "The dооr соdе is 4711",
            "T-h-e door, code is \u{201c}4711\u{201d}",
            "𝐓𝐡𝐞 𝐝𝐨𝐨𝐫 𝐜𝐨𝐝𝐞 𝐢𝐬 𝟒𝟕𝟏𝟏",
        ] {
            assert_eq!(normalise_text(disguise), plain, "{disguise}");
        }
        for other in ["The door code is 4712", "The code is 4711", ""] {
            assert_ne!(normalise_text(other), plain, "{other}");
        }
    }

    #[test]
    fn a_text_without_letters_is_still_itself() {
        assert_eq!(normalise_text("🦀 🦀"), "🦀🦀");
        assert_ne!(normalise_text("🦀"), normalise_text("🐍"));
    }

    #[test]
    fn digests_need_the_key_and_know_where_a_part_ends() {
        assert_ne!(hmac_sha256_hex("a", &["x"]), hmac_sha256_hex("b", &["x"]));
        assert_ne!(hmac_sha256_hex("a", &["x", "y"]), hmac_sha256_hex("a", &["xy"]));
        assert_eq!(hmac_sha256_hex("a", &["x"]).len(), 64);
    }
}
