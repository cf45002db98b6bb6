//! Plans the change an approval commits. Every condition of the proposal is checked again.

use crate::Engine;
use crate::gate::{VersionStamp, VersionedEntry, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, ReviewState};
use crate::model::row::{RowKind, SideRecord};
use crate::model::vocabulary::{Layer, Operation, State};
use crate::policy::{self, Readable};
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Address, Filter, SortOrder, embedding};
use crate::recall::promoted::PROMOTION;
use crate::recall::read;
use crate::removal::redact::{RedactionRequest, redaction_refusal};
use crate::removal::{forget, redact};
use crate::review::promotion_notice::{self, Notice, display_address};
use crate::safety;
use crate::tenant::stores;
use crate::write::{SaveOutcome, clear, confirmation, plan};

/// Outcome of planning an approval.
pub(crate) enum ApprovalPlan {
    /// The change, and the memory after it (for `forget` and `redact`: the memory before it).
    Apply(Box<Change>, Box<Memory>),
    Refused(Refusal),
    /// A memory the proposal is about has changed; the reason in words.
    Outdated(String),
    /// The candidate has another version now than the review: this one.
    CandidateChanged(Box<Memory>),
}

/// What would stop an approval now: a refusal, or the reason why the proposal is outdated.
pub(crate) fn preview_approval(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
) -> Result<(Option<Refusal>, Option<String>), Error> {
    Ok(match plan_approval(engine, caller, review, None)? {
        ApprovalPlan::Apply(..) => (None, None),
        ApprovalPlan::Refused(refusal) => (Some(refusal), None),
        ApprovalPlan::Outdated(why) => (None, Some(why)),
        ApprovalPlan::CandidateChanged(_) => (None, Some("the proposed text has changed".to_owned())),
    })
}

/// Plans the approval of a review by its action. All sources must still be at the proposed versions.
pub(crate) fn plan_approval(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    comment: Option<String>,
) -> Result<ApprovalPlan, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    let mut sources = Vec::with_capacity(review.sources.len());
    // A reviewer approves the text they saw: any newer version makes the proposal outdated.
    for source in review.required_sources() {
        match engine.backend.get_memory(&everything, &Address::Id(source.memory))? {
            Some(memory) if memory.version == source.version => sources.push(memory),
            _ => {
                return Ok(ApprovalPlan::Outdated(format!(
                    "memory `{}` has changed since it was proposed",
                    source.memory
                )));
            }
        }
    }
    match review.action {
        Action::Promote => plan_promotion(engine, caller, review, &sources, comment),
        Action::Forget | Action::Redact => plan_removal(engine, caller, review, &sources, comment),
        Action::Confirm => plan_trust(engine, caller, review, &sources, comment),
        Action::ProfileUpdate | Action::SemanticCompaction | Action::ProceduralDedup | Action::Draft => {
            plan_confirmation(engine, caller, review, sources, comment)
        }
    }
}

/// Plans a promotion: a copy of the source at the target, with the evidence of the source.
fn plan_promotion(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    sources: &[Memory],
    comment: Option<String>,
) -> Result<ApprovalPlan, Error> {
    let Some(source) = sources.first() else { return Ok(ApprovalPlan::Outdated("it has no source".to_owned())) };
    if source.state != State::Active || source.is_expired(engine.clock.now()) {
        return Ok(ApprovalPlan::Outdated(format!("memory `{}` is no longer in use", source.id)));
    }
    let store = stores::open_store(engine, caller, &review.target_store)?;
    let draft = promoted_draft(engine, caller, review, source)?;
    let cleared = match clear::clear_draft_as(engine, caller, WriteIntent::Approve, &store, &review.scope, draft)? {
        Ok(cleared) => cleared,
        Err(refusal) => return Ok(ApprovalPlan::Refused(refusal)),
    };
    let now = engine.clock.now();
    let place = Place { store: store.slug.clone(), scope: review.scope.clone() };
    let mut change = plan_decision(engine, caller, review)
        .with_guard(Guard::VersionIs { memory: source.id, version: source.version });
    let existing = match &review.target_path {
        Some(path) => {
            let address = Address::Path { place: place.clone(), path: path.clone() };
            engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address)?
        }
        None => None,
    };
    // The reviewer's words or none: the rationale is the proposer's, and history is read by everybody.
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, comment.clone());
    let ruleset = stores::ruleset_of(engine, &store)?;
    let (entry, outcome) = match existing {
        Some(current) => {
            change = change.with_guard(Guard::VersionIs { memory: current.id, version: current.version });
            (cleared.into_revision(&current, ruleset, Operation::Promote, stamp), SaveOutcome::Updated)
        }
        None => {
            change.guards.extend(review.target_path.clone().map(|path| Guard::PathFree { place, path }));
            (
                cleared.into_new_memory(engine.fresh_memory_id(), caller, ruleset, Operation::Promote, stamp),
                SaveOutcome::Created,
            )
        }
    };
    // INVARIANT: a notice has no words of the proposer. It is saved with the reviewer's trust, and all callers read it.
    let text = format!("Promoted {} by review {}", display_address(entry.memory()), review.id);
    let notice = Notice { action: PROMOTION, memory: entry.memory(), text };
    let change = promotion_notice::plan_notice(engine, caller, change, &notice)?;
    Ok(finish_plan(engine, caller, review, change, entry, outcome, comment))
}

