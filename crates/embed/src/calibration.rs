//! What a cosine means for a model: measured on pairs of paraphrases, and on the same texts paired wrongly.

use engine::ports::Calibration;

/// Tab-separated paraphrases; `scripts/model/calibrate.py` reads the same file for the models we ship.
static PARAPHRASE_PAIRS: &str = include_str!("../model/pairs.tsv");

/// Pairs sent to an endpoint: enough for a median, few enough to cost a fraction of a second.
const PAIRS_SENT: usize = 16;

/// Until a model has been measured: between the extremes seen (0.05 to 0.22 unrelated, 0.75 to 0.85 same).
pub(crate) const UNMEASURED: Calibration = Calibration { unrelated: 0.15, same: 0.8 };

/// First the left sides, then the right sides.
pub(crate) fn paraphrase_texts() -> Vec<&'static str> {
    let pairs: Vec<(&str, &str)> =
        PARAPHRASE_PAIRS.lines().filter_map(|line| line.split_once('\t')).take(PAIRS_SENT).collect();
    pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect()
}

/// The calibration by vectors of [`texts`].
pub(crate) fn measure_cosine_scale(vectors: &[Vec<f32>]) -> Calibration {
    let (left, right) = vectors.split_at(vectors.len() / 2);
    let mut same = Vec::new();
    let mut unrelated = Vec::new();
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            let cosine = a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            if i == j { same.push(cosine) } else { unrelated.push(cosine) }
        }
    }
    match (median(unrelated), median(same)) {
        (Some(unrelated), Some(same)) if unrelated < same => Calibration { unrelated, same },
        // A model that cannot tell them apart has no scale; its cosines are taken as they are.
        _ => Calibration { unrelated: 0.0, same: 1.0 },
    }
}

fn median(mut values: Vec<f32>) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}
