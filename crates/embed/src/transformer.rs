//! all-MiniLM-L6-v2 itself, from a weights file that `scripts/model/install-minilm` makes.
//!
//! Takes milliseconds a text, so it runs off the save path. The forward pass is matched
//! against the reference by `scripts/model/check-minilm`.

use crate::script;
use crate::vocabulary::{Vocabulary, broken_error};
use crate::weights::{EMBEDDING_DIMENSIONS, HEAD_COUNT, HEAD_DIMENSIONS, Layer, LayerNorm, Linear, Weights};
use crate::wordpiece::{Piece, for_each_piece};
use engine::ports::{Calibration, EmbedError, Embedder};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul, s};
use std::path::Path;

/// Tokens the model was trained to read, with the two markers; the rest of a text is not seen.
const TOKENS_MAX: usize = 256;

/// Tokens multiplied at once: enough to keep the processor busy, some 6 MB of working memory.
const BATCH_TOKENS: usize = 512;

/// Reference ids of the markers around every text and of a word the vocabulary cannot spell.
const CLS_ID: u16 = 101;
const SEP_ID: u16 = 102;
const UNKNOWN_ID: u16 = 100;

/// Of the published model.
const NORM_EPSILON: f32 = 1e-12;

/// `scripts/model/calibrate.py minilm`.
const CALIBRATION: Calibration = Calibration { unrelated: 0.049, same: 0.846 };

pub(crate) struct TransformerEmbedder {
    vocabulary: Vocabulary,
    weights: Weights,
}

impl TransformerEmbedder {
    pub(crate) fn open(path: &Path) -> Result<TransformerEmbedder, EmbedError> {
        let bytes = std::fs::read(path).map_err(|e| {
            broken_error(&format!(
                "its weights cannot be read from `{}`: {e}; scripts/model/install-minilm makes them",
                path.display()
            ))
        })?;
        Ok(TransformerEmbedder {
            vocabulary: crate::static_vectors::load_vocabulary()?,
            weights: Weights::parse(&bytes)?,
        })
    }

    /// The teacher's token ids with their markers; none where the text has no words.
    fn token_ids(&self, text: &str) -> Vec<u16> {
        let mut ids = vec![CLS_ID];
        for_each_piece(&self.vocabulary, text, |piece| {
            ids.push(match piece {
                Piece::Token(token) => self.vocabulary.reference_id(token),
                Piece::Unknown => UNKNOWN_ID,
            });
            ids.len() < TOKENS_MAX - 1
        });
        if ids.len() == 1 {
            return Vec::new();
        }
        ids.push(SEP_ID);
        ids
    }

    /// Mean of the last layer over each text's tokens. Texts of a batch share the matrix products
    /// and attend only within themselves, so nothing is padded.
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
        let places = batch.iter().flat_map(|ids| ids.iter().enumerate());
        for (mut row, (position, id)) in x.rows_mut().into_iter().zip(places) {
            self.weights.write_input_row(usize::from(*id), position, row.as_slice_mut().unwrap_or_default());
        }
        apply_layer_norm(&self.weights.norm, x)
    }
}

/// First and last-but-one row of each text of a batch.
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
        let top = row.fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        row.mapv_inplace(|score| (score - top).exp());
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

/// Abramowitz and Stegun 7.1.26: within 1.5e-7, about what `f32` can tell apart.
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
            let mut part = Vec::new();
            while let Some(place) = wanted.next_if(|i| part.is_empty() || tokens + ids[*i].len() <= BATCH_TOKENS) {
                tokens += ids[place].len();
                part.push(place);
            }
            let batch: Vec<&[u16]> = part.iter().map(|i| ids[*i].as_slice()).collect();
            for (place, vector) in part.iter().zip(self.embed_batch(&batch)) {
                vectors[*place] = vector;
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
