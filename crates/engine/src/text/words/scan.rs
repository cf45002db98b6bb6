//! Cuts text into words, identifiers and runs of scripts written without spaces.
use unicode_normalization::char::is_combining_mark;

use super::fold::{compatible, fold_into, invisible};
use super::{TOKEN_CHARS_MAX, Term, identifier, stem, term, term_of};

/// What a token is; it decides how a token counts and what a query adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// An ordinary word, stemmed.
    Word,
    /// A word inside an identifier or hyphenated word, stemmed.
    Part,
    /// An identifier as a whole, as operators write it.
    Whole,
    /// Two neighbouring characters of Chinese, Japanese, Korean, Thai, …
    Pair,
    /// Two neighbouring hiragana: mostly grammar.
    Kana,
    /// One ideograph inside a run, so that a query of one character finds it.
    Single,
    /// One character of such a script standing alone.
    Alone,
}

impl Class {
    pub(super) fn counted(self) -> bool {
        !matches!(self, Class::Whole | Class::Single)
    }

    pub(super) fn is_word(self) -> bool {
        matches!(self, Class::Word | Class::Part)
    }

    pub(super) fn term(self, token: &str) -> Term {
        if self.is_word() { stem::with_stem(token, |stem| term_of(stem.iter().copied())) } else { term(token) }
    }
}

/// Reads a text and hands every token to `sink`, folded.
/// INVARIANT: linear in the text; every character is looked at a bounded number of times.
pub(super) fn scan(text: &str, keep_stop_words: bool, sink: &mut dyn FnMut(Class, &str)) {
    let text = compatible(text);
    // In a text of capitals alone, "IS" and "THE" are no abbreviations.
    let mixed_case = text.chars().any(char::is_lowercase);
    let mut reader = Reader { token: String::new(), mixed_case, keep_stop_words, sink };
    let mut rest = &*text;
    while let Some(start) = rest.find(|letter: char| in_word(letter)) {
        rest = &rest[start..];
        let dense = rest.chars().next().is_some_and(unspaced);
        let end = if dense {
            rest.find(|letter| !unspaced(letter))
        } else {
            rest.find(|letter| !in_chunk(letter) || unspaced(letter))
        };
        let (chunk, after) = rest.split_at(end.unwrap_or(rest.len()));
        if dense {
            reader.run(chunk)
        } else {
            reader.chunk(chunk)
        }
        rest = after;
    }
}

struct Reader<'a> {
    /// Reused for every token.
    token: String,
    mixed_case: bool,
    keep_stop_words: bool,
    sink: &'a mut dyn FnMut(Class, &str),
}

impl Reader<'_> {
    fn chunk(&mut self, chunk: &str) {
        let chunk = chunk.trim_end_matches(|letter: char| !in_word(letter) && !matches!(letter, '+' | '#'));
        if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.word(Class::Word, chunk);
        }
        identifier::read(chunk, &mut |class, token| self.word(class, token));
    }

    fn word(&mut self, class: Class, raw: &str) {
        let raw = raw.char_indices().nth(TOKEN_CHARS_MAX).map_or(raw, |(end, _)| &raw[..end]);
        self.token.clear();
        fold_into(raw, &mut self.token);
        let keep = class == Class::Whole || self.keep_stop_words || !stem::is_stop_word(&self.token);
        if keep || self.abbreviation(raw) {
            (self.sink)(class, &self.token);
        }
    }

    /// "IT" and "US" amid ordinary text are names, "it" and "us" are not.
    fn abbreviation(&self, raw: &str) -> bool {
        self.mixed_case && raw.len() >= 2 && raw.bytes().all(|byte| byte.is_ascii_uppercase())
    }

    fn run(&mut self, run: &str) {
        let mut before: Option<(usize, char)> = None;
        let alone = run.chars().nth(1).is_none();
        for (at, letter) in run.char_indices() {
            let end = at + letter.len_utf8();
            if alone {
                (self.sink)(Class::Alone, run);
            } else if ideograph(letter) {
                (self.sink)(Class::Single, &run[at..end]);
            }
            if let Some((start, first)) = before {
                let class = if hiragana(first) && hiragana(letter) { Class::Kana } else { Class::Pair };
                (self.sink)(class, &run[start..end]);
            }
            before = Some((at, letter));
        }
    }
}

fn in_word(letter: char) -> bool {
    if letter.is_ascii() {
        letter.is_ascii_alphanumeric()
    } else {
        letter.is_alphanumeric() || is_combining_mark(letter)
    }
}

/// Letters, and what joins letters to identifiers.
fn in_chunk(letter: char) -> bool {
    in_word(letter)
        || matches!(letter, '_' | '-' | '.' | '/' | ':' | '@' | '+' | '#' | '\'' | '\u{2019}' | '\u{2010}' | '\u{2011}')
        || invisible(letter)
}

fn ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々')
}

fn hiragana(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{309f}')
}

/// Scripts that put no space between words, and Korean, which glues particles to them.
fn unspaced(letter: char) -> bool {
    letter >= '\u{e00}'
        && (ideograph(letter)
            || matches!(letter,
                '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
                | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}'))
}
