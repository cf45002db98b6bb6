//! Forget: takes a memory out of use with a tombstone. Its history stays.
//!
//! The verb is in `review::forget_request`: what a program may not remove becomes a proposal there.

use crate::Engine;
use crate::consent;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State};
use crate::policy;
use crate::ports::change::Change;
use crate::ports::transition::{Transition, tombstone};
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
    /// Whose word the removal is made on.
    pub answer: consent::Answer,
}

/// Result of an attempt to forget.
pub(crate) enum Removal {
    Done(Box<Memory>),
    Refused(Refusal),
    /// Only a person may remove it, and none has agreed.
    NeedsPerson,
}

/// Forgets a memory, if the caller may or a person has agreed.
pub(crate) fn forget_memory(
    engine: &Engine,
    caller: &Caller,
    memory: MemoryId,
    options: &ForgetOptions,
) -> Result<Removal, Error> {
    retry::retry_lost_race(engine, || forget_once(engine, caller, memory, options))
}

fn forget_once(engine: &Engine, caller: &Caller, memory: MemoryId, options: &ForgetOptions) -> Result<Removal, Error> {
    let current = read::read_by_id(engine, caller, memory)?;
    let store = stores::open_store(engine, caller, &current.store)?;
    if let Err(refusal) = policy::may_forget(caller, &store, &current) {
        return Ok(Removal::Refused(refusals::log_refusal(engine, caller, &store.slug, refusal)?));
    }
    if current.state == State::Tombstoned {
        return Err(Error::conflict("conflict.state", "the memory is forgotten already"));
    }
    // Inside the retry: a memory that changes between two attempts is a conflict too.
    if options.expected_version.is_some_and(|expected| expected != current.version) {
        return Err(read::changed_since_error(engine, caller, &current));
    }
    let consent = match &options.answer {
        consent::Answer::NotNeeded if !policy::forget_needs_person(caller, &current) => None,
        consent::Answer::NotNeeded | consent::Answer::Missing => return Ok(Removal::NeedsPerson),
        consent::Answer::To(question) => match consent::find_consent_to_forget(engine, caller, question, &current)? {
            Some(question) => Some(question),
            None => return Ok(Removal::NeedsPerson),
        },
    };
    let change = plan_tombstone(engine, caller, &current, options.reason.clone(), options.may_return)?;
    engine.commit(consent.iter().fold(change, |change, question| consent::use_question(question, change)))?;
    Ok(Removal::Done(Box::new(read::read_by_id(engine, caller, memory)?)))
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
        let why = BanReason::new(BanCause::Forget, caller, reason.as_deref(), now);
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
