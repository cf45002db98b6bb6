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

/// A text to look at.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scan")]
pub struct ScanBody {
    pub text: String,
}

/// What the scanner found, and what it would mean for a save.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Scanned")]
pub struct ScannedView {
    /// `clean`, `flagged` or `blocked`, outside of conversations.
    pub verdict: &'static str,
    /// The same inside one.
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
    /// Bytes from the start of the text.
    start: usize,
    end: usize,
}

/// A value that shall pass the scanner: its digest, or a text it stands in.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Allow")]
pub struct AllowBody {
    /// SHA-256 of exactly what a rule found, in hex.
    #[serde(default)]
    pub digest: Option<String>,
    /// A text in which the scanner finds one thing.
    #[serde(default)]
    pub text: Option<String>,
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
            (None, Some(text)) => Ok(AllowTarget::Text(text.clone())),
            _ => Err(Error::invalid("shape.allow", "give either `digest` or `text`")),
        }
    }
}

/// What is let through: why and until when, never what.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "AllowedValue")]
pub struct AllowedView {
    #[schemars(with = "Map<String, Value>")]
    pub allowed: AllowedValue,
}

/// Which stretch, and whether redactions shall be proposed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rescan")]
pub struct RescanBody {
    /// Makes a review for each memory that would be refused today, unless one waits.
    #[serde(default)]
    pub propose: bool,
    /// The `next_cursor` of the stretch before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// What a stretch held that would be refused today.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Rescanned")]
pub struct RescannedView {
    pub rules_version: u32,
    pub scanned: u64,
    /// Reviews that were made.
    pub proposed: u64,
    #[schemars(with = "Vec<StoredFindingView>")]
    pub findings: Vec<StoredFinding>,
    /// Hand it back as `cursor` for the next stretch; absent at the end.
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
    /// The review about it, where one was asked for.
    review: Option<String>,
}

impl From<RescanReport> for RescannedView {
    fn from(rescanned: RescanReport) -> RescannedView {
        let RescanReport { scanned, findings, proposed, next } = rescanned;
        let next_cursor = next.map(|next| next.to_token(RESCAN_ORDER));
        RescannedView { rules_version: RULES_VERSION, scanned, proposed, findings, next_cursor }
    }
}
