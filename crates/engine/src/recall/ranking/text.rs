//! Text relevance: one score in 0..1 per candidate, from BM25 word matching, vector similarity and context. Weights are
//! in [`TextWeights`].
//!
//! Order and level are computed apart (decision 0005). The order compares the candidates of one search with each other:
//! words and meaning count by their share of the best candidate's. The level is absolute: 1 means that a memory
//! contains the whole query, 0 that they share nothing, in every store and for every query. The score is the place
//! between 0 and the best candidate, times the best level, so a list of poor matches has low scores.
//!
//! Steps of [`score_texts`]:
//! 1. Word match: the query's words by rarity and BM25 saturation (`TermGroups`), with a share of the words of
//!    neighbouring turns (`SessionIndex`).
//! 2. Meaning: calibrated vector similarity, with a share of the turns beside.
//! 3. Score fusion: linear mix of both, each divided by the best candidate's (`fuse_signals`).
//! 4. The best other memory of the same session adds a share.
//! 5. Boosts for a named speaker, a named time, an exact identifier and a user's turn (`boost_factor`).

use std::collections::HashMap;

use super::named_time::{self, NamedTimes};
use super::sessions::SessionIndex;
use crate::model::limits::text_weights::TextWeights;
use crate::ports::CorpusStats;
use crate::text::words::{QueryTerm, QueryWords};

/// The parsed query: its terms and the times it names.
#[derive(Debug, Clone)]
pub struct QuerySignals<'a> {
    pub words: &'a QueryWords,
    pub times: NamedTimes,
}

/// The signals of one candidate that text relevance uses.
#[derive(Debug, Clone, Default)]
pub struct TextInput {
    /// Term frequency in the memory, per query term.
    pub tf: Vec<u8>,
    /// Document length: counted tokens of the memory.
    pub len: u32,
    /// Calibrated vector similarity, 0..1; `None` if the query or the memory has no vector.
    pub similarity: Option<f64>,
    /// Number of the session, unique within one ranking.
    pub session: Option<u32>,
    /// Position in the session.
    pub turn: Option<u32>,
    /// Whether the query names the speaker, or the author if there is no speaker.
    pub named: bool,
    /// Whether a user said it, not an assistant or a tool.
    pub by_user: bool,
    /// Time of the memory's event, in microseconds since the epoch.
    pub at: i64,
}

/// Text relevance and its components, all in 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextScore {
    pub total: f64,
    /// Absolute relevance of the memory with its neighbouring turns, whatever the other candidates are. Thresholds read
    /// this one.
    pub level: f64,
    /// Weighted share of the query's words in the memory itself, without neighbours.
    pub words: f64,
    /// Calibrated vector similarity.
    pub vector: f64,
    /// Share of the query's words that only neighbouring turns contain.
    pub context: f64,
    /// 1 if the query names the speaker.
    pub speaker: f64,
    /// Closeness of the memory's time to the times the query names.
    pub time: f64,
    /// 1 if the memory contains an identifier exactly as the query writes it.
    pub exact: f64,
    /// 1 for a turn of a user.
    pub user: f64,
}

/// Inverse document frequency of BM25: rare terms weigh more. Never negative.
pub fn idf(df: u32, docs: u64) -> f64 {
    let df = f64::from(df);
    // `df` exceeds `docs` in an empty corpus, where an unmatched term still counts as 1. The floor keeps the result >=
    // 0.
    (1.0 + (docs as f64 - df + 0.5).max(0.0) / (df + 0.5)).ln()
}

/// Weight of a term by its rarity: the IDF to the power of `weights.rarity`.
pub fn rarity(df: u32, docs: u64, weights: &TextWeights) -> f64 {
    idf(df, docs).powf(weights.rarity)
}

