//! The vectors of a partition, row by row.

use engine::model::vector::Vector;

use super::sign_bits;

/// Vectors of one model, in the order of the documents. A memory without a vector has a row of zeros and scale zero.
#[derive(Default)]
pub(super) struct VectorTable {
    pub(super) model: Option<String>,
    pub(super) dimensions: usize,
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
    /// Sign bits of every row; `None` until the partition is searched a second time.
    pub(super) signs: Option<Vec<u64>>,
    /// Rows to reserve capacity for when the first vector tells the dimensions.
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

    /// Builds the sign bits of all rows; later rows get theirs when they are added.
    pub(super) fn build_signs(&mut self) {
        if self.signs.is_none() && self.dimensions > 0 {
            let mut signs = Vec::with_capacity(self.scales.len() * sign_bits::words_per_row(self.dimensions));
            self.values.chunks_exact(self.dimensions).for_each(|row| signs.extend(sign_bits::sign_words(row)));
            self.signs = Some(signs);
        }
    }

    /// Adds the row of the next document, with `rows_before` documents before it. The first vector sets the dimensions;
    /// a vector of another length counts as missing.
    pub(super) fn push_row(&mut self, vector: Option<&[u8]>, rows_before: usize) {
        let fits = |length: usize| self.dimensions == 0 || length == self.dimensions;
        match vector.and_then(Vector::read_parts).filter(|(_, values)| fits(values.len())) {
            Some((scale, values)) => {
                if self.dimensions == 0 {
                    self.set_dimensions(values.len(), rows_before);
                }
                self.values.extend(values);
                self.scales.push(scale);
            }
            None if self.dimensions > 0 => {
                self.values.resize(self.values.len() + self.dimensions, 0);
                self.scales.push(0.0);
            }
            // No vector yet at all: rows are filled in when the first one comes.
            None => return,
        }
        if let Some(signs) = &mut self.signs {
            signs.extend(sign_bits::sign_words(&self.values[self.values.len() - self.dimensions..]));
        }
    }

    fn set_dimensions(&mut self, dimensions: usize, rows_before: usize) {
        self.dimensions = dimensions;
        self.values.reserve(self.expected * dimensions);
        self.scales.reserve(self.expected);
        self.values.resize(rows_before * dimensions, 0);
        self.scales.resize(rows_before, 0.0);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.values.capacity()
            + self.scales.capacity() * size_of::<f32>()
            + self.signs.as_ref().map_or(0, |signs| signs.capacity() * size_of::<u64>())
    }
}
