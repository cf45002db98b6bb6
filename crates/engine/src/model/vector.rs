//! Embedding vectors quantised to 8 bits: a quarter of the size, and integer arithmetic gives the same dot product on
//! every machine and backend.

/// A unit vector: one signed byte per dimension times one scale.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    pub scale: f32,
    pub values: Vec<i8>,
}

/// A vector with the name of its model. Vectors of different models are never compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedding {
    pub model: String,
    pub vector: Vector,
}

/// [`f32::round`] (halves away from zero) for values within an `i8`. Without a library call, so that the compiler can
/// vectorise the loop.
fn round_to_i8(value: f32) -> i8 {
    let whole = value as i32;
    let fraction = value - whole as f32;
    (whole + i32::from(fraction >= 0.5) - i32::from(fraction <= -0.5)) as i8
}

impl Vector {
    /// Normalises and quantises a vector. `None` for an empty, zero or non-finite one, which has no direction.
    pub fn quantise(values: &[f32]) -> Option<Vector> {
        let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let peak = values.iter().fold(0.0_f32, |peak, v| peak.max(v.abs()));
        // `is_finite` is false for NaN, too.
        if !norm.is_finite() || norm <= f32::EPSILON || peak <= 0.0 {
            return None;
        }
        // Relative to the largest component, so that the whole range of a byte is used.
        let steps = values.iter().map(|v| round_to_i8(v / peak * 127.0)).collect();
        let mut vector = Vector { scale: 1.0, values: steps };
        // Scaled by the length of the quantised values, not of the input, so that a vector's cosine with itself is 1.
        vector.scale = 1.0 / (vector.dot(&vector) as f32).sqrt();
        Some(vector)
    }

    /// Exact dot product of the quantised values; 0 if the dimensions differ.
    pub fn dot(&self, other: &Vector) -> i32 {
        if self.values.len() != other.values.len() {
            return 0;
        }
        dot_product(&self.values, &other.values)
    }

    pub fn cosine(&self, other: &Vector) -> f32 {
        self.dot(other) as f32 * self.scale * other.scale
    }

    /// The stored form: the scale as little-endian `f32`, then one byte per dimension.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 + self.values.len());
        bytes.extend_from_slice(&self.scale.to_le_bytes());
        bytes.extend(self.values.iter().map(|v| *v as u8));
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Vector> {
        let (scale, values) = Vector::read_parts(bytes)?;
        Some(Vector { scale, values: values.collect() })
    }

    /// Scale and values of the stored form, without copying.
    pub fn read_parts(bytes: &[u8]) -> Option<(f32, impl ExactSizeIterator<Item = i8>)> {
        let (scale, values) = bytes.split_first_chunk::<4>()?;
        Some((f32::from_le_bytes(*scale), values.iter().map(|byte| *byte as i8)))
    }
}

/// Dot product of two byte slices. The product of two `i8` fits an `i16`; this form compiles to SIMD multiply-add.
pub fn dot_product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(i16::from(*x) * i16::from(*y))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_with_itself_is_one_and_bytes_round_trip() {
        let vector = Vector::quantise(&[0.3, -0.2, 0.9]).expect("not zero");
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
        assert_eq!(Vector::from_bytes(&vector.to_bytes()), Some(vector));
    }

    #[test]
    fn round_to_i8_agrees_with_f32_round() {
        for eighth in -127 * 8..=127 * 8_i16 {
            let value = f32::from(eighth) / 8.0;
            for near in [value, value.next_up(), value.next_down()] {
                assert_eq!(f32::from(round_to_i8(near)), near.round(), "{near}");
            }
        }
    }

    #[test]
    fn empty_zero_and_nan_vectors_are_rejected() {
        assert_eq!(Vector::quantise(&[]), None);
        assert_eq!(Vector::quantise(&[0.0; 4]), None);
        assert_eq!(Vector::quantise(&[f32::NAN]), None);
    }
}
