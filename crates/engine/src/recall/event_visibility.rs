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
        let body = &event.happening;
        let own = body.actor == self.caller.principal && body.conversation == self.caller.conversation;
        match &body.scope {
            _ if self.caller.role == Role::Admin => matches!(self.readable.scopes, ReadableScopes::All),
            Some(scope) if body.name.is_review_event() => self.sees_review_event(body, scope),
            Some(scope) => self.readable.sees_scope(scope) && self.sees_candidate_event(body),
            None => own,
        }
    }

    /// What waits for review is its author's and the reviewers' to know of, as it is theirs to read.
    fn sees_candidate_event(&self, body: &EventBody) -> bool {
        let is_candidate = body.payload.get("state").and_then(Value::as_str) == Some(State::Constrained.as_str());
        !is_candidate || self.readable.shows_candidates_of(&body.actor)
    }

    fn sees_review_event(&self, body: &EventBody, scope: &Scope) -> bool {
        let proposer = body.payload.get("proposer").and_then(Value::as_str).unwrap_or_default();
        let origin_field = |field: &str| body.payload.get(crate::model::review::ORIGIN_FIELD)?.get(field)?.as_str();
        let origin = crate::policy::ProposalOrigin {
            scope,
            proposer,
            user: origin_field("user"),
            conversation: origin_field("conversation"),
        };
        let sees_place = self.caller.role.may_decide_reviews() || self.readable.sees_scope(scope);
        sees_place && crate::policy::may_see_proposal(&self.caller, &origin)
    }

    /// What the caller sees of an event. Whoever knows a conversation or a run can enter it, so those of others are
    /// left out, but for who decides about everybody's. The log itself, and its hashes, stay as they are.
    pub fn visible_event<'a>(&self, event: &'a Event) -> Option<Cow<'a, Event>> {
        if !self.sees_event(event) {
            return None;
        }
        let (caller, body) = (&self.caller, &event.happening);
        let is_foreign = |named: &Option<String>, own: &Option<String>| named.is_some() && named != own;
        let hides_conversation = is_foreign(&body.conversation, &caller.conversation);
        let hides_run = is_foreign(&body.run, &caller.run);
        let has_origin = body.payload.contains_key(crate::model::review::ORIGIN_FIELD);
        if caller.role.may_decide_reviews() || !(hides_conversation || hides_run || has_origin) {
            return Some(Cow::Borrowed(event));
        }
        let mut shown = event.clone();
        shown.happening.conversation.take_if(|_| hides_conversation);
        shown.happening.run.take_if(|_| hides_run);
        shown.happening.payload.remove(crate::model::review::ORIGIN_FIELD);
        Some(Cow::Owned(shown))
    }
}
