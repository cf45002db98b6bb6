//! Owners of paths: the reviewers of each path pattern.

use engine::review::owners::{OwnerRule, PathOwners};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deserialize::deserialize_list;
use super::schema_words::Moment;

/// The new table of owners of a store. Replaces the current one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SetOwners")]
pub struct OwnersBody {
    #[serde(deserialize_with = "deserialize_list")]
    #[schemars(length(max = 1000))]
    pub rules: Vec<OwnerRuleBody>,
}

/// Reviewers of the paths that match a pattern. `*` matches anything within a segment, `**` any segments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnerRule")]
pub struct OwnerRuleBody {
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Principals, such as `reviewer:ana`.
    #[serde(deserialize_with = "deserialize_list")]
    #[schemars(length(min = 1, max = 1000))]
    pub reviewers: Vec<String>,
}

impl From<OwnerRuleBody> for OwnerRule {
    fn from(body: OwnerRuleBody) -> OwnerRule {
        OwnerRule { pattern: body.pattern, reviewers: body.reviewers }
    }
}

/// The table of owners of a store.
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
