//! Receipts: what was injected into a turn, why, and the rendered block.

pub(crate) mod codec;
pub mod receipt;
pub mod render;
