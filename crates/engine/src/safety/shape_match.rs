//! Matches a text against a shape in linear time.
//!
//! A shape is ambiguous (`{w2+}Z{d1}` on `xZ1Z2`). Instead of backtracking, each part maps the set of all positions
//! where it may start to the set of all positions where it may end. The work is the length of the text times the number
//! of parts, whatever the text.
use super::read_counter;
use super::shape::{CharSet, ShapePart, UUID_CHARS};
use super::value_stats::is_uuid;

/// Bytes of a token that are matched. Keys are shorter; tokens that carry a payload are cut here.
pub(super) const TOKEN_BYTES_MAX: usize = 2048;

/// End of the longest match that starts at the first byte.
pub(super) fn match_prefix(parts: &[ShapePart<'_>], bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(TOKEN_BYTES_MAX)];
    match_parts(parts.iter(), DirectedBytes { bytes, back: false })
}

/// Start of the longest match that ends at the last byte.
pub(super) fn match_suffix(parts: &[ShapePart<'_>], bytes: &[u8]) -> Option<usize> {
    let near = &bytes[bytes.len().saturating_sub(TOKEN_BYTES_MAX)..];
    let length = match_parts(parts.iter().rev(), DirectedBytes { bytes: near, back: true })?;
    Some(bytes.len() - length)
}

fn match_parts<'p, 's: 'p>(parts: impl Iterator<Item = &'p ShapePart<'s>>, side: DirectedBytes) -> Option<usize> {
    let mut ends = PositionSet::single(0);
    for part in parts {
        ends = match part {
            ShapePart::Literal(text) => ends_after_texts(&ends, side, &[text]),
            ShapePart::Choice(texts) => ends_after_texts(&ends, side, texts),
            ShapePart::Run { class, least, most } => {
                ends_after_runs(&ends, side, *class, (*least, most.unwrap_or(usize::MAX)))
            }
            ShapePart::Uuid => ends_after_uuids(&ends, side),
        };
        if ends.is_empty() {
            return None;
        }
    }
    Some(ends.last)
}

/// Bytes read forward from the start or backward from the end. A position is the number of bytes already consumed.
#[derive(Clone, Copy)]
struct DirectedBytes<'b> {
    bytes: &'b [u8],
    back: bool,
}

impl<'b> DirectedBytes<'b> {
    fn rest_from(self, place: usize) -> &'b [u8] {
        if self.back { &self.bytes[..self.bytes.len() - place] } else { &self.bytes[place..] }
    }

    fn has_text(self, place: usize, text: &[u8]) -> bool {
        let rest = self.rest_from(place);
        if self.back { rest.ends_with(text) } else { rest.starts_with(text) }
    }

    /// Number of bytes of the class from `place` on, up to `most`.
    fn class_run_len(self, place: usize, class: CharSet, most: usize) -> usize {
        let rest = self.rest_from(place);
        let held = if self.back {
            rest.iter().rev().take(most).take_while(|&&byte| class.contains(byte)).count()
        } else {
            rest.iter().take(most).take_while(|&&byte| class.contains(byte)).count()
        };
        read_counter::record_read(held + 1);
        held
    }

    fn has_uuid(self, place: usize) -> bool {
        let rest = self.rest_from(place);
        let uuid = if self.back {
            rest.len().checked_sub(UUID_CHARS).map(|from| &rest[from..])
        } else {
            rest.get(..UUID_CHARS)
        };
        uuid.is_some_and(is_uuid)
    }
}

const WORD_BITS: usize = u64::BITS as usize;
const WORDS: usize = TOKEN_BYTES_MAX / WORD_BITS + 1;

/// Set of positions in a token, as a bit set on the stack: matching allocates nothing.
struct PositionSet {
    first: usize,
    last: usize,
    /// One bit per position. Only the words between `first` and `last` are read.
    bits: [u64; WORDS],
}

impl PositionSet {
    fn empty() -> Self {
        PositionSet { first: usize::MAX, last: 0, bits: [0; WORDS] }
    }

    fn single(place: usize) -> Self {
        let mut places = PositionSet::empty();
        places.add(place);
        places
    }

    fn is_empty(&self) -> bool {
        self.first > self.last
    }

    fn add(&mut self, place: usize) {
        self.first = self.first.min(place);
        self.last = self.last.max(place);
        self.bits[place / WORD_BITS] |= 1 << (place % WORD_BITS);
    }

