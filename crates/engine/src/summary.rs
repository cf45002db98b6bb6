//! Summaries of turns that no longer fit, made once and kept with a marker of the last turn they cover.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::episodes::Turn;
use crate::lifecycle;
use crate::row::{Kept, RowKind};
use crate::tokens;
use crate::vocabulary::TurnRole;

/// Makes one text of many turns: an endpoint, or [`Extractive`].
pub trait Summariser: Send + Sync {
    /// At most so many tokens, or why not.
    fn summarise(&self, turns: &[Turn], tokens_max: usize) -> Result<String, String>;
}

/// Picks the sentences that matter most, in their order: the same turns always give the same summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractive;

/// A sentence is shown up to here.
const SENTENCE_TOKENS_MAX: usize = 40;

impl Summariser for Extractive {
    fn summarise(&self, turns: &[Turn], tokens_max: usize) -> Result<String, String> {
        let mut sentences: Vec<(usize, f64, String)> = Vec::new();
        for turn in turns {
            let who = turn.speaker.clone().unwrap_or_else(|| turn.role.unwrap_or(TurnRole::User).to_string());
            for sentence in turn.content.split_inclusive(['.', '!', '?', '\n', '。']) {
                let sentence = tokens::head(sentence.trim(), SENTENCE_TOKENS_MAX).trim();
                if !sentence.is_empty() {
                    let line = format!("- {who}: {sentence}");
                    sentences.push((sentences.len(), lifecycle::worth(sentence).importance, line));
                }
            }
        }
        // What matters most first; of equals the latest.
        sentences.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
        let (mut kept, mut left) = (Vec::new(), tokens_max);
        for (at, _, line) in sentences {
            let cost = tokens::estimate(&line) + 2;
            if cost <= left {
                left -= cost;
                kept.push((at, line));
            }
        }
        kept.sort();
        Ok(kept.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
    }
}

/// A summary as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptSummary {
    /// The conversation or session.
    pub id: String,
    /// How many of its first turns it covers.
    pub covers: usize,
    /// Of what those turns said.
    pub sha256: String,
    pub text: String,
    pub at: Timestamp,
}

impl Kept for KeptSummary {
    const KIND: RowKind = RowKind::Summaries;
    fn id(&self) -> String {
        self.id.clone()
    }
    fn at(&self) -> Timestamp {
        self.at
    }
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
        let summary = Extractive.summarise(&turns, 40).expect("always works");
        assert!(summary.contains("Postgres") && summary.contains("$400"), "{summary}");
        assert!(summary.find("Postgres") < summary.find("$400"));
    }

    proptest! {
        #[test]
        fn a_summary_keeps_its_bound(texts in proptest::collection::vec(".{0,120}", 0..12), tokens_max in 0_usize..200) {
            let turns: Vec<Turn> = texts.iter().map(|text| said(text)).collect();
            let summary = Extractive.summarise(&turns, tokens_max).expect("always works");
            prop_assert!(tokens::estimate(&summary) <= tokens_max);
        }
    }
}
