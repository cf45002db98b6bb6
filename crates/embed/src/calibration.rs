//! Calibration of a model's cosines: the median over paraphrases, and over the same texts paired wrongly.

use engine::ports::Calibration;

/// Tab-separated pairs of paraphrases; `scripts/model/calibrate.py` reads the same file for the built-in models.
static PARAPHRASE_PAIRS: &str = include_str!("../model/pairs.tsv");

/// Pairs embedded for a calibration: enough for a median, few enough to take a fraction of a second.
const PAIRS_SENT: usize = 16;

/// Used until a model is measured: in the middle of what known models have (unrelated 0.05 to 0.22, same 0.75 to 0.85).
pub(crate) const UNMEASURED: Calibration = Calibration { unrelated: 0.15, same: 0.8 };

/// The texts to embed for a calibration: first all left sides, then all right sides.
pub(crate) fn paraphrase_texts() -> Vec<&'static str> {
    let pairs: Vec<(&str, &str)> =
        PARAPHRASE_PAIRS.lines().filter_map(|line| line.split_once('\t')).take(PAIRS_SENT).collect();
    pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect()
}

/// The calibration from the vectors of [`paraphrase_texts`]. Vectors have length one, so a dot product is the cosine.
pub(crate) fn measure_cosine_scale(vectors: &[Vec<f32>]) -> Calibration {
    let (left, right) = vectors.split_at(vectors.len() / 2);
    let mut same = Vec::new();
    let mut unrelated = Vec::new();
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            let cosine = a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            // Every wrong pairing of the same texts counts as unrelated, so no second list is needed.
            if i == j { same.push(cosine) } else { unrelated.push(cosine) }
        }
    }
    match (median(unrelated), median(same)) {
        (Some(unrelated), Some(same)) if unrelated < same => Calibration { unrelated, same },
        // A model that does not tell paraphrases from other pairs has no scale; its cosines are used as they are.
        _ => Calibration { unrelated: 0.0, same: 1.0 },
    }
}

fn median(mut values: Vec<f32>) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}
