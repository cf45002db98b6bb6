//! What a tenant has set up: stores, pipelines, bans, allowed findings, and the cache of them.

pub mod allow_list;
pub mod bans;
pub mod cache;
pub(crate) mod erasures;
pub mod pipelines;
pub(crate) mod stores;
