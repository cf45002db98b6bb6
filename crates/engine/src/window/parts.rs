//! The parts of a window as they stand, and the messages they make.

use super::{Message, WindowRequest};
use crate::context::{Choice, rendered};
use crate::receipt::ReceiptSettings;
use crate::render;
use crate::skills::Skill;
use crate::tokens;
use crate::vocabulary::TurnRole;

/// Tokens a chat format spends on each message beside its text.
const MESSAGE_TOKENS: usize = 4;
/// Tokens of a summary, escaped: a page, whatever it stands for.
pub(super) const SUMMARY_TOKENS: usize = 300;

/// The parts that can be cut, as they stand.
pub(super) struct Parts<'a> {
    pub(super) request: &'a WindowRequest,
    pub(super) settings: ReceiptSettings,
    pub(super) skills: Vec<Skill>,
    /// Pinned ones first; they go last.
    pub(super) pinned: Vec<Choice>,
    pub(super) memories: Vec<Choice>,
    pub(super) chunks: Vec<Choice>,
    /// Candidates that were cut, for the receipt.
    pub(super) dropped: Vec<Choice>,
    pub(super) tool_results: Vec<ToolResult>,
    /// Turns before this are in the summary.
    pub(super) first_turn: usize,
    /// As it was made; escaped and fenced where it is shown.
    pub(super) summary: String,
}

pub(super) struct ToolResult {
    pub(super) text: String,
    /// It was shortened, and told as cut.
    pub(super) is_cut: bool,
}

impl Parts<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.tokens() > self.request.window_tokens
    }

    pub(super) fn tokens(&self) -> usize {
        cost(&self.messages())
    }

    /// The most the message of a summary costs, whatever it says.
    pub(super) fn summary_tokens(&self) -> usize {
        let turns = self.request.turns.len();
        render::summary_tokens(&self.settings.tag_prefix, turns, SUMMARY_TOKENS) + MESSAGE_TOKENS
    }

    /// Everything recalled, in one pair of blocks: what the receipt proves.
    pub(super) fn block(&self) -> String {
        let all: Vec<&Choice> = self.pinned.iter().chain(&self.memories).chain(&self.chunks).collect();
        rendered(&self.settings, &all)
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let request = self.request;
        let mut messages = Vec::new();
        let mut say = |role: TurnRole, content: String| {
            if !content.trim().is_empty() {
                messages.push(Message { role, content });
            }
        };
        say(TurnRole::System, request.system_prompt.clone());
        for skill in &self.skills {
            say(TurnRole::System, format!("# Skill: {}\n{}\n\n{}", skill.name, skill.description, skill.body));
        }
        say(TurnRole::System, self.block());
        if !self.summary.trim().is_empty() {
            let prefix = &self.settings.tag_prefix;
            say(TurnRole::System, render::summary(prefix, self.first_turn, &self.summary, SUMMARY_TOKENS));
        }
        for turn in &request.turns[self.first_turn..] {
            say(turn.role.unwrap_or(TurnRole::User), turn.content.clone());
        }
        for result in &self.tool_results {
            say(TurnRole::ToolResult, result.text.clone());
        }
        say(TurnRole::User, request.message.clone());
        messages
    }
}

pub(super) fn cost(messages: &[Message]) -> usize {
    messages.iter().map(|message| tokens::estimate(&message.content) + MESSAGE_TOKENS).sum()
}
