//! Text relevance: one score in 0..1 per candidate, from BM25 word matching, vector similarity and context. The score
//! is absolute: 1 means that the memory contains the whole query, 0 that they share nothing, in every store and for
//! every query (decision 0005). Weights are in [`TextWeights`].
//!
//! Steps of [`score_texts`]:
//! 1. Word match: IDF-weighted share of the query's words, each with BM25 saturation (`TermGroups`).
//! 2. Neighbouring turns of a session add a share of their word matches (`SessionIndex`).
//! 3. Score fusion: linear mix of word match and calibrated vector similarity (`mix_similarity`).
//! 4. The best other memory of the same session adds a little.
//! 5. Boosts for a named speaker, a named time and an exact identifier (`apply_boosts`).

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
    /// Time of the memory's event, in microseconds since the epoch.
    pub at: i64,
}

/// Text relevance and its components, all in 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextScore {
    pub total: f64,
    /// Weighted share of the query's words in the memory itself, without neighbours.
    pub words: f64,
    /// Calibrated vector similarity.
    pub vector: f64,
    /// Gain from neighbouring turns and the session.
    pub context: f64,
    /// 1 if the query names the speaker.
    pub speaker: f64,
    /// Closeness of the memory's time to the times the query names.
    pub time: f64,
    /// 1 if the memory contains an identifier exactly as the query writes it.
    pub exact: f64,
}

/// Inverse document frequency of BM25: rare terms weigh more. Never negative.
pub fn idf(df: u32, docs: u64) -> f64 {
    let df = f64::from(df);
    // `df` exceeds `docs` in an empty corpus, where an unmatched term still counts as 1. The floor keeps the result >=
    // 0.
    (1.0 + (docs as f64 - df + 0.5).max(0.0) / (df + 0.5)).ln()
}

/// BM25 score of one term in one memory. A backend selects its candidates by the sum over the query's terms, so that
/// its pool agrees with the ranking here.
pub fn bm25_term_score(term: &QueryTerm, df: u32, tf: u8, len: u32, stats: &CorpusStats, weights: &TextWeights) -> f64 {
    f64::from(term.weight) * idf(df, stats.docs) * term_saturation(tf, len, average_length(stats), weights)
}

/// BM25 term-frequency saturation with length normalisation, scaled to 0..1.
///
/// Differs from plain BM25 in two ways. The length normalisation `b` grows with the corpus's average length: short
/// notes are about one thing each, long texts mention words in passing. And a saturation of `weights.full` or more
/// counts as 1, so that a word which occurs often enough is a complete match.
fn term_saturation(tf: u8, len: u32, average: f64, weights: &TextWeights) -> f64 {
    let tf = f64::from(tf);
    let doublings = (average / weights.short_tokens).log2().max(0.0);
    let b = (weights.b_short + weights.b_per_doubling * doublings).min(1.0);
    let norm = weights.k1 * (1.0 - b + b * f64::from(len) / average);
    (tf * (weights.k1 + 1.0) / (tf + norm) / weights.full).min(1.0)
}

fn average_length(stats: &CorpusStats) -> f64 {
    (stats.total_len as f64 / stats.docs.max(1) as f64).max(1.0)
}

/// Text relevance of all candidates, in their order. Scored together, because the turns of a session share word
/// matches.
pub fn score_texts(
    query: &QuerySignals<'_>,
    stats: &CorpusStats,
    inputs: &[TextInput],
    weights: &TextWeights,
) -> Vec<TextScore> {
    // Own word matches first: neighbours share only these, so a match does not travel along a chain of turns.
    let groups = TermGroups::new(query, stats, weights);
    let matched: Vec<Vec<f64>> =
        inputs.iter().map(|input| groups.group_worth(input, average_length(stats), weights)).collect();
    let sessions = SessionIndex::new(inputs);
    let with_neighbours: Vec<f64> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            mix_similarity(
                groups.matched_share(&sessions.worth_with_neighbours(at, inputs, &matched, weights)),
                input.similarity,
                weights,
            )
        })
        .collect();
    let best = SessionIndex::best_scores(inputs, &with_neighbours);
    inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            let other = input
                .session
                .and_then(|session| best.get(&session))
                .map_or(0.0, |best| best.best_excluding(with_neighbours[at]));
            // Closes a share of the gap to 1, so the score stays below 1.
            let base = with_neighbours[at] + (1.0 - with_neighbours[at]) * weights.session * other;
            combine_signals(query, input, groups.matched_share(&matched[at]), with_neighbours[at], base, weights)
        })
        .collect()
}

