//! Weights of text relevance (docs/decisions/0005-text-relevance.md). Configurable as `limits.weights.text.*`.

use serde::{Deserialize, Serialize};

use super::settings;

settings! {
    /// Weights of text relevance. Chosen on short turns, long chats, meetings and notes at once: values near each other
    /// give the same figures on all of them.
    pub struct TextWeights {
        // Words: BM25 with full length normalisation.

        /// BM25 `k1`, saturation by repetition.
        k1: f64 = 1.6,
        /// Tokens up to which memories count as equally long. Divisor. One word more or less in a short note says
        /// nothing about its subject.
        length_min: f64 = 20.0,
        /// Exponent of the IDF. Above 1, so that the everyday words of a long question do not outweigh its rare ones.
        rarity: f64 = 2.0,
        /// Saturation at which a word counts as fully matched in the absolute relevance. Divisor.
        full: f64 = 0.4,
        /// Factor on the weight of a query word that no memory contains. Below 1, so that a typo does not hide matches
        /// of the other words.
        unknown: f64 = 0.5,

        // Meaning: vectors.

        /// Share of vector similarity against words, for a memory with a vector.
        vector: f64 = 0.45,
        /// Calibrated similarity below which a memory without a word in common is no match.
        meaning_min: f64 = 0.4,

        // Context of a turn.

        /// Share of the words of the previous turn: an answer does not repeat its question.
        previous: f64 = 0.7,
        /// Share of the words of the next turn.
        next: f64 = 0.6,
        /// Factor on both for every further turn of distance.
        fading: f64 = 0.6,
        /// Share of the similarity of the turn before and of the turn after.
        vector_beside: f64 = 0.15,
        /// Share of the best other memory of the same session: a session has one subject.
        session: f64 = 0.3,

        // Boosts: each adds this share to a match and never creates one.

        /// Boost if the query names the speaker.
        speaker: f64 = 0.4,
        /// Boost if the memory is from the time that the query names.
        time: f64 = 0.8,
        /// Boost if the memory contains an identifier exactly as in the query.
        exact: f64 = 0.15,
        /// Boost for a turn of the role `user`: questions are mostly about what the person said, while the answers of
        /// an assistant repeat the same words at greater length.
        user_turn: f64 = 0.3,
    }
}
