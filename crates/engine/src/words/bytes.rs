//! The stored form of [`Words`]: version, length, then each term as the distance to the one before, with its count.
use super::{Term, Words};

/// First byte; a reader that does not know it rebuilds the index from the text.
const FORMAT: u8 = 1;

impl Words {
    /// Compact bytes, about four per distinct term.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 + self.terms.len() * 5);
        out.push(FORMAT);
        put(&mut out, u64::from(self.len));
        put(&mut out, self.terms.len() as u64);
        let mut before = 0;
        for (term, times) in &self.terms {
            // Most terms occur once, so one bit says whether a count follows.
            put(&mut out, (u64::from(term - before) << 1) | u64::from(*times != 1));
            if *times != 1 {
                out.push(*times);
            }
            before = *term;
        }
        out
    }

    /// The words back, or none if these bytes are not whole and in order.
    pub fn from_bytes(bytes: &[u8]) -> Option<Words> {
        // A term takes a byte at least, and mostly four.
        let mut terms = Vec::with_capacity(bytes.len() / 4);
        let len = Words::each(bytes, |term, times| terms.push((term, times)))?;
        Some(Words { terms, len })
    }

    /// Reads the terms one by one in ascending order and answers the length; none as above, maybe after some terms.
    pub fn each(bytes: &[u8], mut term: impl FnMut(Term, u8)) -> Option<u32> {
        let (format, mut rest) = bytes.split_first()?;
        if *format != FORMAT {
            return None;
        }
        let len = u32::try_from(take(&mut rest)?).ok()?;
        let count = usize::try_from(take(&mut rest)?).ok()?;
        let mut before = 0u32;
        for at in 0..count {
            let word = take(&mut rest)?;
            let distance = u32::try_from(word >> 1).ok()?;
            if at > 0 && distance == 0 {
                return None;
            }
            let times = if word & 1 == 1 { take_byte(&mut rest)? } else { 1 };
            before = before.checked_add(distance)?;
            term(before, times);
        }
        rest.is_empty().then_some(len)
    }
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    match rest.first_chunk().and_then(take_at_once) {
        Some((value, length)) => {
            *rest = &rest[length..];
            Some(value)
        }
        None => take_by_byte(rest),
    }
}

/// A number that ends within the next eight bytes, as every term does, without a step for each of them: a place is
/// loaded at this speed. Seven bits of each byte are moved together, first by pairs, then by fours, then all.
fn take_at_once(eight: &[u8; 8]) -> Option<(u64, usize)> {
    const GO_ON: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(*eight);
    let bits = (!word & GO_ON).trailing_zeros() + 1;
    if bits > u64::BITS {
        return None;
    }
    let sevens = word & !GO_ON & (u64::MAX >> (u64::BITS - bits));
    let pairs = (sevens & 0x007f_007f_007f_007f) | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    let all = (fours & 0x0000_0000_0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4;
    Some((all, bits as usize / 8))
}

fn take_by_byte(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(rest)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_read_alike_at_once_and_by_the_byte(value in any::<u64>(), small in 0..64u32, after in proptest::collection::vec(any::<u8>(), 0..12)) {
            let value = value >> small;
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            bytes.extend(&after);
            let (mut at_once, mut by_byte) = (bytes.as_slice(), bytes.as_slice());
            prop_assert_eq!(take(&mut at_once), Some(value));
            prop_assert_eq!(take_by_byte(&mut by_byte), Some(value));
            prop_assert_eq!(at_once, by_byte);
            prop_assert_eq!(at_once, after.as_slice());
        }

        #[test]
        fn any_bytes_read_alike(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
            let (mut at_once, mut by_byte) = (bytes.as_slice(), bytes.as_slice());
            prop_assert_eq!(take(&mut at_once), take_by_byte(&mut by_byte));
        }
    }
}
