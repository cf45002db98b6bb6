//! Scans of a text and of stored memories, and values the scanner allows.

use engine::model::error::Error;
use engine::safety::{Finding, RULES_VERSION};
use engine::tenant::allow_list::{AllowTarget, AllowedValue};
use engine::{RESCAN_ORDER, RescanReport, StoredFinding};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_moment, deserialize_reason};
use super::schema_words::Moment;

/// A text to scan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scan")]
pub struct ScanBody {
    pub text: String,
}

/// Findings in a text, and the verdict on saving it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Scanned")]
pub struct ScannedView {
    /// `clean`, `flagged` or `blocked`, for saves outside conversations.
    pub verdict: &'static str,
    /// The same for saves inside a conversation.
    pub verdict_in_conversation: &'static str,
    #[schemars(with = "Vec<FindingView>")]
    pub findings: Vec<Finding>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Finding")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct FindingView {
    rule: String,
    concern: String,
    severity: String,
    /// Byte offset in the text.
    start: usize,
    end: usize,
}

/// A value the scanner shall allow: its digest, or a text that contains it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Allow")]
pub struct AllowBody {
    /// SHA-256 of exactly the secret a rule found, in hex.
    #[serde(default)]
    pub digest: Option<String>,
    /// A text in which the scanner finds exactly one secret, or only planted instructions.
    #[serde(default)]
    pub text: Option<String>,
    /// Field in which a text with planted instructions may stand, such as `title`; `content` if absent. Secrets are
    /// allowed in every field.
    #[serde(default)]
    pub field: Option<String>,
    #[serde(deserialize_with = "deserialize_reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    #[serde(deserialize_with = "deserialize_moment")]
    #[schemars(with = "Moment")]
    pub expires_at: Timestamp,
}

impl AllowBody {
    pub fn to_allow_target(&self) -> Result<AllowTarget, Error> {
        match (&self.digest, &self.text) {
            (Some(digest), None) => Ok(AllowTarget::Digest(digest.clone())),
            (None, Some(text)) => Ok(AllowTarget::Text { text: text.clone(), field: self.field.clone() }),
            // Both or none: which value is meant would be a guess.
            _ => Err(Error::invalid("shape.allow", "give either `digest` or `text`")),
        }
    }
}

/// An allowed value: why and until when, never the value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "AllowedValue")]
pub struct AllowedView {
    #[schemars(with = "Map<String, Value>")]
    pub allowed: AllowedValue,
}

/// Page of a scan over stored memories.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rescan")]
pub struct RescanBody {
    /// Opens a review for each memory that would be refused today, unless one is pending.
    #[serde(default)]
    pub propose: bool,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Stored memories that would be refused today.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Rescanned")]
pub struct RescannedView {
    pub rules_version: u32,
    pub scanned: u64,
    /// Number of opened reviews.
    pub proposed: u64,
    #[schemars(with = "Vec<StoredFindingView>")]
    pub findings: Vec<StoredFinding>,
    /// Send it as `cursor` to get the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename = "StoredFinding")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct StoredFindingView {
    memory: String,
    version: String,
    store: String,
    field: String,
    rule: String,
    concern: String,
    severity: String,
    /// Its review, if reviews were requested.
    review: Option<String>,
}

impl From<RescanReport> for RescannedView {
    fn from(rescanned: RescanReport) -> RescannedView {
        let RescanReport { scanned, findings, proposed, next } = rescanned;
        let next_cursor = next.map(|next| next.to_token(RESCAN_ORDER));
        RescannedView { rules_version: RULES_VERSION, scanned, proposed, findings, next_cursor }
    }
}
