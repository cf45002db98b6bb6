//! Text relevance: how well a memory's words, meaning and place answer a query, as one number in 0..1.
//! 1 is "this says exactly that", 0 "nothing in common"; the number means the same in every store.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::when::{self, Period};
use crate::ports::Stats;
use crate::words::{QueryTerm, QueryWords};

/// Weights of text relevance, found on conversations and operational notes, checked on collections left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextWeights {
    /// How soon a word repeated stops adding: low, as memories are short.
    pub k1: f64,
    /// Share of length normalisation where memories are turns of a few words: these say one thing each.
    pub b_short: f64,
    /// Added for each doubling of the average length: long texts mention words in passing.
    pub b_per_doubling: f64,
    /// Average length, in counted tokens, up to which memories are short.
    pub short_tokens: f64,
    /// Saturation at which a word counts as fully said.
    pub full: f64,
    /// Share of a query word nobody ever wrote in what the query asks for: a typo must not hide the rest.
    pub unknown: f64,
    /// Share of meaning against words, where there is a vector.
    pub vector: f64,
    /// What a word said in the turn before is worth: an answer does not repeat its question.
    pub previous: f64,
    /// As `previous`, for the turn after.
    pub next: f64,
    /// What remains of these with every further turn.
    pub fading: f64,
    /// What the best other memory of the same session adds: sessions have a subject.
    pub session: f64,
    /// Added strength when the query names the speaker.
    pub speaker: f64,
    /// Added strength when the memory is of the time the query names.
    pub time: f64,
    /// Added strength when the memory holds an identifier exactly as the query writes it.
    pub exact: f64,
}

impl Default for TextWeights {
    fn default() -> Self {
        TextWeights {
            k1: 0.9,
            b_short: 0.3,
            b_per_doubling: 0.2,
            short_tokens: 16.0,
            full: 1.2,
            unknown: 0.5,
            vector: 0.3,
            previous: 0.5,
            next: 0.3,
            fading: 0.6,
            session: 0.2,
            speaker: 0.4,
            time: 0.8,
            exact: 0.3,
        }
    }
}

/// What is known of a query, prepared once.
#[derive(Debug, Clone)]
pub struct QuerySignals<'a> {
    pub words: &'a QueryWords,
    pub periods: Vec<Period>,
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
pub fn bm25(term: &QueryTerm, df: u32, tf: u8, len: u32, stats: &Stats, weights: &TextWeights) -> f64 {
    f64::from(term.weight) * idf(df, stats.docs) * saturation(tf, len, average(stats), weights)
}

/// How fully a term is said, 0..1.
fn saturation(tf: u8, len: u32, average: f64, weights: &TextWeights) -> f64 {
    let tf = f64::from(tf);
    let doublings = (average / weights.short_tokens).log2().max(0.0);
    let b = (weights.b_short + weights.b_per_doubling * doublings).min(1.0);
    let norm = weights.k1 * (1.0 - b + b * f64::from(len) / average);
    (tf * (weights.k1 + 1.0) / (tf + norm) / weights.full).min(1.0)
}

fn average(stats: &Stats) -> f64 {
    (stats.total_len as f64 / stats.docs.max(1) as f64).max(1.0)
}

/// Scores all candidates of one query together, as neighbours lend each other their words.
pub fn relevance(
    query: &QuerySignals<'_>,
    stats: &Stats,
    inputs: &[TextInput],
    weights: &TextWeights,
) -> Vec<TextScore> {
    let asked = Wanted::new(query.words, stats, weights);
    let said: Vec<Vec<f64>> = inputs.iter().map(|input| asked.said(input, average(stats), weights)).collect();
    let sessions = Sessions::new(inputs);
    let direct: Vec<(f64, f64, f64)> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            let own = asked.share(&said[at]);
            let lent = asked.share(&sessions.lent(at, inputs, &said, weights));
            (own, mix(own, input.similarity, weights), mix(lent, input.similarity, weights))
        })
        .collect();
    let near: Vec<f64> = direct.iter().map(|(.., near)| *near).collect();
    let best = sessions.best(inputs, &near);
    inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            let (words, alone, near) = direct[at];
            let other = input.session.and_then(|session| best.get(&session)).map_or(0.0, |best| best.besides(near));
            let base = near + (1.0 - near) * weights.session * other;
            let mut score = TextScore {
                total: base,
                words,
                vector: input.similarity.unwrap_or(0.0),
                context: base - alone,
                speaker: f64::from(u8::from(input.named)),
                time: when::fit(&query.periods, input.at),
                exact: f64::from(u8::from(query.words.terms.iter().zip(&input.tf).any(|(t, tf)| t.exact && *tf > 0))),
            };
            score.total = strengthened(&score, weights);
            score
        })
        .collect()
}

