//! The allow list as the gate compares it: keyed digests of values the scanner lets through.

use std::collections::HashSet;

use crate::safety::Finding;
use crate::text::digest::content_sha256;
use crate::text::normalize;

/// The values a tenant lets through now, as the gate compares them.
#[derive(Clone, Debug, Default)]
pub struct AllowList {
    pub(crate) keys: Vec<String>,
    pub(crate) digests: HashSet<String>,
}

impl AllowList {
    /// Without what is let through on purpose. Findings of another text could point between characters; those stay.
    pub(crate) fn remove_allowed(&self, text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
        if !self.digests.is_empty() {
            findings
                .retain(|finding| !text.get(finding.start..finding.end).is_some_and(|value| self.allows_value(value)));
        }
        findings
    }

    fn allows_value(&self, value: &str) -> bool {
        let sha256 = content_sha256(value);
        self.keys.iter().any(|key| self.digests.contains(&allow_digest(key, &sha256)))
    }
}

pub(crate) fn allow_digest(key: &str, sha256: &str) -> String {
    normalize::hmac_sha256_hex(key, &["allowed", sha256])
}
