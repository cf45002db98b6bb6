//! Whether a text fits a shape: all ways at once, so that the work is the text's length times the shape's pieces.
use super::cost;
use super::shape::{Class, Part, UUID_CHARS};
use super::value::is_uuid;

/// Token patterns look no further than this; keys are shorter, keys with payloads are cut.
pub(super) const TOKEN_BYTES_MAX: usize = 2048;

/// Where the longest text of this shape that starts the bytes ends.
pub(super) fn fit(parts: &[Part<'_>], bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(TOKEN_BYTES_MAX)];
    fit_side(parts.iter(), Side { bytes, back: false })
}

/// Where the longest text of this shape that ends the bytes starts.
pub(super) fn fit_back(parts: &[Part<'_>], bytes: &[u8]) -> Option<usize> {
    let near = &bytes[bytes.len().saturating_sub(TOKEN_BYTES_MAX)..];
    let length = fit_side(parts.iter().rev(), Side { bytes: near, back: true })?;
    Some(bytes.len() - length)
}

fn fit_side<'p, 's: 'p>(parts: impl Iterator<Item = &'p Part<'s>>, side: Side) -> Option<usize> {
    let mut ends = Places::one(0);
    for part in parts {
        ends = match part {
            Part::Literal(text) => after(&ends, side, &[text]),
            Part::Choice(texts) => after(&ends, side, texts),
            Part::Run { class, least, most } => along(&ends, side, *class, (*least, most.unwrap_or(usize::MAX))),
            Part::Uuid => uuids(&ends, side),
        };
        if ends.is_empty() {
            return None;
        }
    }
    Some(ends.last)
}

/// Bytes that are read from their start, or from their end back; a place is how far one has got.
#[derive(Clone, Copy)]
struct Side<'b> {
    bytes: &'b [u8],
    back: bool,
}

impl<'b> Side<'b> {
    fn rest(self, place: usize) -> &'b [u8] {
        if self.back { &self.bytes[..self.bytes.len() - place] } else { &self.bytes[place..] }
    }

    fn has(self, place: usize, text: &[u8]) -> bool {
        let rest = self.rest(place);
        if self.back { rest.ends_with(text) } else { rest.starts_with(text) }
    }

    /// How many bytes of the class follow, up to some number.
    fn run(self, place: usize, class: Class, most: usize) -> usize {
        let rest = self.rest(place);
        let held = if self.back {
            rest.iter().rev().take(most).take_while(|&&byte| class.has(byte)).count()
        } else {
            rest.iter().take(most).take_while(|&&byte| class.has(byte)).count()
        };
        cost::read(held + 1);
        held
    }

    fn has_uuid(self, place: usize) -> bool {
        let rest = self.rest(place);
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

/// A set of places in a token, kept on the stack: fitting a shape allocates nothing.
struct Places {
    first: usize,
    last: usize,
    /// Only the words from the first place's to the last place's mean anything.
    bits: [u64; WORDS],
}

impl Places {
    fn none() -> Self {
        Places { first: usize::MAX, last: 0, bits: [0; WORDS] }
    }

    fn one(place: usize) -> Self {
        let mut places = Places::none();
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

    /// Adds every place from the first to the last, if there is one.
    fn add_all(&mut self, first: usize, last: usize) {
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

    /// The places in order.
    fn each(&self) -> impl Iterator<Item = usize> {
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

/// The ends of one of the texts at any of the starts.
fn after(starts: &Places, side: Side, texts: &[&str]) -> Places {
    let mut ends = Places::none();
    for start in starts.each() {
        cost::read(texts.len());
        for text in texts.iter().filter(|text| side.has(start, text.as_bytes())) {
            ends.add(start + text.len());
        }
    }
    ends
}

/// The ends of runs of the class from any of the starts, each end once.
fn along(starts: &Places, side: Side, class: Class, (least, most): (usize, usize)) -> Places {
    let mut ends = Places::none();
    // Up to where the class was seen to go on without a break, looking no further than asked.
    let mut solid = 0;
    let mut next = 0;
    for start in starts.each() {
        let last = start.saturating_add(most).min(side.bytes.len());
        solid = solid.max(start);
        if solid < last {
            solid += side.run(solid, class, last - solid);
        }
        let last = solid.min(last);
        ends.add_all((start + least).max(next), last);
        next = next.max(last + 1);
    }
    ends
}

fn uuids(starts: &Places, side: Side) -> Places {
    let mut ends = Places::none();
    starts.each().filter(|&start| side.has_uuid(start)).for_each(|start| ends.add(start + UUID_CHARS));
    ends
}

#[cfg(test)]
mod tests {
    use super::super::shape::parse;
    use super::*;

    fn check(shape: &str, text: &str, end: Option<usize>) {
        assert_eq!(fit(&parse(shape), text.as_bytes()), end, "{shape} on {text}");
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
        let back = |shape: &str, text: &str| fit_back(&parse(shape), text.as_bytes());
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
