//! Context: the text a model is given. Files:
//!
//! - `turn.rs`: the memory block of one turn (`Engine::context`) and its receipt. **Budget order of a turn**:
//!   `choose_within_budget` (always-inject memories within their share, then ranked memories)
//! - `session_start.rs`: what a new session is told before its first turn (`Engine::session_start`)
//! - `decision_points.rs`: presets of a turn's search for the decision points of an agent (`--for task`)
//! - `window/mod.rs`: all messages of one model call (`Engine::working_memory`)
//! - `window/gather.rs`: collects skills, pinned memories, memories and document chunks for a window
//! - `window/parts.rs`: those parts, the messages they make and their tokens
//! - `window/cut.rs`: **budget order of a window**: `cut_to_fit` (what is cut first, next and last)
//! - `window/layout.rs`: how many turns stay verbatim and how long the summary of the others may be
//! - `diagnose.rs`: why a memory was not shown (`why-not`, `diagnose session`)
//!
//! Budgets, shares and limits that can be configured are in `model/limits/mod.rs` (`context_*`, `always_inject_*`).

pub mod decision_points;
pub(crate) mod diagnose;
pub(crate) mod session_start;
pub(crate) mod turn;
pub(crate) mod window;
