//! Receipts: what was injected into a turn, why, and the rendered block.

pub(crate) mod codec;
pub(crate) mod ledger;
pub mod receipt;
pub mod render;
