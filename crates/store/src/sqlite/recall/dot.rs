//! Many dot products of one query, as fast as the machine can.
//!
//! The same plain loop is compiled twice: for every x86-64, and for those with AVX2, chosen at run time. The only
//! unsafe line is the call of the second, which is sound because the processor was asked first.
#![allow(unsafe_code)]

/// Writes the product of the query with each row that is wanted; the others may stay as they are.
pub(super) fn dots(query: &[i8], rows: &[i8], wanted: Option<&[bool]>, products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; the function needs nothing else.
        unsafe { dots_avx2(query, rows, wanted, products) };
        return;
    }
    plain(query, rows, wanted, products);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(query: &[i8], rows: &[i8], wanted: Option<&[bool]>, products: &mut [i32]) {
    plain(query, rows, wanted, products);
}

#[inline(always)]
fn plain(query: &[i8], rows: &[i8], wanted: Option<&[bool]>, products: &mut [i32]) {
    if query.is_empty() {
        return;
    }
    let dot = |row: &[i8]| query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    let rows = rows.chunks_exact(query.len()).zip(products);
    match wanted {
        None => rows.for_each(|(row, product)| *product = dot(row)),
        Some(wanted) => {
            let wanted = rows.zip(wanted).filter(|(_, wanted)| **wanted);
            wanted.for_each(|((row, product), _)| *product = dot(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_with_the_engine() {
        let value = |i: usize| ((i * 37 + 11) % 255) as u8 as i8;
        for dimensions in [1, 7, 16, 31, 256, 384] {
            let query: Vec<i8> = (0..dimensions).map(value).collect();
            let rows: Vec<i8> = (0..dimensions * 9).map(|i| value(i * 3 + 5)).collect();
            let wanted: Vec<bool> = (0..9).map(|i| i != 4).collect();
            let (mut fast, mut slow) = (vec![0; 9], vec![0; 9]);
            dots(&query, &rows, Some(&wanted), &mut fast);
            plain(&query, &rows, Some(&wanted), &mut slow);
            assert_eq!(fast, slow);
            assert_eq!(fast[4], 0);
            dots(&query, &rows, None, &mut fast);
            for (i, row) in rows.chunks_exact(dimensions).enumerate() {
                assert_eq!(fast[i], engine::vector::dot(&query, row));
            }
        }
    }
}
