//! What feeds memory besides notes: turns, runs, the audit log, workflow steps, documents, skills.

pub(crate) mod audit_log;
pub(crate) mod document_swap;
pub(crate) mod episodes;
pub(crate) mod four_sources;
pub(crate) mod ingest;
pub(crate) mod knowledge;
pub(crate) mod runs;
pub(crate) mod skills;
