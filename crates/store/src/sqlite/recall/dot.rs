//! Many dot products of one query, as fast as the machine can.
//!
//! A plain loop for every machine, and sixteen numbers at a time where the processor has AVX2, chosen at run time. The
//! unsafe lines are the call of the second, which is sound because the processor was asked first, and its loads, each
//! of an array just as long.
#![allow(unsafe_code)]

/// A query made ready for many products.
pub(super) struct Query {
    /// Wide enough to be multiplied as it stands.
    values: Vec<i16>,
    fast: bool,
}

impl Query {
    pub(super) fn new(values: &[i8]) -> Query {
        #[cfg(target_arch = "x86_64")]
        let fast = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let fast = false;
        Query { values: values.iter().map(|value| i16::from(*value)).collect(), fast }
    }

    /// The product with a row of as many numbers.
    pub(super) fn dot(&self, row: &[i8]) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: the processor has AVX2; the function needs nothing else.
            return unsafe { avx2::dot(&self.values, row) };
        }
        plain(&self.values, row)
    }
}

fn plain(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_setzero_si256,
    };

    #[target_feature(enable = "avx2")]
    pub(super) fn dot(query: &[i16], row: &[i8]) -> i32 {
        let ((query, query_rest), (row, row_rest)) = (query.as_chunks::<32>(), row.as_chunks::<32>());
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (a, b) in query.iter().zip(row) {
            let ((a, _), (b, _)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
            even = _mm256_add_epi32(even, products(&a[0], &b[0]));
            odd = _mm256_add_epi32(odd, products(&a[1], &b[1]));
        }
        let all = sum(_mm256_add_epi32(even, odd));
        if query_rest.is_empty() { all } else { all + super::plain(query_rest, row_rest) }
    }

    /// The eight numbers, added in halves.
    #[target_feature(enable = "avx2")]
    fn sum(eight: __m256i) -> i32 {
        let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
        _mm_cvtsi128_si32(one)
    }

    /// Sixteen products, added in pairs.
    #[target_feature(enable = "avx2")]
    fn products(query: &[i16; 16], row: &[i8; 16]) -> __m256i {
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
        for dimensions in [0, 1, 7, 16, 31, 32, 48, 256, 384] {
            let query: Vec<i8> = (0..dimensions).map(value).collect();
            let ready = Query::new(&query);
            for row in 0..9 {
                let row: Vec<i8> = (0..dimensions).map(|i| value((i + row * dimensions) * 3 + 5)).collect();
                assert_eq!(ready.dot(&row), engine::vector::dot(&query, &row));
                assert_eq!(plain(&ready.values, &row), engine::vector::dot(&query, &row));
            }
        }
        let (low, high) = (vec![i8::MIN; 256], vec![i8::MAX; 256]);
        assert_eq!(Query::new(&low).dot(&low), 256 * 128 * 128);
        assert_eq!(Query::new(&low).dot(&high), -256 * 128 * 127);
    }
}
