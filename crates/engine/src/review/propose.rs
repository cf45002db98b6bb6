//! Propose: put something up for a person to decide.

use crate::Engine;
use crate::gate::{Deed, new_path};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::memory::{Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::scope::Scope;
use crate::model::vocabulary::{ScopeKind, State};
use crate::policy::{self, Readable};
use crate::ports::change::{Change, Guard, Place, Write};
use crate::ports::row::{self, Kept, RowKind};
use crate::ports::{Address, StoreError};
use crate::recall::read::Reference;
use crate::recall::usage::Touch;
use crate::review::{Action, Review, ReviewState, Risk, Source};
use crate::safety;

/// A memory that should be read by all.
#[derive(Clone, Debug)]
pub struct Promotion {
    pub source: Reference,
    pub target_store: String,
    /// `None`: the source's own path.
    pub target_path: Option<String>,
    pub rationale: String,
    pub evidence: Vec<Evidence>,
    pub risk: Risk,
}

#[derive(Debug, Clone)]
pub enum Proposed {
    /// `new`: false where the same was proposed before and still waits.
    Waiting {
        review: Box<Review>,
        new: bool,
    },
    Refused(Refusal),
}

impl Engine {
    /// Proposes a copy of a memory in a store of the workspace. Nothing stands there before a person approves.
    pub fn propose(&self, caller: &Caller, promotion: Promotion) -> Result<Proposed, Error> {
        let source = self.locate(caller, &promotion.source)?;
        if source.state != State::Active {
            let reason = format!("the memory is {}, so it cannot be proposed", source.state);
            return Err(Error::conflict("conflict.state", reason));
        }
        let store = self.open_store(caller, &promotion.target_store)?;
        if store.scope != ScopeKind::Workspace {
            let message =
                format!("store `{}` is not read by all: promotions go to a store of the workspace", store.slug);
            return Err(Error::invalid("review.target_scope", message));
        }
        let path = promotion.target_path.or_else(|| source.path.clone());
        let path = path.map(|path| new_path(&path, self.limits())).transpose()?;
        let review = Review {
            rationale: promotion.rationale,
            evidence: promotion.evidence,
            risk: promotion.risk,
            ..self.drafted(caller, Action::Promote, vec![Source::of(&source)], &store.slug, path, Scope::Workspace)
        };
        if let Some(refusal) = self.unpromotable(caller, &review, &source)? {
            return Ok(Proposed::Refused(self.refuse(caller, &store.slug, refusal)?));
        }
        self.store_for_write(caller, &store.slug)?;
        self.put_up(caller, &review, EventName::PromotionProposed)
    }

    /// Proposes to forget a memory the caller may see but not take away.
    pub fn propose_forget(&self, caller: &Caller, reference: &Reference, rationale: String) -> Result<Proposed, Error> {
        self.is_on()?;
        let source = self.locate(caller, reference)?;
        if source.state == State::Tombstoned {
            return Err(Error::conflict("conflict.state", "the memory is forgotten already"));
        }
        let store = self.open_store(caller, &source.store)?;
        if let Err(refusal) = policy::may_ask_to_forget(caller, &store) {
            return Ok(Proposed::Refused(self.refuse(caller, &source.store, refusal)?));
        }
        let (store, path, scope) = (source.store.clone(), source.path.clone(), source.scope.clone());
        let review = self.drafted(caller, Action::Forget, vec![Source::of(&source)], &store, path, scope);
        let rationale = safety::without_secrets(rationale);
        self.put_up(caller, &Review { rationale, ..review }, EventName::ReviewProposed)
    }

    /// What would refuse the approval as well: said now, so that nobody reviews in vain.
    fn unpromotable(&self, caller: &Caller, review: &Review, source: &Memory) -> Result<Option<Refusal>, Error> {
        let store = self.open_store(caller, &review.target_store)?;
        if let Err(refusal) = policy::may_propose(caller, &store, &review.scope) {
            return Ok(Some(refusal));
        }
        let mut draft = self.promoted_draft(caller, review, source)?;
        // The rationale is kept too, and read by whoever decides.
        draft.reason = Some(review.rationale.clone());
        Ok(self.clear_as(caller, Deed::Approve, &store, &review.scope, draft)?.err())
    }

    /// A review without its words.
    pub(crate) fn drafted(
        &self,
        caller: &Caller,
        action: Action,
        sources: Vec<Source>,
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
            created_at: self.clock.now(),
            decided_at: None,
        }
    }

    /// Adds to the save of a waiting draft the review it waits for: one for each draft, fresh after every change of it.
    pub(crate) fn with_draft_review(
        &self,
        caller: &Caller,
        change: Change,
        candidate: &Memory,
    ) -> Result<Change, Error> {
        let place = Place { store: candidate.store.clone(), scope: candidate.scope.clone() };
        let standing = match candidate.path.clone() {
            Some(path) => self.backend.get(&Readable::everything(caller.tenant), &Address::Path { place, path })?,
            None => None,
        };
        let sources: Vec<Source> = standing.iter().map(Source::of).collect();
        let name = candidate.id.to_string();
        let id = Review::id_for(Action::Draft, &[], &candidate.store, Some(&name), 0);
        let (path, scope) = (candidate.path.clone(), candidate.scope.clone());
        let rationale = format!("a draft by {}", caller.principal);
        let review = Review {
            id,
            candidate: Some(candidate.id),
            rationale,
            ..self.drafted(caller, Action::Draft, sources, &candidate.store, path, scope)
        };
        let event = review.event(EventName::ReviewProposed, caller, change.at);
        Ok(change.write(Write::Row(review.to_row())).event(event))
    }

    /// What the caller's run put up: the versions a review is about.
    pub(crate) fn proposed(&self, caller: &Caller, review: &Review) -> Vec<Write> {
        let sources = review.sources.iter().map(|source| (source.memory, source.version));
        self.touches(caller, Touch::Proposed, sources)
    }

    /// Puts a review into the queue, unless the same waits there.
    pub(crate) fn put_up(&self, caller: &Caller, review: &Review, name: EventName) -> Result<Proposed, Error> {
        for nth in 0.. {
            let id = Review::id_for(
                review.action,
                &review.sources,
                &review.target_store,
                review.target_path.as_deref(),
                nth,
            );
            match row::get::<Review>(&*self.backend, caller.tenant, &id.to_string())? {
                Some(standing) if standing.state.is_open() || kept_by_a_person(&standing) => {
                    let writes = self.proposed(caller, review);
                    // Another run has nothing new to say, and said it all the same.
                    if !writes.is_empty() {
                        self.backend.commit_later(Change { writes, ..Change::new(caller.tenant, review.created_at) });
                    }
                    return Ok(Proposed::Waiting { review: Box::new(standing), new: false });
                }
                // Decided before: it may be proposed again, as the next.
                Some(_) => {}
                None => {
                    let review = Review { id, ..review.clone() };
                    let guard = Guard::RowIs { kind: RowKind::Reviews, id: id.to_string(), state: None };
                    let mut change = Change::new(caller.tenant, review.created_at)
                        .guard(guard)
                        .event(review.event(name, caller, review.created_at))
                        .write(Write::Row(review.to_row()));
                    change.writes.extend(self.proposed(caller, &review));
                    match self.backend.commit(change) {
                        Ok(_) => return Ok(Proposed::Waiting { review: Box::new(review), new: true }),
                        // Somebody proposed the same at the same moment: theirs is as good.
                        Err(StoreError::Guard(_)) => return self.put_up(caller, &review, name),
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        Err(Error::conflict("conflict.lost_race", "this was proposed too often"))
    }
}

/// Somebody looked at what the scanner found and let it stand: at this version the scanner does not ask again.
fn kept_by_a_person(review: &Review) -> bool {
    review.action == Action::Redact && review.state == ReviewState::Rejected
}
