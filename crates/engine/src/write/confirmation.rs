//! Confirmation of an agent's text by a person: the request that waits, and the version it becomes.

use crate::Engine;
use crate::gate::WriteIntent;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, SourceVersion};
use crate::model::row::SideRecord;
use crate::model::store::Store;
use crate::model::trust_flow::Field;
use crate::model::vocabulary::{ScopeKind, State, Trust};
use crate::ports::change::{Change, Write};
use crate::write::{clear, draft_review};

/// Whether what a program pinned waits for a person: it is a draft in the notes of a person or a system, which speak
/// for people. Agents' own memory needs no one's word.
pub(crate) fn waits_for_person(caller: &Caller, memory: &Memory) -> bool {
    caller.role.is_program()
        && memory.state == State::Active
        && memory.least_trust(&[Field::AlwaysInject]) < Trust::UserAuthored
        && matches!(memory.scope.kind(), ScopeKind::User | ScopeKind::System)
}

/// The review in which a person confirms this version, or not.
pub(crate) fn new_request(engine: &Engine, caller: &Caller, memory: &Memory) -> Review {
    let sources = vec![SourceVersion::from_memory(memory)];
    let (store, path, scope) = (memory.store.clone(), memory.path.clone(), memory.scope.clone());
    // No words of the agent: the person judges the text itself.
    let rationale = format!("pinned by {}: is this what you want in every turn?", caller.principal);
    Review { rationale, ..draft_review::new_review(engine, caller, Action::Confirm, sources, &store, path, scope) }
}

/// Adds the request to the change that writes the version it is about.
pub(crate) fn plan_request(caller: &Caller, review: &Review, change: Change) -> Change {
    let event = review.to_event(EventName::ReviewProposed, caller, change.at);
    change.with_write(Write::Row(review.to_row())).with_event(event)
}

/// What keeps a person from confirming a text: the strict scanner or a ban, as for every approval.
pub(crate) fn confirmation_refusal(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    memory: &Memory,
) -> Result<Option<Refusal>, Error> {
    let draft = Draft::from_memory(memory);
    Ok(clear::clear_draft_as(engine, caller, WriteIntent::Approve, store, &memory.scope, draft)?.err())
}
