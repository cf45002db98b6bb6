//! The data types: memories, callers, scopes, stores, reviews, events, errors, limits. Pure; nothing needs a backend.

pub mod caller;
pub mod error;
pub mod event;
pub mod guard;
pub mod id;
pub mod key;
pub mod lifecycle;
pub mod limits;
pub mod live_row;
pub mod memory;
pub mod question;
pub mod refusal;
pub mod review;
pub mod row;
pub mod ruleset;
pub mod run;
pub mod scope;
pub mod snapshot;
pub mod store;
pub mod time;
pub mod trust_flow;
pub mod turn;
pub mod vector;
pub mod vocabulary;
pub mod write_digest;
