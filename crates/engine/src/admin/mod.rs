//! Administration: API keys, tenants and their seeds, usage counts, export and import,
//! erasure, verification of the data, and the health of the database.

pub(crate) mod database;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod import_batch;
pub mod keys;
mod person_records;
pub(crate) mod seed;
pub mod tenant_usage;
pub(crate) mod verification;
