//! What a memory is, who may touch it, what comes first.
pub mod entities;
pub mod safety;
pub mod words;