    /// Adds all positions from `first` to `last`, none if `first > last`.
    fn add_range(&mut self, first: usize, last: usize) {
        if first > last {
            return;
        }
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
        for word in first / WORD_BITS..=last / WORD_BITS {
            let from = first.saturating_sub(word * WORD_BITS);
            let to = (last - word * WORD_BITS).min(WORD_BITS - 1);
            self.bits[word] |= u64::MAX << from & u64::MAX >> (WORD_BITS - 1 - to);
        }
    }

    /// The positions in ascending order.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = if self.is_empty() { 0..0 } else { self.first / WORD_BITS..self.last / WORD_BITS + 1 };
        words.flat_map(|word| {
            let mut rest = self.bits[word];
            std::iter::from_fn(move || {
                let bit = (rest != 0).then_some(rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(word * WORD_BITS + bit as usize)
            })
        })
    }
}

/// Positions after one of the texts, from any of the starts.
fn ends_after_texts(starts: &PositionSet, side: DirectedBytes, texts: &[&str]) -> PositionSet {
    let mut ends = PositionSet::empty();
    for start in starts.iter() {
        read_counter::record_read(texts.len());
        for text in texts.iter().filter(|text| side.has_text(start, text.as_bytes())) {
            ends.add(start + text.len());
        }
    }
    ends
}

/// Positions after a run of `least` to `most` characters of the class, from any of the starts.
fn ends_after_runs(
    starts: &PositionSet,
    side: DirectedBytes,
    class: CharSet,
    (least, most): (usize, usize),
) -> PositionSet {
    let mut ends = PositionSet::empty();
    // Starts ascend, so each byte is tested once: `solid` is how far the class is known to continue without a break.
    let mut solid = 0;
    // First position not yet added; keeps overlapping ranges from being written again.
    let mut next = 0;
    for start in starts.iter() {
        let last = start.saturating_add(most).min(side.bytes.len());
        solid = solid.max(start);
        if solid < last {
            solid += side.class_run_len(solid, class, last - solid);
        }
        let last = solid.min(last);
        ends.add_range((start + least).max(next), last);
        next = next.max(last + 1);
    }
    ends
}

fn ends_after_uuids(starts: &PositionSet, side: DirectedBytes) -> PositionSet {
    let mut ends = PositionSet::empty();
    starts.iter().filter(|&start| side.has_uuid(start)).for_each(|start| ends.add(start + UUID_CHARS));
    ends
}

#[cfg(test)]
mod tests {
    use super::super::shape::parse;
    use super::*;

    fn check(shape: &str, text: &str, end: Option<usize>) {
        assert_eq!(match_prefix(&parse(shape), text.as_bytes()), end, "{shape} on {text}");
    }

    #[test]
    fn the_longest_fit_counts() {
        check("ab{d2}", "ab12", Some(4));
        check("ab{d2}", "ab1", None);
        check("ab{d2-3}", "ab12345", Some(5));
        check("ab{d2+}", "ab12345x", Some(7));
        check("ab{w2+}Z{d1}", "abxxZ1yyZ2zz", Some(10));
        check("a(b|bc)c{d1}", "abcc1", Some(5));
        check("a(b|bc)c{d1}", "abc1", Some(4));
        check("k-{uuid}", "k-7c9e6b1a-4d2f-4e83-9b57-d1f60a3c8e24", Some(38));
        check("k-{uuid}", "k-7c9e6b1a", None);
    }

    #[test]
    fn a_shape_is_read_backwards_too() {
        let back = |shape: &str, text: &str| match_suffix(&parse(shape), text.as_bytes());
        assert_eq!(back("{w2-4}_{d3}", "x-abcd_123"), Some(2));
        assert_eq!(back("{w2-4}_{d3}", "abcdef_123"), Some(2));
        assert_eq!(back("{w2-4}_{d3}", "a_123"), None);
        assert_eq!(back("(a|ba){uuid}-", "ba7c9e6b1a-4d2f-4e83-9b57-d1f60a3c8e24-"), Some(0));
    }

    #[test]
    fn an_endless_token_is_cut() {
        check("ab{d2+}", &format!("ab{}", "7".repeat(3 * TOKEN_BYTES_MAX)), Some(TOKEN_BYTES_MAX));
    }
}