/// BM25 score of one term in one memory. A backend selects its candidates by the sum over the query's terms, so that
/// its pool agrees with the ranking here.
pub fn bm25_term_score(term: &QueryTerm, df: u32, tf: u8, len: u32, stats: &CorpusStats, weights: &TextWeights) -> f64 {
    f64::from(term.weight) * rarity(df, stats.docs, weights) * term_saturation(tf, len, average_length(stats), weights)
}

/// BM25 term-frequency saturation with full length normalisation, 0..1. Without the cap on short texts, a long text
/// that mentions a word in passing would match it as well as a short one that is about it.
pub fn term_saturation(tf: u8, len: u32, average: f64, weights: &TextWeights) -> f64 {
    let tf = f64::from(tf);
    let relative_length = f64::from(len).max(weights.length_min) / average.max(weights.length_min);
    if tf > 0.0 { tf / (tf + weights.k1 * relative_length) } else { 0.0 }
}

/// Average length of a corpus in tokens, at least 1.
pub fn average_length(stats: &CorpusStats) -> f64 {
    (stats.total_len as f64 / stats.docs.max(1) as f64).max(1.0)
}

/// Text relevance of all candidates, in their order. Scored together, because the turns of a session share word
/// matches, and because each counts in relation to the best.
pub fn score_texts(
    query: &QuerySignals<'_>,
    stats: &CorpusStats,
    inputs: &[TextInput],
    weights: &TextWeights,
) -> Vec<TextScore> {
    // Own word matches first: neighbours share only these, so a match does not travel along a chain of turns.
    let groups = TermGroups::new(query, stats, weights);
    let own: Vec<Vec<f64>> =
        inputs.iter().map(|input| groups.group_worth(input, average_length(stats), weights)).collect();
    let sessions = SessionIndex::new(inputs);
    let lent: Vec<Vec<f64>> =
        (0..inputs.len()).map(|at| sessions.worth_with_neighbours(at, inputs, &own, weights)).collect();
    let mut scores: Vec<TextScore> = Vec::with_capacity(inputs.len());
    let mut best_level = 0.0_f64;
    for (at, input) in inputs.iter().enumerate() {
        let (words, with_neighbours) = (groups.matched_share(&own[at]), groups.matched_share(&lent[at]));
        let mut score = component_scores(query, input, words, with_neighbours);
        if !is_coincidence(&score, weights) {
            let level = mix_similarity(with_neighbours, input.similarity, weights);
            // As an exponent on the distance to 1: no level exceeds 1.
            score.level = 1.0 - (1.0 - level).powf(boost_factor(&score, weights));
        }
        best_level = best_level.max(score.level);
        scores.push(score);
    }
    let near = fuse_signals(inputs, &lent, &sessions, weights);
    let best_of_session = SessionIndex::best_scores(inputs, &near);
    for ((score, input), near) in scores.iter_mut().zip(inputs).zip(near) {
        let best = input.session.and_then(|session| best_of_session.get(&session));
        let other = best.map_or(0.0, |best| best.best_excluding(near));
        score.total = match is_coincidence(score, weights) {
            true => 0.0,
            false => (near + weights.session * other) * boost_factor(score, weights),
        };
    }
    let best_total = scores.iter().map(|score| score.total).fold(0.0, f64::max);
    if best_total > 0.0 {
        scores.iter_mut().for_each(|score| score.total *= best_level / best_total);
    }
    scores
}

/// The components of one score; the total is added once all candidates are known.
fn component_scores(query: &QuerySignals<'_>, input: &TextInput, words: f64, with_neighbours: f64) -> TextScore {
    let exact = query.words.terms.iter().zip(&input.tf).any(|(term, tf)| term.exact && *tf > 0);
    let flag = |set: bool| f64::from(u8::from(set));
    TextScore {
        total: 0.0,
        level: 0.0,
        words,
        vector: input.similarity.unwrap_or(0.0),
        context: with_neighbours - words,
        speaker: flag(input.named),
        time: named_time::time_fit(&query.times.periods, input.at),
        exact: flag(exact),
        user: flag(input.by_user),
    }
}

