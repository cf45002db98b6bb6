//! Administration: keys, tenants, export and import, erasure, log verification.

pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod import;
pub mod keys;
pub(crate) mod seed;
pub mod tenant_usage;
pub(crate) mod verify;
