//! The vectors of a part.

use engine::model::vector::Vector;

use super::sign_bits;

/// Vectors of one model, row by row; a scale of zero where a memory has none.
#[derive(Default)]
pub(super) struct VectorTable {
    pub(super) model: Option<String>,
    pub(super) dimensions: usize,
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
    /// Of every row, once somebody searches more than once.
    pub(super) signs: Option<Vec<u64>>,
    /// Rows to make room for when the first one comes.
    pub(super) expected: usize,
}

impl VectorTable {
    pub(super) fn has_vector(&self, doc: usize) -> bool {
        self.scales[doc] > 0.0
    }

    pub(super) fn get(&self, doc: usize) -> Option<Vector> {
        let scale = self.scales.get(doc).copied().filter(|scale| *scale > 0.0)?;
        let values = self.values[doc * self.dimensions..][..self.dimensions].to_vec();
        Some(Vector { scale, values })
    }

    /// From now on signs are kept.
    pub(super) fn build_signs(&mut self) {
        if self.signs.is_none() && self.dimensions > 0 {
            let mut kept = Vec::with_capacity(self.scales.len() * sign_bits::words_per_row(self.dimensions));
            self.values.chunks_exact(self.dimensions).for_each(|row| kept.extend(sign_bits::sign_words(row)));
            self.signs = Some(kept);
        }
    }

    /// Keeps rows and memories in step; the first vector says how long the others are.
    pub(super) fn push_row(&mut self, vector: Option<&[u8]>, before: usize) {
        let fits = |length: usize| self.dimensions == 0 || length == self.dimensions;
        match vector.and_then(Vector::read_parts).filter(|(_, values)| fits(values.len())) {
            Some((scale, values)) => {
                if self.dimensions == 0 {
                    self.set_dimensions(values.len(), before);
                }
                self.values.extend(values);
                self.scales.push(scale);
            }
            None if self.dimensions > 0 => {
                self.values.resize(self.values.len() + self.dimensions, 0);
                self.scales.push(0.0);
            }
            None => return,
        }
        if let Some(kept) = &mut self.signs {
            kept.extend(sign_bits::sign_words(&self.values[self.values.len() - self.dimensions..]));
        }
    }

    fn set_dimensions(&mut self, dimensions: usize, before: usize) {
        self.dimensions = dimensions;
        self.values.reserve(self.expected * dimensions);
        self.scales.reserve(self.expected);
        self.values.resize(before * dimensions, 0);
        self.scales.resize(before, 0.0);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.values.capacity()
            + self.scales.capacity() * size_of::<f32>()
            + self.signs.as_ref().map_or(0, |signs| signs.capacity() * size_of::<u64>())
    }
}
