//! Extractive summaries: the most important sentences, unchanged, without a model.

use std::collections::HashSet;

use crate::model::lifecycle;
use crate::model::turn::Turn;
use crate::model::vocabulary::TurnRole;
use crate::summaries::Summariser;
use crate::text::{normalize, token_estimate};

/// Selects the most important sentences and keeps their order. Deterministic: the same turns give the same summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtractiveSummariser;

/// A longer sentence is cut here.
const SENTENCE_TOKENS_MAX: usize = 40;

impl Summariser for ExtractiveSummariser {
    fn summarise(&self, turns: &[Turn], tokens_max: usize) -> Result<String, String> {
        let mut sentences = Vec::new();
        for turn in turns {
            let speaker = turn.speaker.clone().unwrap_or_else(|| turn.role.unwrap_or(TurnRole::User).to_string());
            for sentence in split_sentences(&turn.content) {
                let sentence = token_estimate::truncate_to(sentence, SENTENCE_TOKENS_MAX).trim();
                sentences
                    .push((lifecycle::estimate_importance(sentence).importance, format!("- {speaker}: {sentence}")));
            }
        }
        Ok(pick_lines(sentences, tokens_max))
    }
}

/// Shortens a summary to its most important sentences. Summaries are made once, but windows differ in size.
pub(crate) fn shorten_summary(text: &str, tokens_max: usize) -> String {
    if token_estimate::estimate(text) <= tokens_max {
        return text.to_owned();
    }
    let sentences = split_sentences(text)
        .map(|sentence| (lifecycle::estimate_importance(sentence).importance, sentence.to_owned()));
    match pick_lines(sentences.collect(), tokens_max) {
        // No sentence fits as a whole: cut the text instead.
        picked if picked.is_empty() => token_estimate::truncate_to(text, tokens_max).trim_end().to_owned(),
        picked => picked,
    }
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n', '。']).map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// The most important lines that fit into `tokens_max`, in their original order.
fn pick_lines(lines: Vec<(f64, String)>, tokens_max: usize) -> String {
    let mut lines: Vec<(usize, f64, String)> =
        lines.into_iter().enumerate().map(|(at, (importance, line))| (at, importance, line)).collect();
    // Most important first; of equal ones the latest, since a conversation corrects itself.
    lines.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    let (mut kept, mut seen, mut left) = (Vec::new(), HashSet::new(), tokens_max);
    for (at, _, line) in lines {
        // Two tokens for the line break and the seam between two estimates.
        let cost = token_estimate::estimate(&line) + 2;
        // Repeated sentences appear once. Checked after the cost, so a line that does not fit is not marked as seen.
        if cost <= left && seen.insert(normalize::normalise_text(&line)) {
            left -= cost;
            kept.push((at, line));
        }
    }
    kept.sort();
    kept.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turn(content: &str) -> Turn {
        Turn { content: content.to_owned(), ..Turn::default() }
    }

    #[test]
    fn decisions_are_kept_before_small_talk_in_their_order() {
        let turns =
            [turn("hello there. We decided to use Postgres."), turn("ok"), turn("Approved the budget of $400.")];
        let summary = ExtractiveSummariser.summarise(&turns, 40).expect("always works");
        assert!(summary.contains("Postgres") && summary.contains("$400"), "{summary}");
        assert!(summary.find("Postgres") < summary.find("$400"));
    }

    #[test]
    fn repeated_sentences_appear_once() {
        let turns = [turn("We decided to use Postgres."), turn("We decided to use Postgres."), turn("Ok.")];
        let summary = ExtractiveSummariser.summarise(&turns, 100).expect("always works");
        assert_eq!((summary.matches("Postgres").count(), summary.matches("Ok.").count()), (1, 1), "{summary}");
    }

    #[test]
    fn a_shortened_summary_keeps_the_most_important_sentence() {
        let text = "They talked a while. They decided to use Postgres. It rained.";
        let check = |tokens_max: usize, expected: &str| {
            assert_eq!(shorten_summary(text, tokens_max), expected, "{tokens_max}");
        };
        check(100, text);
        check(12, "They decided to use Postgres.");
        check(3, "They talked a");
        check(0, "");
    }

    proptest! {
        #[test]
        fn a_shortened_summary_stays_within_its_tokens(text in "(.{0,40}[.!\n]){0,8}", tokens_max in 0_usize..60) {
            prop_assert!(token_estimate::estimate(&shorten_summary(&text, tokens_max)) <= tokens_max);
        }

        #[test]
        fn an_extractive_summary_stays_within_its_tokens(
            texts in proptest::collection::vec(".{0,120}", 0..12),
            tokens_max in 0_usize..200,
        ) {
            let turns: Vec<Turn> = texts.iter().map(|text| turn(text)).collect();
            let summary = ExtractiveSummariser.summarise(&turns, tokens_max).expect("always works");
            prop_assert!(token_estimate::estimate(&summary) <= tokens_max);
        }
    }
}
