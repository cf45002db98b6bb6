//! Parts of a window during the cuts, the messages they make, and their tokens.

use super::layout::ConversationBudget;
use super::{Message, WindowRequest};
use crate::context::turn::{ContextCandidate, render_candidates};
use crate::model::vocabulary::TurnRole;
use crate::receipts::receipt::ReceiptSettings;
use crate::receipts::render;
use crate::sources::skills::Skill;
use crate::text::token_estimate;

/// Tokens of a chat format per message, besides its text.
const MESSAGE_OVERHEAD_TOKENS: usize = 4;

/// The parts of a window, as far as they are cut already.
pub(super) struct WindowParts<'a> {
    pub(super) request: &'a WindowRequest,
    pub(super) settings: ReceiptSettings,
    pub(super) skills: Vec<Skill>,
    /// Always-inject memories: shown first, cut last.
    pub(super) pinned: Vec<ContextCandidate>,
    pub(super) memories: Vec<ContextCandidate>,
    pub(super) chunks: Vec<ContextCandidate>,
    /// Candidates that were cut, for the receipt.
    pub(super) dropped: Vec<ContextCandidate>,
    pub(super) tool_results: Vec<ToolResult>,
    /// Index of the first turn that is shown verbatim.
    pub(super) first_turn: usize,
    /// Summary of the turns before `first_turn`. It may also cover some turns that are shown.
    pub(super) summary: Option<ShownSummary>,
    /// Tokens reserved for the conversation. While set, the other parts are cut until these fit, instead of all turns.
    pub(super) least_tokens: Option<usize>,
}

/// The summary message of a window.
pub(super) struct ShownSummary {
    /// Number of turns it covers, from the first.
    pub(super) covers: usize,
    /// Unescaped; rendering escapes and fences it.
    pub(super) text: String,
    /// Cut here, counted after escaping.
    pub(super) tokens_max: usize,
}

/// A tool's output.
pub(super) struct ToolResult {
    pub(super) text: String,
    /// Shortened already; removing it later is not counted as another cut.
    pub(super) is_cut: bool,
}

impl WindowParts<'_> {
    /// Whether another cut is needed.
    pub(super) fn is_over_window(&self) -> bool {
        let tokens = match self.least_tokens {
            Some(least) => self.non_turn_tokens() + least,
            None => self.total_tokens(),
        };
        tokens > self.request.window_tokens
    }

    pub(super) fn total_tokens(&self) -> usize {
        message_tokens(&self.to_messages())
    }

    /// Tokens of everything but the conversation.
    fn non_turn_tokens(&self) -> usize {
        message_tokens(&self.messages_before_turns()) + message_tokens(&self.messages_after_turns())
    }

    /// Budget of the conversation next to all other parts, as far as they are cut.
    pub(super) fn conversation_budget(&self) -> ConversationBudget {
        self.conversation_budget_beside(self.non_turn_tokens())
    }

    /// Budget of the conversation if everything that can be cut were cut.
    pub(super) fn largest_conversation_budget(&self) -> ConversationBudget {
        self.conversation_budget_beside(
            message_tokens(&self.uncuttable_messages()) + message_tokens(&self.latest_message()),
        )
    }

    fn conversation_budget_beside(&self, tokens: usize) -> ConversationBudget {
        let turns = &self.request.turns;
        // The frame names the number of covered turns; the largest number gives an upper bound.
        let frame = render::summary_tokens(&self.settings.tag_prefix, turns.len(), 0) + MESSAGE_OVERHEAD_TOKENS;
        ConversationBudget {
            tokens: self.request.window_tokens.saturating_sub(tokens),
            turns: (0..turns.len()).map(|at| self.turn_tokens(at)).collect(),
            // Turns that are summarised already are not shown again.
            floor: self.first_turn,
            frame_tokens: frame,
        }
    }

    pub(super) fn turn_tokens(&self, at: usize) -> usize {
        // The role does not change the cost.
        message_tokens(&message_if_any(TurnRole::User, &self.request.turns[at].content))
    }

    /// The blocks of all memories and chunks. The receipt holds their hash.
    pub(super) fn recalled_block(&self) -> String {
        let all: Vec<&ContextCandidate> = self.pinned.iter().chain(&self.memories).chain(&self.chunks).collect();
        render_candidates(&self.settings, &all)
    }

    /// Order: system prompt, skills, memory blocks, summary, turns, tool results, latest message.
    pub(super) fn to_messages(&self) -> Vec<Message> {
        let turns = self.request.turns[self.first_turn..].iter();
        let turns = turns.flat_map(|turn| message_if_any(turn.role.unwrap_or(TurnRole::User), &turn.content));
        self.messages_before_turns()
            .into_iter()
            .chain(self.summary_message())
            .chain(turns)
            .chain(self.messages_after_turns())
            .collect()
    }

    /// Messages before the conversation.
    fn messages_before_turns(&self) -> Vec<Message> {
        let mut messages = self.uncuttable_messages();
        messages.extend(message_if_any(TurnRole::System, &self.recalled_block()));
        messages
    }

    /// System prompt and skills, which are never cut.
    fn uncuttable_messages(&self) -> Vec<Message> {
        let mut messages = message_if_any(TurnRole::System, &self.request.system_prompt);
        for skill in &self.skills {
            let text = format!("# Skill: {}\n{}\n\n{}", skill.name, skill.description, skill.body);
            messages.extend(message_if_any(TurnRole::System, &text));
        }
        messages
    }

    fn summary_message(&self) -> Vec<Message> {
        match &self.summary {
            Some(ShownSummary { covers, text, tokens_max }) if !text.trim().is_empty() => message_if_any(
                TurnRole::System,
                &render::render_summary(&self.settings.tag_prefix, *covers, text, *tokens_max),
            ),
            _ => Vec::new(),
        }
    }

    /// Messages after the conversation.
    fn messages_after_turns(&self) -> Vec<Message> {
        let mut messages: Vec<Message> =
            self.tool_results.iter().flat_map(|result| message_if_any(TurnRole::ToolResult, &result.text)).collect();
        messages.extend(self.latest_message());
        messages
    }

    fn latest_message(&self) -> Vec<Message> {
        message_if_any(TurnRole::User, &self.request.message)
    }
}

/// One message, or none if the content is blank.
fn message_if_any(role: TurnRole, content: &str) -> Vec<Message> {
    match content.trim().is_empty() {
        true => Vec::new(),
        false => vec![Message { role, content: content.to_owned() }],
    }
}

pub(super) fn message_tokens(messages: &[Message]) -> usize {
    messages.iter().map(|message| token_estimate::estimate(&message.content) + MESSAGE_OVERHEAD_TOKENS).sum()
}
