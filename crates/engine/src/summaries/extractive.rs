//! A summary without a model: the sentences that matter most, as they were said.

use std::collections::HashSet;

use crate::model::lifecycle;
use crate::model::turn::Turn;
use crate::model::vocabulary::TurnRole;
use crate::summaries::Summariser;
use crate::text::{normalize, token_estimate};

/// Picks the sentences that matter most, in their order: the same turns always give the same summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtractiveSummariser;

/// A sentence is shown up to here.
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

/// What of a summary matters most, within fewer tokens: it is made once, and windows are of many sizes.
pub(crate) fn shorten_summary(text: &str, tokens_max: usize) -> String {
    if token_estimate::estimate(text) <= tokens_max {
        return text.to_owned();
    }
    let sentences = split_sentences(text)
        .map(|sentence| (lifecycle::estimate_importance(sentence).importance, sentence.to_owned()));
    match pick_lines(sentences.collect(), tokens_max) {
        // Not one of them fits whole.
        picked if picked.is_empty() => token_estimate::truncate_to(text, tokens_max).trim_end().to_owned(),
        picked => picked,
    }
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n', '。']).map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// The lines that matter most within so many tokens, in their order.
fn pick_lines(lines: Vec<(f64, String)>, tokens_max: usize) -> String {
    let mut lines: Vec<(usize, f64, String)> =
        lines.into_iter().enumerate().map(|(at, (importance, line))| (at, importance, line)).collect();
    // What matters most first; of equals the latest.
    lines.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    let (mut kept, mut seen, mut left) = (Vec::new(), HashSet::new(), tokens_max);
    for (at, _, line) in lines {
        let cost = token_estimate::estimate(&line) + 2;
        // What was said ten times is told once.
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

    fn said(content: &str) -> Turn {
        Turn { content: content.to_owned(), ..Turn::default() }
    }

    #[test]
    fn decisions_outlive_small_talk_and_the_order_stays() {
        let turns =
            [said("hello there. We decided to use Postgres."), said("ok"), said("Approved the budget of $400.")];
        let summary = ExtractiveSummariser.summarise(&turns, 40).expect("always works");
        assert!(summary.contains("Postgres") && summary.contains("$400"), "{summary}");
        assert!(summary.find("Postgres") < summary.find("$400"));
    }

    #[test]
    fn what_was_said_twice_is_told_once() {
        let turns = [said("We decided to use Postgres."), said("We decided to use Postgres."), said("Ok.")];
        let summary = ExtractiveSummariser.summarise(&turns, 100).expect("always works");
        assert_eq!((summary.matches("Postgres").count(), summary.matches("Ok.").count()), (1, 1), "{summary}");
    }

    #[test]
    fn a_shorter_summary_keeps_what_matters_most() {
        let text = "They talked a while. They decided to use Postgres. It rained.";
        let check = |tokens_max: usize, told: &str| assert_eq!(shorten_summary(text, tokens_max), told, "{tokens_max}");
        check(100, text);
        check(12, "They decided to use Postgres.");
        check(3, "They talked a");
        check(0, "");
    }

    proptest! {
        #[test]
        fn a_shortened_summary_keeps_its_bound(text in "(.{0,40}[.!\n]){0,8}", tokens_max in 0_usize..60) {
            prop_assert!(token_estimate::estimate(&shorten_summary(&text, tokens_max)) <= tokens_max);
        }

        #[test]
        fn a_summary_keeps_its_bound(texts in proptest::collection::vec(".{0,120}", 0..12), tokens_max in 0_usize..200) {
            let turns: Vec<Turn> = texts.iter().map(|text| said(text)).collect();
            let summary = ExtractiveSummariser.summarise(&turns, tokens_max).expect("always works");
            prop_assert!(token_estimate::estimate(&summary) <= tokens_max);
        }
    }
}
