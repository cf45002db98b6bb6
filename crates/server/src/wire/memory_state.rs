//! Parameters and bodies of forget, verify-by and pin.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::deserialize::{deserialize_optional_moment, deserialize_optional_reason};
use super::schema_words::Moment;

/// Parameters of forgetting a memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForgetParams {
    #[serde(deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
    /// Do not ban the text: it may be saved again.
    pub may_return: bool,
}

/// Date by which a memory must be verified again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VerifyBy")]
pub struct VerifyByBody {
    /// Absent: it never has to be verified.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub until: Option<Timestamp>,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

/// Adds a memory to every context, or stops that.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pin")]
pub struct PinBody {
    pub always_inject: bool,
}
