//! Who sees which entries of the log, and what of them: prepared once, asked of every entry.

use std::borrow::Cow;

use serde_json::Value;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{Event, EventBody};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Role, State};
use crate::policy::{Readable, ReadableScopes};
use crate::recall::visibility;

/// One caller's view of the log.
#[derive(Clone, Debug)]
pub struct EventVisibility {
    readable: Readable,
    caller: Caller,
}

impl Engine {
    /// The view of this caller, as its rights stand now.
    pub fn event_visibility(&self, caller: &Caller) -> Result<EventVisibility, Error> {
        Ok(EventVisibility { readable: visibility::visible_to(self, caller)?, caller: caller.clone() })
    }
}

impl EventVisibility {
    /// An event is seen by who did it and by who sees where it happened; one about a review, of those, by who may see
    /// the review; what concerns the whole tenant, by admins.
    pub(crate) fn sees_event(&self, event: &Event) -> bool {
        let happening = &event.happening;
        let own = happening.actor == self.caller.principal && happening.conversation == self.caller.conversation;
        match &happening.scope {
            _ if self.caller.role == Role::Admin => matches!(self.readable.scopes, ReadableScopes::All),
            Some(scope) if happening.name.is_review_event() => self.sees_review_event(happening, scope),
            Some(scope) => self.readable.sees_scope(scope) && self.sees_candidate_event(happening),
            None => own,
        }
    }

    /// What waits for review is its author's and the reviewers' to know of, as it is theirs to read.
    fn sees_candidate_event(&self, happening: &EventBody) -> bool {
        let waits = happening.payload.get("state").and_then(Value::as_str) == Some(State::Constrained.as_str());
        !waits || self.readable.shows_candidates_of(&happening.actor)
    }

    fn sees_review_event(&self, happening: &EventBody, scope: &Scope) -> bool {
        let proposer = happening.payload.get("proposer").and_then(Value::as_str).unwrap_or_default();
        let from = |field: &str| happening.payload.get(crate::model::review::ORIGIN_FIELD)?.get(field)?.as_str();
        let put =
            crate::policy::ProposalOrigin { scope, proposer, user: from("user"), conversation: from("conversation") };
        let placed = self.caller.role.may_decide_reviews() || self.readable.sees_scope(scope);
        placed && crate::policy::may_see_proposal(&self.caller, &put)
    }

    /// What the caller sees of an event. Whoever knows a conversation or a run can enter it, so those of others are left
    /// out, but for who decides about everybody's. The log itself, and its hashes, stay as they are.
    pub fn visible_event<'a>(&self, event: &'a Event) -> Option<Cow<'a, Event>> {
        if !self.sees_event(event) {
            return None;
        }
        let (caller, happening) = (&self.caller, &event.happening);
        let foreign = |named: &Option<String>, own: &Option<String>| named.is_some() && named != own;
        let conversation = foreign(&happening.conversation, &caller.conversation);
        let run = foreign(&happening.run, &caller.run);
        let from = happening.payload.contains_key(crate::model::review::ORIGIN_FIELD);
        if caller.role.may_decide_reviews() || !(conversation || run || from) {
            return Some(Cow::Borrowed(event));
        }
        let mut shown = event.clone();
        shown.happening.conversation.take_if(|_| conversation);
        shown.happening.run.take_if(|_| run);
        shown.happening.payload.remove(crate::model::review::ORIGIN_FIELD);
        Some(Cow::Owned(shown))
    }
}
