//! Recall: finding, ranking and reading memories, and what a caller may see. Files:
//!
//! - `search.rs`: `Engine::search`: candidates from the backend, ranked, filtered, explained and counted
//! - `ranking/`: scores and order of candidates; **to change a ranking formula**, see `ranking/formulas.rs`, to change
//!   text relevance (BM25, IDF, vectors) `ranking/text.rs`, to change a weight `model/limits`
//! - `read.rs`: single memories, listings, version history and events
//! - `promoted.rs`: one hit for a promoted text: not its source too, and its notice last
//! - `exclusion_reason.rs`: why a memory does not pass a filter, in words
//! - `visibility.rs`: which scopes and stores a caller may read
//! - `event_visibility.rs`: which log events a caller may see, and with which fields
//! - `usage.rs`: records of which memory reached which run ("touches")
//! - `lineage.rs`: sources and descendants of a memory, and saves that only repeat a recalled memory

pub(crate) mod already_there;
pub(crate) mod event_feed;
pub(crate) mod event_visibility;
pub mod exclusion_reason;
pub(crate) mod lineage;
pub(crate) mod promoted;
pub mod ranking;
pub(crate) mod read;
pub(crate) mod search;
pub mod usage;
pub(crate) mod visibility;
