//! What a model sees: the block of a turn, the window of a conversation.

pub mod decision_points;
pub(crate) mod diagnose;
pub(crate) mod turn;
pub(crate) mod window;
