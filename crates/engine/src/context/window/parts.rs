//! The parts of a window as they stand, and the messages they make.

use super::layout::ConversationBudget;
use super::{Message, WindowRequest};
use crate::context::turn::{ContextCandidate, render_candidates};
use crate::model::vocabulary::TurnRole;
use crate::receipts::receipt::ReceiptSettings;
use crate::receipts::render;
use crate::sources::skills::Skill;
use crate::text::token_estimate;

/// Tokens a chat format spends on each message beside its text.
const MESSAGE_OVERHEAD_TOKENS: usize = 4;

/// The parts that can be cut, as they stand.
pub(super) struct WindowParts<'a> {
    pub(super) request: &'a WindowRequest,
    pub(super) settings: ReceiptSettings,
    pub(super) skills: Vec<Skill>,
    /// Pinned ones first; they go last.
    pub(super) pinned: Vec<ContextCandidate>,
    pub(super) memories: Vec<ContextCandidate>,
    pub(super) chunks: Vec<ContextCandidate>,
    /// Candidates that were cut, for the receipt.
    pub(super) dropped: Vec<ContextCandidate>,
    pub(super) tool_results: Vec<ToolResult>,
    /// Turns from here on are shown as they were said.
    pub(super) first_turn: usize,
    /// Stands for the turns before; it may tell of some that are shown too.
    pub(super) summary: Option<ShownSummary>,
    /// What the conversation gets at least. Where it is set, the rest makes room for that, not for all that was said.
    pub(super) least_tokens: Option<usize>,
}

pub(super) struct ShownSummary {
    /// How many of the first turns it tells of.
    pub(super) covers: usize,
    /// As it was made; escaped and fenced where it is shown.
    pub(super) text: String,
    /// Escaped, it is shown up to here.
    pub(super) tokens_max: usize,
}

pub(super) struct ToolResult {
    pub(super) text: String,
    /// It was shortened, and told as cut.
    pub(super) is_cut: bool,
}

impl WindowParts<'_> {
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

    /// What everything but the conversation costs.
    fn non_turn_tokens(&self) -> usize {
        message_tokens(&self.messages_before_turns()) + message_tokens(&self.messages_after_turns())
    }

    /// What the conversation has to fit into beside everything else as it stands.
    pub(super) fn conversation_budget(&self) -> ConversationBudget {
        self.conversation_budget_beside(self.non_turn_tokens())
    }

    /// What the conversation has to fit into beside what is never cut.
    pub(super) fn largest_conversation_budget(&self) -> ConversationBudget {
        self.conversation_budget_beside(
            message_tokens(&self.uncuttable_messages()) + message_tokens(&self.latest_message()),
        )
    }

    fn conversation_budget_beside(&self, tokens: usize) -> ConversationBudget {
        let turns = &self.request.turns;
        let frame = render::summary_tokens(&self.settings.tag_prefix, turns.len(), 0) + MESSAGE_OVERHEAD_TOKENS;
        ConversationBudget {
            tokens: self.request.window_tokens.saturating_sub(tokens),
            turns: (0..turns.len()).map(|at| self.turn_tokens(at)).collect(),
            floor: self.first_turn,
            frame_tokens: frame,
        }
    }

    pub(super) fn turn_tokens(&self, at: usize) -> usize {
        message_tokens(&message_if_any(TurnRole::User, &self.request.turns[at].content))
    }

    /// Everything recalled, in one pair of blocks: what the receipt proves.
    pub(super) fn recalled_block(&self) -> String {
        let all: Vec<&ContextCandidate> = self.pinned.iter().chain(&self.memories).chain(&self.chunks).collect();
        render_candidates(&self.settings, &all)
    }

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

    /// What stands before the conversation.
    fn messages_before_turns(&self) -> Vec<Message> {
        let mut messages = self.uncuttable_messages();
        messages.extend(message_if_any(TurnRole::System, &self.recalled_block()));
        messages
    }

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

    /// What stands after the conversation.
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

/// One message; none where there is nothing to say.
fn message_if_any(role: TurnRole, content: &str) -> Vec<Message> {
    match content.trim().is_empty() {
        true => Vec::new(),
        false => vec![Message { role, content: content.to_owned() }],
    }
}

pub(super) fn message_tokens(messages: &[Message]) -> usize {
    messages.iter().map(|message| token_estimate::estimate(&message.content) + MESSAGE_OVERHEAD_TOKENS).sum()
}
