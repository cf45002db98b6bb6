//! Index of the anchor words of all rules: a rule runs only where one of its words occurs.
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

/// What a pass runs at an anchor word. Numbers are positions in the tables.
#[derive(Clone, Copy)]
pub(super) enum AnchorTarget {
    /// Match a token format.
    Shape(u16),
    /// Match a token format written from right to left.
    Reversed(u16),
    /// Try a regex.
    Pattern(u16),
    /// Judge the value that a label announces.
    Label(LabelClaim),
    /// Judge a URL at its `://`.
    Address,
    /// Read a PEM block.
    Pem,
    /// Note a mark of a document such as a kubeconfig.
    Mark(secret_documents::DocumentMark),
    /// Try the pattern of a planted order on the sentence.
    Order(u16),
    /// Read the sentence by the grammar of planted orders.
    Trigger,
    /// Scan again with the disguise removed.
    Disguise(injection::Disguise),
}

/// One token format, ready to match.
pub(super) struct TokenShape {
    pub(super) token: &'static TokenFamily,
    /// Position of the family in the tables.
    pub(super) row: u16,
    pub(super) anchor_len: usize,
    /// Least and most bytes before the anchor; zero if the shape starts with it.
    pub(super) lead: (usize, usize),
    anchor_piece: usize,
    shape: &'static str,
    /// Parsed at the first match: most formats never occur in a process, and start-up stays fast.
    parts: OnceLock<Vec<ShapePart<'static>>>,
}

impl TokenShape {
    /// End of a token that starts at the first byte.
    pub(super) fn match_prefix(&self, bytes: &[u8]) -> Option<usize> {
        match_prefix(self.parts(), bytes)
    }

    /// Span of a token whose anchor is at `anchor`.
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

/// All anchor words with their targets, and the tables that the targets point into.
pub(super) struct AnchorIndex {
    pub(super) words: WordIndex<AnchorTarget>,
    pub(super) token_shapes: Vec<TokenShape>,
    patterns: Vec<LazyRegex>,
}

impl AnchorIndex {
    /// Row and regex of a pattern; the regex is compiled when its anchor first occurs.
    pub(super) fn compiled_pattern(&self, index: u16) -> (&'static Pattern, &Regex) {
        let pattern = PATTERNS[usize::from(index)];
        (pattern, self.patterns[usize::from(index)].get(|| pattern.pattern.into()))
    }
}

pub(super) static ANCHOR_INDEX: LazyLock<AnchorIndex> = LazyLock::new(build_anchor_index);

/// Length from which a reversed prefix without a `_` is specific enough.
const BACKWARDS_CHARS_MIN: usize = 4;

/// A non-ASCII word with a capital first letter and in capitals throughout.
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
        // The index ignores the case of ASCII letters only.
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
            let is_specific = anchor.len() >= BACKWARDS_CHARS_MIN || anchor.ends_with('_');
            if lead.1 == 0 && is_specific && anchor.len() >= WORD_BYTES_MIN {
                words.add_word(&anchor.chars().rev().collect::<String>(), AnchorTarget::Reversed(index));
            }
            let (row, anchor_len) = (row as u16, anchor.len());
            token_shapes.push(TokenShape { token, row, anchor_len, lead, anchor_piece, shape, parts: OnceLock::new() });
        }
    }
    token_shapes
}
