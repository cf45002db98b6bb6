//! Reviews: what waits for a person, at exact versions, and who may decide it.

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

/// Who may decide a review (SPEC §4): admins; the owners of the path, where it has some; else reviewers; and a person
/// about what is kept of himself. Nobody about his own promotion, where there is somebody else to ask.
pub(crate) fn may_decide(
    caller: &Caller,
    review: &Review,
    owners: Option<&PathOwners>,
    company: bool,
) -> Result<(), Refusal> {
    let owned = review.target_path.as_deref().and_then(|path| owners?.reviewers_of(path));
    let himself = matches!(&review.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let entitled = caller.rules.manage
        && match (caller.role, owned) {
            (Role::Admin, _) => true,
            (Role::Agent | Role::Service, _) => false,
            (Role::Reviewer | Role::User, Some(reviewers)) => reviewers.contains(&caller.principal),
            (Role::Reviewer, None) => true,
            (Role::User, None) => himself,
        };
    if !entitled {
        let message = match owned {
            Some(reviewers) => format!("this path is reviewed by {}", reviewers.join(", ")),
            None => "only reviewers and admins decide reviews".to_owned(),
        };
        return Err(Refusal::new("policy.reviewers_only", message));
    }
    if company && review.action == Action::Promote && review.proposer == caller.principal {
        let message = "whoever proposed a promotion cannot approve it: somebody else has to look";
        return Err(Refusal::new("policy.own_proposal", message));
    }
    Ok(())
}
