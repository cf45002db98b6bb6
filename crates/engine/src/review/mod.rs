//! Reviews: proposals that wait for a person, made on exact versions of memories.
//!
//! - Who may approve: [`may_decide`] in this file; `owners` holds the reviewers of paths.
//! - Making a proposal: `propose` (promotion, forget), `consolidation` (profile facts, compaction, dedup), `rescan`
//!   (redaction of stored findings). Drafts in `draft_write` stores open theirs in `write::draft_review`.
//! - Reading: `queue` lists reviews and shows one; `impact` shows which past turns a proposal would change.
//! - Deciding: `decide` (approve, reject, request changes, lapse), `bulk` (many at once), `plan` (the change that an
//!   approval commits).
//! - Afterwards: `rollback` takes an approved memory back; `promotion_notice` logs both as an episode.

pub(crate) mod consolidation;
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

pub use bulk::{BulkDecisionReport, UndecidedReview};
pub use decide::{Approval, DecisionOutcome};
pub use impact::Impact;
pub use queue::{QueueCursor, QueueFilter, QueuePage, ReviewView};

use crate::model::caller::Caller;
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review};
use crate::model::scope::Scope;
use crate::model::vocabulary::Role;
use crate::review::owners::PathOwners;

/// Whether a caller may approve or reject a review.
///
/// | caller | path with owners | path without owners |
/// | --- | --- | --- |
/// | admin | yes | yes |
/// | reviewer | if named as owner | yes |
/// | user | if named as owner | in the user's own scope |
/// | agent, service | no | no |
///
/// All of them need the rule `memory.manage`. Nobody approves a promotion they proposed themselves, admins included, if
/// the tenant has another person who can (`has_other_decider`). The proposer may always reject, see `decide`.
pub(crate) fn may_decide(
    caller: &Caller,
    review: &Review,
    owners: Option<&PathOwners>,
    has_other_decider: bool,
) -> Result<(), Refusal> {
    // Owners are looked up by the target path: reviews without one have none.
    let owned = review.target_path.as_deref().and_then(|path| owners?.reviewers_of(path));
    let is_own_scope = matches!(&review.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let entitled = caller.rules.manage
        && match (caller.role, owned) {
            (Role::Admin, _) => true,
            (Role::Agent | Role::Service, _) => false,
            // Owners replace the general rule: a reviewer who is no owner of the path may not decide.
            (Role::Reviewer | Role::User, Some(reviewers)) => reviewers.contains(&caller.principal),
            (Role::Reviewer, None) => true,
            (Role::User, None) => is_own_scope,
        };
    if !entitled {
        let message = match owned {
            Some(reviewers) => format!("only the owners of this path may decide: {}", reviewers.join(", ")),
            None => "only reviewers and admins may decide reviews".to_owned(),
        };
        return Err(Refusal::new("policy.reviewers_only", message));
    }
    // Only promotions: they publish to all callers. In a tenant with one person, that person decides alone.
    if has_other_decider && review.action == Action::Promote && review.proposer == caller.principal {
        let message = "the proposer of a promotion cannot decide it: ask another reviewer";
        return Err(Refusal::new("policy.own_proposal", message));
    }
    Ok(())
}
