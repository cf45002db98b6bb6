//! The transformer's weights, in the format that `scripts/model/install-minilm` writes: a magic, then the tensors in
//! the order they are read here, matrices as int8 with one scale per row.

use crate::vocabulary::broken_error;
use engine::ports::EmbedError;
use ndarray::{Array1, Array2};

pub(crate) const EMBEDDING_DIMENSIONS: usize = 384;
pub(crate) const HEAD_COUNT: usize = 12;
pub(crate) const HEAD_DIMENSIONS: usize = EMBEDDING_DIMENSIONS / HEAD_COUNT;
const INNER_DIMENSIONS: usize = 1536;
const LAYER_COUNT: usize = 6;
const TOKEN_COUNT: usize = 30_522;
const POSITION_COUNT: usize = 512;

const MAGIC: &[u8; 8] = b"INGRMLM1";

pub(crate) struct Weights {
    tokens: QuantizedTable,
    positions: QuantizedTable,
    token_type: Array1<f32>,
    pub(crate) norm: LayerNorm,
    pub(crate) layers: Vec<Layer>,
}

pub(crate) struct Layer {
    /// Query, key and value projections in one matrix.
    pub(crate) qkv: Linear,
    pub(crate) out: Linear,
    pub(crate) norm_attention: LayerNorm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) norm_output: LayerNorm,
}

/// A linear layer; `weight` has one row per output.
pub(crate) struct Linear {
    pub(crate) weight: Array2<f32>,
    pub(crate) bias: Array1<f32>,
}

pub(crate) struct LayerNorm {
    pub(crate) scale: Array1<f32>,
    pub(crate) shift: Array1<f32>,
}

/// An embedding table. Stays int8 in memory: only a few of its rows are used at a time.
struct QuantizedTable {
    scales: Vec<f32>,
    steps: Vec<u8>,
}

impl QuantizedTable {
    fn dequantize_row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales[row];
        let steps = &self.steps[row * EMBEDDING_DIMENSIONS..(row + 1) * EMBEDDING_DIMENSIONS];
        steps.iter().map(move |step| scale * f32::from(step.cast_signed()))
    }
}

impl Weights {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Weights, EmbedError> {
        let mut rest =
            WeightsReader(bytes.strip_prefix(MAGIC).ok_or_else(|| {
                broken_error("the weights file has another format; run `scripts/model/install-minilm`")
            })?);
        let weights = Weights {
            tokens: rest.read_table(TOKEN_COUNT)?,
            positions: rest.read_table(POSITION_COUNT)?,
            token_type: rest.read_vector(EMBEDDING_DIMENSIONS)?,
            norm: rest.read_norm()?,
            layers: (0..LAYER_COUNT).map(|_| rest.read_layer()).collect::<Result<_, _>>()?,
        };
        // Bytes left over mean another layout, whose numbers would be read into the wrong tensors.
        match rest.0 {
            [] => Ok(weights),
            _ => Err(broken_error("the weights file is longer than it should be")),
        }
    }

    /// Writes the input of the first layer for a token at a position, before the layer norm.
    pub(crate) fn write_input_row(&self, id: usize, position: usize, row: &mut [f32]) {
        let parts = self.tokens.dequantize_row(id).zip(self.positions.dequantize_row(position)).zip(&self.token_type);
        for (value, ((token, position), token_type)) in row.iter_mut().zip(parts) {
            *value = token + position + token_type;
        }
    }
}

/// The part of the file that is not read yet.
struct WeightsReader<'a>(&'a [u8]);

impl<'a> WeightsReader<'a> {
    fn take_bytes(&mut self, count: usize) -> Result<&'a [u8], EmbedError> {
        let (part, rest) =
            self.0.split_at_checked(count).ok_or_else(|| broken_error("the weights file is cut short"))?;
        self.0 = rest;
        Ok(part)
    }

    fn read_floats(&mut self, count: usize) -> Result<Vec<f32>, EmbedError> {
        let (numbers, _) = self.take_bytes(4 * count)?.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn read_vector(&mut self, count: usize) -> Result<Array1<f32>, EmbedError> {
        Ok(Array1::from(self.read_floats(count)?))
    }

    fn read_table(&mut self, rows: usize) -> Result<QuantizedTable, EmbedError> {
        Ok(QuantizedTable {
            scales: self.read_floats(rows)?,
            steps: self.take_bytes(rows * EMBEDDING_DIMENSIONS)?.to_vec(),
        })
    }

    fn read_norm(&mut self) -> Result<LayerNorm, EmbedError> {
        Ok(LayerNorm { scale: self.read_vector(EMBEDDING_DIMENSIONS)?, shift: self.read_vector(EMBEDDING_DIMENSIONS)? })
    }

    fn read_linear(&mut self, outputs: usize, inputs: usize) -> Result<Linear, EmbedError> {
        let scales = self.read_floats(outputs)?;
        let steps = self.take_bytes(outputs * inputs)?;
        let weight = steps.iter().enumerate().map(|(i, step)| scales[i / inputs] * f32::from(step.cast_signed()));
        Ok(Linear {
            weight: Array2::from_shape_vec((outputs, inputs), weight.collect())
                .map_err(|e| broken_error(&e.to_string()))?,
            bias: self.read_vector(outputs)?,
        })
    }

    fn read_layer(&mut self) -> Result<Layer, EmbedError> {
        Ok(Layer {
            qkv: self.read_linear(3 * EMBEDDING_DIMENSIONS, EMBEDDING_DIMENSIONS)?,
            out: self.read_linear(EMBEDDING_DIMENSIONS, EMBEDDING_DIMENSIONS)?,
            norm_attention: self.read_norm()?,
            up: self.read_linear(INNER_DIMENSIONS, EMBEDDING_DIMENSIONS)?,
            down: self.read_linear(EMBEDDING_DIMENSIONS, INNER_DIMENSIONS)?,
            norm_output: self.read_norm()?,
        })
    }
}