/// Whether a match is chance. Without any word match, a low vector similarity is noise: every text is a little similar
/// to every other.
fn is_coincidence(score: &TextScore, weights: &TextWeights) -> bool {
    score.words == 0.0 && score.context <= 0.0 && score.vector < weights.meaning_min
}

/// Words and meaning of each candidate, each divided by the best candidate's, mixed: 0..1.
///
/// The two have different scales, which also differ between questions: dividing first lets both decide the order.
fn fuse_signals(inputs: &[TextInput], lent: &[Vec<f64>], sessions: &SessionIndex, weights: &TextWeights) -> Vec<f64> {
    let words = divided_by_best(lent.iter().map(|worth| worth.iter().sum()).collect());
    let meaning =
        divided_by_best((0..inputs.len()).map(|at| sessions.similarity_with_neighbours(at, inputs, weights)).collect());
    let mix =
        |(at, input): (usize, &TextInput)| mix_similarity(words[at], input.similarity.map(|_| meaning[at]), weights);
    inputs.iter().enumerate().map(mix).collect()
}

fn divided_by_best(mut values: Vec<f64>) -> Vec<f64> {
    let best = values.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        values.iter_mut().for_each(|value| *value /= best);
    }
    values
}

/// Score fusion: linear interpolation of word match and vector similarity; the word match alone without a vector.
fn mix_similarity(words: f64, similarity: Option<f64>, weights: &TextWeights) -> f64 {
    similarity.map_or(words, |meaning| (1.0 - weights.vector) * words + weights.vector * meaning)
}

/// Product of all boosts, at least 1.
fn boost_factor(score: &TextScore, weights: &TextWeights) -> f64 {
    (1.0 + weights.speaker * score.speaker)
        * (1.0 + weights.time * score.time)
        * (1.0 + weights.exact * score.exact)
        * (1.0 + weights.user_turn * score.user)
}

/// Query terms grouped by word: a word and its derived forms (compound parts, umlaut spellings) are one group.
struct TermGroups<'a> {
    terms: &'a [QueryTerm],
    /// Weight times rarity, per term.
    worth: Vec<f64>,
    /// Index of its group, per term.
    group: Vec<usize>,
    /// Worth of a full match of each group: of the word itself.
    full_worth: Vec<f64>,
    /// Sum over the groups' words: the worth of a memory that matches the whole query.
    total_worth: f64,
}

impl<'a> TermGroups<'a> {
    fn new(query: &QuerySignals<'a>, stats: &CorpusStats, weights: &TextWeights) -> Self {
        let terms = query.words.terms.as_slice();
        let mut numbers: HashMap<u16, usize> = HashMap::new();
        let mut group = Vec::with_capacity(terms.len());
        let mut worth = Vec::with_capacity(terms.len());
        let mut full_worth = Vec::new();
        let mut total_worth = 0.0;
        for (at, term) in terms.iter().enumerate() {
            let df = stats.df.get(at).copied().unwrap_or(0);
            // A `df` of 0 would give a term that no memory has the largest IDF of all.
            let value = f64::from(term.weight) * rarity(df.max(1), stats.docs, weights);
            let count = numbers.len();
            let number = *numbers.entry(term.group).or_insert(count);
            if number == count {
                full_worth.push(value * weights.full);
                // The first term of a group is the word itself; derived forms add nothing to the total. Two words that
                // no memory has to contain: an unknown identifier, whose parts are query terms too, and the name
                // of a time ("May"), which is compared with the memory's date instead.
                total_worth += weights.full
                    * match df {
                        _ if query.times.terms.contains(&term.term) => 0.0,
                        0 if term.exact => 0.0,
                        0 => weights.unknown * value,
                        _ => value,
                    };
            }
            group.push(number);
            worth.push(value);
        }
        TermGroups { terms, worth, group, full_worth, total_worth }
    }

