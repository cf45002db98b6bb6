//! The toolsets. Each translates the tool names and shapes of one convention to engine verbs and back.

pub(super) mod anthropic;
pub(super) mod core;
pub(super) mod episodic;
mod file_view;
pub(super) mod lesson;
pub(super) mod note;
