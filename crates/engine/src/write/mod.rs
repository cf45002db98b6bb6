//! Saving: one story from a draft to a committed version.

pub(crate) mod batch;
pub(crate) mod clear;
pub(crate) mod draft_review;
pub mod idempotency;
pub(crate) mod patch;
pub(crate) mod pin;
pub(crate) mod plan;
pub(crate) mod quota;
pub(crate) mod remember;
pub(crate) mod rename;
pub(crate) mod target;
pub(crate) mod verify_by;
