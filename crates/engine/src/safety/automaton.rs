//! One index over the anchor words of every rule: a rule runs only where its word stands.
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::injection;
use super::labels::{Claim, LABELS};
use super::pattern::{Lazy, PATTERNS, Pattern};
use super::shape;
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
    Disguise(injection::Disguise),
}

/// One token format with its compiled pattern.
pub(super) struct Form {
    pub(super) token: &'static Token,
    pub(super) row: u16,
    pub(super) anchor_len: usize,
    pub(super) lead: (usize, usize),
    pattern: String,
    lazy: Lazy,
}

impl Form {
    pub(super) fn regex(&self) -> &Regex {
        self.lazy.get(&self.pattern)
    }
}

pub(super) struct Automaton {
    pub(super) words: Words,
    targets: Vec<Vec<Target>>,
    pub(super) forms: Vec<Form>,
    patterns: Vec<Lazy>,
}

impl Automaton {
    pub(super) fn targets(&self, word: usize) -> &[Target] {
        &self.targets[word]
    }

    pub(super) fn pattern(&self, index: u16) -> (&'static Pattern, &Regex) {
        let pattern = PATTERNS[usize::from(index)];
        (pattern, self.patterns[usize::from(index)].get(pattern.pattern))
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
    // As many words as the tables hold, roughly: growing on the way would double the start-up.
    const WORDS_EXPECTED: usize = 8192;
    let mut words: HashMap<String, Vec<Target>> = HashMap::with_capacity(WORDS_EXPECTED);
    let mut add = |word: &str, target: Target| words.entry(word.to_ascii_lowercase()).or_default().push(target);
    let mut forms = Vec::new();
    for (row, token) in tokens::all().enumerate() {
        for text in token.shapes {
            let compiled = shape::compile(text);
            let index = forms.len() as u16;
            for anchor in &compiled.anchors {
                add(anchor, Target::Shape(index));
            }
            let telling = compiled.anchor.len() >= BACKWARDS_CHARS_MIN || compiled.anchor.ends_with('_');
            if compiled.lead.1 == 0 && telling && compiled.anchor.len() >= WORD_BYTES_MIN {
                add(&compiled.anchor.chars().rev().collect::<String>(), Target::Backwards(index));
            }
            forms.push(Form {
                token,
                row: row as u16,
                anchor_len: compiled.anchor.len(),
                lead: compiled.lead,
                pattern: compiled.pattern,
                lazy: Lazy::new(),
            });
        }
    }
    for (index, pattern) in PATTERNS.iter().enumerate() {
        for word in pattern.anchors {
            add(word, Target::Pattern(index as u16));
        }
    }
    for (claim, words) in LABELS {
        for word in words.split(',') {
            add(word, Target::Label(*claim));
        }
    }
    add("://", Target::Address);
    add("-----begin ", Target::Pem);
    add("---- begin ", Target::Pem);
    for (word, mark) in structure::MARKS {
        add(word, Target::Mark(*mark));
    }
    for (word, order) in injection::anchors() {
        add(word, Target::Order(order));
        // The index folds the case of ASCII only.
        for other in capitals(word) {
            add(&other, Target::Order(order));
        }
    }
    for (word, disguise) in injection::DISGUISES {
        add(word, Target::Disguise(*disguise));
    }
    let (words, targets): (Vec<String>, Vec<Vec<Target>>) = words.into_iter().unzip();
    Automaton { words: Words::new(words), targets, forms, patterns: PATTERNS.iter().map(|_| Lazy::new()).collect() }
}
