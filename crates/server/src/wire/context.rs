//! Turn context and its receipts.

use engine::model::vocabulary::{Kind, Purpose, TurnRole};
use engine::ports::Filter;
use engine::recall::usage::MemoryUsage;
use engine::receipts::receipt::{ConsideredMemory, Receipt, Replay};
use engine::{Context, ContextRequest, Message, Window, WindowRequest};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deserialize::{deserialize_as_of, deserialize_bounded};
use super::documents::SkillBody;
use super::episodes::TurnBody;
use super::schema_words::{EngineRecord, KindWord, Moment, MomentOrDate, PurposeWord, TurnRoleWord};

/// A request for the context of a turn, or for a whole window.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ContextRequest")]
pub struct ContextBody {
    /// The latest message of the user.
    pub message: String,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 100_000>")]
    #[schemars(range(min = 1, max = 100_000))]
    pub budget_tokens: Option<usize>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub memories_max: Option<usize>,
    #[serde(default)]
    pub stores: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Vec<KindWord>")]
    pub kinds: Vec<Kind>,
    /// A memory must have all of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// A decision point: prefers memories that helped at similar ones.
    #[serde(default, rename = "for")]
    #[schemars(with = "Option<PurposeWord>")]
    pub purpose: Option<Purpose>,
    /// The memories as they were at this time; a date means the end of that day, in UTC.
    #[serde(default, deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<MomentOrDate>")]
    pub as_of: Option<Timestamp>,
    /// Form of the answer.
    #[serde(default)]
    pub format: ContextFormat,
    /// The whole input of the model's next call; the answer is the messages that fit.
    #[serde(default)]
    pub window: Option<WindowBody>,
}

/// Form of a turn's context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextFormat {
    /// The blocks as one text.
    #[default]
    Text,
    /// The same: every answer here is JSON.
    Json,
    /// The same, and ready chat messages: the blocks as a system message, then the user's.
    Messages,
}

impl ContextBody {
    /// Whether options are set that apply to a turn's context only, not to a window.
    pub fn has_turn_options(&self) -> bool {
        let filtered = !(self.stores.is_empty() && self.kinds.is_empty() && self.tags.is_empty());
        let bounded = self.budget_tokens.is_some() || self.memories_max.is_some();
        // Of the formats only `messages` counts: the default cannot be told from a missing field.
        filtered || bounded || self.purpose.is_some() || self.as_of.is_some() || self.format == ContextFormat::Messages
    }
}

/// The input of a model's next call, besides the message.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WindowRequest")]
pub struct WindowBody {
    /// Size of the model's window, minus the tokens reserved for its answer.
    #[schemars(range(min = 1))]
    pub window_tokens: usize,
    /// Never cut.
    #[serde(default)]
    pub system_prompt: String,
    /// Never cut. Added to those of the configured folders.
    #[serde(default)]
    pub skills: Vec<SkillBody>,
    /// Names of the configured skills to include; default: all.
    #[serde(default)]
    pub skill_names: Option<Vec<String>>,
    /// The conversation so far, oldest first.
    #[serde(default)]
    pub turns: Vec<TurnBody>,
    /// Oldest first.
    #[serde(default)]
    pub tool_results: Vec<String>,
}

impl WindowBody {
    pub fn into_window_request(self, message: String) -> WindowRequest {
        WindowRequest {
            window_tokens: self.window_tokens,
            system_prompt: self.system_prompt,
            skills: self.skills.into_iter().map(Into::into).collect(),
            skill_names: self.skill_names,
            turns: self.turns.into_iter().map(Into::into).collect(),
            tool_results: self.tool_results,
            message,
        }
    }
}

impl From<ContextBody> for ContextRequest {
    fn from(body: ContextBody) -> ContextRequest {
        let (stores, kinds, tags) = (body.stores, body.kinds, body.tags);
        let filter = Filter { stores, kinds, tags, as_of: body.as_of, ..Filter::default() };
        ContextRequest {
            message: body.message,
            budget_tokens: body.budget_tokens,
            memories_max: body.memories_max,
            purpose: body.purpose,
            filter,
        }
    }
}

/// The context to put before the turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Context")]
pub struct ContextView {
    /// Text for a system message; empty if there is nothing to show.
    pub text: String,
    pub tokens: usize,
    /// Every candidate, whether it was chosen, and why.
    #[schemars(with = "Vec<EngineRecord>")]
    pub candidates: Vec<ConsideredMemory>,
    /// Id of the receipt.
    pub receipt: Option<String>,
    /// Parts that were skipped, and why.
    pub skipped: Vec<String>,
    /// Chat messages for the model, with `format: messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<MessageShape>>")]
    pub messages: Option<Vec<Message>>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Message")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct MessageShape {
    #[schemars(with = "TurnRoleWord")]
    role: TurnRole,
    content: String,
}

impl ContextView {
    pub fn new(context: Context, messages: Option<Vec<Message>>) -> ContextView {
        ContextView {
            messages,
            text: context.text,
            tokens: context.tokens,
            candidates: context.candidates,
            receipt: context.receipt,
            skipped: context.skipped,
        }
    }
}

/// The context of a turn; or, for a window, all messages of the call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ContextAnswer")]
pub enum ContextAnswer {
    Turn(Box<ContextView>),
    Window(Box<WindowView>),
}

/// The messages that fit, and what was cut.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Window")]
pub struct WindowView {
    #[serde(flatten)]
    #[schemars(with = "EngineRecord")]
    pub window: Window,
}

/// The record of one context given to a model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    #[serde(flatten)]
    #[schemars(with = "EngineRecord")]
    pub receipt: Receipt,
}

/// A receipt's context, rebuilt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Replay")]
pub struct ReplayView {
    #[serde(flatten)]
    #[schemars(with = "EngineRecord")]
    pub replay: Replay,
}

/// One use of a memory in a run or conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Touch")]
pub struct MemoryUseView {
    #[serde(flatten)]
    #[schemars(with = "EngineRecord")]
    pub usage: MemoryUsage,
}

/// Uses of memories, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Touches")]
pub struct MemoryUsesView {
    pub items: Vec<MemoryUseView>,
    /// Uses before this time are no longer stored; absent: all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Moment>")]
    pub kept_since: Option<Timestamp>,
}

/// Filter of receipts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiptParams {
    /// Only receipts of this run.
    pub run: Option<String>,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}
