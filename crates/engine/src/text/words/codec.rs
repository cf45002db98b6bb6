//! Stored form of [`IndexedWords`]: version byte, length (varint), number of terms (varint), four bytes little-endian
//! per term ascending, then for each term that occurs more than once its position, as a varint distance to the one
//! before, and its count in one byte.
//!
//! Terms are hashes, spread evenly over 32 bits: distances between them would hardly be shorter than the terms.
use super::{IndexedWords, Term};

/// First byte. A reader that does not know the version rebuilds the index from the text.
const FORMAT_VERSION: u8 = 2;
/// Older form with terms as distances, written until version 10 of the schema and still read.
const DISTANCE_FORMAT_VERSION: u8 = 1;
const TERM_BYTES: usize = size_of::<Term>();

impl IndexedWords {
    /// Encodes the index in a little more than four bytes per distinct term.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + self.terms.len() * (TERM_BYTES + 1));
        out.push(FORMAT_VERSION);
        write_varint(&mut out, u64::from(self.len));
        write_varint(&mut out, self.terms.len() as u64);
        self.terms.iter().for_each(|(term, _)| out.extend(term.to_le_bytes()));
        let mut before = 0;
        for (at, (_, times)) in self.terms.iter().enumerate().filter(|(_, (_, times))| *times != 1) {
            write_varint(&mut out, (at - before) as u64);
            out.push(*times);
            before = at;
        }
        out
    }

    /// Decodes an index; `None` if the bytes are cut off, out of order or of an unknown version.
    pub fn from_bytes(bytes: &[u8]) -> Option<IndexedWords> {
        let mut terms = Vec::with_capacity(bytes.len() / TERM_BYTES);
        let len = IndexedWords::for_each_term(bytes, |term, times| terms.push((term, times)))?;
        Some(IndexedWords { terms, len })
    }

    /// Calls `term` for each term in ascending order and returns the length. `None` as for
    /// [`IndexedWords::from_bytes`], possibly after some terms.
    pub fn for_each_term(bytes: &[u8], term: impl FnMut(Term, u8)) -> Option<u32> {
        let (format, mut rest) = bytes.split_first()?;
        if !matches!(*format, FORMAT_VERSION | DISTANCE_FORMAT_VERSION) {
            return None;
        }
        let len = u32::try_from(read_varint(&mut rest)?).ok()?;
        let count = usize::try_from(read_varint(&mut rest)?).ok()?;
        match *format {
            FORMAT_VERSION => read_term_list(count, rest, term)?,
            _ => read_term_distances(count, rest, term)?,
        }
        Some(len)
    }

    /// As [`IndexedWords::for_each_term`], for the `asked` terms only, in the order asked (the older form gives them
    /// ascending). Reads only what it needs, so damaged bytes elsewhere go unnoticed.
    pub fn pick_terms(bytes: &[u8], asked: &[Term], mut term: impl FnMut(Term, u8)) -> Option<u32> {
        let Some((&FORMAT_VERSION, mut rest)) = bytes.split_first() else {
            let wanted = |found: Term, times: u8| {
                if asked.contains(&found) {
                    term(found, times)
                }
            };
            return IndexedWords::for_each_term(bytes, wanted);
        };
        let len = u32::try_from(read_varint(&mut rest)?).ok()?;
        let count = usize::try_from(read_varint(&mut rest)?).ok()?;
        let (list, repeats) = rest.split_at_checked(count.checked_mul(TERM_BYTES)?)?;
        let list = list.as_chunks().0;
        for found in asked {
            if let Some(at) = find_term(list, *found) {
                term(*found, term_count(repeats, at)?);
            }
        }
        Some(len)
    }
}

/// Position of a term (interpolation search). Terms are spread evenly, so the walk from where its value suggests is
/// short.
fn find_term(list: &[[u8; TERM_BYTES]], term: Term) -> Option<usize> {
    let at = |place: usize| list.get(place).map(|bytes| Term::from_le_bytes(*bytes));
    let mut place = usize::try_from((u64::from(term) * list.len() as u64) >> Term::BITS).ok()?;
    while place > 0 && at(place)? > term {
        place -= 1;
    }
    while at(place)? < term {
        place += 1;
    }
    (at(place)? == term).then_some(place)
}

/// Count of the term at this position; `None` if the bytes are cut off.
fn term_count(mut repeats: &[u8], place: usize) -> Option<u8> {
    let mut before = 0;
    while let Some((at, times)) = next_repeated(&mut repeats, before)? {
        if at >= place {
            return Some(if at == place { times } else { 1 });
        }
        before = at;
    }
    Some(1)
}

