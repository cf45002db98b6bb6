//! The transformer all-MiniLM-L6-v2, from a weights file that `scripts/model/install-minilm` makes.
//!
//! Takes milliseconds per text, so it does not run inside a save. `scripts/model/check-minilm` compares the forward
//! pass with the reference implementation.

use crate::script;
use crate::vocabulary::{Vocabulary, broken_error};
use crate::weights::{EMBEDDING_DIMENSIONS, HEAD_COUNT, HEAD_DIMENSIONS, Layer, LayerNorm, Linear, Weights};
use crate::wordpiece::{Piece, for_each_piece};
use engine::ports::{Calibration, EmbedError, Embedder};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul, s};
use std::path::Path;

/// Tokens per text that the model was trained for, with the two markers; the rest of a text is ignored.
const TOKENS_MAX: usize = 256;

/// Tokens per batch of several texts: enough to keep the processor busy, some 6 MB of working memory. A single text is
/// always taken, whatever its length.
const BATCH_TOKENS: usize = 512;

// Token ids of the published vocabulary: the markers around every text, and an unknown word.

const CLS_ID: u16 = 101;
const SEP_ID: u16 = 102;
const UNKNOWN_ID: u16 = 100;

/// As in the published model.
const NORM_EPSILON: f32 = 1e-12;

/// Measured by `scripts/model/calibrate.py minilm`.
const CALIBRATION: Calibration = Calibration { unrelated: 0.049, same: 0.846 };

pub(crate) struct TransformerEmbedder {
    vocabulary: Vocabulary,
    weights: Weights,
}

impl TransformerEmbedder {
    pub(crate) fn open(path: &Path) -> Result<TransformerEmbedder, EmbedError> {
        let bytes = std::fs::read(path).map_err(|e| {
            broken_error(&format!(
                "its weights cannot be read from `{}`: {e}; run `scripts/model/install-minilm` to make them",
                path.display()
            ))
        })?;
        Ok(TransformerEmbedder {
            vocabulary: crate::static_vectors::load_vocabulary()?,
            weights: Weights::parse(&bytes)?,
        })
    }

    /// Token ids of the text, with the two markers; empty where the text has no words.
    fn token_ids(&self, text: &str) -> Vec<u16> {
        let mut ids = vec![CLS_ID];
        for_each_piece(&self.vocabulary, text, |piece| {
            ids.push(match piece {
                Piece::Token(token) => self.vocabulary.reference_id(token),
                Piece::Unknown => UNKNOWN_ID,
            });
            // Leaves room for the marker at the end.
            ids.len() < TOKENS_MAX - 1
        });
        // The markers alone would give all empty texts the same vector, as if they were related.
        if ids.len() == 1 {
            return Vec::new();
        }
        ids.push(SEP_ID);
        ids
    }

    /// The vector of each text: the mean of the last layer over its tokens. The texts of a batch are stacked into one
    /// matrix for the linear layers; attention stays within each text, so no padding is needed.
    fn embed_batch(&self, batch: &[&[u16]]) -> Vec<Vec<f32>> {
        let mut x = self.input_embeddings(batch);
        for layer in &self.weights.layers {
            let mixed = apply_linear(&layer.out, &self_attention(layer, &x, batch));
            x = apply_layer_norm(&layer.norm_attention, x + mixed);
            let mut up = apply_linear(&layer.up, &x);
            up.mapv_inplace(gelu);
            let down = apply_linear(&layer.down, &up);
            x = apply_layer_norm(&layer.norm_output, x + down);
        }
        text_spans(batch)
            .map(|(start, end)| {
                let mean = x.slice(s![start..end, ..]).mean_axis(Axis(0));
                crate::scale_to_unit(mean.map(|m| m.to_vec()).unwrap_or_default())
            })
            .collect()
    }

    fn input_embeddings(&self, batch: &[&[u16]]) -> Array2<f32> {
        let count = batch.iter().map(|ids| ids.len()).sum();
        let mut x = Array2::zeros((count, EMBEDDING_DIMENSIONS));
        let positions = batch.iter().flat_map(|ids| ids.iter().enumerate());
        for (mut row, (position, id)) in x.rows_mut().into_iter().zip(positions) {
            self.weights.write_input_row(usize::from(*id), position, row.as_slice_mut().unwrap_or_default());
        }
        apply_layer_norm(&self.weights.norm, x)
    }
}

