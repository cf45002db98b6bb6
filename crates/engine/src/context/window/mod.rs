//! Window: all messages of one model call, cut to the model's token limit in a fixed order (`cut.rs`).

mod cut;
mod gather;
mod layout;
mod parts;

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::context::turn;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::turn::Turn;
use crate::model::vocabulary::TurnRole;
use crate::ports::change::Change;
use crate::sources::skills::Skill;
use crate::text::token_estimate;
use cut::CutLog;
use parts::WindowParts;

/// The parts of a model's next call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRequest {
    /// The model's context length, minus the tokens reserved for its answer.
    pub window_tokens: usize,
    #[serde(default)]
    pub system_prompt: String,
    /// In addition to the configured skills; one of the same name replaces a configured one.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// Names of the configured skills to include; `None`: all.
    #[serde(default)]
    pub skill_names: Option<Vec<String>>,
    /// The conversation so far, oldest first.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// Oldest first.
    #[serde(default)]
    pub tool_results: Vec<String>,
    /// The latest message; memories and documents are searched for it.
    pub message: String,
}

/// One chat message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub role: TurnRole,
    pub content: String,
}

/// A part that was cut so that the rest fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WindowCut {
    /// `turns`, `memories`, `knowledge` or `tool_results`.
    pub source: &'static str,
    /// Number of turns, memories, chunks or results that were cut.
    pub touched: usize,
    pub tokens_removed: usize,
}

/// The messages of one model call.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Window {
    pub messages: Vec<Message>,
    pub tokens: usize,
    pub cuts: Vec<WindowCut>,
    /// Id of the receipt; `None` if nothing was searched or the receipt could not be stored.
    pub receipt: Option<String>,
    /// What could not be done as requested, in words.
    pub notes: Vec<String>,
}

impl Engine {
    /// The messages for a model's next call, within its window. System prompt, skills and message are never cut; it is
    /// an error if they alone do not fit. Every cut is logged as an event, and the injected memories get a receipt.
    pub fn working_memory(&self, caller: &Caller, request: &WindowRequest) -> Result<Window, Error> {
        let mut notes = Vec::new();
        let mut parts = gather::gather_window_parts(self, caller, request, &mut notes)?;
        let mut log = CutLog { cuts: Vec::new(), notes };
        cut::cut_to_fit(self, caller, &mut parts, &mut log)?;
        let messages = parts.to_messages();
        let tokens = parts::message_tokens(&messages);
        // Everything else is cut by now.
        if tokens > request.window_tokens {
            let message = format!(
                "system prompt, skills and message need {tokens} tokens, and the window has {}",
                request.window_tokens
            );
            return Err(Error::invalid("context.too_large", message));
        }
        // The receipt last, since it waits for the disk.
        log_cuts(self, caller, request, &log.cuts, tokens);
        let receipt = keep_window_receipt(self, caller, parts, &mut log.notes);
        Ok(Window { messages, tokens, cuts: log.cuts, receipt, notes: log.notes })
    }
}

/// Commits the receipt of the memories and chunks; returns its id. A failure is added to the notes.
fn keep_window_receipt(
    engine: &Engine,
    caller: &Caller,
    parts: WindowParts<'_>,
    notes: &mut Vec<String>,
) -> Option<String> {
    if engine.settings.memory_off || parts.request.message.trim().is_empty() {
        return None;
    }
    // Rendered before the parts are taken apart.
    let text = parts.recalled_block();
    let WindowParts { request, settings, pinned, memories, chunks, dropped, .. } = parts;
    // Cut candidates are recorded too, as over the budget.
    let candidates = pinned.into_iter().chain(memories).chain(chunks).chain(dropped);
    let candidates = candidates.map(|choice| choice.considered).collect();
    let tokens = token_estimate::estimate(&text);
    let outcome =
        turn::commit_receipt(engine, caller, &request.message, settings, candidates, &text, tokens, notes.clone());
    notes.extend(outcome.warning);
    outcome.id
}

/// Writes one event per cut. Does not wait for the disk.
fn log_cuts(engine: &Engine, caller: &Caller, request: &WindowRequest, cuts: &[WindowCut], tokens: usize) {
    if cuts.is_empty() || engine.settings.memory_off {
        return;
    }
    let now = engine.clock.now();
    let scope = caller.activity_scope();
    let mut change = Change::new(caller.tenant, now);
    for cut in cuts {
        let event = EventBody::new(EventName::ContextTruncated, caller, now)
            .with_field("source", cut.source)
            .with_field("touched", cut.touched)
            .with_field("tokens_removed", cut.tokens_removed)
            .with_field("tokens", tokens)
            .with_field("window_tokens", request.window_tokens);
        change = change.with_event(event.with_scope(scope.clone()));
    }
    engine.commit_later(change);
}
