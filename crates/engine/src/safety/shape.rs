//! Language of token formats ("shapes"), one string per format.
//!
//! `ghp_{w36}` is the literal `ghp_` and 36 letters or digits; `{h32-64}` is 32 to 64 hex digits, `{s20+}` at least 20
//! characters of the URL-safe alphabet, `(live|test)` a choice, `{uuid}` a UUID. The letters are those of `char_set`.
//!
//! One shape gives the matcher, the anchor word and a synthetic example. The three cannot disagree, and the repository
//! holds no example key that somebody could take for a leaked one.

use std::borrow::Cow;

use super::word_index::WORD_BYTES_MIN;

/// One part of a shape.
pub(super) enum ShapePart<'a> {
    Literal(&'a str),
    Choice(Vec<&'a str>),
    /// `least` to `most` characters of a class; `None` for no upper bound.
    Run {
        class: CharSet,
        least: usize,
        most: Option<usize>,
    },
    Uuid,
}

/// Set of ASCII characters.
#[derive(Clone, Copy)]
pub(super) struct CharSet {
    /// One bit per character.
    mask: u128,
    /// Random-looking characters of the set, from which examples are made.
    sample: &'static [u8],
}

impl CharSet {
    /// The set from ranges and single characters, such as `a-z0-9_-`. A `-` at the end stands for itself.
    const fn from_ranges(set: &[u8], sample: &'static [u8]) -> CharSet {
        let mut mask = 0;
        let mut at = 0;
        while at < set.len() {
            let range = at + 2 < set.len() && set[at + 1] == b'-';
            let last = if range { set[at + 2] } else { set[at] };
            let mut letter = set[at];
            while letter <= last {
                mask |= 1 << letter;
                letter += 1;
            }
            at += if range { 3 } else { 1 };
        }
        CharSet { mask, sample }
    }

    pub(super) fn contains(self, byte: u8) -> bool {
        byte.is_ascii() && self.mask >> byte & 1 == 1
    }
}

pub(super) const UUID_CHARS: usize = 36;

/// Anchor of a shape: the literal at which matching starts.
#[derive(Debug)]
pub(super) struct ShapeAnchor<'a> {
    pub(super) anchor: &'a str,
    /// Words for the index: the anchor, or its continuations if it is too short for the index.
    pub(super) anchors: Vec<Cow<'a, str>>,
    /// Least and most bytes before the anchor; zero if the shape starts with it.
    pub(super) lead: (usize, usize),
    /// Position of the anchor among the parts of the shape.
    pub(super) piece: usize,
}

/// Character classes by their letter. A new class also goes into [`fill_template`], if examples shall use it, and into
/// the introduction of docs/reference/scanner.md (`tests/reference.rs`).
fn char_set(letter: char) -> CharSet {
    match letter {
        'w' => const { CharSet::from_ranges(b"A-Za-z0-9", b"Kq7ZtB2xYv9LmR4cWn8HsD3jPf6G") },
        'l' => const { CharSet::from_ranges(b"a-z0-9", b"k7qz2tb9xv4lm8rc3wn6hs1djp5f") },
        'u' => const { CharSet::from_ranges(b"A-Z0-9", b"K7QZ2TB9XV4LM8RC3WN6HS1DJP5F") },
        'h' => const { CharSet::from_ranges(b"0-9a-f", b"3f9a1c7e5b0d82f64ce91a7b5d3e") },
        'H' => const { CharSet::from_ranges(b"0-9A-F", b"3F9A1C7E5B0D82F64CE91A7B5D3E") },
        'x' => const { CharSet::from_ranges(b"0-9a-fA-F", b"3f9A1c7E5b0D82f64cE91a7B5d3e") },
        'd' => const { CharSet::from_ranges(b"0-9", b"73920581649307251846") },
        'a' => const { CharSet::from_ranges(b"A-Za-z", b"KqZtBxYvLmRcWnHsDjPfGwEuTiOa") },
        'A' => const { CharSet::from_ranges(b"A-Z", b"KQZTBXYVLMRCWNHSDJPFG") },
        'z' => const { CharSet::from_ranges(b"a-z", b"kqztbxyvlmrcwnhsdjpfg") },
        's' => const { CharSet::from_ranges(b"A-Za-z0-9_-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j-Pf6G") },
        'b' => const { CharSet::from_ranges(b"A-Za-z0-9+/", b"Kq7ZtB2xYv9LmR4cWn8H+sD3j/Pf6G") },
        'm' => const { CharSet::from_ranges(b"A-Za-z0-9_", b"Kq7ZtB2xYv9LmR4cWn8H_sD3jPf6G") },
        'p' => const { CharSet::from_ranges(b"A-Za-z0-9_.~-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j.Pf6G") },
        'q' => const { CharSet::from_ranges(b"A-Za-z0-9_=.-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j-Pf6G") },
        '2' => const { CharSet::from_ranges(b"A-Z2-7", b"KQ7ZT2BXY4VLM3RCW5NHS6DJPFGEU") },
        '5' => const { CharSet::from_ranges(b"1-9A-HJ-NP-Za-km-z", b"Kq7ZtB2xYv9LmR4cWn8HsD3jPf6G") },
        other => unreachable!("shape class `{other}` is not in the table"),
    }
}

