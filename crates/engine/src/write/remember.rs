//! Remember: one gate, one transaction, one answer.

use crate::Engine;
use crate::admin::erase;
use crate::admin::erase::erasure_count_guard;
use crate::gate::duplicate::{self, HintMatch};
use crate::gate::{self, ClearedDraft, GateContext, GateError, VersionStamp, VersionedEntry, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::{Conflict, CurrentVersion, Error};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::ruleset::Ruleset;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Write};
use crate::ports::{Address, CandidateQuery, Filter, PageRequest, SortOrder};
use crate::recall::usage;
use crate::recall::usage::Touch;
use crate::review::propose;
use crate::safety::classifier::{Classifier, CountedClassifier};
use crate::tenant::allow_list;
use crate::tenant::bans;
use crate::tenant::bans::BanKey;
use crate::tenant::pipelines::OptIn;
use crate::text::digest::content_sha256;
use crate::text::words;
use crate::upkeep;
use crate::write::attempt;
use crate::write::attempt::SaveStep;

/// The answer to a save.
#[derive(Debug, Clone)]
pub enum Remembered {
    Saved(Box<SavedMemory>),
    Refused(Refusal),
}

#[derive(Debug, Clone)]
pub struct SavedMemory {
    pub memory: Memory,
    pub outcome: SaveOutcome,
    /// Which sameness made this an update or a no-op.
    pub deduped_by: Option<Dedup>,
    /// A memory with a similar hint that says something else.
    pub near: Option<MemoryId>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    Created,
    Updated,
    /// Already known: nothing was written.
    Unchanged,
}

/// What a save meets at its place.
enum SaveTarget {
    New { guard: Option<Guard>, near: Option<MemoryId> },
    Existing(Box<Memory>),
    Same(Box<Memory>),
}

impl Engine {
    /// Saves what a caller learnt, or says why not.
    pub fn remember(&self, caller: &Caller, draft: Draft) -> Result<Remembered, Error> {
        ensure_not_expired(self, &draft)?;
        attempt::remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }

    /// As [`Engine::remember`], a step at a time.
    pub fn begin_remember(&self, caller: &Caller, draft: Draft) -> Result<SaveStep, Error> {
        ensure_not_expired(self, &draft)?;
        attempt::begin_remember_as(self, caller, draft, WriteIntent::Write, Operation::Create)
    }
}

fn ensure_not_expired(engine: &Engine, draft: &Draft) -> Result<(), Error> {
    match draft.expires_at {
        Some(at) if at <= engine.clock.now() => {
            Err(Error::invalid("shape.expired", "it would expire before it is saved: name a later time"))
        }
        _ => Ok(()),
    }
}

/// What to write, unless it is known already, and what that comes to.
pub(crate) fn plan_save(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    cleared: ClearedDraft,
    operation: Operation,
    leap: bool,
) -> Result<(Option<Change>, SavedMemory), Error> {
    let ruleset = ruleset_of(engine, store)?;
    let place = Place { store: store.slug.clone(), scope: cleared.scope().clone() };
    let target = find_save_target(engine, caller, &cleared, ruleset, &place, leap)?;
    plan_save_to_target(engine, caller, cleared, ruleset, &place, target, operation)
}

/// The gate, with everything it needs looked up.
pub(crate) fn clear_for_write(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    scope: &Scope,
    draft: Draft,
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    clear_draft_as(engine, caller, WriteIntent::Write, store, scope, draft)
}

/// As [`Engine::clear`], for what else can be done with a draft.
pub(crate) fn clear_draft_as(
    engine: &Engine,
    caller: &Caller,
    deed: WriteIntent,
    store: &Store,
    scope: &Scope,
    draft: Draft,
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    let unerased = erasure_count_guard(erase::count_erasures(engine, caller.tenant)?);
    let cleared =
        clear_draft_with_keys(engine, caller, deed, store, scope, draft, &bans::load_ban_keys(engine, caller.tenant)?)?;
    Ok(cleared.map(|cleared| cleared.with_guards([unerased])))
}

