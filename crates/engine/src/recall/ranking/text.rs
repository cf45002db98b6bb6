//! Text relevance: how well a memory's words, meaning and place answer a query, as one number in 0..1.
//! 1 is "this says exactly that", 0 "nothing in common"; the number means the same in every store.

use std::collections::HashMap;

use super::named_time::{self, NamedTimes};
use super::sessions::SessionIndex;
use crate::model::limits::text_weights::TextWeights;
use crate::ports::CorpusStats;
use crate::text::words::{QueryTerm, QueryWords};

/// What is known of a query, prepared once.
#[derive(Debug, Clone)]
pub struct QuerySignals<'a> {
    pub words: &'a QueryWords,
    pub times: NamedTimes,
}

/// What is known of one candidate.
#[derive(Debug, Clone, Default)]
pub struct TextInput {
    /// Per query term: how often the memory says it.
    pub tf: Vec<u8>,
    /// Counted tokens of the memory.
    pub len: u32,
    /// Calibrated vector similarity 0..1.
    pub similarity: Option<f64>,
    /// Which session, as a number that only has to differ between sessions.
    pub session: Option<u32>,
    /// Position in the session.
    pub turn: Option<u32>,
    /// Whether the query names who said it.
    pub named: bool,
    /// When it was said, in microseconds.
    pub at: i64,
}

/// Text relevance and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextScore {
    pub total: f64,
    /// Share of the query's words the memory says itself.
    pub words: f64,
    /// Calibrated similarity.
    pub vector: f64,
    /// Added by what stands around it.
    pub context: f64,
    /// 1 where the query names the speaker.
    pub speaker: f64,
    /// How well the memory's time fits the one named.
    pub time: f64,
    /// 1 where an identifier is matched exactly.
    pub exact: f64,
}

/// How much a query term says: rare words say more.
pub fn idf(df: u32, docs: u64) -> f64 {
    let df = f64::from(df);
    (1.0 + (docs as f64 - df + 0.5).max(0.0) / (df + 0.5)).ln()
}

/// One term's part of the BM25 score of a memory; a store may keep the best by the sum of these over the query's terms.
pub fn bm25_term_score(term: &QueryTerm, df: u32, tf: u8, len: u32, stats: &CorpusStats, weights: &TextWeights) -> f64 {
    f64::from(term.weight) * idf(df, stats.docs) * term_saturation(tf, len, average_length(stats), weights)
}

/// How fully a term is said, 0..1.
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

/// Scores all candidates of one query together, as neighbours lend each other their words.
pub fn score_texts(
    query: &QuerySignals<'_>,
    stats: &CorpusStats,
    inputs: &[TextInput],
    weights: &TextWeights,
) -> Vec<TextScore> {
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
            let base = with_neighbours[at] + (1.0 - with_neighbours[at]) * weights.session * other;
            combine_signals(query, input, groups.matched_share(&matched[at]), with_neighbours[at], base, weights)
        })
        .collect()
}

/// Puts the signals of one candidate together: `near` is its relevance with its neighbours, `base` with its session.
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
    let is_coincidence = words == 0.0 && with_neighbours <= own && score.vector < weights.meaning_min;
    let penalty = if query.times.periods.is_empty() { 0.0 } else { weights.other_time * (1.0 - score.time) };
    score.total = if is_coincidence { 0.0 } else { apply_boosts(&score, weights) * (1.0 - penalty) };
    score
}

fn mix_similarity(words: f64, similarity: Option<f64>, weights: &TextWeights) -> f64 {
    similarity.map_or(words, |meaning| (1.0 - weights.vector) * words + weights.vector * meaning)
}

/// Signs strengthen what is there and make nothing out of nothing; the result stays within 0..1.
fn apply_boosts(score: &TextScore, weights: &TextWeights) -> f64 {
    let exponent = (1.0 + weights.speaker * score.speaker)
        * (1.0 + weights.time * score.time)
        * (1.0 + weights.exact * score.exact);
    1.0 - (1.0 - score.total.clamp(0.0, 1.0)).powf(exponent)
}

/// What the query asks for: its groups of terms and what each is worth.
struct TermGroups<'a> {
    terms: &'a [QueryTerm],
    /// Per term: what finding it is worth.
    worth: Vec<f64>,
    /// Per term: its group's place among the groups.
    group: Vec<usize>,
    groups: usize,
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
            let value = f64::from(term.weight) * idf(df.max(1), stats.docs);
            let count = numbers.len();
            let number = *numbers.entry(term.group).or_insert(count);
            if number == count {
                // The word itself. An identifier nobody wrote is no loss: its parts ask for the same. Nor is the name of a
                // time: memories of that time count as they are.
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

    /// Per group: the worth of what the memory says of it.
    fn group_worth(&self, input: &TextInput, average: f64, weights: &TextWeights) -> Vec<f64> {
        let mut matched = vec![0.0_f64; self.groups];
        for (at, tf) in input.tf.iter().enumerate().take(self.terms.len()).filter(|(_, tf)| **tf > 0) {
            let worth = self.worth[at] * term_saturation(*tf, input.len, average, weights);
            let best = &mut matched[self.group[at]];
            *best = best.max(worth);
        }
        matched
    }

    fn matched_share(&self, matched: &[f64]) -> f64 {
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
        fn relevance_grows_with_every_sign(inputs in prop::collection::vec(input(), 1..8), term in 0usize..3) {
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
    fn meaning_alone_answers_only_where_it_is_near() {
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
