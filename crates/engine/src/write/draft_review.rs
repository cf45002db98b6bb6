//! Drafts in `draft_write` stores: saving one also opens the review it waits for.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::guard::Place;
use crate::model::memory::Memory;
use crate::model::review::{Action, Review, ReviewState, Risk, SourceVersion};
use crate::model::row::SideRecord;
use crate::model::scope::Scope;
use crate::policy::Readable;
use crate::ports::Address;
use crate::ports::change::{Change, Write};

/// Adds the review of a draft to the change that saves it. Saving the draft again replaces its review: the id is made
/// from the id of the draft.
pub(crate) fn with_draft_review(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    candidate: &Memory,
) -> Result<Change, Error> {
    let place = Place { store: candidate.store.clone(), scope: candidate.scope.clone() };
    // The memory the draft would replace, if it is approved.
    let current = match candidate.path.clone() {
        Some(path) => {
            engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Path { place, path })?
        }
        None => None,
    };
    let sources: Vec<SourceVersion> = current.iter().map(SourceVersion::from_memory).collect();
    // The id of the draft takes the place of the path, because two callers may have a draft for one path.
    let name = candidate.id.to_string();
    let id = Review::id_for(Action::Draft, &[], &candidate.store, Some(&name), 0);
    let (path, scope) = (candidate.path.clone(), candidate.scope.clone());
    let rationale = format!("a draft by {}", caller.principal);
    let review = Review {
        id,
        candidate: Some(candidate.id),
        rationale,
        ..new_review(engine, caller, Action::Draft, sources, &candidate.store, path, scope)
    };
    let event = review.to_event(EventName::ReviewProposed, caller, change.at);
    Ok(change.with_write(Write::Row(review.to_row())).with_event(event))
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
        id: Review::id_for(action, &sources, store, path.as_deref(), 0),
        action,
        state: ReviewState::Pending,
        sources,
        candidate: None,
        target_store: store.to_owned(),
        target_path: path,
        scope,
        rationale: String::new(),
        evidence: Vec::new(),
        risk: Risk::Low,
        proposer: caller.principal.clone(),
        user: caller.user.clone(),
        conversation: caller.conversation.clone(),
        reviewer: None,
        comment: None,
        result: None,
        created_at: engine.clock.now(),
        decided_at: None,
    }
}
