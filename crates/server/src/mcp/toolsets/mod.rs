//! The tools, by the way of speaking they belong to. Each translates to the engine's verbs and back.

pub(super) mod anthropic;
pub(super) mod core;
pub(super) mod episodic;
mod file_view;
pub(super) mod lesson;
pub(super) mod note;