fn read_term_list(count: usize, rest: &[u8], mut term: impl FnMut(Term, u8)) -> Option<()> {
    let (list, mut repeats) = rest.split_at_checked(count.checked_mul(TERM_BYTES)?)?;
    let mut next = next_repeated(&mut repeats, 0)?;
    let mut before = None;
    for (at, bytes) in list.as_chunks().0.iter().enumerate() {
        let read = Term::from_le_bytes(*bytes);
        if before.is_some_and(|before| before >= read) {
            return None;
        }
        before = Some(read);
        match next {
            Some((place, times)) if place == at => {
                term(read, times);
                next = next_repeated(&mut repeats, at)?;
            }
            _ => term(read, 1),
        }
    }
    next.is_none().then_some(())
}

/// Position and count of the next repeated term: `Some(None)` at the end, `None` if the bytes are cut off.
fn next_repeated(rest: &mut &[u8], before: usize) -> Option<Option<(usize, u8)>> {
    if rest.is_empty() {
        return Some(None);
    }
    let place = before.checked_add(usize::try_from(read_varint(rest)?).ok()?)?;
    Some(Some((place, read_byte(rest)?)))
}

/// Reads the older form: each term as the distance to the one before, shifted by a bit that says whether a count
/// follows.
fn read_term_distances(count: usize, mut rest: &[u8], mut term: impl FnMut(Term, u8)) -> Option<()> {
    let mut before = 0u32;
    for at in 0..count {
        let word = read_varint(&mut rest)?;
        let distance = u32::try_from(word >> 1).ok()?;
        if at > 0 && distance == 0 {
            return None;
        }
        let times = if word & 1 == 1 { read_byte(&mut rest)? } else { 1 };
        before = before.checked_add(distance)?;
        term(before, times);
    }
    rest.is_empty().then_some(())
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = read_byte(rest)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn read_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_distance(words: &IndexedWords) -> Vec<u8> {
        let mut out = vec![DISTANCE_FORMAT_VERSION];
        write_varint(&mut out, u64::from(words.len));
        write_varint(&mut out, words.terms.len() as u64);
        let mut before = 0;
        for (term, times) in &words.terms {
            write_varint(&mut out, (u64::from(term - before) << 1) | u64::from(*times != 1));
            out.extend((*times != 1).then_some(*times));
            before = *term;
        }
        out
    }

    proptest! {
        #[test]
        fn what_older_versions_wrote_is_read(
            terms in proptest::collection::btree_map(any::<Term>(), prop_oneof![Just(1), any::<u8>()], 0..40),
            len in any::<u32>(),
        ) {
            let words = IndexedWords { terms: terms.into_iter().collect(), len };
            prop_assert_eq!(IndexedWords::from_bytes(&by_distance(&words)), Some(words.clone()));
            prop_assert_eq!(IndexedWords::from_bytes(&words.to_bytes()), Some(words));
        }

        #[test]
        fn what_is_picked_is_what_stands_there(
            terms in proptest::collection::btree_map(any::<Term>(), prop_oneof![Just(1), any::<u8>()], 0..60),
            others in proptest::collection::vec(any::<Term>(), 0..10),
            chosen in proptest::collection::vec(any::<proptest::sample::Index>(), 0..10),
        ) {
            let words = IndexedWords { terms: terms.into_iter().collect(), len: 7 };
            let mut asked = others;
            asked.extend([0, Term::MAX]);
            if !words.terms.is_empty() {
                asked.extend(chosen.iter().map(|index| words.terms[index.index(words.terms.len())].0));
            }
            asked.sort_unstable();
            asked.dedup();
            let expected: Vec<(Term, u8)> =
                words.terms.iter().copied().filter(|(term, _)| asked.contains(term)).collect();
            for bytes in [words.to_bytes(), by_distance(&words)] {
                let mut picked = Vec::new();
                let len = IndexedWords::pick_terms(&bytes, &asked, |term, times| picked.push((term, times)));
                prop_assert_eq!((len, &picked), (Some(7), &expected));
            }
        }

        #[test]
        fn bytes_cut_short_never_lose_a_term(
            terms in proptest::collection::btree_map(any::<Term>(), prop_oneof![Just(1), 2..9u8], 1..40),
            cut in any::<proptest::sample::Index>(),
        ) {
            let bytes = IndexedWords { terms: terms.into_iter().collect(), len: 3 }.to_bytes();
            let cut = cut.index(bytes.len());
            let whole = IndexedWords::from_bytes(&bytes).map(|words| words.terms.len());
            // Cut between two counts it is whole, with counts of one.
            let rest = IndexedWords::from_bytes(&bytes[..cut]).map(|words| words.terms.len());
            prop_assert!(rest.is_none() || rest == whole);
        }
    }
}
