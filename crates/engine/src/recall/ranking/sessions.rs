//! Session context of a turn: neighbouring turns share their word matches, since an answer rarely repeats its question.

use std::collections::HashMap;

use super::text::TextInput;
use crate::model::limits::text_weights::TextWeights;

/// Candidates by session number, as (turn, candidate index) pairs in candidate order.
pub(super) struct SessionIndex(HashMap<u32, Vec<(u32, usize)>>);

impl SessionIndex {
    pub(super) fn new(inputs: &[TextInput]) -> Self {
        let mut sessions: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
        for (index, input) in inputs.iter().enumerate() {
            if let (Some(session), Some(turn)) = (input.session, input.turn) {
                sessions.entry(session).or_default().push((turn, index));
            }
        }
        SessionIndex(sessions)
    }

    /// Matched worth per term group: the candidate's own, or a neighbour's reduced by the distance in turns, whichever
    /// is larger. `worths` holds the own worths of all candidates.
    pub(super) fn worth_with_neighbours(
        &self,
        index: usize,
        inputs: &[TextInput],
        worths: &[Vec<f64>],
        weights: &TextWeights,
    ) -> Vec<f64> {
        let mut worth = worths[index].clone();
        let (Some(session), Some(turn)) = (inputs[index].session, inputs[index].turn) else { return worth };
        for (other_turn, other) in self.0.get(&session).into_iter().flatten().filter(|(_, other)| *other != index) {
            // Two memories can have the same turn number; they count as one turn apart.
            let distance = turn.abs_diff(*other_turn).max(1);
            let share_at_distance_one = if *other_turn < turn { weights.previous } else { weights.next };
            let share = share_at_distance_one * weights.fading.powi(distance.min(NEIGHBOUR_TURNS_MAX) as i32 - 1);
            for (mine, theirs) in worth.iter_mut().zip(&worths[*other]) {
                *mine = mine.max(share * theirs);
            }
        }
        worth
    }

    /// Similarity of a candidate, with a share of that of the turn before and of the turn after, as far as they are
    /// candidates.
    pub(super) fn similarity_with_neighbours(&self, index: usize, inputs: &[TextInput], weights: &TextWeights) -> f64 {
        let own = inputs[index].similarity.unwrap_or(0.0);
        let (Some(session), Some(turn)) = (inputs[index].session, inputs[index].turn) else { return own };
        let beside = |wanted: Option<u32>| {
            let turns = self.0.get(&session).into_iter().flatten();
            let wanted = turns.filter(|(other, _)| Some(*other) == wanted);
            // Two memories can have the same turn number.
            wanted.filter_map(|(_, at)| inputs[*at].similarity).fold(0.0, f64::max)
        };
        own + weights.vector_beside * (beside(turn.checked_sub(1)) + beside(turn.checked_add(1)))
    }

    /// The two best scores of each session.
    pub(super) fn best_scores(inputs: &[TextInput], scores: &[f64]) -> HashMap<u32, BestTwo> {
        let mut best: HashMap<u32, BestTwo> = HashMap::new();
        for (input, score) in inputs.iter().zip(scores) {
            if let Some(session) = input.session {
                best.entry(session).or_default().add(*score);
            }
        }
        best
    }
}

/// Distance, in turns, from which the share no longer shrinks: it is close to 0 there.
const NEIGHBOUR_TURNS_MAX: u32 = 16;

/// The two best scores of a session. Two, because the best memory is compared with the second best, not with itself.
#[derive(Default)]
pub(super) struct BestTwo(f64, f64);

impl BestTwo {
    fn add(&mut self, score: f64) {
        if score > self.0 {
            (self.0, self.1) = (score, self.0);
        } else {
            self.1 = self.1.max(score);
        }
    }

    /// Best score of the other memories of the session.
    pub(super) fn best_excluding(&self, own: f64) -> f64 {
        if own >= self.0 { self.1 } else { self.0 }
    }
}
