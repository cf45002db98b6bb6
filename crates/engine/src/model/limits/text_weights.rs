//! Weights of text relevance.

use serde::{Deserialize, Serialize};

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
    /// Calibrated similarity below which meaning alone, without a word in common, is chance.
    pub meaning_min: f64,
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
    /// Taken from a memory of another time than the query names, so that a newer one does not come first.
    pub other_time: f64,
    /// Added strength when the memory holds an identifier exactly as the query writes it.
    pub exact: f64,
}

impl Default for TextWeights {
    fn default() -> Self {
        TextWeights {
            k1: 0.9,
            b_short: 0.2,
            b_per_doubling: 0.1,
            short_tokens: 16.0,
            full: 1.2,
            unknown: 0.5,
            vector: 0.3,
            meaning_min: 0.4,
            previous: 0.5,
            next: 0.3,
            fading: 0.6,
            session: 0.2,
            speaker: 0.4,
            time: 0.8,
            other_time: 0.3,
            exact: 0.3,
        }
    }
}
