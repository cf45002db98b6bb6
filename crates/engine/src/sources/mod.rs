//! Sources of memory besides notes: turns (`episodes`), runs, the audit log and workflow steps, documents (`ingest`,
//! `document_swap`, `knowledge`) and skills; and `four_sources`, a recall over several of them.

pub(crate) mod audit_log;
pub(crate) mod document_swap;
pub(crate) mod episodes;
pub(crate) mod four_sources;
pub(crate) mod ingest;
pub(crate) mod knowledge;
pub(crate) mod runs;
pub(crate) mod skills;
