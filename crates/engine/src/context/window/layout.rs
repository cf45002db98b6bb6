//! How much of a conversation stays as it was said, and how long the summary of the rest may be.

/// Tokens of a summary, escaped: a page, whatever it stands for.
pub(super) const SUMMARY_TOKENS_MAX: usize = 300;
/// A shorter one would not hold one sentence and its speaker.
const SUMMARY_TOKENS_MIN: usize = 48;

/// What a conversation has to fit into.
pub(super) struct ConversationBudget {
    /// For turns and summary.
    pub(super) tokens: usize,
    /// What each turn costs, oldest first.
    pub(super) turns: Vec<usize>,
    /// The turns before this one are summarised in any case.
    pub(super) floor: usize,
    /// What a summary costs beside its text.
    pub(super) frame_tokens: usize,
}

/// What of a conversation is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConversationLayout {
    /// From here on turns stay as they were said.
    pub(super) first_turn: usize,
    /// What the summary of those before may say; 0: there is no room for one.
    pub(super) summary_tokens: usize,
}

impl ConversationBudget {
    /// As many of the newest turns as fit beside a summary of the others. The summary gets up to half of the room, and
    /// less where not even the newest turn fits beside that. No summary rather than no turn; where no turn fits at all,
    /// all are summarised.
    pub(super) fn choose_layout(&self) -> ConversationLayout {
        let turns = self.turns.len();
        let left = self.tokens_left_by_turn();
        let first_turn_beside_summary = |text: usize| {
            let fits = |first: &usize| left[*first].is_some_and(|left| left >= self.frame_tokens + text);
            (self.floor.max(1)..turns).find(fits)
        };
        let first_turn_alone = || (self.floor..turns).find(|first| left[*first].is_some());
        match first_turn_beside_summary(self.half_summary_tokens())
            .or_else(|| first_turn_beside_summary(SUMMARY_TOKENS_MIN))
        {
            Some(first_turn) => {
                ConversationLayout { first_turn, summary_tokens: self.summary_text_tokens(left[first_turn]) }
            }
            None => match first_turn_alone() {
                Some(first_turn) => ConversationLayout { first_turn, summary_tokens: 0 },
                None => ConversationLayout {
                    first_turn: turns,
                    summary_tokens: self.summary_text_tokens(Some(self.tokens)),
                },
            },
        }
    }

    /// What has to be free for the conversation before other things are kept beside it: its newest turn and a short
    /// summary, or of these what fits at all.
    pub(super) fn least_tokens(&self) -> usize {
        let summary = self.frame_tokens + SUMMARY_TOKENS_MIN;
        let Some(newest) = self.turns.last() else { return 0 };
        let both = if self.turns.len() > 1 { newest + summary } else { *newest };
        [both, *newest, summary].into_iter().find(|least| *least <= self.tokens).unwrap_or(0)
    }

    /// What a summary says in half of the room.
    fn half_summary_tokens(&self) -> usize {
        (self.tokens / 2).saturating_sub(self.frame_tokens).clamp(SUMMARY_TOKENS_MIN, SUMMARY_TOKENS_MAX)
    }

    /// What is left beside the turns from each one on, down to beside none; `None`: they do not fit.
    fn tokens_left_by_turn(&self) -> Vec<Option<usize>> {
        let mut left = vec![Some(self.tokens); self.turns.len() + 1];
        for first in (0..self.turns.len()).rev() {
            left[first] = left[first + 1].and_then(|left| left.checked_sub(self.turns[first]));
        }
        left
    }

    /// What a summary in so many tokens can say, if that is worth its frame.
    fn summary_text_tokens(&self, tokens: Option<usize>) -> usize {
        let text = tokens.unwrap_or(0).saturating_sub(self.frame_tokens).min(SUMMARY_TOKENS_MAX);
        if text < SUMMARY_TOKENS_MIN || self.turns.is_empty() { 0 } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn room(tokens: usize, turns: Vec<usize>, floor: usize) -> ConversationBudget {
        ConversationBudget { tokens, turns, floor, frame_tokens: 70 }
    }

    #[test]
    fn the_newest_turns_stay_and_the_summary_gives_way_before_them() {
        let check = |tokens: usize, turns: &[usize], floor: usize, first_turn: usize, summary_tokens: usize| {
            let layout = room(tokens, turns.to_vec(), floor).choose_layout();
            assert_eq!(layout, ConversationLayout { first_turn, summary_tokens }, "{tokens} {turns:?} {floor}");
        };
        check(1_000, &[66; 20], 0, 11, 300);
        check(387, &[66; 20], 0, 18, 185);
        check(197, &[66; 3], 0, 2, 61);
        // Not even a short summary fits beside the newest: as many turns as fit.
        check(180, &[66; 3], 0, 1, 0);
        check(99, &[60, 20, 20], 0, 1, 0);
        // The newest never fits: all of them are told of, if that fits.
        check(500, &[10, 900], 0, 2, 300);
        check(150, &[900], 0, 1, 80);
        check(100, &[900], 0, 1, 0);
        // What is summarised already stays so.
        check(900, &[10; 30], 10, 10, 300);
        check(0, &[], 0, 0, 0);
    }

    #[test]
    fn what_can_never_fit_drives_nothing_else_out() {
        let check = |tokens: usize, turns: &[usize], least: usize| {
            assert_eq!(room(tokens, turns.to_vec(), 0).least_tokens(), least, "{tokens} {turns:?}");
        };
        check(500, &[40, 50], 168);
        check(500, &[50], 50);
        check(160, &[40, 50], 50);
        check(500, &[40, 600], 118);
        check(100, &[40, 600], 0);
        check(100, &[], 0);
    }

    proptest! {
        #[test]
        fn a_layout_fits_and_leaves_out_no_turn_that_would(
            tokens in 0_usize..2_000,
            turns in proptest::collection::vec(0_usize..300, 0..40),
            floor in 0_usize..20,
        ) {
            let floor = floor.min(turns.len());
            // A conversation that fits whole is not laid out.
            prop_assume!(floor > 0 || turns.iter().sum::<usize>() > tokens);
            let room = room(tokens, turns, floor);
            let ConversationLayout { first_turn, summary_tokens } = room.choose_layout();
            let kept: usize = room.turns[first_turn..].iter().sum();
            let summary = if summary_tokens == 0 { 0 } else { room.frame_tokens + summary_tokens };
            prop_assert!(kept + summary <= tokens && first_turn >= floor);
            if first_turn > floor {
                let one_more = kept + room.turns[first_turn - 1];
                let summary = if summary_tokens == 0 { 0 } else { room.frame_tokens + room.half_summary_tokens() };
                prop_assert!(one_more + summary > tokens, "{first_turn} {summary_tokens}");
            }
        }
    }
}
