//! Weights of text relevance (docs/decisions/0005-text-relevance.md). Configurable as `limits.weights.text.*`.

use serde::{Deserialize, Serialize};

use super::settings;

settings! {
    /// Weights of text relevance. Tuned on conversations and operational notes, verified on collections left out of the
    /// tuning.
    pub struct TextWeights {
        // Words: BM25.

        /// BM25 `k1`, saturation by repetition. Low, because memories are short and repeat a word by chance.
        k1: f64 = 0.9,
        /// BM25 `b`, length normalisation, in corpora of short memories, where each memory makes one statement.
        b_short: f64 = 0.2,
        /// Added to `b` per doubling of the average length over `short_tokens`: long texts mention words in passing.
        b_per_doubling: f64 = 0.1,
        /// Average length in tokens up to which memories count as short. Divisor.
        short_tokens: f64 = 16.0,
        /// Saturation at which a word counts as fully matched. Divisor.
        full: f64 = 1.2,
        /// Factor on the weight of a query word that no memory contains. Below 1, so that a typo does not hide matches
        /// of the other words.
        unknown: f64 = 0.5,

        // Meaning: vectors.

        /// Share of vector similarity against words, for a memory with a vector.
        vector: f64 = 0.3,
        /// Calibrated similarity below which a memory without a word in common is no match.
        meaning_min: f64 = 0.4,

        // Context of a turn.

        /// Share of the words of the previous turn: an answer does not repeat its question.
        previous: f64 = 0.5,
        /// Share of the words of the next turn.
        next: f64 = 0.3,
        /// Factor on both for every further turn of distance.
        fading: f64 = 0.6,
        /// Share of the best other memory of the same session: a session has one subject.
        session: f64 = 0.2,

        // Boosts. They strengthen a match and never create one.

        /// Boost if the query names the speaker.
        speaker: f64 = 0.4,
        /// Boost if the memory is from the time that the query names.
        time: f64 = 0.8,
        /// Reduction for a memory from another time, so that a newer one does not come first.
        other_time: f64 = 0.3,
        /// Boost if the memory contains an identifier exactly as in the query.
        exact: f64 = 0.3,
    }
}