pub(crate) fn clear_draft_with_keys(
    engine: &Engine,
    caller: &Caller,
    deed: WriteIntent,
    store: &Store,
    scope: &Scope,
    draft: Draft,
    keys: &[BanKey],
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    let opt_in: Option<OptIn> = engine.opt_in(caller)?;
    let let_through = || allow_list::load_allow_list(engine, caller.tenant);
    let tally = &engine.known.scan_counters;
    let counted =
        engine.settings.classifier.as_deref().map(|classifier| CountedClassifier { classifier, counters: tally });
    let ground = GateContext {
        caller,
        intent: deed,
        store,
        ruleset: ruleset_of(engine, store)?,
        scope,
        limits: engine.limits(),
        pipeline_enabled: opt_in.is_some(),
        content_bytes_max: opt_in.and_then(|opt_in| opt_in.max_content_bytes),
        memory_enabled: !engine.settings.memory_off,
        sources_trust: match deed {
            WriteIntent::Write | WriteIntent::SystemWrite | WriteIntent::AppendToLog | WriteIntent::Propose => {
                least_source_trust(engine, caller, &draft)?
            }
            // A person looked at it, or it was looked at elsewhere or before.
            WriteIntent::Approve | WriteIntent::ImportVersion { .. } | WriteIntent::RestoreVersion { .. } => None,
        },
        load_allow_list: &let_through,
        classifier: match deed {
            WriteIntent::Write | WriteIntent::AppendToLog | WriteIntent::Propose => {
                counted.as_ref().map(|counted| counted as &dyn Classifier)
            }
            // A person looks at it, or somebody did elsewhere or before.
            WriteIntent::Approve
            | WriteIntent::ImportVersion { .. }
            | WriteIntent::RestoreVersion { .. }
            | WriteIntent::SystemWrite => None,
        },
        now: engine.clock.now(),
    };
    let cleared = match gate::clear_draft(ground, draft) {
        Ok(cleared) => cleared,
        Err(GateError::Refused(refusal)) => return Ok(Err(refusal)),
        Err(GateError::Failed(error)) => return Err(error),
    };
    // What is only history again does not return to use.
    if matches!(deed, WriteIntent::ImportVersion { is_history: true, .. }) {
        return Ok(Ok(cleared));
    }
    let banned = bans::check_bans(engine, caller.tenant, keys, scope, cleared.draft())?;
    Ok(match banned.ban {
        Some(ban) => Err(ban.to_refusal()),
        None => Ok(cleared.with_guards(banned.guards)),
    })
}

pub(crate) fn ruleset_of<'a>(engine: &'a Engine, store: &Store) -> Result<&'a Ruleset, Error> {
    engine.settings.rulesets.get(&store.ruleset).ok_or_else(|| {
        let message = format!("store `{}` needs ruleset `{}`, which is not configured", store.slug, store.ruleset);
        Error::invalid("config.ruleset_missing", message)
    })
}

/// The least trust among the versions a draft says it is made from. A source the caller cannot see is no source.
fn least_source_trust(
    engine: &Engine,
    caller: &Caller,
    draft: &Draft,
) -> Result<Option<crate::model::vocabulary::Trust>, Error> {
    if draft.derived_from.is_empty() {
        return Ok(None);
    }
    let eyes = crate::visible_to(engine, caller)?;
    let mut least = None;
    for source in &draft.derived_from {
        let version = engine.backend.get_version(&eyes, *source)?;
        let version = version.ok_or_else(|| Error::not_found(format!("source version `{source}`")))?;
        least = Some(least.map_or(version.memory.trust, |trust| version.memory.trust.min(trust)));
    }
    Ok(least)
}