/// Splits a shape into its parts. Shapes are constants of the tables; malformed ones show up in the tests.
pub(super) fn parse(shape: &str) -> Vec<ShapePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = shape;
    while !rest.is_empty() {
        let cut = rest.find(['{', '(']).unwrap_or(rest.len());
        if cut > 0 {
            parts.push(ShapePart::Literal(&rest[..cut]));
            rest = &rest[cut..];
            continue;
        }
        let close = rest.find(['}', ')']).unwrap_or(rest.len() - 1);
        let inner = &rest[1..close];
        parts.push(if rest.starts_with('(') {
            ShapePart::Choice(inner.split('|').collect())
        } else {
            parse_run(inner)
        });
        rest = &rest[close + 1..];
    }
    parts
}

fn parse_run(inner: &str) -> ShapePart<'_> {
    if inner == "uuid" {
        return ShapePart::Uuid;
    }
    let letter = inner.chars().next().unwrap_or('w');
    let count = &inner[letter.len_utf8()..];
    let number = |text: &str| text.parse::<usize>().unwrap_or(1);
    let (least, most) = match (count.strip_suffix('+'), count.split_once('-')) {
        (Some(least), _) => (number(least), None),
        (None, Some((least, most))) => (number(least), Some(number(most))),
        (None, None) => (number(count), Some(number(count))),
    };
    ShapePart::Run { class: char_set(letter), least, most }
}

/// The anchor of a shape: its first literal, or a later one if the first is too short or uniform to be specific.
pub(super) fn shape_anchor(shape: &str) -> ShapeAnchor<'_> {
    let parts = parse(shape);
    let (anchor, lead, piece) = pick_anchor(&parts);
    ShapeAnchor { anchor, anchors: searched_words(anchor, &parts), lead, piece }
}

fn pick_anchor<'a>(parts: &[ShapePart<'a>]) -> (&'a str, (usize, usize), usize) {
    const SPECIFIC_CHARS_MIN: usize = 3;
    // A literal that repeats one character, such as `---`, occurs on every page.
    let is_specific =
        |text: &str| text.len() >= SPECIFIC_CHARS_MIN && text.bytes().any(|byte| byte != text.as_bytes()[0]);
    let mut lead = (0, 0);
    let mut best: Option<(&'a str, (usize, usize), usize)> = None;
    for (piece, part) in parts.iter().enumerate() {
        let (least, most) = match part {
            ShapePart::Literal(text) => {
                if best.is_none_or(|(old, ..)| is_specific(text) && !is_specific(old)) {
                    best = Some((text, lead, piece));
                }
                (text.len(), text.len())
            }
            ShapePart::Choice(texts) => {
                let sizes = || texts.iter().map(|text| text.len());
                (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
            }
            ShapePart::Run { least, most, .. } => (*least, most.unwrap_or(*least)),
            ShapePart::Uuid => (UUID_CHARS, UUID_CHARS),
        };
        lead = (lead.0 + least, lead.1 + most);
    }
    best.unwrap_or(("", (0, 0), 0))
}

/// Words for the index. An anchor below the index's least length is extended by each character of the class after it:
/// `SK{h32}` gives `SK0` to `SKf`.
fn searched_words<'a>(anchor: &'a str, parts: &[ShapePart<'a>]) -> Vec<Cow<'a, str>> {
    match parts {
        [ShapePart::Literal(text), next @ (ShapePart::Run { .. } | ShapePart::Uuid), ..]
            if *text == anchor && anchor.len() < WORD_BYTES_MIN =>
        {
            let class = if let ShapePart::Run { class, .. } = next { *class } else { char_set('h') };
            // The index ignores case, so one word stands for both cases of a letter.
            let folds = |letter: u8| class.contains(letter) || class.contains(letter.to_ascii_uppercase());
            let letters = (b'!'..=b'~').filter(|letter| !letter.is_ascii_uppercase() && folds(*letter));
            letters.map(|letter| format!("{anchor}{}", char::from(letter)).into()).collect()
        }
        _ => vec![anchor.into()],
    }
}

/// A synthetic token of this shape. `masked` fills every run with one repeated character, as documentation does; the
/// scanner must let such a token pass.
pub(super) fn example_token(shape: &str, masked: bool) -> String {
    const SPARE_CHARS: usize = 4;
    let mut text = String::new();
    let mut turn = 0_usize;
    for part in parse(shape) {
        match part {
            ShapePart::Literal(literal) => text.push_str(literal),
            ShapePart::Choice(texts) => text.push_str(texts.first().copied().unwrap_or_default()),
            ShapePart::Uuid if masked => text.push_str("00000000-0000-0000-0000-000000000000"),
            ShapePart::Uuid => text.push_str("7c9e6b1a-4d2f-4e83-9b57-d1f60a3c8e24"),
            ShapePart::Run { class, least, most } => {
                let count = if most.is_none() { least + SPARE_CHARS } else { least };
                for index in 0..count {
                    // The start depends on the run and on the round, so that neither two runs of a shape nor the rounds
                    // of a long run are equal: repetition would look like a mask.
                    let pick = if masked { 0 } else { index + turn * 5 + index / class.sample.len() * 3 };
                    text.push(char::from(class.sample[pick % class.sample.len()]));
                }
                turn += 1;
            }
        }
    }
    text
}

/// The template with every `{w24}` of the shape language replaced by an example; other braces stay, as in `${TOKEN}`.
pub(super) fn fill_template(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (head, tail) = rest.split_at(open);
        out.push_str(head);
        let close = tail.find('}').map_or(1, |at| at + 1);
        let inner = &tail[1..close.max(2) - 1];
        let is_run = inner == "uuid"
            || inner.len() > 1
                && "wluhHxdaAzsbmp25".contains(&inner[..1])
                && inner[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_run {
            out.push_str(&example_token(&tail[..close], false));
            rest = &tail[close..];
        } else {
            out.push('{');
            rest = &tail[1..];
        }
    }
    out.push_str(rest);
    out
}
