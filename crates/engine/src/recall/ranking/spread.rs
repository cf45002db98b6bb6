//! The text signal of the rankers `operational` and `episodic`: text relevance, spread over 0..1.
//!
//! The relevance of the first twenty hits often lies within a few hundredths. Added to trust and recency as it is, it
//! would decide nothing. Spread, it decides between hits whose texts differ, and the other signals between near-ties.

use super::Hit;
use crate::model::limits::Weights;
use crate::model::vocabulary::Ranker;

/// Name of the score part that holds text relevance before it is spread: the absolute number.
pub(crate) const RELEVANCE: &str = "text.relevance";

/// Texts whose relevance differs by this share or less are near-ties and share a place.
const NEAR_TIE: f64 = 0.02;
/// Place of the hit whose relevance is the lower end of the spread; hits below it differ by their place alone.
const LAST_PLACE: usize = 20;
/// Place at which half of the place's share is left.
const HALF_PLACE: f64 = 10.0;

/// Spreads the text relevance of hits that were found together, and corrects their scores. Hits of several searches
/// are merged first: the best of a poor list is no good hit. The order of the hits does not matter.
pub(crate) fn spread_text(ranker: Ranker, weights: &Weights, hits: &mut [Hit]) {
    let (part, weight) = match ranker {
        Ranker::Operational => ("text", weights.operational_text),
        Ranker::Episodic => ("similarity", weights.episodic_similarity),
        Ranker::Lesson | Ranker::Layered | Ranker::Hint => return,
    };
    let relevance: Vec<f64> = hits.iter().map(|hit| hit.parts.get(RELEVANCE).copied().unwrap_or_default()).collect();
    for (hit, signal) in hits.iter_mut().zip(spread_relevance(&relevance)) {
        let signal = super::round_score(signal);
        let before = hit.parts.insert(part, signal).unwrap_or_default();
        hit.score = super::round_score(hit.score + weight * (signal - before));
    }
}

/// The signal of each relevance, in their order: half from its distance to the best, half from its place.
pub(crate) fn spread_relevance(relevance: &[f64]) -> Vec<f64> {
    let mut sorted = relevance.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let best = sorted.first().copied().unwrap_or_default();
    // Among few hits the worst is not the lower end: two near-ties would be as far apart as best and worst.
    let lowest = sorted.get(LAST_PLACE).copied().unwrap_or_default();
    let signal = |relevance: &f64| {
        if *relevance <= 0.0 {
            return 0.0;
        }
        let distance = if best > lowest { ((relevance - lowest) / (best - lowest)).clamp(0.0, 1.0) } else { 1.0 };
        let place = sorted.partition_point(|other| other * (1.0 - NEAR_TIE) > *relevance) as f64;
        0.5 * distance + 0.5 / (1.0 + place / HALF_PLACE)
    };
    relevance.iter().map(signal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ties_share_a_place_and_clear_gaps_do_not() {
        let check = |relevance: &[f64], expected: &[f64]| {
            let signals: Vec<f64> =
                spread_relevance(relevance).iter().map(|signal| (signal * 1_000.0).round() / 1_000.0).collect();
            assert_eq!(signals, expected, "{relevance:?}");
        };
        check(&[], &[]);
        check(&[0.3], &[1.0]);
        check(&[0.8, 0.8], &[1.0, 1.0]);
        check(&[0.8, 0.792], &[1.0, 0.995]);
        check(&[0.4, 0.8, 0.0], &[0.705, 1.0, 0.0]);
    }

    #[test]
    fn the_signal_keeps_the_order_of_the_relevance() {
        let relevance: Vec<f64> = (0..60).map(|place| 0.9 - f64::from(place) * 0.01).collect();
        let signals = spread_relevance(&relevance);
        assert!(signals.windows(2).all(|pair| pair[0] > pair[1]), "{signals:?}");
        assert!(signals.iter().all(|signal| (0.0..=1.0).contains(signal)));
    }
}
