//! The clients that have hooks, and their words for the events. Data only.

use clap::ValueEnum;

use crate::config::HookSettings;

/// What happened in a client, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HookEvent {
    /// A session begins or goes on
    SessionStart,
    /// The person has sent a prompt
    Prompt,
    /// The client is about to summarise the conversation
    PreCompact,
    /// The agent has answered
    Stop,
    /// The session is over
    SessionEnd,
}

impl HookEvent {
    pub const ALL: [HookEvent; 5] =
        [HookEvent::SessionStart, HookEvent::Prompt, HookEvent::PreCompact, HookEvent::Stop, HookEvent::SessionEnd];

    /// The word on the command line and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "session-start",
            HookEvent::Prompt => "prompt",
            HookEvent::PreCompact => "pre-compact",
            HookEvent::Stop => "stop",
            HookEvent::SessionEnd => "session-end",
        }
    }

    /// Whether the settings leave it on.
    pub const fn is_on(self, settings: &HookSettings) -> bool {
        match self {
            HookEvent::SessionStart => settings.session_start,
            HookEvent::Prompt => settings.prompt,
            HookEvent::PreCompact | HookEvent::Stop | HookEvent::SessionEnd => settings.capture,
        }
    }
}

/// A client with hooks.
#[derive(Debug)]
pub struct HookClient {
    /// Name on the command line, in the manifest of `connect` and of the agent.
    pub id: &'static str,
    pub answer: AnswerShape,
    pub transcript: TranscriptFormat,
    /// The client's names of our events, in the order of [`HookEvent::ALL`].
    names: [&'static str; 5],
}

/// How a client takes context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerShape {
    /// `{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`
    HookSpecificOutput,
    /// `{"additional_context": …}`, for a prompt with `"continue": true`
    AdditionalContext,
}

/// What the lines of a transcript look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
}

/// Claude Code, Codex and Gemini CLI were run; Cursor is by its documentation and the reports of others.
pub const CLAUDE_CODE: HookClient = HookClient {
    id: "claude-code",
    answer: AnswerShape::HookSpecificOutput,
    transcript: TranscriptFormat::ClaudeCode,
    names: ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"],
};

pub const CODEX: HookClient = HookClient {
    id: "codex",
    answer: AnswerShape::HookSpecificOutput,
    transcript: TranscriptFormat::Codex,
    names: ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"],
};

pub const CURSOR: HookClient = HookClient {
    id: "cursor",
    answer: AnswerShape::AdditionalContext,
    transcript: TranscriptFormat::Cursor,
    names: ["sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"],
};

pub const GEMINI: HookClient = HookClient {
    id: "gemini",
    answer: AnswerShape::HookSpecificOutput,
    transcript: TranscriptFormat::Gemini,
    names: ["SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"],
};

pub const ALL_CLIENTS: [&HookClient; 4] = [&CLAUDE_CODE, &CODEX, &CURSOR, &GEMINI];

impl HookClient {
    pub fn find(id: &str) -> Option<&'static HookClient> {
        ALL_CLIENTS.into_iter().find(|client| client.id == id)
    }

    /// The client's name of an event.
    pub const fn name_of(&self, event: HookEvent) -> &'static str {
        self.names[event as usize]
    }
}
