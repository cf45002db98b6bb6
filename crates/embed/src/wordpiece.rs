//! BERT's uncased WordPiece tokenizer: clean, lower-case, strip accents, split at punctuation, then take the longest
//! known pieces.
//!
//! `scripts/model/check-tokenizer` compares it with the reference implementation over a large corpus and every code
//! point; `tests/it/tokens.rs` holds a sample of that.

use crate::vocabulary::{FnvHash, Vocabulary};
use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A longer word is unknown, as in the reference implementation.
const WORD_CHARS_MAX: usize = 100;

/// Longest piece looked up, in bytes.
const LOOKUP_BYTES_MAX: usize = 64;

/// Marks a piece that continues a word.
const CONTINUATION: &[u8] = b"##";

/// One piece of a text: a token, or a word that cannot be built from tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Token(usize),
    Unknown,
}

/// Calls `each` for every piece of `text`, until it returns false.
pub(crate) fn for_each_piece(vocabulary: &Vocabulary, text: &str, mut each: impl FnMut(Piece) -> bool) {
    let mut word = WordBuffer::new(vocabulary);
    for c in text.chars() {
        let keep_going = match classify_char(c) {
            CharKind::Dropped => true,
            CharKind::Space => word.finish_word(&mut each),
            CharKind::Standalone => word.finish_word(&mut each) && word.emit_standalone(c, &mut each),
            CharKind::Letter if c.is_ascii() => word.push_char(c.to_ascii_lowercase()),
            CharKind::Letter => word.push_folded(c, &mut each),
        };
        if !keep_going {
            return;
        }
    }
    word.finish_word(&mut each);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    /// Control characters and the like, skipped.
    Dropped,
    Space,
    /// Punctuation and CJK ideographs, each a word of its own.
    Standalone,
    Letter,
}

fn classify_char(c: char) -> CharKind {
    if c.is_ascii() {
        return match c {
            ' ' | '\t' | '\n' | '\r' => CharKind::Space,
            _ if c.is_ascii_control() => CharKind::Dropped,
            _ if c.is_ascii_punctuation() => CharKind::Standalone,
            _ => CharKind::Letter,
        };
    }
    // The reference drops the replacement character, although its category is a symbol.
    if c == '\u{fffd}' {
        return CharKind::Dropped;
    }
    match c.general_category() {
        GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse => CharKind::Dropped,
        _ if c.is_whitespace() => CharKind::Space,
        GeneralCategory::ConnectorPunctuation
        | GeneralCategory::DashPunctuation
        | GeneralCategory::OpenPunctuation
        | GeneralCategory::ClosePunctuation
        | GeneralCategory::InitialPunctuation
        | GeneralCategory::FinalPunctuation
        | GeneralCategory::OtherPunctuation => CharKind::Standalone,
        _ if is_ideograph(c) => CharKind::Standalone,
        _ => CharKind::Letter,
    }
}

/// The CJK blocks of the reference implementation, which leaves out kana and hangul on purpose.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x2_0000..=0x2_A6DF | 0x2_A700..=0x2_B73F
        | 0x2_B740..=0x2_B81F | 0x2_B920..=0x2_CEAF | 0xF900..=0xFAFF | 0x2_F800..=0x2_FA1F)
}

/// The word being read, and the tokens it was split into.
struct WordBuffer<'a> {
    vocabulary: &'a Vocabulary,
    text: String,
    /// Characters so far, including those past the limit that `text` leaves out.
    chars: usize,
    tokens: Vec<usize>,
}

impl<'a> WordBuffer<'a> {
    fn new(vocabulary: &'a Vocabulary) -> WordBuffer<'a> {
        WordBuffer { vocabulary, text: String::with_capacity(64), chars: 0, tokens: Vec::with_capacity(16) }
    }

    fn push_char(&mut self, c: char) -> bool {
        self.chars += 1;
        // Past the limit the word is unknown whatever follows, so its text need not grow.
        if self.chars <= WORD_CHARS_MAX {
            self.text.push(c);
        }
        true
    }

    /// Adds a letter beyond ASCII: decomposed, without accents, in lower case. Decomposition may yield punctuation,
    /// which ends the word.
    fn push_folded(&mut self, c: char, each: &mut impl FnMut(Piece) -> bool) -> bool {
        let mut keep_going = true;
        decompose_canonical(c, |part| {
            if part.general_category() == GeneralCategory::NonspacingMark {
                return;
            }
            for lower in part.to_lowercase() {
                keep_going = keep_going
                    && match classify_char(lower) {
                        CharKind::Standalone => self.finish_word(each) && self.emit_standalone(lower, each),
                        CharKind::Space => self.finish_word(each),
                        CharKind::Letter | CharKind::Dropped => self.push_char(lower),
                    };
            }
        });
        keep_going
    }

    fn emit_standalone(&mut self, c: char, each: &mut impl FnMut(Piece) -> bool) -> bool {
        if c.is_ascii() {
            self.push_char(c);
        } else {
            decompose_canonical(c, |part| {
                self.push_char(part);
            });
        }
        self.finish_word(each)
    }

    /// Ends the word and emits all its tokens, or one unknown. Returns false where the callback wants no more.
    fn finish_word(&mut self, each: &mut impl FnMut(Piece) -> bool) -> bool {
        if self.chars == 0 {
            return true;
        }
        let is_known = self.chars <= WORD_CHARS_MAX && self.split_into_tokens();
        self.text.clear();
        self.chars = 0;
        if !is_known {
            return each(Piece::Unknown);
        }
        self.tokens.iter().all(|token| each(Piece::Token(*token)))
    }

    /// Splits greedily from the left, longest token first; false where some part matches no token.
    fn split_into_tokens(&mut self) -> bool {
        self.tokens.clear();
        let word = self.text.as_bytes();
        let mut start = 0;
        while start < word.len() {
            let prefix: &[u8] = if start == 0 { b"" } else { CONTINUATION };
            match self.longest_token(prefix, start) {
                Some((token, length)) => {
                    self.tokens.push(token);
                    start += length;
                }
                None => return false,
            }
        }
        true
    }

    fn longest_token(&self, prefix: &[u8], start: usize) -> Option<(usize, usize)> {
        let rest = &self.text.as_bytes()[start..];
        // Bounded by the longest token, so that a long word costs no more look-ups than the vocabulary can answer.
        let length_max = rest.len().min(self.vocabulary.token_bytes_max()).min(LOOKUP_BYTES_MAX);
        let prefix_hash = FnvHash::new().extend_bytes(prefix);
        // Most words are one token, so the whole word is looked up before its prefixes are hashed.
        if length_max == rest.len()
            && let Some(token) = self.vocabulary.find_token(prefix_hash.extend_bytes(rest), prefix, rest)
        {
            return Some((token, length_max));
        }
        let mut hashes = [FnvHash::new(); LOOKUP_BYTES_MAX];
        let mut hash = prefix_hash;
        for (slot, byte) in hashes.iter_mut().zip(&rest[..length_max]) {
            hash = hash.push_byte(*byte);
            *slot = hash;
        }
        (1..=length_max).rev().filter(|length| self.text.is_char_boundary(start + length)).find_map(|length| {
            let token = self.vocabulary.find_token(hashes[length - 1], prefix, &rest[..length])?;
            Some((token, length))
        })
    }
}
