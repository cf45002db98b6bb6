//! Reviews: proposals that wait for a person, made on exact versions of memories.
//!
//! - Who may approve: [`crate::policy::may_decide`]; `owners` holds the reviewers of paths.
//! - Making a proposal: `propose` (promotion, forget), `consolidation` (profile facts, compaction, dedup), `rescan`
//!   (redaction of stored findings), `forget_request` (what a program may not forget).
//!   Drafts in `draft_write` stores open theirs in `write::draft_review`.
//! - Reading: `queue` lists reviews and shows one; `impact` shows which past turns a proposal would change.
//! - Deciding: `decide` (approve, reject, request changes, lapse), `bulk` (many at once), `plan` (the change that an
//!   approval commits).
//! - Afterwards: `rollback` takes an approved memory back; `promotion_notice` logs both as an episode.

pub(crate) mod consolidation;
pub(crate) mod forget_request;
pub mod owners;
pub(crate) mod promotion_notice;
pub(crate) mod propose;
pub(crate) mod rescan;
pub(crate) mod rollback;

mod bulk;
pub(crate) mod decide;
mod impact;
pub(crate) mod plan;
mod queue;

pub use crate::model::review::Decision;
pub use bulk::{BulkDecisionReport, ReadReview, UndecidedReview};
pub use decide::{Approval, DecisionOutcome};
pub use impact::Impact;
pub use queue::{QueueCursor, QueueFilter, QueuePage, ReviewView};
