//! Adds a quantised token vector to the sum of a text, eight numbers at a time where the processor has AVX2. Both
//! versions multiply and add each number in the same way, so a text has the same vector on every machine.
//!
//! The unsafe code is the call of the AVX2 version, sound because the processor was tested first.
#![allow(unsafe_code)]

/// Adds `scale` times each signed byte of `row` to `sum`.
pub(crate) fn add_scaled_row(sum: &mut [f32], scale: f32, row: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        return unsafe { add_row_avx2(sum, scale, row) };
    }
    add_row_loop(sum, scale, row);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_row_avx2(sum: &mut [f32], scale: f32, row: &[u8]) {
    add_row_loop(sum, scale, row);
}

/// A plain loop: a closure would be compiled as a function of its own, without the AVX2 feature of its caller.
#[inline(always)]
fn add_row_loop(sum: &mut [f32], scale: f32, row: &[u8]) {
    for (total, step) in sum.iter_mut().zip(row) {
        *total += scale * f32::from(step.cast_signed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_come_to_the_same_bits() {
        let row: Vec<u8> = (0..=255).collect();
        for scale in [0.0, 1.0, 0.007_812_5, 3.1e-4, 1e30] {
            let start: Vec<f32> = (0..256).map(|i| (i as f32 - 100.0) / 7.0).collect();
            let (mut one, mut other) = (start.clone(), start);
            add_row_loop(&mut one, scale, &row);
            add_scaled_row(&mut other, scale, &row);
            let bits = |sum: &[f32]| sum.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one), bits(&other), "{scale}");
        }
    }
}
