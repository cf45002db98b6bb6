//! The parts of a window as they stand, and the messages they make.

use super::layout::Room;
use super::{Message, WindowRequest};
use crate::context::turn::{Choice, rendered};
use crate::model::vocabulary::TurnRole;
use crate::receipts::receipt::ReceiptSettings;
use crate::receipts::render;
use crate::sources::skills::Skill;
use crate::text::tokens;

/// Tokens a chat format spends on each message beside its text.
const MESSAGE_TOKENS: usize = 4;

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

impl Parts<'_> {
    pub(super) fn is_over(&self) -> bool {
        let tokens = match self.least_tokens {
            Some(least) => self.rest_tokens() + least,
            None => self.tokens(),
        };
        tokens > self.request.window_tokens
    }

    pub(super) fn tokens(&self) -> usize {
        cost(&self.messages())
    }

    /// What everything but the conversation costs.
    fn rest_tokens(&self) -> usize {
        cost(&self.before()) + cost(&self.after())
    }

    /// What the conversation has to fit into beside everything else as it stands.
    pub(super) fn room(&self) -> Room {
        self.room_beside(self.rest_tokens())
    }

    /// What the conversation has to fit into beside what is never cut.
    pub(super) fn room_at_most(&self) -> Room {
        self.room_beside(cost(&self.never_cut()) + cost(&self.message()))
    }

    fn room_beside(&self, tokens: usize) -> Room {
        let turns = &self.request.turns;
        let frame = render::summary_tokens(&self.settings.tag_prefix, turns.len(), 0) + MESSAGE_TOKENS;
        Room {
            tokens: self.request.window_tokens.saturating_sub(tokens),
            turns: (0..turns.len()).map(|at| self.turn_tokens(at)).collect(),
            floor: self.first_turn,
            frame,
        }
    }

    pub(super) fn turn_tokens(&self, at: usize) -> usize {
        cost(&said(TurnRole::User, &self.request.turns[at].content))
    }

    /// Everything recalled, in one pair of blocks: what the receipt proves.
    pub(super) fn block(&self) -> String {
        let all: Vec<&Choice> = self.pinned.iter().chain(&self.memories).chain(&self.chunks).collect();
        rendered(&self.settings, &all)
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let turns = self.request.turns[self.first_turn..].iter();
        let turns = turns.flat_map(|turn| said(turn.role.unwrap_or(TurnRole::User), &turn.content));
        self.before().into_iter().chain(self.summary_message()).chain(turns).chain(self.after()).collect()
    }

    /// What stands before the conversation.
    fn before(&self) -> Vec<Message> {
        let mut messages = self.never_cut();
        messages.extend(said(TurnRole::System, &self.block()));
        messages
    }

    fn never_cut(&self) -> Vec<Message> {
        let mut messages = said(TurnRole::System, &self.request.system_prompt);
        for skill in &self.skills {
            let text = format!("# Skill: {}\n{}\n\n{}", skill.name, skill.description, skill.body);
            messages.extend(said(TurnRole::System, &text));
        }
        messages
    }

    fn summary_message(&self) -> Vec<Message> {
        match &self.summary {
            Some(ShownSummary { covers, text, tokens_max }) if !text.trim().is_empty() => {
                said(TurnRole::System, &render::summary(&self.settings.tag_prefix, *covers, text, *tokens_max))
            }
            _ => Vec::new(),
        }
    }

    /// What stands after the conversation.
    fn after(&self) -> Vec<Message> {
        let mut messages: Vec<Message> =
            self.tool_results.iter().flat_map(|result| said(TurnRole::ToolResult, &result.text)).collect();
        messages.extend(self.message());
        messages
    }

    fn message(&self) -> Vec<Message> {
        said(TurnRole::User, &self.request.message)
    }
}

/// One message; none where there is nothing to say.
fn said(role: TurnRole, content: &str) -> Vec<Message> {
    match content.trim().is_empty() {
        true => Vec::new(),
        false => vec![Message { role, content: content.to_owned() }],
    }
}

pub(super) fn cost(messages: &[Message]) -> usize {
    messages.iter().map(|message| tokens::estimate(&message.content) + MESSAGE_TOKENS).sum()
}