/// Final score of one candidate. `words` is its own word match, `with_neighbours` the relevance including neighbouring
/// turns, `base` the relevance including its session.
fn combine_signals(
    query: &QuerySignals<'_>,
    input: &TextInput,
    words: f64,
    with_neighbours: f64,
    base: f64,
    weights: &TextWeights,
) -> TextScore {
    let own = mix_similarity(words, input.similarity, weights);
    let exact = query.words.terms.iter().zip(&input.tf).any(|(term, tf)| term.exact && *tf > 0);
    let mut score = TextScore {
        total: base,
        words,
        vector: input.similarity.unwrap_or(0.0),
        context: base - own,
        speaker: f64::from(u8::from(input.named)),
        time: named_time::time_fit(&query.times.periods, input.at),
        exact: f64::from(u8::from(exact)),
    };
    // Without any word match, a low vector similarity is noise: every text is a little similar to every other.
    let is_coincidence = words == 0.0 && with_neighbours <= own && score.vector < weights.meaning_min;
    // Memories of another time rank lower, else recency would put a newer one first.
    let penalty = if query.times.periods.is_empty() { 0.0 } else { weights.other_time * (1.0 - score.time) };
    score.total = if is_coincidence { 0.0 } else { apply_boosts(&score, weights) * (1.0 - penalty) };
    score
}

/// Score fusion: linear interpolation of word match and vector similarity; the word match alone without a vector.
fn mix_similarity(words: f64, similarity: Option<f64>, weights: &TextWeights) -> f64 {
    similarity.map_or(words, |meaning| (1.0 - weights.vector) * words + weights.vector * meaning)
}

/// Applies the boosts as an exponent on the distance to 1: a score of 0 stays 0, and no score exceeds 1.
fn apply_boosts(score: &TextScore, weights: &TextWeights) -> f64 {
    let exponent = (1.0 + weights.speaker * score.speaker)
        * (1.0 + weights.time * score.time)
        * (1.0 + weights.exact * score.exact);
    1.0 - (1.0 - score.total.clamp(0.0, 1.0)).powf(exponent)
}

/// Query terms grouped by word: a word and its derived forms (compound parts, umlaut spellings) are one group.
struct TermGroups<'a> {
    terms: &'a [QueryTerm],
    /// Weight times IDF, per term.
    worth: Vec<f64>,
    /// Index of its group, per term.
    group: Vec<usize>,
    groups: usize,
    /// Sum over the groups' words: the worth of a memory that matches the whole query.
    total_worth: f64,
}

impl<'a> TermGroups<'a> {
    fn new(query: &QuerySignals<'a>, stats: &CorpusStats, weights: &TextWeights) -> Self {
        let terms = query.words.terms.as_slice();
        let mut numbers: HashMap<u16, usize> = HashMap::new();
        let mut group = Vec::with_capacity(terms.len());
        let mut worth = Vec::with_capacity(terms.len());
        let mut total_worth = 0.0;
        for (at, term) in terms.iter().enumerate() {
            let df = stats.df.get(at).copied().unwrap_or(0);
            // A `df` of 0 would give a term that no memory has the largest IDF of all.
            let value = f64::from(term.weight) * idf(df.max(1), stats.docs);
            let count = numbers.len();
            let number = *numbers.entry(term.group).or_insert(count);
            if number == count {
                // The first term of a group is the word itself; derived forms add nothing to the total. Two words that
                // no memory has to contain: an unknown identifier, whose parts are query terms too, and the name
                // of a time ("May"), which is compared with the memory's date instead.
                total_worth += match df {
                    _ if query.times.terms.contains(&term.term) => 0.0,
                    0 if term.exact => 0.0,
                    0 => weights.unknown * value,
                    _ => value,
                };
            }
            group.push(number);
            worth.push(value);
        }
        TermGroups { terms, worth, group, groups: numbers.len(), total_worth }
    }

    /// Matched worth per group: its best term, so a word and its derived form do not count twice.
    fn group_worth(&self, input: &TextInput, average: f64, weights: &TextWeights) -> Vec<f64> {
        let mut matched = vec![0.0_f64; self.groups];
        for (at, tf) in input.tf.iter().enumerate().take(self.terms.len()).filter(|(_, tf)| **tf > 0) {
            let worth = self.worth[at] * term_saturation(*tf, input.len, average, weights);
            let best = &mut matched[self.group[at]];
            *best = best.max(worth);
        }
        matched
    }

    /// Query coverage: matched worth over total worth, at most 1.
    fn matched_share(&self, matched: &[f64]) -> f64 {
        // Above 1 when a derived form of an unknown word matches: that word adds only `weights.unknown` to the total.
        if self.total_worth > 0.0 { (matched.iter().sum::<f64>() / self.total_worth).min(1.0) } else { 0.0 }
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
        fn more_matches_never_lower_the_relevance(inputs in prop::collection::vec(input(), 1..8), term in 0usize..3) {
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
