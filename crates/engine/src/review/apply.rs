//! What approving would write: one transaction, every condition looked at again.

use super::{Action, Review, ReviewState};
use crate::Engine;
use crate::gate::{Deed, Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Layer, Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Guard, Place, Write};
use crate::ports::row::{Kept, RowKind};
use crate::ports::{Address, Filter, Order, Page};
use crate::removal::redact::{Redaction, may_redact};
use crate::review::promotion_notice::{Feat, PROMOTION, address};
use crate::write::remember::Outcome;

/// What approving a review comes to.
pub(super) enum Verdict {
    /// The change that does it, and the memory that will stand (for `forget`, the one that goes).
    Apply(Box<Change>, Box<Memory>),
    Refused(Refusal),
    /// Not what it was about any more, in words.
    Outdated(String),
}

impl Engine {
    /// What a decision taken now would meet: a refusal, or that the proposal is out of date.
    pub(super) fn foreseen(
        &self,
        caller: &Caller,
        review: &Review,
    ) -> Result<(Option<Refusal>, Option<String>), Error> {
        Ok(match self.approving(caller, review, None)? {
            Verdict::Apply(..) => (None, None),
            Verdict::Refused(refusal) => (Some(refusal), None),
            Verdict::Outdated(why) => (None, Some(why)),
        })
    }

    pub(super) fn approving(
        &self,
        caller: &Caller,
        review: &Review,
        comment: Option<String>,
    ) -> Result<Verdict, Error> {
        let everything = Readable::everything(caller.tenant);
        let mut sources = Vec::with_capacity(review.sources.len());
        for source in review.standing_sources() {
            match self.backend.get(&everything, &Address::Id(source.memory))? {
                Some(memory) if memory.version == source.version => sources.push(memory),
                _ => {
                    return Ok(Verdict::Outdated(format!(
                        "memory `{}` has changed since it was proposed",
                        source.memory
                    )));
                }
            }
        }
        match review.action {
            Action::Promote => self.promoting(caller, review, &sources, comment),
            Action::Forget | Action::Redact => self.removing(caller, review, &sources, comment),
            Action::ProfileUpdate | Action::SemanticCompaction | Action::ProceduralDedup | Action::Draft => {
                self.confirming(caller, review, sources, comment)
            }
        }
    }

