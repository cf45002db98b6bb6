//! Near-duplicate notes: similar recall hints and agreeing contents are the same note.

use std::collections::HashSet;

use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::text::words;

/// Relation of a draft to the memory with the nearest hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintMatch {
    /// Contents agree: the draft is a new version of the memory.
    SameFact,
    /// Only the hints are similar: the draft is a new memory, and the answer names the near one.
    OtherFact,
}

/// Finds the memory that a note would update: the nearest hint whose content agrees, else the nearest hint.
///
/// `None`: no hint overlaps by `near_hint`. `similarity` compares a memory's content with the draft's by vector; it is
/// called only where the words do not agree, because it is slow.
pub fn find_nearest_hint<'a>(
    hint: &str,
    content: &str,
    memories: &'a [Memory],
    limits: &Limits,
    similarity: impl Fn(&str) -> f64,
) -> Option<(&'a Memory, HintMatch)> {
    let hint_words = token_set(hint);
    let mut near: Vec<(f64, &Memory)> = memories
        .iter()
        .filter_map(|memory| {
            let overlap = jaccard_similarity(&hint_words, &token_set(memory.recall_hint.as_deref()?));
            Some((overlap, memory))
        })
        .filter(|(overlap, _)| *overlap >= limits.near_hint)
        .collect();
    // Nearest first; ties by newest, then by id, so that both backends choose the same memory.
    near.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(other.updated_at.cmp(&one.updated_at)).then(one.id.cmp(&other.id))
    });
    let content_words = token_set(content);
    let agrees = |memory: &Memory| {
        jaccard_similarity(&content_words, &token_set(&memory.content)) >= limits.near_content
            || similarity(&memory.content) >= limits.near_vector
    };
    match near.iter().find(|(_, memory)| agrees(memory)) {
        Some((_, memory)) => Some((memory, HintMatch::SameFact)),
        None => near.first().map(|(_, memory)| (*memory, HintMatch::OtherFact)),
    }
}

fn token_set(text: &str) -> HashSet<String> {
    words::folded_words(text).into_iter().collect()
}

/// Jaccard index: size of the intersection over size of the union; 0 for two empty sets.
pub fn jaccard_similarity(one: &HashSet<String>, other: &HashSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}
