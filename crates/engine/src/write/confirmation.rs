//! Confirmation of an agent's text by a person: the request that waits, and the version it becomes.

use uuid::Uuid;

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
use crate::ports::candidate_reviews;
use crate::ports::change::{Change, Write};
use crate::write::{clear, draft_review};

/// Whether what a program pinned waits for a person: it is a draft in the notes of a person or a system, which speak
/// for people. Agents' own memory needs no one's word.
fn waits_for_person(caller: &Caller, memory: &Memory) -> bool {
    caller.role.is_program()
        && memory.state == State::Active
        && memory.least_trust(&[Field::AlwaysInject]) < Trust::UserAuthored
        && matches!(memory.scope.kind(), ScopeKind::User | ScopeKind::System)
}

/// The review in which a person confirms this version, or not.
fn new_request(engine: &Engine, caller: &Caller, memory: &Memory) -> Review {
    let sources = vec![SourceVersion::from_memory(memory)];
    let (store, path, scope) = (memory.store.clone(), memory.path.clone(), memory.scope.clone());
    // No words of the agent: the person judges the text itself.
    let rationale = format!("pinned by {}: is this what you want in every turn?", caller.principal);
    Review { rationale, ..draft_review::new_review(engine, caller, Action::Confirm, sources, &store, path, scope) }
}

/// Adds the request, if one is needed, to the change that writes the version it is about. Open requests about earlier
/// versions of the memory are superseded: a person is asked once, about the text as it is.
pub(crate) fn plan_request(
    engine: &Engine,
    caller: &Caller,
    mut change: Change,
    before: Option<&Memory>,
    after: &Memory,
) -> Result<(Change, Option<Uuid>), Error> {
    let request = (after.always_inject && waits_for_person(caller, after)).then(|| new_request(engine, caller, after));
    if let Some(before) = before.filter(|before| before.always_inject) {
        for old in candidate_reviews::list_open_reviews(engine, caller.tenant, before.id)? {
            if old.action == Action::Confirm {
                change = candidate_reviews::supersede_review(caller, change, &old, request.as_ref());
            }
        }
    }
    let Some(request) = request else { return Ok((change, None)) };
    let event = request.to_event(EventName::ReviewProposed, caller, change.at);
    Ok((change.with_write(Write::Row(request.to_row())).with_event(event), Some(request.id)))
}

/// What keeps a person from confirming a text: the strict scanner or a ban, as for every approval.
pub(crate) fn confirmation_refusal(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    memory: &Memory,
) -> Result<Option<Refusal>, Error> {
    let draft = Draft::from_intact(memory)?;
    Ok(clear::clear_draft_as(engine, caller, WriteIntent::Approve, store, &memory.scope, draft)?.err())
}
