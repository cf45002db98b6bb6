//! Parameters and bodies of forget, verify-by and pin.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::deserialize::{deserialize_optional_moment, deserialize_optional_reason};
use super::schema_words::Moment;

/// How a memory is forgotten.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForgetParams {
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
    /// The same value may be saved again.
    pub may_return: bool,
}

/// How long a memory holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VerifyBy")]
pub struct VerifyByBody {
    /// Without a date it holds for good.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub until: Option<Timestamp>,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

/// Whether a memory is always part of the context.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pin")]
pub struct PinBody {
    pub always_inject: bool,
}
