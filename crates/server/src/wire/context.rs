//! Turn context, and the receipts that prove it.

use engine::ports::Filter;
use engine::receipt::{Considered, Receipt, Replay, Usage};
use engine::vocabulary::Kind;
use engine::{Context, ContextRequest, Verified};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{KindWord, bounded};

/// Stands in schemas for a record of the engine, written as it is.
type AsKept = Map<String, Value>;

/// What a turn asks for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ContextRequest")]
pub struct ContextBody {
    /// The latest message of the user.
    pub message: String,
    #[serde(default, deserialize_with = "bounded::<_, 1, 100_000>")]
    #[schemars(range(min = 1, max = 100_000))]
    pub budget_tokens: Option<usize>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub memories_max: Option<usize>,
    #[serde(default)]
    pub stores: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Vec<KindWord>")]
    pub kinds: Vec<Kind>,
    /// All of them, exactly.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl From<ContextBody> for ContextRequest {
    fn from(body: ContextBody) -> ContextRequest {
        let filter = Filter { stores: body.stores, kinds: body.kinds, tags: body.tags, ..Filter::default() };
        ContextRequest {
            message: body.message,
            budget_tokens: body.budget_tokens,
            memories_max: body.memories_max,
            filter,
        }
    }
}

/// What to put before the turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Context")]
pub struct ContextView {
    /// Ready to be a system message; empty where there is nothing.
    pub text: String,
    pub tokens: usize,
    /// Every candidate, chosen or not, and why.
    #[schemars(with = "Vec<AsKept>")]
    pub candidates: Vec<Considered>,
    /// Names the receipt of this injection.
    pub receipt: Option<String>,
    /// What could not be done, in words.
    pub skipped: Vec<String>,
}

impl From<Context> for ContextView {
    fn from(context: Context) -> ContextView {
        ContextView {
            text: context.text,
            tokens: context.tokens,
            candidates: context.candidates,
            receipt: context.receipt,
            skipped: context.skipped,
        }
    }
}

/// The record of one injection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    #[serde(flatten)]
    #[schemars(with = "AsKept")]
    pub receipt: Receipt,
}

/// A receipt's block, rebuilt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Replay")]
pub struct ReplayView {
    #[serde(flatten)]
    #[schemars(with = "AsKept")]
    pub replay: Replay,
}

/// One memory's touch of one run or conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Touch")]
pub struct TouchView {
    #[serde(flatten)]
    #[schemars(with = "AsKept")]
    pub usage: Usage,
}

/// What a check of the log found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verified")]
pub struct VerifiedView {
    #[serde(flatten)]
    #[schemars(with = "AsKept")]
    pub verified: Verified,
}

/// Which receipts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiptParams {
    /// Only of this run.
    pub run: Option<String>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}
