//! Who sees which entries of the log, and what of them: prepared once, asked of every entry.

use std::borrow::Cow;

use serde_json::Value;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{Event, Happening};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Role, State};
use crate::policy::{Readable, Scopes};
use crate::review;

/// One caller's view of the log.
#[derive(Clone, Debug)]
pub struct Witness {
    eyes: Readable,
    caller: Caller,
}

impl Engine {
    /// The view of this caller, as its rights stand now.
    pub fn witness(&self, caller: &Caller) -> Result<Witness, Error> {
        Ok(Witness { eyes: self.eyes(caller)?, caller: caller.clone() })
    }
}

impl Witness {
    /// An event is seen by who did it and by who sees where it happened; one about a review, of those, by who may see
    /// the review; what concerns the whole tenant, by admins.
    pub(crate) fn sees(&self, event: &Event) -> bool {
        let happening = &event.happening;
        let own = happening.actor == self.caller.principal && happening.conversation == self.caller.conversation;
        match &happening.scope {
            _ if self.caller.role == Role::Admin => matches!(self.eyes.scopes, Scopes::All),
            Some(scope) if happening.name.is_of_review() => self.sees_review(happening, scope),
            Some(scope) => self.eyes.sees(scope) && self.sees_waiting(happening),
            None => own,
        }
    }

    /// What waits for review is its author's and the reviewers' to know of, as it is theirs to read.
    fn sees_waiting(&self, happening: &Happening) -> bool {
        let waits = happening.payload.get("state").and_then(Value::as_str) == Some(State::Constrained.as_str());
        !waits || self.eyes.shows_waiting_of(&happening.actor)
    }

    fn sees_review(&self, happening: &Happening, scope: &Scope) -> bool {
        let proposer = happening.payload.get("proposer").and_then(Value::as_str).unwrap_or_default();
        let from = |field: &str| happening.payload.get(review::PUT_FROM)?.get(field)?.as_str();
        let put = review::Put { scope, proposer, user: from("user"), conversation: from("conversation") };
        let placed = self.caller.role.decides() || self.eyes.sees(scope);
        placed && review::concerns(&self.caller, &put)
    }

    /// What the caller sees of an event. Whoever knows a conversation or a run can enter it, so those of others are left
    /// out, but for who decides about everybody's. The log itself, and its hashes, stay as they are.
    pub fn shown<'a>(&self, event: &'a Event) -> Option<Cow<'a, Event>> {
        if !self.sees(event) {
            return None;
        }
        let (caller, happening) = (&self.caller, &event.happening);
        let foreign = |named: &Option<String>, own: &Option<String>| named.is_some() && named != own;
        let conversation = foreign(&happening.conversation, &caller.conversation);
        let run = foreign(&happening.run, &caller.run);
        let from = happening.payload.contains_key(review::PUT_FROM);
        if caller.role.decides() || !(conversation || run || from) {
            return Some(Cow::Borrowed(event));
        }
        let mut shown = event.clone();
        shown.happening.conversation.take_if(|_| conversation);
        shown.happening.run.take_if(|_| run);
        shown.happening.payload.remove(review::PUT_FROM);
        Some(Cow::Owned(shown))
    }
}