    /// A copy of the source at the target, approved by a person, with the source's evidence.
    fn promoting(
        &self,
        caller: &Caller,
        review: &Review,
        sources: &[Memory],
        comment: Option<String>,
    ) -> Result<Verdict, Error> {
        let Some(source) = sources.first() else { return Ok(Verdict::Outdated("it has no source".to_owned())) };
        if source.state != State::Active || source.is_expired(self.clock.now()) {
            return Ok(Verdict::Outdated(format!("memory `{}` is no longer in use", source.id)));
        }
        let store = self.open_store(caller, &review.target_store)?;
        let draft = self.promoted_draft(caller, review, source)?;
        let cleared = match self.clear_as(caller, Deed::Approve, &store, &review.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Verdict::Refused(refusal)),
        };
        let now = self.clock.now();
        let place = Place { store: store.slug.clone(), scope: review.scope.clone() };
        let mut change =
            self.deciding(caller, review).guard(Guard::VersionIs { memory: source.id, version: source.version });
        let standing = match &review.target_path {
            Some(path) => {
                let address = Address::Path { place: place.clone(), path: path.clone() };
                self.backend.get(&Readable::everything(caller.tenant), &address)?
            }
            None => None,
        };
        let stamp = Stamp::new(
            caller,
            self.fresh_version_id(),
            now,
            comment.clone().or_else(|| Some(review.rationale.clone())),
        );
        let ruleset = self.ruleset(&store)?;
        let (entry, outcome) = match standing {
            Some(current) => {
                change = change.guard(Guard::VersionIs { memory: current.id, version: current.version });
                (cleared.revise(&current, ruleset, Operation::Promote, stamp), Outcome::Updated)
            }
            None => {
                change.guards.extend(review.target_path.clone().map(|path| Guard::PathFree { place, path }));
                (cleared.create(self.fresh_memory_id(), caller, ruleset, Operation::Promote, stamp), Outcome::Created)
            }
        };
        let told = format!("Promoted {} by review {}: {}", address(entry.memory()), review.id, review.rationale);
        let feat = Feat { name: PROMOTION, memory: entry.memory(), told };
        let change = self.chronicled(caller, change, &feat)?;
        Ok(self.applied(caller, review, change, entry, outcome, comment))
    }

    pub(crate) fn promoted_draft(&self, caller: &Caller, review: &Review, source: &Memory) -> Result<Draft, Error> {
        let version = self.backend.version(&Readable::everything(caller.tenant), source.version)?;
        let mut evidence: Vec<Evidence> = version.map(|version| version.evidence).unwrap_or_default();
        evidence.extend(review.evidence.iter().cloned());
        evidence.truncate(self.limits().evidence_max);
        Ok(Draft {
            store: review.target_store.clone(),
            path: review.target_path.clone(),
            evidence,
            derived_from: vec![source.version],
            // What holds for a conversation's draft (its expiry, its pin, its turn) does not hold for what all read.
            expires_at: None,
            always_inject: None,
            role: None,
            session: None,
            turn: None,
            layer: None,
            ..Draft::of(source)
        })
    }

    /// The constrained candidate becomes active, and what it replaces is superseded by it.
    fn confirming(
        &self,
        caller: &Caller,
        review: &Review,
        sources: Vec<Memory>,
        comment: Option<String>,
    ) -> Result<Verdict, Error> {
        let everything = Readable::everything(caller.tenant);
        let candidate =
            review.candidate.map(|id| self.backend.get(&everything, &Address::Id(id))).transpose()?.flatten();
        let Some(candidate) = candidate else { return Ok(Verdict::Outdated("its candidate is gone".to_owned())) };
        if candidate.state != State::Constrained {
            return Err(Error::conflict("conflict.not_constrained", super::queue::not_waiting(candidate.state)));
        }
        if let Some(gone) = sources.iter().find(|source| source.state != State::Active) {
            return Ok(Verdict::Outdated(format!("memory `{}` is {} now", gone.id, gone.state)));
        }
        let store = self.open_store(caller, &candidate.store)?;
        let draft = Draft { derived_from: candidate.derived_from.clone(), ..Draft::of(&candidate) };
        let cleared = match self.clear_as(caller, Deed::Approve, &store, &candidate.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Verdict::Refused(refusal)),
        };
        let place = Place { store: store.slug.clone(), scope: candidate.scope.clone() };
        let mut change =
            self.deciding(caller, review).guard(Guard::VersionIs { memory: candidate.id, version: candidate.version });
        let replaced = match review.action {
            Action::ProfileUpdate => {
                // Two proposals of one key confirmed at once must not both stand.
                let generation = self.backend.place(caller.tenant, &place)?.generation;
                change = change.guard(Guard::PlaceUnchanged { place: place.clone(), generation });
                self.of_same_key(caller, &place, &candidate)?
            }
            _ => sources,
        };
        let now = change.at;
        for old in &replaced {
            let stamp =
                Stamp::new(caller, self.fresh_version_id(), now, Some(format!("superseded by {}", candidate.id)));
            let entry = Entry::transition(old, Operation::Supersede, stamp, Vec::new(), |memory| {
                memory.state = State::Superseded;
                memory.superseded_by = Some(candidate.id);
                memory.always_inject = false;
            });
            // Before the candidate, which may take over its path.
            change = change
                .guard(Guard::VersionIs { memory: old.id, version: old.version })
                .write(Write::Entry(Box::new(entry)));
        }
        if let Some(path) = candidate.path.clone().filter(|_| replaced.is_empty()) {
            change = change.guard(Guard::PathFree { place, path });
        }
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, comment.clone());
        let entry = cleared
            .revise(&candidate, self.ruleset(&store)?, Operation::Confirm, stamp)
            .replacing(replaced.iter().map(|memory| memory.id).collect());
        Ok(self.applied(caller, review, change, entry, Outcome::Updated, comment))
    }

    /// The active profile memories of the candidate's key.
    fn of_same_key(&self, caller: &Caller, place: &Place, candidate: &Memory) -> Result<Vec<Memory>, Error> {
        let key = candidate.metadata.get("profile_key");
        let filter = Filter { places: vec![place.clone()], layers: vec![Layer::Profile], ..Filter::default() };
        let memories = self.all(caller.tenant, &filter, Order::Oldest)?;
        Ok(memories.into_iter().filter(|memory| key.is_some() && memory.metadata.get("profile_key") == key).collect())
    }

    /// What is proposed to go goes: as a whole, or its text alone.
    fn removing(
        &self,
        caller: &Caller,
        review: &Review,
        sources: &[Memory],
        comment: Option<String>,
    ) -> Result<Verdict, Error> {
        let Some(source) = sources.first() else { return Ok(Verdict::Outdated("it has no source".to_owned())) };
        if source.state == State::Tombstoned {
            return Ok(Verdict::Outdated("it is forgotten already".to_owned()));
        }
        let reason = comment.clone().unwrap_or_else(|| review.rationale.clone());
        let deed = match review.action {
            Action::Redact => match may_redact(caller, source) {
                Some(refusal) => return Ok(Verdict::Refused(refusal)),
                None => {
                    let versions = review.older_versions();
                    let redaction = Redaction { memory: source.id, versions, reason, may_return: false };
                    self.redacting(caller, source, &redaction)?.change
                }
            },
            _ => self.tombstoning(caller, source, Some(reason), false)?,
        };
        let change = self.deciding(caller, review).and(deed);
        let decided = review.decided(ReviewState::Approved, caller, comment, change.at);
        let event = decided.event(EventName::ReviewApproved, caller, change.at);
        let change = change.write(Write::Row(decided.to_row())).event(event);
        Ok(Verdict::Apply(Box::new(change), Box::new(source.clone())))
    }

    /// A change that holds only while nobody else has decided.
    pub(super) fn deciding(&self, caller: &Caller, review: &Review) -> Change {
        let state = Some(review.state.to_string());
        Change::new(caller.tenant, self.clock.now()).guard(Guard::RowIs {
            kind: RowKind::Reviews,
            id: review.id(),
            state,
        })
    }

    fn applied(
        &self,
        caller: &Caller,
        review: &Review,
        change: Change,
        entry: Entry,
        outcome: Outcome,
        comment: Option<String>,
    ) -> Verdict {
        let embedding = self.embedding_at_save(entry.memory());
        let entry = entry.with_embedding(embedding);
        let memory = entry.memory().clone();
        let decided =
            Review { result: Some(memory.id), ..review.decided(ReviewState::Approved, caller, comment, change.at) };
        let event = decided.event(EventName::ReviewApproved, caller, change.at);
        let change = self.written(caller, change, entry, outcome).write(Write::Row(decided.to_row())).event(event);
        Verdict::Apply(Box::new(change), Box::new(memory))
    }

    /// Every memory a filter finds, page by page, with the engine's own eyes.
    pub(crate) fn all(
        &self,
        tenant: crate::model::id::TenantId,
        filter: &Filter,
        order: Order,
    ) -> Result<Vec<Memory>, Error> {
        let mut memories: Vec<Memory> = Vec::new();
        let mut after = None;
        loop {
            let page = Page { order, after, limit: self.limits().list_max };
            let found = self.backend.list(&Readable::everything(tenant), filter, &page)?;
            let last = found.len() < page.limit;
            after = found.last().and_then(|memory| crate::recall::read::cursor(order, memory));
            memories.extend(found);
            if last {
                return Ok(memories);
            }
        }
    }
}
