//! Budget order of a window: [`cut_to_fit`] cuts the parts in a fixed order until the rest fits, and logs the cuts.

use super::WindowCut;
use super::layout::{ConversationLayout, SUMMARY_TOKENS_MAX};
use super::parts::{ShownSummary, ToolResult, WindowParts};
use crate::Engine;
use crate::context::turn::ContextCandidate;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::receipts::receipt::OVER_BUDGET_REASON;
use crate::summaries::extractive::shorten_summary;
use crate::summaries::{self, Summary};
use crate::text::plural::format_count;
use crate::text::token_estimate;

/// Memories and document chunks left after their first cut.
const MEMORIES_AFTER_CUT: usize = 3;
const CHUNKS_AFTER_CUT: usize = 2;
/// Newest turns that the first cut leaves verbatim.
const VERBATIM_TURNS: usize = 20;
/// Tokens of a shortened tool result: its first lines usually say what it is.
const TOOL_RESULT_TOKENS: usize = 60;

/// The cuts so far, and notes for the caller.
pub(super) struct CutLog {
    pub(super) cuts: Vec<WindowCut>,
    pub(super) notes: Vec<String>,
}

/// Budget order of a window. To change what is cut first, change this function (and `docs/guide/context.md`).
///
/// 1. Turns before the newest 20 become one summary.
/// 2. Memories: from 5 to 3.
/// 3. Document chunks: from 5 to 2.
/// 4. Tool results are shortened, oldest first.
/// 5. The remaining turns join the summary, oldest first, down to the newest turn.
/// 6. Chunks, memories, always-inject memories and tool results are removed.
///
/// Each step ends as soon as the rest fits. System prompt, skills and message are never cut.
pub(crate) fn cut_to_fit(
    engine: &Engine,
    caller: &Caller,
    parts: &mut WindowParts<'_>,
    log: &mut CutLog,
) -> Result<(), Error> {
    let turns = parts.request.turns.len();
    if parts.is_over_window() && turns > VERBATIM_TURNS {
        summarise_older_turns(engine, caller, parts, log, turns - VERBATIM_TURNS)?;
    }
    parts.cut_list(log, "memories", |parts| &mut parts.memories, MEMORIES_AFTER_CUT);
    parts.cut_list(log, "knowledge", |parts| &mut parts.chunks, CHUNKS_AFTER_CUT);
    parts.shorten_tool_results(log);
    if parts.is_over_window() {
        // Step 6 runs before step 5, but removes only what even the smallest conversation leaves no room for. So turns
        // give way before the last memories do.
        parts.make_room(log);
        fit_turns(engine, caller, parts, log)?;
    }
    Ok(())
}

/// Replaces the turns before `until` by a summary, if that is shorter.
fn summarise_older_turns(
    engine: &Engine,
    caller: &Caller,
    parts: &mut WindowParts<'_>,
    log: &mut CutLog,
    until: usize,
) -> Result<(), Error> {
    let (before, room) = (parts.total_tokens(), parts.conversation_budget());
    // Checked before the summary is made: even an empty one costs its frame, and making one may call an endpoint.
    if room.turns[..until].iter().sum::<usize>() <= room.frame_tokens {
        return Ok(());
    }
    let Summary { covers, text, note } = summary_until(engine, caller, parts, until)?;
    parts.first_turn = covers;
    parts.summary = Some(ShownSummary { covers, text, tokens_max: SUMMARY_TOKENS_MAX });
    // A summary of a few short turns can be longer than the turns.
    if parts.total_tokens() >= before {
        (parts.first_turn, parts.summary) = (0, None);
        return Ok(());
    }
    log.add_note(note);
    log.record_cut("turns", covers, before - parts.total_tokens());
    Ok(())
}

/// Keeps as many of the newest turns as fit, after a summary of the others if there is room for one.
fn fit_turns(engine: &Engine, caller: &Caller, parts: &mut WindowParts<'_>, log: &mut CutLog) -> Result<(), Error> {
    if !parts.is_over_window() || parts.request.turns.is_empty() {
        return Ok(());
    }
    let (before, already_summarised) = (parts.total_tokens(), parts.first_turn);
    match parts.conversation_budget().choose_layout() {
        ConversationLayout { first_turn, summary_tokens: 0 } => {
            (parts.first_turn, parts.summary) = (first_turn, None);
            let turns = format_count(first_turn, "turn is", "turns are");
            log.add_note(Some(format!("the first {turns} left out: no summary fits")));
        }
        ConversationLayout { first_turn, summary_tokens } => {
            let Summary { covers, text, note } = summary_until(engine, caller, parts, first_turn)?;
            // A stored summary of fewer turns was chosen because it fits in full with the turns after it.
            let tokens_max = if covers < first_turn { SUMMARY_TOKENS_MAX } else { summary_tokens };
            let short = shorten_summary(&text, tokens_max);
            log.add_note(note);
            if short != text {
                let turns = format_count(covers, "turn", "turns");
                log.add_note(Some(format!("the summary of the first {turns} is shortened to fit")));
            }
            parts.first_turn = covers;
            parts.summary = Some(ShownSummary { covers, text: short, tokens_max });
            parts.restore_turns(already_summarised);
        }
    }
    // Saturating: a new summary can cost more than the turns it replaced.
    log.record_cut("turns", parts.first_turn - already_summarised, before.saturating_sub(parts.total_tokens()));
    Ok(())
}

