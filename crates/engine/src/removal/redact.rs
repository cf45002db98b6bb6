//! Redact: take the text away and keep who, when and why.

use std::collections::HashSet;

use crate::Engine;
use crate::gate::{Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Memory, Version};
use crate::model::refusal::Refusal;
use crate::model::scope::Scope;
use crate::model::vocabulary::{Operation, Role, State};
use crate::policy::Readable;
use crate::ports::StoreError;
use crate::ports::change::{Change, Guard, Write};
use crate::ports::row::Kept;
use crate::removal::certificate::{Certificate, Erased, Erasure};
use crate::removal::forget::Forgetting;
use crate::removal::quarantine::mark_of;
use crate::tenant::bans::{BanCause, Banning};

/// What shall be redacted.
#[derive(Clone, Debug)]
pub struct Redaction {
    pub memory: MemoryId,
    /// `None`: every version, and the memory is tombstoned. Else only these, where the current one is not among them.
    pub versions: Option<Vec<VersionId>>,
    pub reason: String,
    /// The same value may be saved again.
    pub may_return: bool,
}

#[derive(Clone, Debug)]
pub enum Redacted {
    Done(Box<RedactionDone>),
    Refused(Refusal),
}

#[derive(Clone, Debug)]
pub struct RedactionDone {
    pub memory: Memory,
    pub versions: u64,
    pub certificate: Certificate,
    /// Memories made from it, held back until somebody has looked whether they repeat it.
    pub held_back: Vec<MemoryId>,
}

/// A redaction before it is done.
pub(crate) struct Redacting {
    pub change: Change,
    certificate: Certificate,
    versions: u64,
    held_back: Vec<MemoryId>,
}

impl Engine {
    /// Erases what a memory said from its versions, the live record, the word index and the vector.
    pub fn redact(&self, caller: &Caller, redaction: &Redaction) -> Result<Redacted, Error> {
        match self.redact_once(caller, redaction) {
            // Others write to it: forgotten it stands still, which is quickly done, and then its text goes.
            Err(Error::Store(StoreError::Guard(_))) if redaction.versions.is_none() => {
                let (reason, may_return) = (Some(redaction.reason.clone()), redaction.may_return);
                // Where that fails, the second attempt says why.
                let _ = self.forget_as(caller, redaction.memory, &Forgetting { reason, may_return, expected: None });
                self.redact_once(caller, redaction)
            }
            Err(Error::Store(StoreError::Guard(_))) => self.again(|| self.redact_once(caller, redaction)),
            answer => answer,
        }
    }

    fn redact_once(&self, caller: &Caller, redaction: &Redaction) -> Result<Redacted, Error> {
        let current = self.read_by_id(caller, redaction.memory)?;
        if let Some(refusal) = may_redact(caller, &current) {
            return Ok(Redacted::Refused(self.refuse(caller, &current.store, refusal)?));
        }
        let Redacting { change, certificate, versions, held_back } = self.redacting(caller, &current, redaction)?;
        self.backend.commit(change)?;
        let memory = self.read_by_id(caller, current.id)?;
        Ok(Redacted::Done(Box::new(RedactionDone { memory, versions, certificate, held_back })))
    }

