//! Configuration and state of a tenant: stores, pipelines, projects, bans, allow list, erasures, the cache of its rows.

pub mod allow_list;
pub mod bans;
pub mod cache;
pub(crate) mod erasures;
pub mod pipelines;
pub mod projects;
pub(crate) mod stores;
