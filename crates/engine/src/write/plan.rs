//! Builds the change of a save: the new version, its guards, quota, run counter, review and events.

use crate::Engine;
use crate::consent;
use crate::gate::{ClearedDraft, VersionStamp, VersionedEntry};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::{Guard, Place};
use crate::model::memory::{Draft, Memory};
use crate::model::ruleset::Ruleset;
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Operation, State};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::embedding;
use crate::recall::read;
use crate::recall::usage::{self, Touch};
use crate::tenant::stores;
use crate::write::target::{self, SaveTarget};
use crate::write::{SaveOutcome, SavedMemory, confirmation, draft_review, quota};

/// Finds the target of a cleared draft and plans the save. No change if the draft is a duplicate.
///
/// `skip_lookup`: assume that the place is free, see [`target::find_save_target`].
pub(crate) fn plan_save(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    cleared: ClearedDraft,
    operation: Operation,
    skip_lookup: bool,
) -> Result<(Option<Change>, SavedMemory), Error> {
    let ruleset = stores::ruleset_of(engine, store)?;
    let place = Place { store: store.slug.clone(), scope: cleared.scope().clone() };
    match target::find_save_target(engine, caller, &cleared, ruleset, &place, skip_lookup)? {
        SaveTarget::Existing(current)
            if !cleared.is_confirmed()
                && !cleared.draft().create_only
                && policy::replace_needs_person(caller, &current) =>
        {
            plan_candidate(engine, caller, store, cleared, &current)
        }
        target => plan_save_to_target(engine, caller, cleared, ruleset, &place, target, operation, None),
    }
}

/// Plans a save that its person confirmed by answering a question, and uses the question up. `None`: the question was
/// about another text, or the memory that it showed as replaced has changed since.
pub(crate) fn plan_confirmed_save(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    cleared: ClearedDraft,
    draft: &Draft,
    question: &str,
) -> Result<Option<(Option<Change>, SavedMemory)>, Error> {
    let ruleset = stores::ruleset_of(engine, store)?;
    let place = Place { store: store.slug.clone(), scope: cleared.scope().clone() };
    let target = target::find_save_target(engine, caller, &cleared, ruleset, &place, false)?;
    let Some(question) = consent::find_consent_to_keep(engine, caller, question, draft, target.existing())? else {
        return Ok(None);
    };
    // The guards of the target hold until the commit, or the save is planned again.
    let (change, saved) =
        plan_save_to_target(engine, caller, cleared, ruleset, &place, target, Operation::Create, None)?;
    Ok(Some((change.map(|change| consent::use_question(&question, change)), saved)))
}

/// Plans a save over what a person wrote or trusted: a candidate beside it, which waits for review.
pub(crate) fn plan_candidate(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    cleared: ClearedDraft,
    current: &Memory,
) -> Result<(Option<Change>, SavedMemory), Error> {
    let ruleset = stores::ruleset_of(engine, store)?;
    let place = Place { store: store.slug.clone(), scope: cleared.scope().clone() };
    read::ensure_expected_sha256(engine, caller, cleared.draft().expected_sha256.as_deref(), current)?;
    let target = match cleared.draft().states_nothing_new(current) {
        true => SaveTarget::Same(Box::new(current.clone())),
        false => target::find_candidate_target(engine, caller, &place, current)?,
    };
    let cleared = cleared.into_candidate_for(current);
    plan_save_to_target(engine, caller, cleared, ruleset, &place, target, Operation::Create, Some(current))
}

