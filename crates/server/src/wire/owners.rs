//! Path owners: the reviewers of a store's paths.

use engine::review::owners::{OwnerRule, PathOwners};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deserialize::deserialize_list;
use super::schema_words::Moment;

/// A table of owners, which replaces the current one of a store.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SetOwners")]
pub struct OwnersBody {
    #[serde(deserialize_with = "deserialize_list")]
    #[schemars(length(max = 1000))]
    pub rules: Vec<OwnerRuleBody>,
}

/// Reviewers of the paths that match a pattern. `*` matches within a segment, `**` any number of segments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnerRule")]
pub struct OwnerRuleBody {
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Such as `reviewer:ana`.
    #[serde(deserialize_with = "deserialize_list")]
    #[schemars(length(min = 1, max = 1000))]
    pub reviewers: Vec<String>,
}

impl From<OwnerRuleBody> for OwnerRule {
    fn from(body: OwnerRuleBody) -> OwnerRule {
        OwnerRule { pattern: body.pattern, reviewers: body.reviewers }
    }
}

/// Owners of a store's paths.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Owners")]
pub struct OwnersView {
    pub store: String,
    pub rules: Vec<OwnerRuleBody>,
    #[schemars(with = "Moment")]
    pub changed_at: Timestamp,
}

impl From<PathOwners> for OwnersView {
    fn from(owners: PathOwners) -> OwnersView {
        let rule = |rule: OwnerRule| OwnerRuleBody { pattern: rule.pattern, reviewers: rule.reviewers };
        let rules = owners.rules.into_iter().map(rule).collect();
        OwnersView { store: owners.store, rules, changed_at: owners.changed_at }
    }
}
