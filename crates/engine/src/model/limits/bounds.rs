//! Valid ranges of configured limits. Outside of them a formula divides by zero or a search finds nothing.

use super::{Limits, Weights};
use crate::model::limits::text_weights::TextWeights;
use crate::model::ruleset::Ruleset;

/// A configured value outside its range.
#[derive(Clone, PartialEq, Debug)]
pub struct OutOfBounds {
    /// Name in the configuration, below `limits` (or below the ruleset).
    pub field: &'static str,
    /// The valid range in words.
    pub expected: String,
}

/// Least and greatest value, both valid.
type Bounds = (f64, f64);

/// A count that may be zero. 1e9 stands for "no upper bound": it still fits every integer type in use.
const ANY_COUNT: Bounds = (0.0, 1e9);
/// A divisor, or a number without which a call could return nothing.
const AT_LEAST_ONE: Bounds = (1.0, 1e9);
/// Multiplied with a requested number, so the product must not overflow.
const FACTOR: Bounds = (1.0, 1_000.0);
/// Up to a century, which every timestamp can be moved by.
const DAYS: Bounds = (1.0, 36_500.0);
/// As `DAYS`; 0 turns the limit off.
const DAYS_OR_NONE: Bounds = (0.0, 36_500.0);
const SHARE: Bounds = (0.0, 1.0);
/// A weight; only the ratio to other weights matters.
const WEIGHT: Bounds = (0.0, 1e6);
/// A weight that is a divisor.
const DIVISOR: Bounds = (0.001, 1e6);

/// Bytes of the tag prefix. It is part of every opening and closing tag, and so of the token budget.
const PREFIX_BYTES_MAX: usize = 64;

