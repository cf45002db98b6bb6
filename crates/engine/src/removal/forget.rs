//! Forget: takes a memory out of use with a tombstone. Its history stays.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::vocabulary::{Operation, State};
use crate::policy;
use crate::ports::change::Change;
use crate::ports::transition::{Transition, TransitionOutcome, tombstone};
use crate::ports::{candidate_reviews, refusals, retry};
use crate::recall::read;
use crate::summaries;
use crate::tenant::bans::{BanCause, BanReason};
use crate::tenant::{bans, stores};

/// Options of [`Engine::forget_with_options`].
#[derive(Debug, Clone, Default)]
pub struct ForgetOptions {
    pub reason: Option<String>,
    /// Allow the same text to be saved again: no ban is written.
    pub may_return: bool,
    /// Conflict unless the memory is still at this version.
    pub expected_version: Option<VersionId>,
}

impl Engine {
    /// Takes a memory out of use. Its path is free again, its history stays, its text is banned from its scope.
    pub fn forget(
        &self,
        caller: &Caller,
        memory: MemoryId,
        reason: Option<String>,
    ) -> Result<TransitionOutcome, Error> {
        self.forget_with_options(caller, memory, &ForgetOptions { reason, ..ForgetOptions::default() })
    }

    /// As [`Engine::forget`], with options.
    pub fn forget_with_options(
        &self,
        caller: &Caller,
        memory: MemoryId,
        options: &ForgetOptions,
    ) -> Result<TransitionOutcome, Error> {
        self.ensure_memory_enabled()?;
        retry::retry_lost_race(self, || {
            let current = read::read_by_id(self, caller, memory)?;
            let store = stores::open_store(self, caller, &current.store)?;
            if let Err(refusal) = policy::may_forget(caller, &store, &current) {
                return Ok(TransitionOutcome::Refused(refusals::log_refusal(self, caller, &store.slug, refusal)?));
            }
            if current.state == State::Tombstoned {
                return Err(Error::conflict("conflict.state", "the memory is forgotten already"));
            }
            // Inside the retry: a memory that changes between two attempts is a conflict too.
            if options.expected_version.is_some_and(|expected| expected != current.version) {
                return Err(read::changed_since_error(self, caller, &current));
            }
            self.commit(plan_tombstone(self, caller, &current, options.reason.clone(), options.may_return)?)?;
            Ok(TransitionOutcome::Done(Box::new(read::read_by_id(self, caller, memory)?)))
        })
    }
}

/// Plans to forget a memory: tombstone, removal of summaries that quote it, and a ban of its text.
pub(crate) fn plan_tombstone(
    engine: &Engine,
    caller: &Caller,
    current: &Memory,
    reason: Option<String>,
    may_return: bool,
) -> Result<Change, Error> {
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    // In the transaction of the tombstone: the text cannot be saved again in between.
    if !may_return {
        let why = BanReason { cause: BanCause::Forget, by: &caller.principal, why: reason.as_deref(), at: now };
        let value = std::iter::once((current.id, current.content.as_str()));
        change.writes.extend(bans::plan_bans(engine, caller.tenant, &current.scope, value, &why)?);
    }
    // Summaries of conversations may quote the text.
    let removed_texts = std::iter::once(current.content.as_str());
    change.writes.extend(summaries::plan_summary_removal(engine, caller.tenant, removed_texts)?);
    let forget = Transition::new(current, Operation::Forget)
        .with_reason(reason)
        .with_event(EventName::Forgotten)
        .with_field("may_return", may_return);
    let (change, forgotten) = forget.plan(engine, caller, change, tombstone);
    candidate_reviews::plan_candidate_change(engine, caller, change, current, &forgotten)
}