/// The source of a promotion as a draft for the target.
pub(crate) fn promoted_draft(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    source: &Memory,
) -> Result<Draft, Error> {
    let version = engine.backend.get_version(&Readable::whole_tenant(caller.tenant), source.version)?;
    let mut evidence: Vec<Evidence> = version.map(|version| version.evidence).unwrap_or_default();
    evidence.extend(review.evidence.iter().cloned());
    // Both lists were within the limit on their own, together they may exceed it.
    evidence.truncate(engine.limits().evidence_max);
    Ok(Draft {
        store: review.target_store.clone(),
        path: review.target_path.clone(),
        evidence,
        derived_from: vec![source.version],
        // Expiry, pin, turn and layer belong to the source's place. The target sets its own.
        expires_at: None,
        always_inject: None,
        role: None,
        session: None,
        turn: None,
        layer: None,
        ..Draft::from_intact(source)?
    })
}

/// Plans to activate a constrained candidate; the memories it replaces become superseded.
fn plan_confirmation(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    sources: Vec<Memory>,
    comment: Option<String>,
) -> Result<ApprovalPlan, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    let candidate =
        review.candidate.map(|id| engine.backend.get_memory(&everything, &Address::Id(id))).transpose()?.flatten();
    let Some(candidate) = candidate else { return Ok(ApprovalPlan::Outdated("its candidate is gone".to_owned())) };
    if candidate.state != State::Constrained {
        return Err(Error::conflict("conflict.not_constrained", super::queue::not_waiting_message(candidate.state)));
    }
    // A reviewer approves the text they saw; the guard below holds the same inside the transaction.
    if review.version.is_some_and(|version| version != candidate.version) {
        return Ok(ApprovalPlan::CandidateChanged(Box::new(candidate)));
    }
    if let Some(inactive) = sources.iter().find(|source| source.state != State::Active) {
        return Ok(ApprovalPlan::Outdated(format!("memory `{}` is {} now", inactive.id, inactive.state)));
    }
    let store = stores::open_store(engine, caller, &candidate.store)?;
    let draft = Draft { derived_from: candidate.derived_from.clone(), ..Draft::from_intact(&candidate)? };
    let cleared = match clear::clear_draft_as(engine, caller, WriteIntent::Approve, &store, &candidate.scope, draft)? {
        Ok(cleared) => cleared,
        Err(refusal) => return Ok(ApprovalPlan::Refused(refusal)),
    };
    let place = Place { store: store.slug.clone(), scope: candidate.scope.clone() };
    let mut change = plan_decision(engine, caller, review)
        .with_guard(Guard::VersionIs { memory: candidate.id, version: candidate.version });
    let replaced = match review.action {
        Action::ProfileUpdate => {
            // Two proposals for one key that are confirmed at once must not both become active.
            let generation = engine.backend.place_state(caller.tenant, &place)?.generation;
            change = change.with_guard(Guard::PlaceUnchanged { place: place.clone(), generation });
            list_same_profile_key(engine, caller, &place, &candidate)?
        }
        _ => sources,
    };
    let now = change.at;
    for old in &replaced {
        // Planned before the candidate's entry: the candidate may take over the path.
        let supersede =
            Transition::new(old, Operation::Supersede).with_reason(format!("superseded by {}", candidate.id));
        (change, _) = supersede.plan(engine, caller, change, |memory| {
            memory.state = State::Superseded;
            memory.superseded_by = Some(candidate.id);
            memory.always_inject = false;
        });
    }
    // A replaced memory gives its path free in this transaction; without one the path must be free already.
    if let Some(path) = candidate.path.clone().filter(|_| replaced.is_empty()) {
        change = change.with_guard(Guard::PathFree { place, path });
    }
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, comment.clone());
    let entry = cleared
        .into_revision(&candidate, stores::ruleset_of(engine, &store)?, Operation::Confirm, stamp)
        .with_supersedes(replaced.iter().map(|memory| memory.id).collect());
    Ok(finish_plan(engine, caller, review, change, entry, SaveOutcome::Updated, comment))
}

