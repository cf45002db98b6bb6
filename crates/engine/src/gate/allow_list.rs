//! The allow list in the form the gate uses: keyed digests of values that pass the scanner.

use std::collections::HashSet;

use crate::safety::Finding;
use crate::text::digest::content_sha256;
use crate::text::normalize;

/// Values that a tenant has allowed and that have not expired.
#[derive(Clone, Debug, Default)]
pub struct AllowList {
    /// All keys of the tenant, own and imported: a digest does not tell which key it was made with.
    pub(crate) keys: Vec<String>,
    pub(crate) digests: HashSet<String>,
}

impl AllowList {
    /// Drops findings whose exact value is allowed. A range that is not on character boundaries belongs to another text
    /// (`get` returns `None`) and is kept.
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

/// Keyed digest of a value's SHA-256. The label keeps it apart from ban digests, which use the same keys.
pub(crate) fn allow_digest(key: &str, sha256: &str) -> String {
    normalize::hmac_sha256_hex(key, &["allowed", sha256])
}