/// A summary of the turns before `until`: the shown one, a stored one, or a new one. A stored summary of fewer turns is
/// used if everything fits with it, which saves a call to the endpoint.
fn summary_until(
    engine: &Engine,
    caller: &Caller,
    parts: &mut WindowParts<'_>,
    until: usize,
) -> Result<Summary, Error> {
    // Without its note, which is in the log already.
    if let Some(ShownSummary { covers, text, .. }) = parts.summary.as_ref().filter(|shown| shown.covers == until) {
        return Ok(Summary { covers: *covers, text: text.clone(), note: None });
    }
    let request = parts.request;
    let turns = &request.turns;
    // One that covers no more than is summarised already saves nothing.
    let kept =
        summaries::find_kept_summary(engine, caller, turns, until)?.filter(|kept| kept.covers > parts.first_turn);
    match kept.filter(|kept| kept.covers == until || parts.fits_with_summary(kept)) {
        Some(kept) => Ok(kept),
        None => summaries::get_or_make_summary(engine, caller, turns, until, SUMMARY_TOKENS_MAX),
    }
}

impl CutLog {
    /// Logs a cut. `touched` counts parts that were not cut before; with 0 the tokens are added to the earlier cut of
    /// the same source. Consecutive cuts of one source become one entry.
    fn record_cut(&mut self, source: &'static str, touched: usize, tokens_removed: usize) {
        let previous = match touched {
            0 => self.cuts.iter_mut().rfind(|cut| cut.source == source),
            _ => self.cuts.last_mut().filter(|cut| cut.source == source),
        };
        match previous {
            Some(cut) => {
                cut.touched += touched;
                cut.tokens_removed += tokens_removed;
            }
            None => self.cuts.push(WindowCut { source, touched, tokens_removed }),
        }
    }

    /// Adds a note once.
    fn add_note(&mut self, note: Option<String>) {
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
    }
}

impl WindowParts<'_> {
    /// Cuts a list to its first `keep` candidates if the window is still too large. They are ranked, so the worst go.
    fn cut_list(
        &mut self,
        log: &mut CutLog,
        source: &'static str,
        list: fn(&mut Self) -> &mut Vec<ContextCandidate>,
        keep: usize,
    ) {
        if self.is_over_window() && list(self).len() > keep {
            let before = self.total_tokens();
            let cut: Vec<ContextCandidate> = list(self).drain(keep..).map(mark_over_budget).collect();
            let touched = cut.len();
            self.dropped.extend(cut);
            log.record_cut(source, touched, before.saturating_sub(self.total_tokens()));
        }
    }

    /// Shortens tool results, oldest first, until the rest fits.
    fn shorten_tool_results(&mut self, log: &mut CutLog) {
        for at in 0..self.tool_results.len() {
            if !self.is_over_window() {
                return;
            }
            let text = &self.tool_results[at].text;
            let short = format!("{}\n[cut]", token_estimate::truncate_to(text, TOOL_RESULT_TOKENS));
            let (before, after) = (token_estimate::estimate(text), token_estimate::estimate(&short));
            // Short results would only grow by the `[cut]` mark.
            if after < before {
                self.tool_results[at] = ToolResult { text: short, is_cut: true };
                log.record_cut("tool_results", 1, before - after);
            }
        }
    }

    /// Removes chunks, memories, always-inject memories and tool results, in this order, until the newest turn and a
    /// short summary fit next to what is never cut. An answer without memories is better than none.
    fn make_room(&mut self, log: &mut CutLog) {
        // From here to the reset below, `is_over_window` counts these tokens instead of the turns.
        self.least_tokens = Some(self.largest_conversation_budget().least_tokens());
        self.cut_list(log, "knowledge", |parts| &mut parts.chunks, 0);
        self.cut_list(log, "memories", |parts| &mut parts.memories, 0);
        self.cut_list(log, "memories", |parts| &mut parts.pinned, 0);
        while self.is_over_window() && !self.tool_results.is_empty() {
            let before = self.total_tokens();
            // A result that was shortened before is in the log already.
            let is_new = !self.tool_results.remove(0).is_cut;
            log.record_cut("tool_results", usize::from(is_new), before - self.total_tokens());
        }
        self.least_tokens = None;
    }

    /// Whether everything fits with a stored summary and the turns after it. Tries it out and restores the parts.
    fn fits_with_summary(&mut self, kept: &Summary) -> bool {
        let shown = ShownSummary { covers: kept.covers, text: kept.text.clone(), tokens_max: SUMMARY_TOKENS_MAX };
        let first_turn = std::mem::replace(&mut self.first_turn, kept.covers);
        let summary = self.summary.replace(shown);
        let fits = !self.is_over_window();
        (self.first_turn, self.summary) = (first_turn, summary);
        fits
    }

    /// Shows turns again that the summary covers, newest first, if the summary came out shorter than its budget. Turns
    /// before `already_summarised` stay hidden.
    fn restore_turns(&mut self, already_summarised: usize) {
        let mut tokens_left = self.request.window_tokens.saturating_sub(self.total_tokens());
        while self.first_turn > already_summarised {
            let turn = self.turn_tokens(self.first_turn - 1);
            let Some(rest) = tokens_left.checked_sub(turn) else { return };
            tokens_left = rest;
            self.first_turn -= 1;
        }
    }
}

/// Marks a candidate as not shown, for the receipt.
fn mark_over_budget(mut choice: ContextCandidate) -> ContextCandidate {
    choice.considered.block = None;
    OVER_BUDGET_REASON.clone_into(&mut choice.considered.reason);
    choice
}