/// Active profile memories with the candidate's `profile_key`.
fn list_same_profile_key(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    candidate: &Memory,
) -> Result<Vec<Memory>, Error> {
    let key = candidate.metadata.get("profile_key");
    let filter = Filter { places: vec![place.clone()], layers: vec![Layer::Profile], ..Filter::default() };
    let memories = read::list_all_memories(engine, caller.tenant, &filter, SortOrder::Oldest)?;
    Ok(memories.into_iter().filter(|memory| key.is_some() && memory.metadata.get("profile_key") == key).collect())
}

/// Plans a proposed forget (tombstone) or redaction (text deleted).
pub(crate) fn plan_removal(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    sources: &[Memory],
    comment: Option<String>,
) -> Result<ApprovalPlan, Error> {
    let Some(source) = sources.first() else { return Ok(ApprovalPlan::Outdated("it has no source".to_owned())) };
    if source.state == State::Tombstoned {
        return Ok(ApprovalPlan::Outdated("it is forgotten already".to_owned()));
    }
    // Not the rationale: whoever saves the text again is told this reason.
    let reason = comment.clone().unwrap_or_else(|| format!("review {}", review.id));
    let removal = match review.action {
        // Redaction cannot be undone: the reviewer also needs the right to redact.
        Action::Redact => match redaction_refusal(caller, source) {
            Some(refusal) => return Ok(ApprovalPlan::Refused(refusal)),
            None => {
                let versions = review.older_versions();
                let redaction = RedactionRequest { memory: source.id, versions, reason, may_return: false };
                redact::plan_redaction(engine, caller, source, &redaction)?.change
            }
        },
        _ => forget::plan_tombstone(engine, caller, source, Some(reason), false)?,
    };
    let change = plan_decision(engine, caller, review).with_change(removal);
    let decided = review.with_decision(ReviewState::Approved, caller, comment.map(safety::without_secrets), change.at);
    let event = decided.to_event(EventName::ReviewApproved, caller, change.at);
    let change = change.with_write(Write::Row(decided.to_row())).with_event(event);
    Ok(ApprovalPlan::Apply(Box::new(change), Box::new(source.clone())))
}

/// Plans to give a draft the trust of the person who confirms it. Its text and its pin stay.
fn plan_trust(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    sources: &[Memory],
    comment: Option<String>,
) -> Result<ApprovalPlan, Error> {
    let Some(source) = sources.first() else { return Ok(ApprovalPlan::Outdated("it has no source".to_owned())) };
    if source.state != State::Active || source.is_expired(engine.clock.now()) {
        return Ok(ApprovalPlan::Outdated(format!("memory `{}` is no longer in use", source.id)));
    }
    let store = stores::open_store(engine, caller, &source.store)?;
    if let Some(refusal) = confirmation::confirmation_refusal(engine, caller, &store, source)? {
        return Ok(ApprovalPlan::Refused(refusal));
    }
    let trust = policy::approval_permit(caller).trust;
    let confirm = Transition::new(source, Operation::Confirm)
        .with_reason(comment.clone())
        .with_event(EventName::WriteUpdated)
        .with_field("operation", Operation::Confirm.as_str());
    let change = plan_decision(engine, caller, review);
    let (change, memory) = confirm.plan(engine, caller, change, |memory| memory.raise_trust(trust));
    let decided = Review {
        result: Some(memory.id),
        ..review.with_decision(ReviewState::Approved, caller, comment.map(safety::without_secrets), change.at)
    };
    let event = decided.to_event(EventName::ReviewApproved, caller, change.at);
    let change = change.with_write(Write::Row(decided.to_row())).with_event(event);
    Ok(ApprovalPlan::Apply(Box::new(change), Box::new(memory)))
}

/// Empty change that commits only while the review is in the state the caller saw.
pub(crate) fn plan_decision(engine: &Engine, caller: &Caller, review: &Review) -> Change {
    let state = Some(review.state.to_string());
    Change::new(caller.tenant, engine.clock.now()).with_guard(Guard::RowInState {
        kind: RowKind::Reviews,
        id: review.row_id(),
        state,
    })
}

/// Adds the memory and the approved review to the change.
fn finish_plan(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
    change: Change,
    entry: VersionedEntry,
    outcome: SaveOutcome,
    comment: Option<String>,
) -> ApprovalPlan {
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    let entry = entry.with_embedding(embedding);
    let memory = entry.memory().clone();
    let decided = Review {
        result: Some(memory.id),
        ..review.with_decision(ReviewState::Approved, caller, comment.map(safety::without_secrets), change.at)
    };
    let event = decided.to_event(EventName::ReviewApproved, caller, change.at);
    let change = plan::add_written_entry(engine, caller, change, entry, outcome)
        .with_write(Write::Row(decided.to_row()))
        .with_event(event);
    ApprovalPlan::Apply(Box::new(change), Box::new(memory))
}
