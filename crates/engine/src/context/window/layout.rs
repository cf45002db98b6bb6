//! Layout of a conversation: which turns stay verbatim, and how long the summary of the others may be. Pure arithmetic.

/// Most tokens of a summary's text, after escaping: about a page, however long the conversation is.
pub(super) const SUMMARY_TOKENS_MAX: usize = 300;
/// Fewest tokens of a summary's text: one sentence with its speaker.
const SUMMARY_TOKENS_MIN: usize = 48;

/// Token budget and costs of a conversation.
pub(super) struct ConversationBudget {
    /// Budget for turns and summary.
    pub(super) tokens: usize,
    /// Tokens of each turn, oldest first.
    pub(super) turns: Vec<usize>,
    /// Turns before this index are summarised already and stay so.
    pub(super) floor: usize,
    /// Tokens of a summary without its text.
    pub(super) frame_tokens: usize,
}

/// The shown part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConversationLayout {
    /// Index of the first verbatim turn.
    pub(super) first_turn: usize,
    /// Tokens of the text of the summary of the turns before; 0: no summary.
    pub(super) summary_tokens: usize,
}

impl ConversationBudget {
    /// Chooses the layout, in this order of preference:
    /// 1. a summary of up to half of the budget, and as many of the newest turns as fit after it;
    /// 2. a minimal summary and the turns that fit, if not even the newest turn fits next to a larger one;
    /// 3. turns without a summary;
    /// 4. a summary of all turns, if no turn fits at all.
    pub(super) fn choose_layout(&self) -> ConversationLayout {
        let turns = self.turns.len();
        let left = self.tokens_left_by_turn();
        let first_turn_beside_summary = |text: usize| {
            let fits = |first: &usize| left[*first].is_some_and(|left| left >= self.frame_tokens + text);
            // At least one turn is summarised, else there is nothing to summarise.
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

    /// Tokens to reserve for the conversation before other parts are kept: the newest turn and a minimal summary. If
    /// both do not fit, the newest turn; else the summary; else nothing, since no cut could make room.
    pub(super) fn least_tokens(&self) -> usize {
        let summary = self.frame_tokens + SUMMARY_TOKENS_MIN;
        let Some(newest) = self.turns.last() else { return 0 };
        let both = if self.turns.len() > 1 { newest + summary } else { *newest };
        // A turn or summary that never fits must not push other parts out in vain.
        [both, *newest, summary].into_iter().find(|least| *least <= self.tokens).unwrap_or(0)
    }

    /// Text tokens of a summary that takes half of the budget, within the bounds.
    fn half_summary_tokens(&self) -> usize {
        (self.tokens / 2).saturating_sub(self.frame_tokens).clamp(SUMMARY_TOKENS_MIN, SUMMARY_TOKENS_MAX)
    }

    /// Tokens left if the turns from each index on are shown; the last item is for no turns. `None`: they do not fit.
    fn tokens_left_by_turn(&self) -> Vec<Option<usize>> {
        let mut left = vec![Some(self.tokens); self.turns.len() + 1];
        for first in (0..self.turns.len()).rev() {
            left[first] = left[first + 1].and_then(|left| left.checked_sub(self.turns[first]));
        }
        left
    }

    /// Tokens left for the text of a summary message of at most `tokens`; 0 if that is too little for a summary.
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
    fn the_summary_shrinks_before_the_newest_turns_are_left_out() {
        let check = |tokens: usize, turns: &[usize], floor: usize, first_turn: usize, summary_tokens: usize| {
            let layout = room(tokens, turns.to_vec(), floor).choose_layout();
            assert_eq!(layout, ConversationLayout { first_turn, summary_tokens }, "{tokens} {turns:?} {floor}");
        };
        check(1_000, &[66; 20], 0, 11, 300);
        check(387, &[66; 20], 0, 18, 185);
        check(197, &[66; 3], 0, 2, 61);
        // Not even a minimal summary fits next to the newest turn: turns only.
        check(180, &[66; 3], 0, 1, 0);
        check(99, &[60, 20, 20], 0, 1, 0);
        // The newest turn never fits: all turns are summarised, if a summary fits.
        check(500, &[10, 900], 0, 2, 300);
        check(150, &[900], 0, 1, 80);
        check(100, &[900], 0, 1, 0);
        // Summarised turns stay summarised.
        check(900, &[10; 30], 10, 10, 300);
        check(0, &[], 0, 0, 0);
    }

    #[test]
    fn a_turn_that_can_never_fit_reserves_no_tokens() {
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
        fn a_layout_fits_and_keeps_every_turn_that_would(
            tokens in 0_usize..2_000,
            turns in proptest::collection::vec(0_usize..300, 0..40),
            floor in 0_usize..20,
        ) {
            let floor = floor.min(turns.len());
            // A conversation that fits as a whole needs no layout.
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
