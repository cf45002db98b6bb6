//! The order in which a window is cut, and what was cut.

use super::Cut;
use super::parts::{Parts, SUMMARY_TOKENS, ToolResult};
use crate::Engine;
use crate::caller::Caller;
use crate::context::Choice;
use crate::error::Error;
use crate::receipt::OVER_BUDGET;
use crate::tokens;

/// Memories and chunks that stay at their first cut; turns that stay whole as long as possible (SPEC §3).
const MEMORIES_CUT: usize = 3;
const CHUNKS_CUT: usize = 2;
const TURNS_WHOLE: usize = 20;
/// A shortened tool result keeps this much: its first lines say what it was.
const TOOL_RESULT_TOKENS: usize = 60;

/// What was cut so far, and what it brought.
pub(super) struct Ledger {
    pub(super) cuts: Vec<Cut>,
    pub(super) notes: Vec<String>,
    pub(super) last: usize,
}

impl Engine {
    /// Cuts in the order of SPEC §3 until the rest fits.
    pub(super) fn cut_to_fit(&self, caller: &Caller, parts: &mut Parts<'_>, ledger: &mut Ledger) -> Result<(), Error> {
        let turns = parts.request.turns.len();
        if parts.is_over() && turns > TURNS_WHOLE {
            self.fold_turns(caller, parts, ledger, turns - TURNS_WHOLE)?;
        }
        parts.cut(ledger, "memories", |parts| &mut parts.memories, MEMORIES_CUT);
        parts.cut(ledger, "knowledge", |parts| &mut parts.chunks, CHUNKS_CUT);
        parts.shorten_results(ledger);
        if let Some(until) = parts.turns_too_many() {
            self.fold_turns(caller, parts, ledger, until)?;
        }
        // What is never cut comes first: rather no memory at all than no answer.
        parts.cut(ledger, "knowledge", |parts| &mut parts.chunks, 0);
        parts.cut(ledger, "memories", |parts| &mut parts.memories, 0);
        parts.drop_the_rest(ledger);
        Ok(())
    }

    /// Puts the turns before `until` into one summary: a kept one, if that is enough, else a new one.
    fn fold_turns(
        &self,
        caller: &Caller,
        parts: &mut Parts<'_>,
        ledger: &mut Ledger,
        until: usize,
    ) -> Result<(), Error> {
        let (before, turns) = (parts.first_turn, &parts.request.turns);
        let kept = self.kept_summary(caller, turns, until)?.filter(|kept| kept.covers > before);
        let is_enough = kept.filter(|kept| {
            let whole = kept.covers == until;
            (parts.first_turn, parts.summary) = (kept.covers, kept.text.clone());
            whole || !parts.is_over()
        });
        match is_enough {
            Some(kept) => kept.note.iter().for_each(|note| ledger.note(note)),
            None => {
                let summary = self.summarised(caller, turns, until, SUMMARY_TOKENS)?;
                (parts.first_turn, parts.summary) = (until, summary.text);
                summary.note.iter().for_each(|note| ledger.note(note));
            }
        }
        ledger.tell(parts, "turns", parts.first_turn - before);
        Ok(())
    }
}

impl Ledger {
    fn tell(&mut self, parts: &Parts<'_>, source: &'static str, touched: usize) {
        let now = parts.tokens();
        let removed = self.last.saturating_sub(now);
        self.last = now;
        match self.cuts.last_mut() {
            Some(cut) if cut.source == source => {
                cut.touched += touched;
                cut.tokens_removed += removed;
            }
            _ => self.cuts.push(Cut { source, touched, tokens_removed: removed }),
        }
    }

    /// More went of what was told before: each turn and each result is counted once.
    fn tell_again(&mut self, parts: &Parts<'_>, source: &'static str) {
        let now = parts.tokens();
        let removed = self.last.saturating_sub(now);
        self.last = now;
        if let Some(cut) = self.cuts.iter_mut().rfind(|cut| cut.source == source) {
            cut.tokens_removed += removed;
        }
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|told| told == note) {
            self.notes.push(note.to_owned());
        }
    }
}

impl Parts<'_> {
    /// Cuts one list down to so many, if that is needed.
    fn cut(&mut self, ledger: &mut Ledger, source: &'static str, list: fn(&mut Self) -> &mut Vec<Choice>, keep: usize) {
        if self.is_over() && list(self).len() > keep {
            let cut: Vec<Choice> = list(self).drain(keep..).map(passed).collect();
            let touched = cut.len();
            self.dropped.extend(cut);
            ledger.tell(self, source, touched);
        }
    }

    fn shorten_results(&mut self, ledger: &mut Ledger) {
        for at in 0..self.tool_results.len() {
            if !self.is_over() {
                return;
            }
            let text = &self.tool_results[at].text;
            let kept = tokens::head(text, TOOL_RESULT_TOKENS);
            if kept.len() < text.len() {
                self.tool_results[at] = ToolResult { text: format!("{kept}\n[cut]"), is_cut: true };
                ledger.tell(self, "tool_results", 1);
            }
        }
    }

    /// How many of the oldest turns must go into the summary, reckoned with the longest summary so that one is made
    /// once; the newest turn stays. `None`: everything fits.
    fn turns_too_many(&mut self) -> Option<usize> {
        let turns = self.request.turns.len();
        if !self.is_over() || self.first_turn + 1 >= turns {
            return None;
        }
        let (first_turn, summary) = (self.first_turn, std::mem::take(&mut self.summary));
        let summary_tokens = self.summary_tokens();
        let fits = |parts: &mut Self, until: usize| {
            parts.first_turn = until;
            parts.tokens() + summary_tokens <= parts.request.window_tokens
        };
        let found = (first_turn + 1..turns).find(|until| fits(self, *until)).unwrap_or(turns - 1);
        (self.first_turn, self.summary) = (first_turn, summary);
        Some(found)
    }

    /// Pinned memories, tool results, and in the end the turns themselves.
    fn drop_the_rest(&mut self, ledger: &mut Ledger) {
        self.cut(ledger, "memories", |parts| &mut parts.pinned, 0);
        while self.is_over() && !self.tool_results.is_empty() {
            match self.tool_results.remove(0).is_cut {
                true => ledger.tell_again(self, "tool_results"),
                false => ledger.tell(self, "tool_results", 1),
            }
        }
        if self.is_over() && self.first_turn > 0 {
            self.summary.clear();
            ledger.tell_again(self, "turns");
        }
        while self.is_over() && self.first_turn < self.request.turns.len() {
            self.first_turn += 1;
            ledger.tell(self, "turns", 1);
        }
    }
}

fn passed(mut choice: Choice) -> Choice {
    choice.considered.block = None;
    OVER_BUDGET.clone_into(&mut choice.considered.reason);
    choice
}
