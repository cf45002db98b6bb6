//! The transformer's weights as `scripts/model/install-minilm` lays them out:
//! a magic, then the tensors in the order they are read here, matrices as int8 with one scale a row.

use crate::vocabulary::broken;
use engine::ports::EmbedError;
use ndarray::{Array1, Array2};

pub(crate) const EMBEDDING: usize = 384;
pub(crate) const HEADS: usize = 12;
pub(crate) const HEAD: usize = EMBEDDING / HEADS;
const INNER: usize = 1536;
const LAYERS: usize = 6;
const TOKENS: usize = 30_522;
const POSITIONS: usize = 512;

const MAGIC: &[u8; 8] = b"INGRMLM1";

pub(crate) struct Weights {
    tokens: Bytes,
    positions: Bytes,
    kind: Array1<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
}

pub(crate) struct Layer {
    /// Query, key and value in one product.
    pub(crate) qkv: Linear,
    pub(crate) out: Linear,
    pub(crate) norm_attention: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) norm_output: Norm,
}

/// One row of `weight` an output.
pub(crate) struct Linear {
    pub(crate) weight: Array2<f32>,
    pub(crate) bias: Array1<f32>,
}

pub(crate) struct Norm {
    pub(crate) scale: Array1<f32>,
    pub(crate) shift: Array1<f32>,
}

/// A table that stays int8: only a few of its rows are used at a time.
struct Bytes {
    scales: Vec<f32>,
    steps: Vec<u8>,
}

impl Bytes {
    fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales[row];
        let steps = &self.steps[row * EMBEDDING..(row + 1) * EMBEDDING];
        steps.iter().map(move |step| scale * f32::from(step.cast_signed()))
    }
}

impl Weights {
    pub(crate) fn read(bytes: &[u8]) -> Result<Weights, EmbedError> {
        let mut rest = Rest(
            bytes
                .strip_prefix(MAGIC)
                .ok_or_else(|| broken("the weights file is of another kind; run scripts/model/install-minilm"))?,
        );
        let weights = Weights {
            tokens: rest.bytes(TOKENS)?,
            positions: rest.bytes(POSITIONS)?,
            kind: rest.vector(EMBEDDING)?,
            norm: rest.norm()?,
            layers: (0..LAYERS).map(|_| rest.layer()).collect::<Result<_, _>>()?,
        };
        match rest.0 {
            [] => Ok(weights),
            _ => Err(broken("the weights file is longer than it should be")),
        }
    }

    /// What enters the first layer for this token at this place, before its norm.
    pub(crate) fn token_into(&self, id: usize, position: usize, row: &mut [f32]) {
        let parts = self.tokens.row(id).zip(self.positions.row(position)).zip(&self.kind);
        for (value, ((token, place), kind)) in row.iter_mut().zip(parts) {
            *value = token + place + kind;
        }
    }
}

/// What is left of the file.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], EmbedError> {
        let (part, rest) = self.0.split_at_checked(count).ok_or_else(|| broken("the weights file is cut short"))?;
        self.0 = rest;
        Ok(part)
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, EmbedError> {
        let (numbers, _) = self.take(4 * count)?.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn vector(&mut self, count: usize) -> Result<Array1<f32>, EmbedError> {
        Ok(Array1::from(self.floats(count)?))
    }

    fn bytes(&mut self, rows: usize) -> Result<Bytes, EmbedError> {
        Ok(Bytes { scales: self.floats(rows)?, steps: self.take(rows * EMBEDDING)?.to_vec() })
    }

    fn norm(&mut self) -> Result<Norm, EmbedError> {
        Ok(Norm { scale: self.vector(EMBEDDING)?, shift: self.vector(EMBEDDING)? })
    }

    fn linear(&mut self, outputs: usize, inputs: usize) -> Result<Linear, EmbedError> {
        let scales = self.floats(outputs)?;
        let steps = self.take(outputs * inputs)?;
        let weight = steps.iter().enumerate().map(|(i, step)| scales[i / inputs] * f32::from(step.cast_signed()));
        Ok(Linear {
            weight: Array2::from_shape_vec((outputs, inputs), weight.collect()).map_err(|e| broken(&e.to_string()))?,
            bias: self.vector(outputs)?,
        })
    }

    fn layer(&mut self) -> Result<Layer, EmbedError> {
        Ok(Layer {
            qkv: self.linear(3 * EMBEDDING, EMBEDDING)?,
            out: self.linear(EMBEDDING, EMBEDDING)?,
            norm_attention: self.norm()?,
            up: self.linear(INNER, EMBEDDING)?,
            down: self.linear(EMBEDDING, INNER)?,
            norm_output: self.norm()?,
        })
    }
}
