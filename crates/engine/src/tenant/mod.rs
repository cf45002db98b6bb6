//! Configuration and state of a tenant: stores, pipelines, bans, allow list, erasures, and the cache of its rows.

pub mod allow_list;
pub mod bans;
pub mod cache;
pub(crate) mod erasures;
pub mod pipelines;
pub(crate) mod stores;
