//! Dot products of one query vector with many rows of 8-bit vectors.
//!
//! A scalar loop for every processor, and sixteen numbers at a time where the processor has AVX2, chosen at run time.
//! The unsafe code is the call of the AVX2 version, sound because the processor was tested first, and its loads, each
//! from an array of exactly the loaded size.
#![allow(unsafe_code)]

/// A query vector prepared for many products.
pub(super) struct DotQuery {
    /// Widened to 16 bits once, so that rows are multiplied without a conversion of the query.
    values: Vec<i16>,
    /// Whether the processor has AVX2.
    fast: bool,
}

impl DotQuery {
    pub(super) fn new(values: &[i8]) -> DotQuery {
        #[cfg(target_arch = "x86_64")]
        let fast = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let fast = false;
        DotQuery { values: values.iter().map(|value| i16::from(*value)).collect(), fast }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// Calls `product` with the row number and dot product of each wanted row. `rows` holds rows of the query's length,
    /// one after the other.
    pub(super) fn dot_products(&self, rows: &[i8], wanted: impl Fn(usize) -> bool, product: impl FnMut(usize, i32)) {
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: the processor has AVX2, the only requirement of the function.
            return unsafe { avx2::dot_products(&self.values, rows, wanted, product) };
        }
        for_each_product(&self.values, rows, wanted, dot_scalar, product);
    }
}

#[inline(always)]
fn for_each_product(
    query: &[i16],
    rows: &[i8],
    wanted: impl Fn(usize) -> bool,
    dot: impl Fn(&[i16], &[i8]) -> i32,
    mut product: impl FnMut(usize, i32),
) {
    if query.is_empty() {
        return;
    }
    for (at, row) in rows.chunks_exact(query.len()).enumerate() {
        if wanted(at) {
            product(at, dot(query, row));
        }
    }
}

fn dot_scalar(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_setzero_si256,
    };

    /// The whole loop is compiled for AVX2, so that the product of a row is inlined.
    #[target_feature(enable = "avx2")]
    pub(super) fn dot_products(
        query: &[i16],
        rows: &[i8],
        wanted: impl Fn(usize) -> bool,
        product: impl FnMut(usize, i32),
    ) {
        super::for_each_product(query, rows, wanted, |query, row| dot_row(query, row), product);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot_row(query: &[i16], row: &[i8]) -> i32 {
        let ((query, query_rest), (row, row_rest)) = (query.as_chunks::<16>(), row.as_chunks::<16>());
        // Lets the compiler drop the bounds checks below.
        let row = &row[..query.len()];
        // Two independent sums, so that an addition need not wait for the one before.
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let mut at = 0;
        while at + 1 < query.len() {
            even = _mm256_add_epi32(even, multiply_add_pairs(&query[at], &row[at]));
            odd = _mm256_add_epi32(odd, multiply_add_pairs(&query[at + 1], &row[at + 1]));
            at += 2;
        }
        if at < query.len() {
            even = _mm256_add_epi32(even, multiply_add_pairs(&query[at], &row[at]));
        }
        let all = sum_lanes(_mm256_add_epi32(even, odd));
        if query_rest.is_empty() { all } else { all + super::dot_scalar(query_rest, row_rest) }
    }

    /// Sum of the eight 32-bit lanes, in halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum_lanes(eight: __m256i) -> i32 {
        let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
        _mm_cvtsi128_si32(one)
    }

    /// Sixteen 16-bit products, added in pairs to eight 32-bit sums.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn multiply_add_pairs(query: &[i16; 16], row: &[i8; 16]) -> __m256i {
        // SAFETY: 32 bytes are read from an array of 32 bytes, and 16 from one of 16.
        let (query, row) = unsafe { (_mm256_loadu_si256(query.as_ptr().cast()), _mm_loadu_si128(row.as_ptr().cast())) };
        _mm256_madd_epi16(query, _mm256_cvtepi8_epi16(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_with_the_engine() {
        let value = |i: usize| ((i * 37 + 11) % 255) as u8 as i8;
        for dimensions in [1, 7, 16, 31, 32, 48, 256, 384] {
            let query: Vec<i8> = (0..dimensions).map(value).collect();
            let rows: Vec<i8> = (0..9 * dimensions).map(|i| value(i * 3 + 5)).collect();
            let expected: Vec<(usize, i32)> = (0..9)
                .filter(|row| row % 4 != 1)
                .map(|row| (row, engine::model::vector::dot_product(&query, &rows[row * dimensions..][..dimensions])))
                .collect();
            for fast in [false, true] {
                let ready = DotQuery { fast: fast && DotQuery::new(&query).fast, ..DotQuery::new(&query) };
                let mut found = Vec::new();
                ready.dot_products(&rows, |row| row % 4 != 1, |row, product| found.push((row, product)));
                assert_eq!(found, expected, "{dimensions}, fast {fast}");
            }
        }
        let (low, high) = (vec![i8::MIN; 256], vec![i8::MAX; 256]);
        DotQuery::new(&low).dot_products(&low, |_| true, |_, product| assert_eq!(product, 256 * 128 * 128));
        DotQuery::new(&low).dot_products(&high, |_| true, |_, product| assert_eq!(product, -256 * 128 * 127));
        DotQuery::new(&[]).dot_products(&low, |_| true, |_, _| panic!("nothing to multiply"));
    }
}
