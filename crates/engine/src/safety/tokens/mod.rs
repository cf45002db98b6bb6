//! Table of token formats that issuers publish: one file per field, one row per rule.
//!
//! To add a token, append a row to the file of the issuer's field:
//!
//! ```text
//! token("acme_key", "Acme API keys", &["acme_live_{w32}", "acme_test_{w32}"]).exact(),
//! //    rule name   for the docs     shapes, in the language of `shape.rs`
//! ```
//!
//! - The rule name is stable: refusals, metrics and allow lists use it.
//! - The first shape makes the example for documentation and tests, so it comes with the most common format.
//! - Every shape needs an anchor: a literal of three bytes or more, or a shorter one at its start with a run after it.
//! - `.random()` if the prefix is short or also an ordinary word; `.exact()` if longer runs are something else;
//!   `.severity(…)` if the token is less than critical.
//! - Then raise `RULES_VERSION` and regenerate the reference page (see `safety`).
mod agents;
mod ai;
mod banks;
mod chat;
mod cloud;
mod data;
mod hosting;
mod observability;
mod office;
mod payments;
mod registry;
mod shops;
mod workflow;

use super::Severity;

/// One row: the token formats of one rule.
pub(super) struct TokenFamily {
    /// Name of the rule.
    pub(super) name: &'static str,
    /// What it finds, for the documentation.
    pub(super) finds: &'static str,
    pub(super) shapes: &'static [&'static str],
    pub(super) severity: Severity,
    /// The prefix alone proves nothing: the rest must look random too.
    pub(super) random: bool,
    /// No match if another letter or digit follows: a longer run is something else.
    pub(super) exact: bool,
}

/// A row with the defaults: critical, the prefix is proof, more characters may follow.
const fn token(name: &'static str, finds: &'static str, shapes: &'static [&'static str]) -> TokenFamily {
    TokenFamily { name, finds, shapes, severity: Severity::Critical, random: false, exact: false }
}

impl TokenFamily {
    const fn random(mut self) -> Self {
        self.random = true;
        self
    }

    const fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

// In the order of the reference page.
const FAMILIES: &[&[TokenFamily]] = &[
    cloud::ROWS,
    hosting::ROWS,
    ai::ROWS,
    chat::ROWS,
    payments::ROWS,
    registry::ROWS,
    data::ROWS,
    observability::ROWS,
    office::ROWS,
    agents::ROWS,
    workflow::ROWS,
    shops::ROWS,
    banks::ROWS,
];

/// All rows, in the order of the files above.
pub(super) fn all_families() -> impl Iterator<Item = &'static TokenFamily> {
    FAMILIES.iter().copied().flatten()
}
