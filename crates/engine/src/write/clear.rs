//! Runs the gate on a draft, with its context looked up: opt-in, bans, allowed findings, trust of the sources.

use std::sync::Arc;

use crate::Engine;
use crate::gate::{self, ClearedDraft, GateContext, GateError, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::Draft;
use crate::model::refusal::Refusal;
use crate::model::run::Run;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::Trust;
use crate::policy;
use crate::ports::row;
use crate::recall::visibility;
use crate::safety::classifier::{Classifier, CountedClassifier};
use crate::tenant::bans::{BanKey, Word};
use crate::tenant::erasures::erasure_count_guard;
use crate::tenant::pipelines::OptIn;
use crate::tenant::{allow_list, bans, cache, erasures, stores};

/// A draft that passed the gate, and its store.
pub(crate) struct ReadyDraft {
    pub store: Arc<Store>,
    pub cleared: ClearedDraft,
}

/// Clears a draft at the gate, on cached rows of the tenant. Guards check those rows again in the transaction.
pub(crate) fn prepare_draft(
    engine: &Engine,
    caller: &Caller,
    intent: WriteIntent,
    draft: &Draft,
) -> Result<Result<ReadyDraft, Refusal>, Error> {
    // Only opened here: a refused save must not create a store that is made on first use.
    let store = match engine.tenant_cache.store(caller.tenant, &draft.store) {
        Some(store) => store,
        None => Arc::new(stores::open_store(engine, caller, &draft.store)?),
    };
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    if let Some(refusal) = closed_run_refusal(engine, caller, &scope)? {
        return Ok(Err(refusal));
    }
    let (keys, erasures) =
        (bans::cached_ban_keys(engine, caller.tenant)?, erasures::cached_erasure_count(engine, caller.tenant)?);
    let cleared = match clear_draft_with_keys(engine, caller, intent, &store, &scope, draft.clone(), &keys)? {
        Ok(cleared) => cleared,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let store = stores::cached_store_for_write(engine, caller, &draft.store)?;
    let cache_guards =
        [bans::ban_key_count_guard(&keys), cache::open_store_guard(&store), erasure_count_guard(erasures)];
    Ok(Ok(ReadyDraft { store, cleared: cleared.with_guards(cache_guards) }))
}

/// Refusal of a save into the working memory of a closed run.
pub(crate) fn closed_run_refusal(engine: &Engine, caller: &Caller, scope: &Scope) -> Result<Option<Refusal>, Error> {
    let Scope::Run { run } = scope else { return Ok(None) };
    let found: Option<Run> = row::get_record(&*engine.backend, caller.tenant, run)?;
    let closed = found.is_some_and(|run| run.closed_at.is_some());
    Ok(closed.then(|| Refusal::new("policy.run_closed", "this run is closed and takes no more working memory")))
}

/// Clears a draft for a plain write by the caller.
pub(crate) fn clear_for_write(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    scope: &Scope,
    draft: Draft,
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    clear_draft_as(engine, caller, WriteIntent::Write, store, scope, draft)
}

/// Clears a draft for the given intent, on ban keys and an erasure count read now instead of cached ones.
pub(crate) fn clear_draft_as(
    engine: &Engine,
    caller: &Caller,
    intent: WriteIntent,
    store: &Store,
    scope: &Scope,
    draft: Draft,
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    // Read before the gate runs: an erasure of the tenant after this line fails the guard.
    let unerased = erasure_count_guard(erasures::count_erasures(engine, caller.tenant)?);
    let cleared = clear_draft_with_keys(
        engine,
        caller,
        intent,
        store,
        scope,
        draft,
        &bans::load_ban_keys(engine, caller.tenant)?,
    )?;
    Ok(cleared.map(|cleared| cleared.with_guards([unerased])))
}

/// Clears a draft for the given intent, then compares it with the bans of its scope under these keys.
pub(crate) fn clear_draft_with_keys(
    engine: &Engine,
    caller: &Caller,
    intent: WriteIntent,
    store: &Store,
    scope: &Scope,
    draft: Draft,
    keys: &[BanKey],
) -> Result<Result<ClearedDraft, Refusal>, Error> {
    let opt_in: Option<OptIn> = engine.opt_in(caller)?;
    let load_allow_list = || allow_list::load_allow_list(engine, caller.tenant);
    let counters = &engine.scan_counters;
    let counted = engine.settings.classifier.as_deref().map(|classifier| CountedClassifier { classifier, counters });
    let context = GateContext {
        caller,
        intent,
        store,
        ruleset: stores::ruleset_of(engine, store)?,
        scope,
        limits: engine.limits(),
        pipeline_enabled: opt_in.is_some(),
        content_bytes_max: opt_in.and_then(|opt_in| opt_in.max_content_bytes),
        memory_enabled: !engine.settings.memory_off,
        sources_trust: match intent {
            WriteIntent::Write
            | WriteIntent::Import { .. }
            | WriteIntent::SystemWrite
            | WriteIntent::AppendToLog
            | WriteIntent::Propose => least_source_trust(engine, caller, &draft)?,
            // Trust is a person's decision here, or comes with the old version.
            WriteIntent::ConfirmedWrite
            | WriteIntent::Approve
            | WriteIntent::ImportVersion { .. }
            | WriteIntent::RestoreVersion { .. } => None,
        },
        load_allow_list: &load_allow_list,
        classifier: match intent {
            WriteIntent::Write
            | WriteIntent::ConfirmedWrite
            | WriteIntent::Import { .. }
            | WriteIntent::AppendToLog
            | WriteIntent::Propose => counted.as_ref().map(|counted| counted as &dyn Classifier),
            // A person decides, the text was classified when it was first written, or the product wrote it.
            WriteIntent::Approve
            | WriteIntent::ImportVersion { .. }
            | WriteIntent::RestoreVersion { .. }
            | WriteIntent::SystemWrite => None,
        },
        now: engine.clock.now(),
    };
    let cleared = match gate::clear_draft(context, draft) {
        Ok(cleared) => cleared,
        Err(GateError::Refused(refusal)) => return Ok(Err(refusal)),
        Err(GateError::Failed(error)) => return Err(error),
    };
    // Bans keep a text out of use. An imported version that is only history does not come into use.
    if matches!(intent, WriteIntent::ImportVersion { is_history: true, .. }) {
        return Ok(Ok(cleared));
    }
    let word = match intent {
        WriteIntent::ConfirmedWrite | WriteIntent::Approve => Word::Persons,
        _ => Word::of(caller),
    };
    let banned = bans::check_bans(engine, caller.tenant, word, keys, scope, cleared.draft())?;
    Ok(match banned.ban {
        Some(ban) => Err(ban.to_refusal()),
        None => Ok(cleared.with_guards(banned.guards)),
    })
}

/// The lowest trust among the versions a draft names as its sources. A source the caller cannot see is not found.
pub(crate) fn least_source_trust(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<Option<Trust>, Error> {
    if draft.derived_from.is_empty() {
        return Ok(None);
    }
    let readable = visibility::visible_to(engine, caller)?;
    let mut least = None;
    for source in &draft.derived_from {
        let version = engine.backend.get_version(&readable, *source)?;
        let version = version.ok_or_else(|| Error::not_found(format!("source version `{source}`")))?;
        // Any of its texts may have been copied.
        let trust = version.memory.least_text_trust();
        least = Some(least.map_or(trust, |least: Trust| least.min(trust)));
    }
    Ok(least)
}
