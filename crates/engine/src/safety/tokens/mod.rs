//! Token formats that issuers publish, as rows of data: one file a family.
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

/// A family of tokens that one issuer gives out.
pub(super) struct TokenFamily {
    pub(super) name: &'static str,
    pub(super) finds: &'static str,
    pub(super) shapes: &'static [&'static str],
    pub(super) severity: Severity,
    /// The prefix is too short to be believed alone: what follows must look random.
    pub(super) random: bool,
    /// A longer run of the same alphabet is something else.
    pub(super) exact: bool,
}

/// A row with the usual judgement: critical, believed by its prefix, open to the right.
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

/// Every row, in the order of the families.
pub(super) fn all_families() -> impl Iterator<Item = &'static TokenFamily> {
    FAMILIES.iter().copied().flatten()
}
