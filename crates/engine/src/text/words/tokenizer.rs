//! Tokenizer: cuts text into words, identifiers and runs of scripts without spaces.
use unicode_normalization::char::is_combining_mark;

use super::fold::{fold_into, is_invisible, to_nfkc};
use super::{TOKEN_CHARS_MAX, Term, hash_term, identifier, stem, token_term};

/// Class of a token: decides whether it counts towards the length, and which weight and expansions it has in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClass {
    /// An ordinary word, stemmed.
    Word,
    /// A word inside an identifier or hyphenated word, stemmed.
    Part,
    /// A whole identifier, not stemmed.
    Whole,
    /// Two neighbouring characters of Chinese, Japanese, Korean, Thai or a similar script.
    Pair,
    /// Two neighbouring hiragana, which are mostly grammar.
    Kana,
    /// One ideograph inside a run, so that a query of one character finds it.
    Single,
    /// The only character of a run of such a script.
    Alone,
}

impl TokenClass {
    /// Whether the token counts towards the length: `Whole` and `Single` repeat what other tokens cover.
    pub(super) fn is_counted(self) -> bool {
        !matches!(self, TokenClass::Whole | TokenClass::Single)
    }

    pub(super) fn is_word(self) -> bool {
        matches!(self, TokenClass::Word | TokenClass::Part)
    }

    pub(super) fn to_term(self, token: &str) -> Term {
        if self.is_word() { stem::with_stem(token, |stem| hash_term(stem.iter().copied())) } else { token_term(token) }
    }
}

/// Hands every token of a text to `sink`, folded.
///
/// INVARIANT: linear in the text; every character is read a bounded number of times.
pub(super) fn scan_tokens(text: &str, keep_stop_words: bool, sink: &mut dyn FnMut(TokenClass, &str)) {
    let text = to_nfkc(text);
    // In a text without lower case, "IS" and "THE" are no abbreviations.
    let mixed_case = text.chars().any(char::is_lowercase);
    let mut reader = TokenReader { token: String::new(), mixed_case, keep_stop_words, sink };
    let mut rest = &*text;
    while let Some(start) = rest.find(|letter: char| is_word_char(letter)) {
        rest = &rest[start..];
        let dense = rest.chars().next().is_some_and(is_unspaced);
        let end = if dense {
            rest.find(|letter| !is_unspaced(letter))
        } else {
            rest.find(|letter| !is_chunk_char(letter) || is_unspaced(letter))
        };
        let (chunk, after) = rest.split_at(end.unwrap_or(rest.len()));
        if dense {
            reader.read_unspaced_run(chunk)
        } else {
            reader.read_chunk(chunk)
        }
        rest = after;
    }
}

struct TokenReader<'a> {
    /// Reused for every token.
    token: String,
    mixed_case: bool,
    keep_stop_words: bool,
    sink: &'a mut dyn FnMut(TokenClass, &str),
}

impl TokenReader<'_> {
    fn read_chunk(&mut self, chunk: &str) {
        // `+` and `#` at the end belong to `C++` and `C#`.
        let chunk = chunk.trim_end_matches(|letter: char| !is_word_char(letter) && !matches!(letter, '+' | '#'));
        // Plain words, which are most, need no look at their parts.
        if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.emit_word(TokenClass::Word, chunk);
        }
        identifier::read_identifier(chunk, &mut |class, token| self.emit_word(class, token));
    }

    fn emit_word(&mut self, class: TokenClass, raw: &str) {
        let raw = raw.char_indices().nth(TOKEN_CHARS_MAX).map_or(raw, |(end, _)| &raw[..end]);
        self.token.clear();
        fold_into(raw, &mut self.token);
        let keep = class == TokenClass::Whole || self.keep_stop_words || !stem::is_stop_word(&self.token);
        if keep || self.is_abbreviation(raw) {
            (self.sink)(class, &self.token);
        }
    }

    /// Whether a stop word in capitals is a name: "IT" and "US" in ordinary text.
    fn is_abbreviation(&self, raw: &str) -> bool {
        self.mixed_case && raw.len() >= 2 && raw.bytes().all(|byte| byte.is_ascii_uppercase())
    }

    /// Reads a run without spaces as overlapping pairs of characters, since its words cannot be separated without a
    /// dictionary.
    fn read_unspaced_run(&mut self, run: &str) {
        let mut before: Option<(usize, char)> = None;
        let alone = run.chars().nth(1).is_none();
        for (at, letter) in run.char_indices() {
            let end = at + letter.len_utf8();
            if alone {
                (self.sink)(TokenClass::Alone, run);
            } else if is_ideograph(letter) {
                (self.sink)(TokenClass::Single, &run[at..end]);
            }
            if let Some((start, first)) = before {
                let class = if is_hiragana(first) && is_hiragana(letter) { TokenClass::Kana } else { TokenClass::Pair };
                (self.sink)(class, &run[start..end]);
            }
            before = Some((at, letter));
        }
    }
}

fn is_word_char(letter: char) -> bool {
    if letter.is_ascii() {
        letter.is_ascii_alphanumeric()
    } else {
        letter.is_alphanumeric() || is_combining_mark(letter)
    }
}

/// Whether the character can be part of an identifier: letters, digits and joining characters.
fn is_chunk_char(letter: char) -> bool {
    is_word_char(letter)
        || matches!(letter, '_' | '-' | '.' | '/' | ':' | '@' | '+' | '#' | '\'' | '\u{2019}' | '\u{2010}' | '\u{2011}')
        || is_invisible(letter)
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々')
}

fn is_hiragana(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{309f}')
}

/// Whether the letter belongs to a script without spaces between words, or to Korean, which attaches particles to
/// words. A wider set than the scanner's, which reads Korean by its spaces.
fn is_unspaced(letter: char) -> bool {
    letter >= '\u{e00}'
        && (is_ideograph(letter)
            || matches!(letter,
                '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
                | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
                | '\u{ac00}'..='\u{d7a3}'))
}
