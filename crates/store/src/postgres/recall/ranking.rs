//! Chooses the candidates from the rows that the server returned: the same ones, in the same order, as the SQLite
//! backend.

use std::cmp::Ordering;
use std::collections::HashSet;

use engine::model::id::MemoryId;
use engine::model::memory::Memory;
use engine::ports::{Candidate, CandidateQuery, CorpusStats};

use crate::word_score::Scorer;

/// A memory that the server returned, with the reasons it was chosen for.
pub(super) struct PickedCandidate {
    pub(super) candidate: Candidate,
    pub(super) reasons: PickReasons,
}

#[derive(Clone, Copy, Default)]
pub(super) struct PickReasons {
    pub(super) words: bool,
    /// By vector.
    pub(super) meaning: bool,
    pub(super) newest: bool,
    pub(super) substring: bool,
    /// Always included by id.
    pub(super) requested: bool,
}

/// The best by words, then by vector, newest, substring and id; each memory once.
pub(super) fn choose_candidates(
    picks: Vec<PickedCandidate>,
    find: &CandidateQuery,
    stats: &CorpusStats,
) -> Vec<Candidate> {
    let zero = |_: &Candidate| 0.0;
    let mut scorer = Scorer::new(find, stats);
    let words = |candidate: &Candidate| score_words(&mut scorer, candidate, find, stats);
    let meaning = |candidate: &Candidate| score_vector(candidate, find);
    let mut order = rank_best(&picks, find.pool, |reasons| reasons.words, words);
    order.extend(rank_best(&picks, find.pool, |reasons| reasons.meaning, meaning));
    order.extend(rank_best(&picks, find.pool, |reasons| reasons.newest, zero));
    order.extend(rank_best(&picks, find.pool, |reasons| reasons.substring, zero));
    order.extend((0..picks.len()).filter(|at| picks[*at].reasons.requested));
    let mut seen = HashSet::new();
    order.retain(|at| seen.insert(*at));
    let mut candidates: Vec<Option<Candidate>> = picks.into_iter().map(|pick| Some(pick.candidate)).collect();
    order.into_iter().filter_map(|at| candidates[at].take()).collect()
}

/// The turns among the best `of_best` by words and among the best `of_best` by vector. `found` starts with the best by
/// words, as [`choose_candidates`] returns them.
pub(super) fn best_turns(found: &[Candidate], find: &CandidateQuery, of_best: usize) -> Vec<MemoryId> {
    // Beyond the pool come candidates that another list contributed.
    let of_best = of_best.min(find.pool);
    let has_term =
        |candidate: &&Candidate| find.words.terms.iter().any(|term| candidate.words.term_frequency(term.term) > 0);
    let by_words = found.iter().filter(has_term).take(of_best);
    let mut near: Vec<&Candidate> = found.iter().filter(|candidate| candidate.vector.is_some()).collect();
    near.sort_by(|a, b| compare_ranked((score_vector(a, find), &a.memory), (score_vector(b, find), &b.memory)));
    let is_turn = |candidate: &&Candidate| candidate.memory.session.is_some() && candidate.memory.turn.is_some();
    by_words.chain(near.into_iter().take(of_best)).filter(is_turn).map(|candidate| candidate.memory.id).collect()
}

/// Indexes of the best `pool` picks that have a reason, in a total order.
fn rank_best(
    picks: &[PickedCandidate],
    pool: usize,
    has_reason: fn(PickReasons) -> bool,
    mut score: impl FnMut(&Candidate) -> f32,
) -> Vec<usize> {
    let mut scored: Vec<(f32, usize)> = picks
        .iter()
        .enumerate()
        .filter(|(_, pick)| has_reason(pick.reasons))
        .map(|(at, pick)| (score(&pick.candidate), at))
        .collect();
    let memory = |at: usize| &picks[at].candidate.memory;
    scored.sort_by(|a, b| compare_ranked((a.0, memory(a.1)), (b.0, memory(b.1))));
    scored.truncate(pool);
    scored.into_iter().map(|(_, at)| at).collect()
}

/// Best first: score, then newer, then lower id.
fn compare_ranked(a: (f32, &Memory), b: (f32, &Memory)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.updated_at.cmp(&a.1.updated_at)).then(a.1.id.cmp(&b.1.id))
}

fn score_words(scorer: &mut Scorer<'_>, candidate: &Candidate, find: &CandidateQuery, stats: &CorpusStats) -> f32 {
    let mut score = 0.0;
    for (term, df) in find.words.terms.iter().zip(&stats.df) {
        let times = candidate.words.term_frequency(term.term);
        if times > 0 {
            score += term.weight * scorer.rarity(*df) * scorer.term_saturation(times, candidate.words.len);
        }
    }
    score
}

fn score_vector(candidate: &Candidate, find: &CandidateQuery) -> f32 {
    match (&find.vector, &candidate.vector) {
        // The scale of the query is the same for all and does not change the order.
        (Some(query), Some(vector)) => query.vector.dot(vector) as f32 * vector.scale,
        _ => f32::MIN,
    }
}