fn mix(words: f64, similarity: Option<f64>, weights: &TextWeights) -> f64 {
    similarity.map_or(words, |meaning| (1.0 - weights.vector) * words + weights.vector * meaning)
}

/// Signs strengthen what is there and make nothing out of nothing; the result stays within 0..1.
fn strengthened(score: &TextScore, weights: &TextWeights) -> f64 {
    let strength = (1.0 + weights.speaker * score.speaker)
        * (1.0 + weights.time * score.time)
        * (1.0 + weights.exact * score.exact);
    1.0 - (1.0 - score.total.clamp(0.0, 1.0)).powf(strength)
}

/// What the query asks for: its groups of terms and what each is worth.
struct Wanted<'a> {
    terms: &'a [QueryTerm],
    /// Per term: what finding it is worth.
    worth: Vec<f64>,
    /// Per term: its group's place among the groups.
    group: Vec<usize>,
    groups: usize,
    all: f64,
}

impl<'a> Wanted<'a> {
    fn new(words: &'a QueryWords, stats: &Stats, weights: &TextWeights) -> Self {
        let terms = words.terms.as_slice();
        let mut numbers: HashMap<u16, usize> = HashMap::new();
        let mut group = Vec::with_capacity(terms.len());
        let mut worth = Vec::with_capacity(terms.len());
        let mut all = 0.0;
        for (at, term) in terms.iter().enumerate() {
            let df = stats.df.get(at).copied().unwrap_or(0);
            let value = f64::from(term.weight) * idf(df.max(1), stats.docs);
            let count = numbers.len();
            let number = *numbers.entry(term.group).or_insert(count);
            if number == count {
                // The word itself. An identifier nobody wrote is no loss: its parts ask for the same.
                all += match df {
                    0 if term.exact => 0.0,
                    0 => weights.unknown * value,
                    _ => value,
                };
            }
            group.push(number);
            worth.push(value);
        }
        Wanted { terms, worth, group, groups: numbers.len(), all }
    }

    /// Per group: the worth of what the memory says of it.
    fn said(&self, input: &TextInput, average: f64, weights: &TextWeights) -> Vec<f64> {
        let mut said = vec![0.0_f64; self.groups];
        for (at, tf) in input.tf.iter().enumerate().take(self.terms.len()).filter(|(_, tf)| **tf > 0) {
            let worth = self.worth[at] * saturation(*tf, input.len, average, weights);
            let best = &mut said[self.group[at]];
            *best = best.max(worth);
        }
        said
    }

    fn share(&self, said: &[f64]) -> f64 {
        if self.all > 0.0 { (said.iter().sum::<f64>() / self.all).min(1.0) } else { 0.0 }
    }
}

/// Candidates by session, in turn order.
struct Sessions(HashMap<u32, Vec<(u32, usize)>>);

impl Sessions {
    fn new(inputs: &[TextInput]) -> Self {
        let mut sessions: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
        for (at, input) in inputs.iter().enumerate() {
            if let (Some(session), Some(turn)) = (input.session, input.turn) {
                sessions.entry(session).or_default().push((turn, at));
            }
        }
        Sessions(sessions)
    }

    /// What a candidate says or its neighbours say for it, per group.
    fn lent(&self, at: usize, inputs: &[TextInput], said: &[Vec<f64>], weights: &TextWeights) -> Vec<f64> {
        let mut lent = said[at].clone();
        let (Some(session), Some(turn)) = (inputs[at].session, inputs[at].turn) else { return lent };
        for (other_turn, other) in self.0.get(&session).into_iter().flatten().filter(|(_, other)| *other != at) {
            let distance = turn.abs_diff(*other_turn).max(1);
            let first = if *other_turn < turn { weights.previous } else { weights.next };
            let share = first * weights.fading.powi(distance.min(TURNS_FAR) as i32 - 1);
            for (mine, theirs) in lent.iter_mut().zip(&said[*other]) {
                *mine = mine.max(share * theirs);
            }
        }
        lent
    }

    fn best(&self, inputs: &[TextInput], scores: &[f64]) -> HashMap<u32, BestTwo> {
        let mut best: HashMap<u32, BestTwo> = HashMap::new();
        for (input, score) in inputs.iter().zip(scores) {
            if let Some(session) = input.session {
                best.entry(session).or_default().add(*score);
            }
        }
        best
    }
}

/// Turns apart beyond which neighbours lend nothing worth computing.
const TURNS_FAR: u32 = 16;

/// The two best scores of a session, so that nobody is strengthened by itself.
#[derive(Default)]
struct BestTwo(f64, f64);

impl BestTwo {
    fn add(&mut self, score: f64) {
        if score > self.0 {
            (self.0, self.1) = (score, self.0);
        } else {
            self.1 = self.1.max(score);
        }
    }

    fn besides(&self, own: f64) -> f64 {
        if own >= self.0 { self.1 } else { self.0 }
    }
}