fn first_out_of_bounds(mut numbers: impl Iterator<Item = (&'static str, f64, Bounds)>) -> Option<OutOfBounds> {
    // Also true for NaN, which no range contains.
    let is_outside = |(_, value, (least, most)): &(_, f64, Bounds)| !(*least..=*most).contains(value);
    let describe =
        |(field, _, (least, most))| OutOfBounds { field, expected: format!("a number from {least} to {most}") };
    numbers.find(is_outside).map(describe)
}

impl Ruleset {
    /// The first value outside its range.
    pub fn out_of_bounds(&self) -> Option<OutOfBounds> {
        if self.layers.is_empty() {
            return Some(OutOfBounds { field: "layers", expected: "at least one layer".to_owned() });
        }
        let set = |field, value: Option<u64>, bounds| value.map(|value| (field, value as f64, bounds));
        let numbers = [
            set("content_bytes_max", Some(self.content_bytes_max), AT_LEAST_ONE),
            set("content_bytes_soft", self.content_bytes_soft, AT_LEAST_ONE),
            set("live_max", self.live_max, AT_LEAST_ONE),
            set("unattended_saves_max", self.unattended_saves_max.map(u64::from), ANY_COUNT),
            set("conversation_draft_days", self.conversation_draft_days.map(u64::from), DAYS),
        ];
        let days = self.ttl_days.values().map(|days| ("ttl_days", f64::from(*days), DAYS));
        first_out_of_bounds(numbers.into_iter().flatten().chain(days))
    }
}

impl Limits {
    /// The first value outside its range.
    pub fn out_of_bounds(&self) -> Option<OutOfBounds> {
        let numbers = self
            .bounded_values()
            .into_iter()
            .chain(self.weights.bounded_values())
            .chain(self.weights.text.bounded_values());
        first_out_of_bounds(numbers).or_else(|| self.check_tag_prefix())
    }

    /// The prefix must be a valid XML name, so that models and parsers read the tags as tags.
    fn check_tag_prefix(&self) -> Option<OutOfBounds> {
        let prefix = &self.context_tag_prefix;
        let plain = prefix.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        let starts_with_letter = prefix.starts_with(|c: char| c.is_ascii_alphabetic());
        let expected = format!("a letter, then letters, digits, `-`, `_` or `.`, at most {PREFIX_BYTES_MAX}");
        (!plain || !starts_with_letter || prefix.len() > PREFIX_BYTES_MAX)
            .then_some(OutOfBounds { field: "context_tag_prefix", expected })
    }

    fn bounded_values(&self) -> Vec<(&'static str, f64, Bounds)> {
        let count = |field, value: usize, bounds| (field, value as f64, bounds);
        // Every field of the struct, in its order; a test fails for one that is missing.
        vec![
            count("path_bytes_max", self.path_bytes_max, AT_LEAST_ONE),
            count("path_segments_max", self.path_segments_max, AT_LEAST_ONE),
            count("title_bytes_max", self.title_bytes_max, ANY_COUNT),
            count("hint_bytes_max", self.hint_bytes_max, ANY_COUNT),
            count("tags_max", self.tags_max, ANY_COUNT),
            count("tag_bytes_max", self.tag_bytes_max, ANY_COUNT),
            count("metadata_bytes_max", self.metadata_bytes_max, ANY_COUNT),
            count("metadata_depth_max", self.metadata_depth_max, ANY_COUNT),
            count("evidence_max", self.evidence_max, ANY_COUNT),
            count("evidence_bytes_max", self.evidence_bytes_max, ANY_COUNT),
            count("name_bytes_max", self.name_bytes_max, AT_LEAST_ONE),
            count("query_bytes_max", self.query_bytes_max, AT_LEAST_ONE),
            count("results_default", self.results_default, AT_LEAST_ONE),
            count("results_max", self.results_max, AT_LEAST_ONE),
            count("list_default", self.list_default, AT_LEAST_ONE),
            count("list_max", self.list_max, AT_LEAST_ONE),
            count("history_default", self.history_default, AT_LEAST_ONE),
            count("history_max", self.history_max, AT_LEAST_ONE),
            count("conflict_excerpt_chars", self.conflict_excerpt_chars, ANY_COUNT),
            count("overfetch", self.overfetch, FACTOR),
            count("pool_min", self.pool_min, AT_LEAST_ONE),
            count("neighbours_of_best", self.neighbours_of_best, ANY_COUNT),
            ("neighbours_reach", self.neighbours_reach.into(), ANY_COUNT),
            ("near_hint", self.near_hint, SHARE),
            ("near_content", self.near_content, SHARE),
            ("near_vector", self.near_vector, SHARE),
            count("lesson_recall_max", self.lesson_recall_max, AT_LEAST_ONE),
            count("commit_attempts", self.commit_attempts, AT_LEAST_ONE),
            count("light_bytes_max", self.light_bytes_max, ANY_COUNT),
            count("context_budget_tokens", self.context_budget_tokens, AT_LEAST_ONE),
            count("context_budget_max", self.context_budget_max, AT_LEAST_ONE),
            count("context_memories_max", self.context_memories_max, ANY_COUNT),
            ("context_trusted_from", self.context_trusted_from, SHARE),
            count("context_cut_tokens_min", self.context_cut_tokens_min, ANY_COUNT),
            count("session_start_budget_tokens", self.session_start_budget_tokens, AT_LEAST_ONE),
            count("session_start_memories_max", self.session_start_memories_max, ANY_COUNT),
            count("session_start_sessions_max", self.session_start_sessions_max, ANY_COUNT),
            count("always_inject_max", self.always_inject_max, ANY_COUNT),
            count("always_inject_share", self.always_inject_share, AT_LEAST_ONE),
            ("review_days_max", self.review_days_max.into(), DAYS),
            ("question_minutes_max", self.question_minutes_max.into(), AT_LEAST_ONE),
            count("question_chars_max", self.question_chars_max, AT_LEAST_ONE),
            ("echo_overlap", self.echo_overlap, SHARE),
            count("echo_uses", self.echo_uses, ANY_COUNT),
            ("receipt_days", self.receipt_days.into(), DAYS_OR_NONE),
            count("impact_receipts", self.impact_receipts, ANY_COUNT),
            ("similarity_min", self.similarity_min, SHARE),
            count("my_results_max", self.my_results_max, AT_LEAST_ONE),
            count("own_events_max", self.own_events_max, ANY_COUNT),
            count("layer_context_max", self.layer_context_max, ANY_COUNT),
        ]
    }
}

impl Weights {
    fn bounded_values(&self) -> Vec<(&'static str, f64, Bounds)> {
        vec![
            ("weights.operational_text", self.operational_text, WEIGHT),
            ("weights.operational_trust", self.operational_trust, WEIGHT),
            ("weights.operational_entity", self.operational_entity, WEIGHT),
            ("weights.operational_kind", self.operational_kind, WEIGHT),
            ("weights.operational_recency", self.operational_recency, WEIGHT),
            ("weights.half_life_days", self.half_life_days, DIVISOR),
            ("weights.episodic_half_life_days", self.episodic_half_life_days, DIVISOR),
            ("weights.episodic_similarity", self.episodic_similarity, WEIGHT),
            ("weights.episodic_recency", self.episodic_recency, WEIGHT),
            ("weights.episodic_importance", self.episodic_importance, WEIGHT),
            ("weights.episodic_source", self.episodic_source, WEIGHT),
            ("weights.layered_substring", self.layered_substring, WEIGHT),
            ("weights.layered_summary", self.layered_summary, WEIGHT),
            ("weights.layered_metadata", self.layered_metadata, WEIGHT),
            ("weights.layered_recency", self.layered_recency, WEIGHT),
            ("weights.hint_hint", self.hint_hint, WEIGHT),
            ("weights.hint_tags", self.hint_tags, WEIGHT),
            ("weights.hint_content", self.hint_content, WEIGHT),
        ]
    }
}

impl TextWeights {
    fn bounded_values(&self) -> Vec<(&'static str, f64, Bounds)> {
        vec![
            ("weights.text.k1", self.k1, WEIGHT),
            ("weights.text.length_min", self.length_min, DIVISOR),
            ("weights.text.rarity", self.rarity, WEIGHT),
            ("weights.text.full", self.full, DIVISOR),
            ("weights.text.unknown", self.unknown, SHARE),
            ("weights.text.vector", self.vector, SHARE),
            ("weights.text.meaning_min", self.meaning_min, SHARE),
            ("weights.text.previous", self.previous, SHARE),
            ("weights.text.next", self.next, SHARE),
            ("weights.text.fading", self.fading, SHARE),
            ("weights.text.vector_beside", self.vector_beside, SHARE),
            ("weights.text.session", self.session, WEIGHT),
            ("weights.text.speaker", self.speaker, WEIGHT),
            ("weights.text.time", self.time, WEIGHT),
            ("weights.text.exact", self.exact, WEIGHT),
            ("weights.text.user_turn", self.user_turn, WEIGHT),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(field: &str, set_invalid: impl Fn(&mut Limits)) {
        let mut limits = Limits::default();
        set_invalid(&mut limits);
        assert_eq!(limits.out_of_bounds().map(|invalid| invalid.field), Some(field));
    }

    #[test]
    fn values_outside_their_range_are_named() {
        assert_eq!(Limits::default().out_of_bounds(), None);
        check("always_inject_share", |limits| limits.always_inject_share = 0);
        check("results_max", |limits| limits.results_max = 0);
        check("overfetch", |limits| limits.overfetch = usize::MAX);
        check("near_hint", |limits| limits.near_hint = 7.0);
        check("similarity_min", |limits| limits.similarity_min = f64::NAN);
        check("weights.half_life_days", |limits| limits.weights.half_life_days = 0.0);
        check("weights.text.full", |limits| limits.weights.text.full = 0.0);
        for invalid in [f64::NAN, f64::INFINITY, -0.1] {
            check("weights.operational_text", |limits| limits.weights.operational_text = invalid);
        }
        for invalid in ["", "a b><", "1x", "<", "ä", &"x".repeat(65)] {
            check("context_tag_prefix", |limits| limits.context_tag_prefix = invalid.to_owned());
        }
    }

    /// The tables of bounds list every field of the structs, so a new limit fails here until it has bounds.
    #[test]
    fn every_limit_has_bounds() {
        let limits = Limits::default();
        let tables =
            [limits.bounded_values(), limits.weights.bounded_values(), limits.weights.text.bounded_values()].concat();
        let mut bounded: Vec<String> = tables.iter().map(|(field, ..)| (*field).to_owned()).collect();
        bounded.push("context_tag_prefix".to_owned());
        let mut fields = Vec::new();
        collect_field_names(&serde_json::to_value(&limits).expect("a value"), "", &mut fields);
        bounded.sort();
        fields.sort();
        assert_eq!(bounded, fields);
    }

    fn collect_field_names(value: &serde_json::Value, prefix: &str, names: &mut Vec<String>) {
        match value.as_object() {
            Some(object) => object.iter().for_each(|(name, value)| {
                let dot = if prefix.is_empty() { "" } else { "." };
                collect_field_names(value, &format!("{prefix}{dot}{name}"), names);
            }),
            None => names.push(prefix.to_owned()),
        }
    }
}
