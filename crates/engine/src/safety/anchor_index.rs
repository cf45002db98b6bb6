//! One index over the anchor words of every rule: a rule runs only where its word stands.
use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;

use super::injection;
use super::labels::{LABELS, LabelClaim};
use super::pattern::{LazyRegex, PATTERNS, Pattern};
use super::secret_documents;
use super::shape::{self, ShapePart};
use super::shape_match::{match_prefix, match_suffix};
use super::tokens::{self, TokenFamily};
use super::word_index::{WORD_BYTES_MIN, WordIndex};

/// What to do where an anchor word stands.
#[derive(Clone, Copy)]
pub(super) enum AnchorTarget {
    Shape(u16),
    Reversed(u16),
    Pattern(u16),
    Label(LabelClaim),
    Address,
    Pem,
    Mark(secret_documents::DocumentMark),
    Order(u16),
    Trigger,
    Disguise(injection::Disguise),
}

/// One token format.
pub(super) struct TokenShape {
    pub(super) token: &'static TokenFamily,
    pub(super) row: u16,
    pub(super) anchor_len: usize,
    pub(super) lead: (usize, usize),
    anchor_piece: usize,
    shape: &'static str,
    parts: OnceLock<Vec<ShapePart<'static>>>,
}

impl TokenShape {
    /// Where a token that starts the bytes ends.
    pub(super) fn match_prefix(&self, bytes: &[u8]) -> Option<usize> {
        match_prefix(self.parts(), bytes)
    }

    /// Where a token of which the anchor stands at `anchor` starts and ends.
    pub(super) fn match_around(&self, bytes: &[u8], anchor: usize) -> Option<(usize, usize)> {
        let (lead, tail) = self.parts().split_at(self.anchor_piece);
        let end = anchor + match_prefix(tail, &bytes[anchor..])?;
        let start = if lead.is_empty() { anchor } else { match_suffix(lead, &bytes[..anchor])? };
        Some((start, end))
    }

    fn parts(&self) -> &[ShapePart<'static>] {
        self.parts.get_or_init(|| shape::parse(self.shape))
    }
}

pub(super) struct AnchorIndex {
    pub(super) words: WordIndex<AnchorTarget>,
    pub(super) token_shapes: Vec<TokenShape>,
    patterns: Vec<LazyRegex>,
}

impl AnchorIndex {
    pub(super) fn compiled_pattern(&self, index: u16) -> (&'static Pattern, &Regex) {
        let pattern = PATTERNS[usize::from(index)];
        (pattern, self.patterns[usize::from(index)].get(|| pattern.pattern.into()))
    }
}

pub(super) static ANCHOR_INDEX: LazyLock<AnchorIndex> = LazyLock::new(build_anchor_index);

/// A reversed prefix without a joint must be at least this long to be told from chance.
const BACKWARDS_CHARS_MIN: usize = 4;

/// A foreign word as it stands at the start of a sentence and in a heading.
fn capitalised_forms(word: &str) -> impl Iterator<Item = String> {
    let mut letters = word.chars();
    let first = letters.next().filter(|_| !word.is_ascii()).map(|first| first.to_uppercase().chain(letters).collect());
    let all = (!word.is_ascii()).then(|| word.to_uppercase());
    [first, all].into_iter().flatten().filter(move |other: &String| other != word)
}

fn build_anchor_index() -> AnchorIndex {
    let mut words = WordIndex::new();
    let token_shapes = build_token_shapes(&mut words);
    for (index, pattern) in PATTERNS.iter().enumerate() {
        for word in pattern.anchors {
            words.add_word(word, AnchorTarget::Pattern(index as u16));
        }
    }
    for (claim, labels) in LABELS {
        for word in labels.split(',') {
            words.add_word(word, AnchorTarget::Label(*claim));
        }
    }
    words.add_word("://", AnchorTarget::Address);
    words.add_word("-----begin ", AnchorTarget::Pem);
    words.add_word("---- begin ", AnchorTarget::Pem);
    for (word, mark) in secret_documents::MARK_WORDS {
        words.add_word(word, AnchorTarget::Mark(*mark));
    }
    let orders = injection::anchor_words().map(|(word, order)| (word, AnchorTarget::Order(order)));
    for (word, target) in orders.chain(injection::trigger_words().map(|word| (word, AnchorTarget::Trigger))) {
        words.add_word(word, target);
        // The index folds the case of ASCII only.
        for other in capitalised_forms(word) {
            words.add_word(&other, target);
        }
    }
    for (word, disguise) in injection::DISGUISED_WORDS {
        words.add_word(word, AnchorTarget::Disguise(*disguise));
    }
    words.build_index();
    AnchorIndex { words, token_shapes, patterns: PATTERNS.iter().map(|_| LazyRegex::new()).collect() }
}

fn build_token_shapes(words: &mut WordIndex<AnchorTarget>) -> Vec<TokenShape> {
    let mut token_shapes = Vec::new();
    for (row, token) in tokens::all_families().enumerate() {
        for &shape in token.shapes {
            let anchored = shape::shape_anchor(shape);
            let index = token_shapes.len() as u16;
            for anchor in &anchored.anchors {
                words.add_word(anchor, AnchorTarget::Shape(index));
            }
            let (anchor, lead, anchor_piece) = (anchored.anchor, anchored.lead, anchored.piece);
            let telling = anchor.len() >= BACKWARDS_CHARS_MIN || anchor.ends_with('_');
            if lead.1 == 0 && telling && anchor.len() >= WORD_BYTES_MIN {
                words.add_word(&anchor.chars().rev().collect::<String>(), AnchorTarget::Reversed(index));
            }
            let (row, anchor_len) = (row as u16, anchor.len());
            token_shapes.push(TokenShape { token, row, anchor_len, lead, anchor_piece, shape, parts: OnceLock::new() });
        }
    }
    token_shapes
}
