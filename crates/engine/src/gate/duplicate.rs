//! When two notes are the same note: near hints and agreeing contents.

use std::collections::HashSet;

use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::text::words;

/// How a near memory relates to a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintMatch {
    /// The same fact: update it.
    SameFact,
    /// A similar hint over another fact: name it, touch it not.
    OtherFact,
}

/// The memory whose hint is nearest to `hint`, if it is near enough, and whether it states the same fact.
pub fn find_nearest_hint<'a>(
    hint: &str,
    content: &str,
    memories: &'a [Memory],
    limits: &Limits,
    similarity: impl Fn(&str) -> f64,
) -> Option<(&'a Memory, HintMatch)> {
    let wanted = token_set(hint);
    let mut near: Vec<(f64, &Memory)> = memories
        .iter()
        .filter_map(|memory| Some((jaccard_similarity(&wanted, &token_set(memory.recall_hint.as_deref()?)), memory)))
        .filter(|(overlap, _)| *overlap >= limits.near_hint)
        .collect();
    // The nearest first; among equals the newest, then by id, so that every backend picks the same.
    near.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(other.updated_at.cmp(&one.updated_at)).then(one.id.cmp(&other.id))
    });
    let own = token_set(content);
    let agrees = |memory: &Memory| {
        jaccard_similarity(&own, &token_set(&memory.content)) >= limits.near_content
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

/// Shared over all, 0 for two empty sets.
pub fn jaccard_similarity(one: &HashSet<String>, other: &HashSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}
