//! Event visibility: which log events a caller may see, and with which fields. Prepared once, applied to every event.

use std::borrow::Cow;

use serde_json::Value;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{Event, EventBody, EventName};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Role, State};
use crate::policy::{Readable, ReadableScopes};
use crate::recall::visibility;

/// One caller's view of the event log.
#[derive(Clone, Debug)]
pub struct EventVisibility {
    readable: Readable,
    caller: Caller,
}

impl Engine {
    /// The caller's view of the event log, by its current rights. Later changes of rights are not seen.
    pub fn event_visibility(&self, caller: &Caller) -> Result<EventVisibility, Error> {
        Ok(EventVisibility { readable: visibility::visible_to(self, caller)?, caller: caller.clone() })
    }
}

impl EventVisibility {
    /// Whether the caller may see an event:
    /// - entries without an event of their own are seen by nobody: they say nothing;
    /// - admins see all others;
    /// - an event with a scope needs read access to that scope, and for reviews also to the proposal;
    /// - an event without a scope is seen by its actor in the same conversation.
    pub(crate) fn sees_event(&self, event: &Event) -> bool {
        let body = &event.happening;
        let own = body.actor == self.caller.principal && body.conversation == self.caller.conversation;
        match &body.scope {
            _ if body.name == EventName::LogRecorded => false,
            _ if self.caller.role == Role::Admin => matches!(self.readable.scopes, ReadableScopes::All),
            Some(scope) if body.name.is_review_event() => self.sees_review_event(body, scope),
            Some(scope) => self.readable.sees_scope(scope) && self.sees_candidate_event(body),
            None => own,
        }
    }

    /// Whether the caller may see an event about a memory that waits for review: only its author and reviewers.
    fn sees_candidate_event(&self, body: &EventBody) -> bool {
        let is_candidate = body.payload.get("state").and_then(Value::as_str) == Some(State::Constrained.as_str());
        !is_candidate || self.readable.shows_candidates_of(&body.actor)
    }

    /// Whether the caller may see an event about a review: by the same rule as the review itself.
    fn sees_review_event(&self, body: &EventBody, scope: &Scope) -> bool {
        let proposer = body.payload.get("proposer").and_then(Value::as_str).unwrap_or_default();
        let origin_field = |field: &str| body.payload.get(crate::model::review::ORIGIN_FIELD)?.get(field)?.as_str();
        let origin = crate::policy::ProposalOrigin {
            scope,
            proposer,
            user: origin_field("user"),
            project: origin_field("project"),
            conversation: origin_field("conversation"),
        };
        let sees_place = self.caller.role.may_decide_reviews() || self.readable.sees_scope(scope);
        sees_place && crate::policy::may_see_proposal(&self.caller, &origin)
    }

    /// The event as the caller may see it; `None` if not at all. Conversations and runs of others are removed, except
    /// for reviewers: knowing the id of a conversation or run is enough to join it. The stored event and its hash are
    /// unchanged.
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