    /// What takes a memory's text away, whoever asked for it, with what was made from it held back.
    pub(crate) fn redacting(
        &self,
        caller: &Caller,
        current: &Memory,
        redaction: &Redaction,
    ) -> Result<Redacting, Error> {
        let all = self.every_version(caller, current.id)?;
        let chosen: Vec<&Version> = match &redaction.versions {
            None => all.iter().collect(),
            Some(wanted) => all.iter().filter(|version| wanted.contains(&version.id)).collect(),
        };
        if redaction.versions.as_ref().is_some_and(|wanted| wanted.len() != chosen.len()) {
            return Err(Error::not_found("one of the versions"));
        }
        let now = self.clock.now();
        let mut change =
            Change::new(caller.tenant, now).guard(Guard::VersionIs { memory: current.id, version: current.version });
        let mut versions: Vec<VersionId> = chosen.iter().map(|version| version.id).collect();
        let whole = versions.contains(&current.version);
        if whole {
            let stamp = Stamp::new(caller, self.fresh_version_id(), now, Some(redaction.reason.clone()));
            versions.push(stamp.version);
            let entry = Entry::transition(current, Operation::Redact, stamp, Vec::new(), |memory| {
                memory.state = State::Tombstoned;
                memory.always_inject = false;
            });
            change = change.write(Write::Entry(Box::new(entry)));
        }
        if !redaction.may_return {
            let why = Banning { cause: BanCause::Redact, by: &caller.principal, why: Some(&redaction.reason), at: now };
            let values = chosen.iter().map(|version| (current.id, version.memory.content.as_str()));
            change.writes.extend(self.banning(caller.tenant, &current.scope, values, &why)?);
        }
        let said = chosen.iter().map(|version| version.memory.content.as_str());
        change.writes.extend(self.dropping_summaries(caller.tenant, said)?);
        let texts: Vec<Memory> = chosen.iter().map(|version| version.memory.clone()).collect();
        let erased = Erased {
            erasure: Erasure::Redaction,
            subject: current.id.to_string(),
            memories: if whole { std::slice::from_ref(current) } else { &texts[..texts.len().min(1)] },
            versions: versions.len() as u64,
            why: Some(redaction.reason.clone()),
        };
        let key = self.ban_key(caller.tenant)?;
        let certificate = Certificate::new(self.clock.fresh_id().to_string(), caller, now, &key.key, &erased);
        let event = Happening::new(EventName::Redacted, caller, now)
            .about(current)
            .with("versions", versions.len())
            .with("certificate", &certificate.id)
            .with("seal", &certificate.seal);
        let count = versions.len() as u64;
        let change = change
            .write(Write::Redact { memory: current.id, versions })
            .write(Write::Row(certificate.to_row()))
            .event(event);
        let (holding, held_back) = self.holding_derived(caller, &HashSet::from([current.id]))?;
        let change = match holding {
            Some(holding) => change.and(holding),
            None => change,
        };
        Ok(Redacting { change, certificate, versions: count, held_back })
    }

    /// What was made from it may repeat it: held back, so that a person looks.
    pub(crate) fn holding_back(&self, caller: &Caller, sources: &HashSet<MemoryId>) -> Result<Vec<MemoryId>, Error> {
        let (holding, held_back) = self.holding_derived(caller, sources)?;
        holding.map(|change| self.backend.commit(change)).transpose()?;
        Ok(held_back)
    }

    fn holding_derived(
        &self,
        caller: &Caller,
        sources: &HashSet<MemoryId>,
    ) -> Result<(Option<Change>, Vec<MemoryId>), Error> {
        let derived = self.descendants(caller.tenant, sources, &[State::Active])?;
        let change = match sources.iter().next().filter(|_| !derived.is_empty()) {
            Some(source) => {
                let mark = mark_of(*source, Some("its source was erased"));
                Some(self.holding(caller, &derived, &mark)?)
            }
            None => None,
        };
        Ok((change, derived.into_iter().map(|memory| memory.id).collect()))
    }

    pub(crate) fn every_version(&self, caller: &Caller, memory: MemoryId) -> Result<Vec<Version>, Error> {
        let everything = Readable::everything(caller.tenant);
        let mut all: Vec<Version> = Vec::new();
        loop {
            let below = all.last().map(|version| version.number);
            let page = self.backend.versions(&everything, memory, below, self.limits().history_max)?;
            let last = page.len() < self.limits().history_max;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }
}

/// Admins, and a person about what is kept of himself.
pub(crate) fn may_redact(caller: &Caller, memory: &Memory) -> Option<Refusal> {
    let own = matches!(&memory.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let entitled = caller.rules.manage && (caller.role == Role::Admin || (caller.role == Role::User && own));
    (!entitled).then(|| Refusal::new("policy.admins_only", "only an admin, or the person it is about, may redact"))
}
