//! Meaning as 8-bit numbers: small, fast, and the same dot product on every machine and backend.

/// A unit vector, quantised to one byte a dimension with one scale.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    pub scale: f32,
    pub values: Vec<i8>,
}

/// A vector and the model that made it; vectors of different models are never compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedding {
    pub model: String,
    pub vector: Vector,
}

/// To the nearest step, halves away from zero: [`f32::round`] for what fits a step, several at once.
fn round_to_i8(value: f32) -> i8 {
    let whole = value as i32;
    let rest = value - whole as f32;
    (whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)) as i8
}

impl Vector {
    /// Quantises a vector of any length to unit length. Nothing to point at gives `None`.
    pub fn quantise(values: &[f32]) -> Option<Vector> {
        let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let peak = values.iter().fold(0.0_f32, |peak, v| peak.max(v.abs()));
        if !norm.is_finite() || norm <= f32::EPSILON || peak <= 0.0 {
            return None;
        }
        let steps = values.iter().map(|v| round_to_i8(v / peak * 127.0)).collect();
        let mut vector = Vector { scale: 1.0, values: steps };
        // The length of what was kept, not of what came in, so that a vector's cosine with itself is 1.
        vector.scale = 1.0 / (vector.dot(&vector) as f32).sqrt();
        Some(vector)
    }

    /// The exact integer product; 0 when the dimensions differ.
    pub fn dot(&self, other: &Vector) -> i32 {
        if self.values.len() != other.values.len() {
            return 0;
        }
        dot_product(&self.values, &other.values)
    }

    pub fn cosine(&self, other: &Vector) -> f32 {
        self.dot(other) as f32 * self.scale * other.scale
    }

    /// Scale first, little-endian, then the values: what stores keep.
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

    /// Scale and values, read in place.
    pub fn read_parts(bytes: &[u8]) -> Option<(f32, impl ExactSizeIterator<Item = i8>)> {
        let (scale, values) = bytes.split_first_chunk::<4>()?;
        Some((f32::from_le_bytes(*scale), values.iter().map(|byte| *byte as i8)))
    }
}

/// Sums products of bytes; written so that the compiler turns it into vector instructions.
pub fn dot_product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(i16::from(*x) * i16::from(*y))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_its_own_twin_and_survives_bytes() {
        let vector = Vector::quantise(&[0.3, -0.2, 0.9]).expect("not zero");
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
        assert_eq!(Vector::from_bytes(&vector.to_bytes()), Some(vector));
    }

    #[test]
    fn steps_are_rounded_as_numbers_are() {
        for eighth in -127 * 8..=127 * 8_i16 {
            let value = f32::from(eighth) / 8.0;
            for near in [value, value.next_up(), value.next_down()] {
                assert_eq!(f32::from(round_to_i8(near)), near.round(), "{near}");
            }
        }
    }

    #[test]
    fn nothing_has_no_direction() {
        assert_eq!(Vector::quantise(&[]), None);
        assert_eq!(Vector::quantise(&[0.0; 4]), None);
        assert_eq!(Vector::quantise(&[f32::NAN]), None);
    }
}
