//! One index over the anchor words of every rule: a rule runs only where its word stands.
use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;

use super::fit::{fit, fit_back};
use super::injection;
use super::labels::{Claim, LABELS};
use super::pattern::{Lazy, PATTERNS, Pattern};
use super::shape::{self, Part};
use super::structure;
use super::tokens::{self, Token};
use super::words::{WORD_BYTES_MIN, Words};

/// What to do where an anchor word stands.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Shape(u16),
    Backwards(u16),
    Pattern(u16),
    Label(Claim),
    Address,
    Pem,
    Mark(structure::Mark),
    Order(u16),
    Sentence,
    Disguise(injection::Disguise),
}

/// One token format.
pub(super) struct Form {
    pub(super) token: &'static Token,
    pub(super) row: u16,
    pub(super) anchor_len: usize,
    pub(super) lead: (usize, usize),
    anchor_piece: usize,
    shape: &'static str,
    parts: OnceLock<Vec<Part<'static>>>,
}

impl Form {
    /// Where a token that starts the bytes ends.
    pub(super) fn fit(&self, bytes: &[u8]) -> Option<usize> {
        fit(self.parts(), bytes)
    }

    /// Where a token of which the anchor stands at `anchor` starts and ends.
    pub(super) fn fit_around(&self, bytes: &[u8], anchor: usize) -> Option<(usize, usize)> {
        let (lead, tail) = self.parts().split_at(self.anchor_piece);
        let end = anchor + fit(tail, &bytes[anchor..])?;
        let start = if lead.is_empty() { anchor } else { fit_back(lead, &bytes[..anchor])? };
        Some((start, end))
    }

    fn parts(&self) -> &[Part<'static>] {
        self.parts.get_or_init(|| shape::parse(self.shape))
    }
}

pub(super) struct Automaton {
    pub(super) words: Words<Target>,
    pub(super) forms: Vec<Form>,
    patterns: Vec<Lazy>,
}

impl Automaton {
    pub(super) fn pattern(&self, index: u16) -> (&'static Pattern, &Regex) {
        let pattern = PATTERNS[usize::from(index)];
        (pattern, self.patterns[usize::from(index)].get(|| pattern.pattern.into()))
    }
}

pub(super) static AUTOMATON: LazyLock<Automaton> = LazyLock::new(build);

/// A reversed prefix without a joint must be at least this long to be told from chance.
const BACKWARDS_CHARS_MIN: usize = 4;

/// A foreign word as it stands at the start of a sentence and in a heading.
fn capitals(word: &str) -> impl Iterator<Item = String> {
    let mut letters = word.chars();
    let first = letters.next().filter(|_| !word.is_ascii()).map(|first| first.to_uppercase().chain(letters).collect());
    let all = (!word.is_ascii()).then(|| word.to_uppercase());
    [first, all].into_iter().flatten().filter(move |other: &String| other != word)
}

fn build() -> Automaton {
    let mut words = Words::new();
    let forms = forms(&mut words);
    for (index, pattern) in PATTERNS.iter().enumerate() {
        for word in pattern.anchors {
            words.add(word, Target::Pattern(index as u16));
        }
    }
    for (claim, labels) in LABELS {
        for word in labels.split(',') {
            words.add(word, Target::Label(*claim));
        }
    }
    words.add("://", Target::Address);
    words.add("-----begin ", Target::Pem);
    words.add("---- begin ", Target::Pem);
    for (word, mark) in structure::MARKS {
        words.add(word, Target::Mark(*mark));
    }
    let orders = injection::anchors().map(|(word, order)| (word, Target::Order(order)));
    for (word, target) in orders.chain(injection::triggers().map(|word| (word, Target::Sentence))) {
        words.add(word, target);
        // The index folds the case of ASCII only.
        for other in capitals(word) {
            words.add(&other, target);
        }
    }
    for (word, disguise) in injection::DISGUISES {
        words.add(word, Target::Disguise(*disguise));
    }
    words.close();
    Automaton { words, forms, patterns: PATTERNS.iter().map(|_| Lazy::new()).collect() }
}

fn forms(words: &mut Words<Target>) -> Vec<Form> {
    let mut forms = Vec::new();
    for (row, token) in tokens::all().enumerate() {
        for &shape in token.shapes {
            let anchored = shape::anchored(shape);
            let index = forms.len() as u16;
            for anchor in &anchored.anchors {
                words.add(anchor, Target::Shape(index));
            }
            let (anchor, lead, anchor_piece) = (anchored.anchor, anchored.lead, anchored.piece);
            let telling = anchor.len() >= BACKWARDS_CHARS_MIN || anchor.ends_with('_');
            if lead.1 == 0 && telling && anchor.len() >= WORD_BYTES_MIN {
                words.add(&anchor.chars().rev().collect::<String>(), Target::Backwards(index));
            }
            let (row, anchor_len) = (row as u16, anchor.len());
            forms.push(Form { token, row, anchor_len, lead, anchor_piece, shape, parts: OnceLock::new() });
        }
    }
    forms
}
