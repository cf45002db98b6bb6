//! What the scanner lets through on purpose.

use engine::allow::{AllowWhat, Allowed};
use engine::error::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

impl AllowBody {
    pub fn what(&self) -> Result<AllowWhat, Error> {
        match (&self.digest, &self.text) {
            (Some(digest), None) => Ok(AllowWhat::Digest(digest.clone())),
            (None, Some(text)) => Ok(AllowWhat::Text(text.clone())),
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
    pub allowed: Allowed,
}
