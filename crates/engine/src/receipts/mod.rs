//! Receipts: records of the memories injected into a turn, with scores and reasons. Files:
//!
//! - `receipt.rs`: the record, look-up and listing, and replay of the injected block
//! - `render.rs`: the text of the trusted and the untrusted block, escaping, and upper bounds of its tokens
//! - `codec.rs`: compact storage format of a receipt's candidates
//! - `ledger.rs`: which memories reached a run (`blame`) and which runs a memory reached (`reach`)

pub(crate) mod codec;
pub(crate) mod ledger;
pub mod receipt;
pub mod render;
