//! The order in which a window is cut, and what was cut.

use super::Cut;
use super::layout::{Layout, SUMMARY_TOKENS};
use super::parts::{Parts, ShownSummary, ToolResult};
use crate::Engine;
use crate::context::turn::Choice;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::receipts::receipt::OVER_BUDGET;
use crate::summaries::Summary;
use crate::summaries::extractive::shortened;
use crate::text::count::counted;
use crate::text::tokens;

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
        if parts.is_over() {
            parts.make_room(ledger);
            self.squeeze_turns(caller, parts, ledger)?;
        }
        Ok(())
    }

    /// Puts the turns before `until` into one summary, if that is shorter than they are.
    fn fold_turns(
        &self,
        caller: &Caller,
        parts: &mut Parts<'_>,
        ledger: &mut Ledger,
        until: usize,
    ) -> Result<(), Error> {
        let (before, room) = (parts.tokens(), parts.room());
        if room.turns[..until].iter().sum::<usize>() <= room.frame {
            return Ok(());
        }
        let Summary { covers, text, note } = self.summary_until(caller, parts, until)?;
        parts.first_turn = covers;
        parts.summary = Some(ShownSummary { covers, text, tokens_max: SUMMARY_TOKENS });
        if parts.tokens() >= before {
            (parts.first_turn, parts.summary) = (0, None);
            return Ok(());
        }
        ledger.notes(note);
        ledger.tell("turns", covers, before - parts.tokens());
        Ok(())
    }

    /// Of the newest turns as many stay as fit; a summary of the others stands before them, as long as there is room.
    fn squeeze_turns(&self, caller: &Caller, parts: &mut Parts<'_>, ledger: &mut Ledger) -> Result<(), Error> {
        if !parts.is_over() || parts.request.turns.is_empty() {
            return Ok(());
        }
        let (before, folded) = (parts.tokens(), parts.first_turn);
        match parts.room().layout() {
            Layout { first_turn, summary_tokens: 0 } => {
                (parts.first_turn, parts.summary) = (first_turn, None);
                let turns = counted(first_turn, "turn is", "turns are");
                ledger.notes(Some(format!("the first {turns} left out: no summary fits")));
            }
            Layout { first_turn, summary_tokens } => {
                let Summary { covers, text, note } = self.summary_until(caller, parts, first_turn)?;
                // One that covers fewer turns fits as it is, with the turns since.
                let tokens_max = if covers < first_turn { SUMMARY_TOKENS } else { summary_tokens };
                let short = shortened(&text, tokens_max);
                ledger.notes(note);
                if short != text {
                    let turns = counted(covers, "turn", "turns");
                    ledger.notes(Some(format!("the summary of the first {turns} is shortened to fit")));
                }
                parts.first_turn = covers;
                parts.summary = Some(ShownSummary { covers, text: short, tokens_max });
                parts.let_turns_back(folded);
            }
        }
        ledger.tell("turns", parts.first_turn - folded, before.saturating_sub(parts.tokens()));
        Ok(())
    }

    /// A summary of the turns before `until`: the one that is there, a kept one that is enough, else a new one.
    fn summary_until(&self, caller: &Caller, parts: &mut Parts<'_>, until: usize) -> Result<Summary, Error> {
        if let Some(ShownSummary { covers, text, .. }) = parts.summary.as_ref().filter(|shown| shown.covers == until) {
            return Ok(Summary { covers: *covers, text: text.clone(), note: None });
        }
        let request = parts.request;
        let turns = &request.turns;
        let kept = self.kept_summary(caller, turns, until)?.filter(|kept| kept.covers > parts.first_turn);
        match kept.filter(|kept| kept.covers == until || parts.fits_with(kept)) {
            Some(kept) => Ok(kept),
            None => self.summarised(caller, turns, until, SUMMARY_TOKENS),
        }
    }
}

impl Ledger {
    /// What went, of how many. Where more went of what was told before, nothing new is touched: each counts once.
    fn tell(&mut self, source: &'static str, touched: usize, tokens_removed: usize) {
        let told = match touched {
            0 => self.cuts.iter_mut().rfind(|cut| cut.source == source),
            _ => self.cuts.last_mut().filter(|cut| cut.source == source),
        };
        match told {
            Some(cut) => {
                cut.touched += touched;
                cut.tokens_removed += tokens_removed;
            }
            None => self.cuts.push(Cut { source, touched, tokens_removed }),
        }
    }

    fn notes(&mut self, note: Option<String>) {
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
    }
}

impl Parts<'_> {
    /// Cuts one list down to so many, if that is needed.
    fn cut(&mut self, ledger: &mut Ledger, source: &'static str, list: fn(&mut Self) -> &mut Vec<Choice>, keep: usize) {
        if self.is_over() && list(self).len() > keep {
            let before = self.tokens();
            let cut: Vec<Choice> = list(self).drain(keep..).map(passed).collect();
            let touched = cut.len();
            self.dropped.extend(cut);
            ledger.tell(source, touched, before.saturating_sub(self.tokens()));
        }
    }

    fn shorten_results(&mut self, ledger: &mut Ledger) {
        for at in 0..self.tool_results.len() {
            if !self.is_over() {
                return;
            }
            let text = &self.tool_results[at].text;
            let short = format!("{}\n[cut]", tokens::head(text, TOOL_RESULT_TOKENS));
            let (before, after) = (tokens::estimate(text), tokens::estimate(&short));
            if after < before {
                self.tool_results[at] = ToolResult { text: short, is_cut: true };
                ledger.tell("tool_results", 1, before - after);
            }
        }
    }

    /// Documents, memories, pinned ones and tool results go altogether until the least of the conversation fits: what
    /// is never cut comes first, and rather no memory at all than no answer.
    fn make_room(&mut self, ledger: &mut Ledger) {
        self.least_tokens = Some(self.room_at_most().least_tokens());
        self.cut(ledger, "knowledge", |parts| &mut parts.chunks, 0);
        self.cut(ledger, "memories", |parts| &mut parts.memories, 0);
        self.cut(ledger, "memories", |parts| &mut parts.pinned, 0);
        while self.is_over() && !self.tool_results.is_empty() {
            let before = self.tokens();
            let is_new = !self.tool_results.remove(0).is_cut;
            ledger.tell("tool_results", usize::from(is_new), before - self.tokens());
        }
        self.least_tokens = None;
    }

    /// Whether everything fits beside a kept summary, with the turns since.
    fn fits_with(&mut self, kept: &Summary) -> bool {
        let shown = ShownSummary { covers: kept.covers, text: kept.text.clone(), tokens_max: SUMMARY_TOKENS };
        let first_turn = std::mem::replace(&mut self.first_turn, kept.covers);
        let summary = self.summary.replace(shown);
        let fits = !self.is_over();
        (self.first_turn, self.summary) = (first_turn, summary);
        fits
    }

    /// A summary that came out shorter than there was room for leaves some to turns it tells of.
    fn let_turns_back(&mut self, folded: usize) {
        let mut left = self.request.window_tokens.saturating_sub(self.tokens());
        while self.first_turn > folded {
            let turn = self.turn_tokens(self.first_turn - 1);
            let Some(rest) = left.checked_sub(turn) else { return };
            left = rest;
            self.first_turn -= 1;
        }
    }
}

fn passed(mut choice: Choice) -> Choice {
    choice.considered.block = None;
    OVER_BUDGET.clone_into(&mut choice.considered.reason);
    choice
}
