//! What a memory is, who may touch it, what comes first.
pub mod ports;
pub mod safety;