/// `replaced`: the memory of a person that a candidate would replace.
#[expect(clippy::too_many_arguments, reason = "the parts of one save, joined here and nowhere else")]
fn plan_save_to_target(
    engine: &Engine,
    caller: &Caller,
    cleared: ClearedDraft,
    ruleset: &Ruleset,
    place: &Place,
    target: SaveTarget,
    operation: Operation,
    replaced: Option<&Memory>,
) -> Result<(Option<Change>, SavedMemory), Error> {
    // A person who confirms a text that is there as a draft makes it a new version, with a person's trust.
    let target = match target {
        SaveTarget::Same(memory) if cleared.is_confirmed() => SaveTarget::Existing(memory),
        target => target,
    };
    let cleared = match &target {
        SaveTarget::New { path: Some(path), .. } => cleared.at_path(path),
        _ => cleared,
    };
    let now = engine.clock.now();
    let (draft, mut warnings) = (cleared.draft(), cleared.warnings().to_vec());
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, draft.reason.clone());
    let mut change = Change::new(caller.tenant, now);
    let mut before = None;
    let (entry, outcome, deduped_by, near) = match target {
        SaveTarget::Existing(_) | SaveTarget::Same(_) if draft.create_only => {
            return Err(Error::conflict("conflict.exists", "a memory exists there already"));
        }
        // A duplicate writes nothing: no version, no event, no usage record.
        SaveTarget::Same(memory) => {
            let (outcome, deduped_by) = (SaveOutcome::Unchanged, Some(ruleset.dedup));
            return Ok((
                None,
                SavedMemory { memory: *memory, outcome, deduped_by, near: None, review: None, warnings },
            ));
        }
        SaveTarget::Existing(current) => {
            read::ensure_expected_sha256(engine, caller, draft.expected_sha256.as_deref(), &current)?;
            let deduped_by = if draft.path.is_some() { Dedup::Path } else { ruleset.dedup };
            change = change.with_guard(Guard::VersionIs { memory: current.id, version: current.version });
            // `operation` is for new memories: an import or seed over an existing memory is an update.
            let entry = cleared.into_revision(&current, ruleset, Operation::Update, stamp);
            before = Some(current);
            (entry, SaveOutcome::Updated, Some(deduped_by), None)
        }
        SaveTarget::New { guard, near, .. } => {
            // The caller has read a memory here that is gone by now.
            if draft.expected_sha256.is_some() {
                return Err(Error::conflict(
                    "conflict.nothing_there",
                    "there is no memory here to compare `expected_sha256` with",
                ));
            }
            change.guards.extend(guard);
            let entry = cleared.into_new_memory(engine.fresh_memory_id(), caller, ruleset, operation, stamp);
            (entry, SaveOutcome::Created, None, near)
        }
    };
    // An update takes no room: the memory counts already.
    if outcome == SaveOutcome::Created {
        change = quota::plan_quota_room(engine, caller, place, ruleset, 1, change)?;
    }
    if let (true, Some(saves_max)) = (caller.unattended, ruleset.unattended_saves_max) {
        let run = caller.run.clone().ok_or_else(missing_run_error)?;
        // Check and count in one transaction: concurrent saves of a run cannot pass the cap together.
        change = change
            .with_guard(Guard::RunSavesLeft { run: run.clone(), saves_max })
            .with_write(Write::CountRunSave { run });
    }
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    let entry = entry.with_embedding(embedding);
    let memory = entry.memory().clone();
    // Programs write drafts in `draft_write` stores: each waits for a review.
    let mut draft_review = None;
    if memory.state == State::Constrained {
        let review;
        (change, review) =
            draft_review::with_draft_review(engine, caller, change, before.as_deref(), &memory, replaced)?;
        draft_review = Some(review);
        warnings.extend(replaced.map(|_| {
            format!(
                "a person wrote or trusted what is there, so it stays: this is a draft and waits in review {review}"
            )
        }));
    }
    // A pin that a program sets speaks for a person: it stays untrusted until that person has confirmed it.
    let (change, request) = confirmation::plan_request(engine, caller, change, before.as_deref(), &memory)?;
    let review = draft_review.or(request);
    let change = add_written_entry(engine, caller, change, entry, outcome);
    Ok((Some(change), SavedMemory { memory, outcome, deduped_by, near, review, warnings }))
}

/// Adds a new version, its events and the usage record that its author wrote it.
pub(crate) fn add_written_entry(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    entry: VersionedEntry,
    outcome: SaveOutcome,
) -> Change {
    let usages = usage::plan_usages(
        engine,
        caller,
        Touch::Written,
        std::iter::once((entry.memory().id, entry.memory().version)),
    );
    let mut change = add_entry(engine, caller, change, entry, outcome);
    change.writes.extend(usages);
    change
}

/// Adds a new version and its events, without a usage record: for a proposal, which is no memory in use yet.
pub(crate) fn add_entry(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    entry: VersionedEntry,
    outcome: SaveOutcome,
) -> Change {
    let memory = entry.memory();
    let name = if outcome == SaveOutcome::Created { EventName::WriteCreated } else { EventName::WriteUpdated };
    let event = EventBody::new(name, caller, change.at)
        .about_memory(memory)
        .with_field("sha256", &memory.sha256)
        .with_field("operation", entry.operation());
    // Counted when planned: a retried save counts again.
    engine.scan_counters.count_flagged(&memory.flags);
    let flagged = (!memory.flags.is_empty()).then(|| {
        EventBody::new(EventName::SafetyFlagged, caller, change.at)
            .about_memory(memory)
            .with_field("rules", &memory.flags)
    });
    let mut change = change.with_event(event);
    change.events.extend(flagged);
    change.with_entry(entry)
}

/// Error for an unattended caller without a run. The cap counts saves per run; counted over the whole life of an agent,
/// it would soon be used up.
fn missing_run_error() -> Error {
    Error::invalid("scope.run_missing", "unattended saves are counted by run: name one")
}
