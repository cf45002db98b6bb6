//! The allow list in the form the gate uses: keyed digests of values and texts that pass the scanner.

use std::collections::HashSet;

use crate::safety::{Concern, Finding};
use crate::text::digest::content_sha256;
use crate::text::normalize;

/// Values and texts that a tenant has allowed and that have not expired.
#[derive(Clone, Debug, Default)]
pub struct AllowList {
    /// All keys of the tenant, own and imported: a digest does not tell which key it was made with.
    pub(crate) keys: Vec<String>,
    pub(crate) digests: HashSet<String>,
}

impl AllowList {
    /// Drops what is allowed: a secret by its exact value, wherever it stands; a planted order only if the whole text
    /// of this field is allowed. The words of an order are ordinary: allowed alone, they would pass everywhere.
    pub(crate) fn remove_allowed(&self, field: &str, text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
        if self.digests.is_empty() {
            return findings;
        }
        let has_order = findings.iter().any(|finding| finding.concern == Concern::Injection);
        let is_text_allowed = has_order && self.allows(|key| order_digest(key, field, text));
        findings.retain(|finding| match finding.concern {
            Concern::Injection => !is_text_allowed,
            // A range that is not on character boundaries belongs to another text (`get` returns `None`) and is kept.
            Concern::Secret | Concern::RawLog => !text.get(finding.start..finding.end).is_some_and(|value| {
                let sha256 = content_sha256(value);
                self.allows(|key| value_digest(key, &sha256))
            }),
        });
        findings
    }

    fn allows(&self, digest: impl Fn(&str) -> String) -> bool {
        self.keys.iter().any(|key| self.digests.contains(&digest(key)))
    }
}

/// Keyed digest of a value's SHA-256. The label keeps it apart from ban digests, which use the same keys.
pub(crate) fn value_digest(key: &str, sha256: &str) -> String {
    normalize::hmac_sha256_hex(key, &["allowed", sha256])
}

/// Keyed digest of a field and its whole text; runs of white space count as one space.
pub(crate) fn order_digest(key: &str, field: &str, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    normalize::hmac_sha256_hex(key, &["allowed order", field, &content_sha256(&words.join(" "))])
}
