//! Sign bits of vectors: one bit per dimension, an eighth of the size. The Hamming distance of two vectors' sign bits
//! approximates their angle, so only the nearest by it are compared in full.
//!
//! The unsafe code is the call of the version compiled with `popcnt`, sound because the processor was tested first.
#![allow(unsafe_code)]

/// Sign bits per word.
const WORD: usize = u64::BITS as usize;

/// Words per row.
pub(super) fn words_per_row(dimensions: usize) -> usize {
    dimensions.div_ceil(WORD)
}

/// The sign bits of a row, packed into words; a set bit is a negative number.
pub(super) fn sign_words(row: &[i8]) -> impl Iterator<Item = u64> {
    row.chunks(WORD).map(|chunk| {
        let (eights, rest) = chunk.as_chunks::<8>();
        let mut bits = 0;
        for (at, eight) in eights.iter().enumerate() {
            bits |= eight_signs(*eight) << (8 * at);
        }
        for (at, value) in (8 * eights.len()..).zip(rest) {
            bits |= u64::from(*value < 0) << at;
        }
        bits
    })
}

/// The eight sign bits, gathered into the lowest byte by one multiplication.
fn eight_signs(eight: [i8; 8]) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const GATHER: u64 = 0x0102_0408_1020_4080;
    // Spelled out: the compiler turns this into one load.
    let [a, b, c, d, e, f, g, h] = eight;
    let bytes = [a as u8, b as u8, c as u8, d as u8, e as u8, f as u8, g as u8, h as u8];
    (u64::from_le_bytes(bytes) >> 7 & LOWEST).wrapping_mul(GATHER) >> 56
}

/// Hamming distance of each row to the query.
pub(super) fn hamming_distances(query: &[u64], rows: &[u64]) -> Vec<u16> {
    let mut distances = vec![0; rows.len() / query.len().max(1)];
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has `popcnt`, the only requirement of the function.
        unsafe { hamming_distances_popcnt(query, rows, &mut distances) };
        return distances;
    }
    hamming_distances_loop(query, rows, &mut distances);
    distances
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn hamming_distances_popcnt(query: &[u64], rows: &[u64], distances: &mut [u16]) {
    hamming_distances_loop(query, rows, distances);
}

/// Plain loops: a closure would be compiled as a function of its own, without the `popcnt` feature of its caller.
#[inline(always)]
fn hamming_distances_loop(query: &[u64], rows: &[u64], distances: &mut [u16]) {
    match query {
        // 256 dimensions, those of the default model: without an inner loop.
        [a, b, c, d] => {
            for (distance, row) in distances.iter_mut().zip(rows.as_chunks::<4>().0) {
                let [e, f, g, h] = row;
                let differing =
                    (a ^ e).count_ones() + (b ^ f).count_ones() + (c ^ g).count_ones() + (d ^ h).count_ones();
                *distance = differing as u16;
            }
        }
        [] => {}
        _ => {
            for (distance, row) in distances.iter_mut().zip(rows.chunks_exact(query.len())) {
                let mut differing = 0;
                for (a, b) in query.iter().zip(row) {
                    differing += (a ^ b).count_ones();
                }
                *distance = differing as u16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_those_of_the_numbers_and_differences_are_counted() {
        for dimensions in [1, 7, 8, 63, 64, 65, 200, 256, 384] {
            let value = |i: usize| ((i * 97 + 41) % 251) as u8 as i8;
            let rows: Vec<Vec<i8>> =
                (0..5).map(|row| (0..dimensions).map(|i| value(i * 3 + row * 7)).collect()).collect();
            let bits: Vec<u64> = rows.iter().flat_map(|row| sign_words(row)).collect();
            assert_eq!(bits.len(), 5 * words_per_row(dimensions));
            let query: Vec<u64> = sign_words(&rows[2]).collect();
            let differ = |row: &[i8]| row.iter().zip(&rows[2]).filter(|(a, b)| (**a < 0) != (**b < 0)).count() as u16;
            let expected: Vec<u16> = rows.iter().map(|row| differ(row)).collect();
            assert_eq!(hamming_distances(&query, &bits), expected, "{dimensions}");
        }
    }
}
