//! Redact: deletes the text of a memory and keeps author, time and reason of each version.

use std::collections::HashSet;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Memory, Version};
use crate::model::refusal::Refusal;
use crate::model::row::SideRecord;
use crate::model::scope::Scope;
use crate::model::vocabulary::{Operation, Role, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::transition::{Transition, tombstone};
use crate::ports::{candidate_reviews, refusals, retry};
use crate::recall::{lineage, read};
use crate::removal::certificate::{Certificate, Erasure, ErasureDetails};
use crate::removal::forget::{self, ForgetOptions};
use crate::removal::quarantine::{self, quarantine_mark};
use crate::summaries;
use crate::tenant::bans::{self, BanCause, BanReason};

/// Input of [`Engine::redact`].
#[derive(Clone, Debug)]
pub struct RedactionRequest {
    pub memory: MemoryId,
    /// `None`: every version, and the memory is tombstoned. `Some`: these; if the current one is among them, the memory
    /// is tombstoned too.
    pub versions: Option<Vec<VersionId>>,
    pub reason: String,
    /// Allow the same text to be saved again: no ban is written.
    pub may_return: bool,
}

#[derive(Clone, Debug)]
pub enum RedactionOutcome {
    Done(Box<RedactionReport>),
    Refused(Refusal),
}

#[derive(Clone, Debug)]
pub struct RedactionReport {
    pub memory: Memory,
    pub versions: u64,
    pub certificate: Certificate,
    /// Derived memories, held back until a person has checked whether they repeat the text.
    pub held_back: Vec<MemoryId>,
}

/// A redaction that is not committed yet.
pub(crate) struct RedactionPlan {
    pub change: Change,
    certificate: Certificate,
    versions: u64,
    held_back: Vec<MemoryId>,
}

impl Engine {
    /// Deletes the text of a memory from its versions, the live record, the word index and the vector.
    pub fn redact(&self, caller: &Caller, redaction: &RedactionRequest) -> Result<RedactionOutcome, Error> {
        match redact_once(self, caller, redaction) {
            // Other callers keep writing to it. Forgetting is quick and stops them; then the text is deleted.
            Err(Error::Store(StoreError::Guard(_))) if redaction.versions.is_none() => {
                let (reason, may_return) = (Some(redaction.reason.clone()), redaction.may_return);
                // Result ignored: if this fails, the second attempt returns the reason.
                let options = ForgetOptions { reason, may_return, ..ForgetOptions::default() };
                let _ = forget::forget_memory(self, caller, redaction.memory, &options);
                redact_once(self, caller, redaction)
            }
            Err(Error::Store(StoreError::Guard(_))) => {
                retry::retry_lost_race(self, || redact_once(self, caller, redaction))
            }
            answer => answer,
        }
    }
}

fn redact_once(engine: &Engine, caller: &Caller, redaction: &RedactionRequest) -> Result<RedactionOutcome, Error> {
    let current = read::read_by_id(engine, caller, redaction.memory)?;
    if let Some(refusal) = redaction_refusal(caller, &current) {
        return Ok(RedactionOutcome::Refused(refusals::log_refusal(engine, caller, &current.store, refusal)?));
    }
    let RedactionPlan { change, certificate, versions, held_back } =
        plan_redaction(engine, caller, &current, redaction)?;
    engine.commit(change)?;
    let memory = read::read_by_id(engine, caller, current.id)?;
    Ok(RedactionOutcome::Done(Box::new(RedactionReport { memory, versions, certificate, held_back })))
}

/// Plans a redaction, its certificate and the quarantine of derived memories. Does not check permission.
pub(crate) fn plan_redaction(
    engine: &Engine,
    caller: &Caller,
    current: &Memory,
    redaction: &RedactionRequest,
) -> Result<RedactionPlan, Error> {
    let all = list_all_versions(engine, caller, current.id)?;
    let chosen: Vec<&Version> = match &redaction.versions {
        None => all.iter().collect(),
        Some(wanted) => all.iter().filter(|version| wanted.contains(&version.id)).collect(),
    };
    // All or nothing: a caller that names a wrong version must not believe that it was redacted.
    if redaction.versions.as_ref().is_some_and(|wanted| wanted.len() != chosen.len()) {
        return Err(Error::not_found("one of the versions"));
    }
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    let mut versions: Vec<VersionId> = chosen.iter().map(|version| version.id).collect();
    let includes_current = versions.contains(&current.version);
    if includes_current {
        let redact = Transition::new(current, Operation::Redact).with_reason(redaction.reason.clone());
        let (with_tombstone, redacted) = redact.plan(engine, caller, change, tombstone);
        change = candidate_reviews::plan_candidate_change(engine, caller, with_tombstone, current, &redacted)?;
        // The tombstone is a version with the same text, so it is redacted in the same transaction.
        versions.push(redacted.version);
    } else {
        // The current version stays. The guard makes sure that no version was added since the list was read.
        change = change.with_guard(Guard::VersionIs { memory: current.id, version: current.version });
    }
    if !redaction.may_return {
        let why = BanReason::new(BanCause::Redact, caller, Some(&redaction.reason), now);
        let values = chosen.iter().map(|version| (current.id, version.memory.content.as_str()));
        change.writes.extend(bans::plan_bans(engine, caller.tenant, &current.scope, values, &why)?);
    }
    let removed_texts = chosen.iter().map(|version| version.memory.content.as_str());
    change.writes.extend(summaries::plan_summary_removal(engine, caller.tenant, removed_texts)?);
    let texts: Vec<Memory> = chosen.iter().map(|version| version.memory.clone()).collect();
    let erased = ErasureDetails {
        erasure: Erasure::Redaction,
        subject: current.id.to_string(),
        // One memory whatever the number of versions: the certificate counts and lists memories.
        memories: if includes_current { std::slice::from_ref(current) } else { &texts[..texts.len().min(1)] },
        versions: versions.len() as u64,
        why: Some(redaction.reason.clone()),
    };
    // Digests are keyed like those of bans: without the key nobody can test a guess.
    let key = bans::ensure_ban_key(engine, caller.tenant)?;
    let certificate = Certificate::new(engine.clock.fresh_id().to_string(), caller, now, &key.key, &erased);
    let event = EventBody::new(EventName::Redacted, caller, now)
        .about_memory(current)
        .with_field("versions", versions.len())
        .with_field("certificate", &certificate.id)
        .with_field("seal", &certificate.seal);
    let count = versions.len() as u64;
    let change = change
        .with_write(Write::Redact { memory: current.id, versions })
        .with_write(Write::Row(certificate.to_row()))
        .with_event(event);
    let (holding, held_back) = plan_hold_derived(engine, caller, &HashSet::from([current.id]))?;
    let change = match holding {
        Some(holding) => change.with_change(holding),
        None => change,
    };
    Ok(RedactionPlan { change, certificate, versions: count, held_back })
}

/// Holds back everything derived from these memories, because it may repeat their text. A person decides.
pub(crate) fn hold_back_derived(
    engine: &Engine,
    caller: &Caller,
    sources: &HashSet<MemoryId>,
) -> Result<Vec<MemoryId>, Error> {
    let (holding, held_back) = plan_hold_derived(engine, caller, sources)?;
    holding.map(|change| engine.commit(change)).transpose()?;
    Ok(held_back)
}

/// Plans the quarantine of derived memories; no change if there are none.
fn plan_hold_derived(
    engine: &Engine,
    caller: &Caller,
    sources: &HashSet<MemoryId>,
) -> Result<(Option<Change>, Vec<MemoryId>), Error> {
    let derived = lineage::find_descendants(engine, caller.tenant, sources, &[State::Active])?;
    let change = match sources.iter().next().filter(|_| !derived.is_empty()) {
        // One of the sources names the quarantine: a release starts from a single memory.
        Some(source) => {
            let mark = quarantine_mark(*source, Some("its source was erased"));
            Some(quarantine::plan_quarantine(engine, caller, &derived, &mark)?)
        }
        None => None,
    };
    Ok((change, derived.into_iter().map(|memory| memory.id).collect()))
}

/// All versions of a memory, newest first.
pub(crate) fn list_all_versions(engine: &Engine, caller: &Caller, memory: MemoryId) -> Result<Vec<Version>, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    let mut all: Vec<Version> = Vec::new();
    loop {
        let below = all.last().map(|version| version.number);
        let page = engine.backend.list_versions(&everything, memory, below, engine.limits().history_max)?;
        let last = page.len() < engine.limits().history_max;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

/// Refusal unless the caller is an admin, or a user and the memory is in that user's own scope.
pub(crate) fn redaction_refusal(caller: &Caller, memory: &Memory) -> Option<Refusal> {
    let own = matches!(&memory.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let entitled = caller.rules.manage && (caller.role == Role::Admin || (caller.role == Role::User && own));
    (!entitled).then(|| Refusal::new("policy.admins_only", "only an admin, or the person it is about, may redact"))
}