fn find_save_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    ruleset: &Ruleset,
    place: &Place,
    leap: bool,
) -> Result<SaveTarget, Error> {
    if cleared.state() == State::Constrained {
        return find_draft_target(engine, caller, cleared, place);
    }
    let draft = cleared.draft();
    // Most places are free, and the guard tells where one is not: the first look is spared.
    let leap = leap && draft.expected_sha256.is_none();
    let at = |address| match leap {
        true => Ok(None),
        false => engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address),
    };
    // A path is an address whatever the ruleset: writing to it again is a new version of what stands there.
    if let Some(path) = &draft.path {
        return Ok(match at(Address::Path { place: place.clone(), path: path.clone() })? {
            Some(memory) => SaveTarget::Existing(Box::new(memory)),
            None => SaveTarget::New {
                guard: Some(Guard::PathFree { place: place.clone(), path: path.clone() }),
                near: None,
            },
        });
    }
    match ruleset.dedup {
        Dedup::Exact => {
            let sha256 = content_sha256(&draft.content);
            Ok(match at(Address::Hash { place: place.clone(), sha256: sha256.clone() })? {
                Some(memory) => SaveTarget::Same(Box::new(memory)),
                None => SaveTarget::New { guard: Some(Guard::HashFree { place: place.clone(), sha256 }), near: None },
            })
        }
        Dedup::Hint => find_hint_target(engine, caller, cleared, place),
        Dedup::Path | Dedup::Key | Dedup::None => Ok(SaveTarget::New { guard: None, near: None }),
    }
}

/// A draft that waits does not touch what stands; writing it again changes the draft.
fn find_draft_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    place: &Place,
) -> Result<SaveTarget, Error> {
    let Some(path) = &cleared.draft().path else { return Ok(SaveTarget::New { guard: None, near: None }) };
    let filter = Filter {
        places: vec![place.clone()],
        path: Some(path.clone()),
        states: vec![State::Constrained],
        ..Filter::default()
    };
    let page = PageRequest { order: SortOrder::Newest, after: None, limit: engine.limits().list_default };
    let waiting = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
    let own = waiting.into_iter().find(|memory| memory.author == caller.principal);
    Ok(match own {
        Some(memory) => SaveTarget::Existing(Box::new(memory)),
        None => SaveTarget::New { guard: None, near: None },
    })
}

/// The memory a note with a similar hint would update, unless it states another fact.
fn find_hint_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    place: &Place,
) -> Result<SaveTarget, Error> {
    let draft = cleared.draft();
    let Some(hint) = draft.recall_hint.as_deref() else { return Ok(SaveTarget::New { guard: None, near: None }) };
    let generation = engine.backend.place_state(caller.tenant, place)?.generation;
    let filter = Filter { places: vec![place.clone()], ..Filter::default() };
    let find = CandidateQuery {
        filter,
        words: words::parse_query(hint),
        pool: engine.limits().pool_min,
        ..CandidateQuery::default()
    };
    let found = engine.backend.find_candidates(&Readable::whole_tenant(caller.tenant), &find)?;
    let memories: Vec<Memory> = found.candidates.into_iter().map(|candidate| candidate.memory).collect();
    let similarity = |text: &str| text_similarity(engine, &draft.content, text);
    match duplicate::find_nearest_hint(hint, &draft.content, &memories, engine.limits(), similarity) {
        Some((memory, HintMatch::SameFact)) => Ok(SaveTarget::Existing(Box::new(memory.clone()))),
        other => {
            let guard = Some(Guard::PlaceUnchanged { place: place.clone(), generation });
            Ok(SaveTarget::New { guard, near: other.map(|(memory, _)| memory.id) })
        }
    }
}

/// Calibrated similarity of two texts, 0 where there is no instant embedder to ask.
fn text_similarity(engine: &Engine, one: &str, other: &str) -> f64 {
    if !engine.embedder.is_instant() {
        return 0.0;
    }
    match (crate::embed_text(engine, one), crate::embed_text(engine, other)) {
        (Some(one), Some(other)) => engine.embedder.calibration().cosine_to_relevance(one.vector.cosine(&other.vector)),
        _ => 0.0,
    }
}