    /// Matched worth per group: its best term, so a word and its derived form do not count twice.
    fn group_worth(&self, input: &TextInput, average: f64, weights: &TextWeights) -> Vec<f64> {
        let mut matched = vec![0.0_f64; self.full_worth.len()];
        for (at, tf) in input.tf.iter().enumerate().take(self.terms.len()).filter(|(_, tf)| **tf > 0) {
            let worth = self.worth[at] * term_saturation(*tf, input.len, average, weights);
            let best = &mut matched[self.group[at]];
            *best = best.max(worth);
        }
        matched
    }

    /// Query coverage, the absolute word match: matched worth over total worth, at most 1. A word that occurs often
    /// enough is a complete match (`weights.full`).
    fn matched_share(&self, matched: &[f64]) -> f64 {
        let matched: f64 = matched.iter().zip(&self.full_worth).map(|(worth, full)| worth.min(*full)).sum();
        // Above 1 when a derived form of an unknown word matches: that word adds only `weights.unknown` to the total.
        if self.total_worth > 0.0 { (matched / self.total_worth).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::words;

    fn input() -> impl Strategy<Value = TextInput> {
        let tf = prop::collection::vec(0u8..4, 3);
        let similarity = prop::option::of(0.0..=1.0);
        (tf, 1u32..200, similarity, prop::option::of(0u32..2), 0u32..6, any::<bool>()).prop_map(
            |(tf, len, similarity, session, turn, named)| TextInput {
                tf,
                len,
                similarity,
                session,
                turn: Some(turn),
                named,
                by_user: false,
                at: 0,
            },
        )
    }

    fn totals(words: &QueryWords, inputs: &[TextInput]) -> Vec<f64> {
        let stats = CorpusStats { docs: 100, total_len: 2_000, df: vec![3, 30, 0] };
        let query = QuerySignals { words, times: NamedTimes::default() };
        score_texts(&query, &stats, inputs, &TextWeights::default()).iter().map(|score| score.total).collect()
    }

    proptest! {
        #[test]
        fn relevance_is_a_share(inputs in prop::collection::vec(input(), 0..8)) {
            let words = words::parse_query("alpha beta gamma");
            prop_assert!(totals(&words, &inputs).iter().all(|total| (0.0..=1.0).contains(total)));
        }

        /// Without sessions: what a turn gains, it lends to its neighbours, and one of them may become the best.
        #[test]
        fn more_matches_never_lower_the_relevance(inputs in prop::collection::vec(input(), 1..8), term in 0usize..3) {
            let alone = |input: TextInput| TextInput { session: None, ..input };
            let inputs: Vec<TextInput> = inputs.into_iter().map(alone).collect();
            let mut words = words::parse_query("alpha beta gamma");
            words.terms.truncate(3);
            let before = totals(&words, &inputs);
            prop_assert!(before.iter().all(|total| (0.0..=1.0).contains(total)));
            let grown = |change: &dyn Fn(&mut TextInput)| {
                let mut inputs = inputs.clone();
                change(&mut inputs[0]);
                totals(&words, &inputs)[0]
            };
            prop_assert!(grown(&|input| input.tf[term] += 1) >= before[0] - 1e-9);
            prop_assert!(grown(&|input| input.named = true) >= before[0] - 1e-9);
            prop_assert!(grown(&|input| input.similarity = input.similarity.map(|_| 1.0)) >= before[0] - 1e-9);
        }
    }

    #[test]
    fn vector_similarity_alone_matches_only_above_the_threshold() {
        let words = words::parse_query("alpha beta gamma");
        let check = |similarity: f64, found: bool| {
            let input = TextInput {
                tf: vec![0; words.terms.len()],
                len: 20,
                similarity: Some(similarity),
                ..TextInput::default()
            };
            assert_eq!(totals(&words, &[input])[0] > 0.0, found, "{similarity}");
        };
        check(0.1, false);
        check(0.39, false);
        check(0.5, true);
    }
}
