//! Drafts in `draft_write` stores, and drafts over what a person wrote: saving one also opens the review it waits for.
//! Saving it again supersedes that review and opens another.

use uuid::Uuid;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::memory::Memory;
use crate::model::review::{Action, Review, ReviewState, Risk, SourceVersion, proposal_origin};
use crate::model::row::SideRecord;
use crate::model::scope::Scope;
use crate::ports::candidate_reviews;
use crate::ports::change::{Change, Write};

/// Adds the review of a draft to the change that saves it, and returns its id. `before`: the draft that this save
/// replaces, whose review is superseded. `replaced`: the memory that an approval replaces; `None`: the one at its path.
pub(crate) fn with_draft_review(
    engine: &Engine,
    caller: &Caller,
    mut change: Change,
    before: Option<&Memory>,
    candidate: &Memory,
    replaced: Option<&Memory>,
) -> Result<(Change, Uuid), Error> {
    let sources = match replaced {
        Some(replaced) => vec![SourceVersion::from_memory(replaced)],
        None => candidate_reviews::replaced_by_draft(engine, caller.tenant, candidate)?,
    };
    let (path, scope) = (candidate.path.clone(), candidate.scope.clone());
    let review = Review {
        rationale: format!("a draft by {}", caller.principal),
        ..new_review(engine, caller, Action::Draft, sources, &candidate.store, path, scope)
    };
    let review = review.for_candidate_version(candidate, change.at);
    if let Some(before) = before {
        for old in candidate_reviews::list_candidate_reviews(engine, caller.tenant, before)? {
            change = candidate_reviews::supersede_review(caller, change, &old, Some(&review));
        }
    }
    let event = review.to_event(EventName::ReviewProposed, caller, change.at);
    Ok((change.with_write(Write::Row(review.to_row())).with_event(event), review.id))
}

/// A pending review by this caller; rationale, evidence and candidate are left to fill in.
pub(crate) fn new_review(
    engine: &Engine,
    caller: &Caller,
    action: Action,
    sources: Vec<SourceVersion>,
    store: &str,
    path: Option<String>,
    scope: Scope,
) -> Review {
    Review {
        id: Review::id_for(action, &sources, store, path.as_deref(), &proposal_origin(caller), 0),
        action,
        state: ReviewState::Pending,
        version: sources.first().map(|source| source.version),
        sources,
        candidate: None,
        target_store: store.to_owned(),
        target_path: path,
        scope,
        rationale: String::new(),
        evidence: Vec::new(),
        risk: Risk::Low,
        proposer: caller.principal.clone(),
        proposer_person: caller.person().map(str::to_owned),
        user: caller.user.clone(),
        project: caller.project.clone(),
        conversation: caller.conversation.clone(),
        reviewer: None,
        comment: None,
        result: None,
        created_at: engine.clock.now(),
        decided_at: None,
    }
}