/// First row of each text of a batch, and one past its last row.
fn text_spans<'a>(batch: &'a [&'a [u16]]) -> impl Iterator<Item = (usize, usize)> + 'a {
    batch.iter().scan(0, |end, ids| {
        let start = *end;
        *end += ids.len();
        Some((start, *end))
    })
}

fn self_attention(layer: &Layer, x: &Array2<f32>, batch: &[&[u16]]) -> Array2<f32> {
    let qkv = apply_linear(&layer.qkv, x);
    let mut mixed = Array2::zeros(x.raw_dim());
    for (start, end) in text_spans(batch) {
        for head in 0..HEAD_COUNT {
            // The rows of `qkv` hold all queries, then all keys, then all values; each head has a slice of them.
            let part = |which: usize| {
                let at = which * EMBEDDING_DIMENSIONS + head * HEAD_DIMENSIONS;
                qkv.slice(s![start..end, at..at + HEAD_DIMENSIONS])
            };
            let out = mixed.slice_mut(s![start..end, head * HEAD_DIMENSIONS..(head + 1) * HEAD_DIMENSIONS]);
            attend_head(&part(0), &part(1), &part(2), out);
        }
    }
    mixed
}

fn attend_head(
    q: &ArrayView2<'_, f32>,
    k: &ArrayView2<'_, f32>,
    v: &ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, f32>,
) {
    let mut scores = Array2::zeros((q.nrows(), k.nrows()));
    general_mat_mul(1.0 / (HEAD_DIMENSIONS as f32).sqrt(), q, &k.t(), 0.0, &mut scores);
    for mut row in scores.rows_mut() {
        // Softmax; the maximum is subtracted so that `exp` does not overflow.
        let maximum = row.fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        row.mapv_inplace(|score| (score - maximum).exp());
        let sum = row.sum();
        row /= sum;
    }
    general_mat_mul(1.0, &scores, v, 0.0, &mut out);
}

fn apply_linear(layer: &Linear, x: &Array2<f32>) -> Array2<f32> {
    let mut out = Array2::zeros((x.nrows(), layer.weight.nrows()));
    out += &layer.bias;
    general_mat_mul(1.0, x, &layer.weight.t(), 1.0, &mut out);
    out
}

fn apply_layer_norm(norm: &LayerNorm, mut x: Array2<f32>) -> Array2<f32> {
    for mut row in x.rows_mut() {
        let mean = row.sum() / EMBEDDING_DIMENSIONS as f32;
        row -= mean;
        let variance = row.fold(0.0, |sum, value| sum + value * value) / EMBEDDING_DIMENSIONS as f32;
        row /= (variance + NORM_EPSILON).sqrt();
        row *= &norm.scale;
        row += &norm.shift;
    }
    x
}

fn gelu(x: f32) -> f32 {
    x * (0.5 + 0.5 * erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function by Abramowitz and Stegun 7.1.26: error below 1.5e-7, about the precision of `f32`.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - poly * (-x * x).exp()).copysign(x)
}

impl Embedder for TransformerEmbedder {
    fn model(&self) -> &'static str {
        "all-MiniLM-L6-v2-int8"
    }

    fn dimensions(&self) -> usize {
        EMBEDDING_DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let ids: Vec<Vec<u16>> = texts.iter().map(|text| self.token_ids(text)).collect();
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut wanted = (0..ids.len()).filter(|i| !ids[*i].is_empty()).peekable();
        while wanted.peek().is_some() {
            let mut tokens = 0;
            let mut members = Vec::new();
            // A text longer than a batch forms one alone, so the loop always advances.
            while let Some(i) = wanted.next_if(|i| members.is_empty() || tokens + ids[*i].len() <= BATCH_TOKENS) {
                tokens += ids[i].len();
                members.push(i);
            }
            let batch: Vec<&[u16]> = members.iter().map(|i| ids[*i].as_slice()).collect();
            for (i, vector) in members.iter().zip(self.embed_batch(&batch)) {
                vectors[*i] = vector;
            }
        }
        Ok(vectors)
    }

    fn is_instant(&self) -> bool {
        false
    }

    fn supports_script(&self, text: &str) -> bool {
        script::is_latin(text)
    }

    fn calibration(&self) -> Calibration {
        CALIBRATION
    }
}