fn plan_save_to_target(
    engine: &Engine,
    caller: &Caller,
    cleared: ClearedDraft,
    ruleset: &Ruleset,
    place: &Place,
    target: SaveTarget,
    operation: Operation,
) -> Result<(Option<Change>, SavedMemory), Error> {
    let now = engine.clock.now();
    let (draft, warnings) = (cleared.draft(), cleared.warnings().to_vec());
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, draft.reason.clone());
    let mut change = Change::new(caller.tenant, now);
    let (entry, outcome, deduped_by, near) = match target {
        SaveTarget::Existing(_) | SaveTarget::Same(_) if draft.create_only => {
            return Err(Error::conflict("conflict.exists", "a memory stands there already"));
        }
        SaveTarget::Same(memory) => {
            let (outcome, deduped_by) = (SaveOutcome::Unchanged, Some(ruleset.dedup));
            return Ok((None, SavedMemory { memory: *memory, outcome, deduped_by, near: None, warnings }));
        }
        SaveTarget::Existing(current) => {
            ensure_expected_sha256(engine, caller, draft.expected_sha256.as_deref(), &current)?;
            let deduped_by = if draft.path.is_some() { Dedup::Path } else { ruleset.dedup };
            change = change.with_guard(Guard::VersionIs { memory: current.id, version: current.version });
            let entry = cleared.into_revision(&current, ruleset, Operation::Update, stamp);
            (entry, SaveOutcome::Updated, Some(deduped_by), None)
        }
        SaveTarget::New { guard, near } => {
            if draft.expected_sha256.is_some() {
                return Err(Error::conflict("conflict.nothing_there", "nothing stands at this path to compare with"));
            }
            change.guards.extend(guard);
            let entry = cleared.into_new_memory(engine.fresh_memory_id(), caller, ruleset, operation, stamp);
            (entry, SaveOutcome::Created, None, near)
        }
    };
    if outcome == SaveOutcome::Created {
        change = upkeep::plan_quota_room(engine, caller, place, ruleset, 1, change)?;
    }
    if let (true, Some(saves_max)) = (caller.unattended, ruleset.unattended_saves_max) {
        let run = caller.run.clone().ok_or_else(missing_run_error)?;
        change = change
            .with_guard(Guard::RunSavesLeft { run: run.clone(), saves_max })
            .with_write(Write::CountRunSave { run });
    }
    let embedding = crate::embed_if_instant(engine, entry.memory());
    let entry = entry.with_embedding(embedding);
    let memory = entry.memory().clone();
    if memory.state == State::Constrained {
        change = propose::with_draft_review(engine, caller, change, &memory)?;
    }
    let change = add_written_entry(engine, caller, change, entry, outcome);
    Ok((Some(change), SavedMemory { memory, outcome, deduped_by, near, warnings }))
}

/// The entry and the events that tell of it.
pub(crate) fn add_written_entry(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    entry: VersionedEntry,
    outcome: SaveOutcome,
) -> Change {
    let touches = usage::plan_usages(
        engine,
        caller,
        Touch::Written,
        std::iter::once((entry.memory().id, entry.memory().version)),
    );
    let mut change = add_entry(engine, caller, change, entry, outcome);
    change.writes.extend(touches);
    change
}

/// The same for what waits for a person: whoever puts it up says that it is proposed.
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
    engine.known.scan_counters.count_flagged(&memory.flags);
    let flagged = (!memory.flags.is_empty()).then(|| {
        EventBody::new(EventName::SafetyFlagged, caller, change.at)
            .about_memory(memory)
            .with_field("rules", &memory.flags)
    });
    let mut change = change.with_event(event);
    change.guards.extend(entry.guards().iter().cloned());
    change.events.extend(flagged);
    change.with_write(Write::Entry(Box::new(entry)))
}

/// The caller believes this sha256 stands there; where it does not, nothing changes and he is told what does.
pub(crate) fn ensure_expected_sha256(
    engine: &Engine,
    caller: &Caller,
    expected: Option<&str>,
    current: &Memory,
) -> Result<(), Error> {
    match expected {
        Some(expected) if !expected.eq_ignore_ascii_case(&current.sha256) => {
            Err(changed_since_error(engine, caller, current))
        }
        _ => Ok(()),
    }
}

/// What somebody is told who looked at another version: what stands there now. So he has read it.
pub(crate) fn changed_since_error(engine: &Engine, caller: &Caller, current: &Memory) -> Error {
    usage::record_reads(engine, caller, [current]);
    Error::Conflict(Conflict {
        code: "conflict.sha256",
        reason: "the memory has changed since you read it".to_owned(),
        current: Some(CurrentVersion {
            sha256: current.sha256.clone(),
            version: current.version.to_string(),
            excerpt: current.excerpt(engine.limits().conflict_excerpt_chars),
        }),
    })
}

/// Its saves are counted by run, and counted for the agent's whole life they would soon be used up.
fn missing_run_error() -> Error {
    Error::invalid("scope.run_missing", "an unattended save is counted by run, and none is named")
}
