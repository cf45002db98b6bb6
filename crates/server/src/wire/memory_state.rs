//! Parameters and bodies of forget, verify-by and pin.

use engine::model::id::VersionId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::deserialize::{deserialize_optional_moment, deserialize_optional_reason};
use super::schema_words::{Id, Moment};

/// Options of forgetting a memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForgetParams {
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
    /// Whether the same value may be saved again.
    pub may_return: bool,
}

/// Confirmation that a memory still holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VerifyBy")]
pub struct VerifyByBody {
    /// Date until which it holds; default: no end.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub until: Option<Timestamp>,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

/// Pins or unpins a memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pin")]
pub struct PinBody {
    pub always_inject: bool,
    /// The version that was read. Needed where the pin makes an agent's draft the caller's own words.
    #[serde(default)]
    #[schemars(with = "Option<Id>")]
    pub expected_version: Option<VersionId>,
}
