//! Forgetting: tombstones, redaction, quarantine, certificates.

pub mod certificate;
pub(crate) mod forget;
pub(crate) mod quarantine;
pub(crate) mod redact;
