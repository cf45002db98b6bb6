//! Finding and ranking: search, read, lineage, and what a caller may see.

pub(crate) mod event_feed;
pub(crate) mod event_visibility;
pub mod exclusion_reason;
pub(crate) mod lineage;
pub mod ranking;
pub(crate) mod read;
pub(crate) mod search;
pub mod usage;
pub(crate) mod visibility;
