//! Proposals by a caller: promote a memory to the workspace, or forget one. A person decides.

use crate::Engine;
use crate::gate::{WriteIntent, normalize_new_path};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::guard::Guard;
use crate::model::memory::{Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, ReviewState, Risk, SourceVersion, proposal_origin};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::vocabulary::{ScopeKind, State};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::{refusals, retry, row};
use crate::recall::already_there;
use crate::recall::read::MemoryReference;
use crate::recall::usage::{self, Touch};
use crate::review::plan;
use crate::safety;
use crate::tenant::stores;
use crate::write::clear;
use crate::write::draft_review::new_review;

/// Proposal to copy a memory to a store that all callers read.
#[derive(Clone, Debug)]
pub struct Promotion {
    pub source: MemoryReference,
    pub target_store: String,
    /// `None`: the path of the source.
    pub target_path: Option<String>,
    pub rationale: String,
    pub evidence: Vec<Evidence>,
    pub risk: Risk,
}

#[derive(Debug, Clone)]
pub enum ProposalOutcome {
    /// `new` is false if the same proposal was made before and is still open.
    Waiting {
        review: Box<Review>,
        new: bool,
    },
    Refused(Refusal),
}

impl Engine {
    /// Proposes a copy of a memory in a store of the workspace. The copy is made when a person approves.
    pub fn propose(&self, caller: &Caller, promotion: Promotion) -> Result<ProposalOutcome, Error> {
        let source = self.locate(caller, &promotion.source)?;
        if source.state != State::Active {
            let reason = format!("the memory is {}, so it cannot be proposed", source.state);
            return Err(Error::conflict("conflict.state", reason));
        }
        source.ensure_intact()?;
        let store = stores::open_store(self, caller, &promotion.target_store)?;
        if store.scope != ScopeKind::Workspace {
            let message = format!("store `{}` is not a store of the workspace; name one for the promotion", store.slug);
            return Err(Error::invalid("review.target_scope", message));
        }
        // The path is normalised here, so that equal proposals get equal ids.
        let path = promotion.target_path.or_else(|| source.path.clone());
        let path = path.map(|path| normalize_new_path(&path, self.limits())).transpose()?;
        let review = Review {
            rationale: promotion.rationale,
            evidence: promotion.evidence,
            risk: promotion.risk,
            ..new_review(
                self,
                caller,
                Action::Promote,
                vec![SourceVersion::from_memory(&source)],
                &store.slug,
                path,
                Scope::Workspace,
            )
        };
        if let Some(refusal) = promotion_refusal(self, caller, &review, &source)? {
            return Ok(ProposalOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
        }
        // A built-in store that does not exist yet is created with the first proposal for it.
        stores::store_for_write(self, caller, &store.slug)?;
        enqueue_review(self, caller, &review, EventName::PromotionProposed)
    }

    /// Proposes to forget a memory the caller may see but not forget.
    pub fn propose_forget(
        &self,
        caller: &Caller,
        reference: &MemoryReference,
        rationale: String,
    ) -> Result<ProposalOutcome, Error> {
        self.ensure_memory_enabled()?;
        let source = self.locate(caller, reference)?;
        if source.state == State::Tombstoned {
            return Err(Error::conflict("conflict.state", "the memory is forgotten already"));
        }
        let store = stores::open_store(self, caller, &source.store)?;
        if let Err(refusal) = policy::may_propose_forget(caller, &store) {
            return Ok(ProposalOutcome::Refused(refusals::log_refusal(self, caller, &source.store, refusal)?));
        }
        let (store, path, scope) = (source.store.clone(), source.path.clone(), source.scope.clone());
        let review =
            new_review(self, caller, Action::Forget, vec![SourceVersion::from_memory(&source)], &store, path, scope);
        let rationale = safety::without_secrets(rationale);
        enqueue_review(self, caller, &Review { rationale, ..review }, EventName::ReviewProposed)
    }
}

/// Refusal the approval would get too. Checked now, so that nobody reviews a proposal that cannot be approved.
fn promotion_refusal(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    source: &Memory,
) -> Result<Option<Refusal>, Error> {
    let store = stores::open_store(engine, caller, &review.target_store)?;
    if let Err(refusal) = policy::may_propose(caller, &store, &review.scope) {
        return Ok(Some(refusal));
    }
    let mut draft = plan::promoted_draft(engine, caller, review, source)?;
    // The rationale is stored and read by reviewers, so it is scanned too.
    draft.reason = Some(review.rationale.clone());
    Ok(clear::clear_draft_as(engine, caller, WriteIntent::Approve, &store, &review.scope, draft)?.err())
}

/// Usage records: the caller's run proposed these versions.
pub(crate) fn plan_proposed_usage(engine: &Engine, caller: &Caller, review: &Review) -> Vec<Write> {
    let sources = review.sources.iter().map(|source| (source.memory, source.version));
    usage::plan_usages(engine, caller, Touch::Proposed, sources)
}

/// Adds a review to the queue, unless the same proposal is open already and the caller may see it.
pub(crate) fn enqueue_review(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    name: EventName,
) -> Result<ProposalOutcome, Error> {
    retry::retry_lost_race(engine, || enqueue_review_once(engine, caller, review, name))
}

fn enqueue_review_once(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    name: EventName,
) -> Result<ProposalOutcome, Error> {
    if let Some(existing) = find_open_equal(engine, caller, review)? {
        return Ok(answer_existing(engine, caller, review, existing));
    }
    // Ids are made from the action, the source versions, the origin and `nth`: concurrent equal proposals of one caller
    // collide on one id. A review of another origin, which this caller may not see, is not there.
    let (store, path, origin) = (&review.target_store, review.target_path.as_deref(), proposal_origin(caller));
    for nth in 0.. {
        let id = Review::id_for(review.action, &review.sources, store, path, &origin, nth);
        match row::get_record::<Review>(&*engine.backend, caller.tenant, &id.to_string())? {
            Some(existing) if existing.state.is_open() || is_rejected_redaction(&existing) => {
                return Ok(answer_existing(engine, caller, review, existing));
            }
            // Decided before: proposed again under the next number.
            Some(_) => {}
            None => {
                let review = Review { id, ..review.clone() };
                let guard = Guard::RowInState { kind: RowKind::Reviews, id: id.to_string(), state: None };
                let mut change = Change::new(caller.tenant, review.created_at)
                    .with_guard(guard)
                    .with_event(review.to_event(name, caller, review.created_at))
                    .with_write(Write::Row(review.to_row()));
                change.writes.extend(plan_proposed_usage(engine, caller, &review));
                // A failed guard means that the same was proposed concurrently: the retry finds that review.
                engine.commit(change)?;
                return Ok(ProposalOutcome::Waiting { review: Box::new(review), new: true });
            }
        }
    }
    Err(Error::conflict("conflict.lost_race", "the same proposal was made too often"))
}

/// The open review (for a redaction also the rejected one) of the same proposal, by anybody, if this caller may see it.
fn find_open_equal(engine: &Engine, caller: &Caller, review: &Review) -> Result<Option<Review>, Error> {
    let about = RowFilter {
        subject: Some(review.row_subject()),
        newest_first: true,
        limit: engine.limits().list_max,
        ..RowFilter::default()
    };
    let subject = |review: &Review| {
        (review.action, review.sources.clone(), review.target_store.clone(), review.target_path.clone())
    };
    let wanted = subject(review);
    let reviews: Vec<Review> = row::select_records(&*engine.backend, caller.tenant, &about)?;
    let is_settled = |other: &Review| other.state.is_open() || is_rejected_redaction(other);
    let is_equal = |other: &Review| is_settled(other) && subject(other) == wanted;
    Ok(reviews.into_iter().find(|other| is_equal(other) && already_there::shows_review(caller, other)))
}

/// The answer that a proposal waits already. No new review, but this run has proposed it as well.
fn answer_existing(engine: &Engine, caller: &Caller, review: &Review, existing: Review) -> ProposalOutcome {
    let writes = plan_proposed_usage(engine, caller, review);
    if !writes.is_empty() {
        engine.commit_later(Change { writes, ..Change::new(caller.tenant, review.created_at) });
    }
    ProposalOutcome::Waiting { review: Box::new(existing), new: false }
}

/// A rejected redaction: a reviewer accepted the findings of this version, so a rescan does not propose it again.
fn is_rejected_redaction(review: &Review) -> bool {
    review.action == Action::Redact && review.state == ReviewState::Rejected
}
