//! The gate with everything it needs looked up: opt-ins, bans, allowed findings, trust of the sources.
use crate::Engine;
use crate::gate::{self, ClearedDraft, GateContext, GateError, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::Draft;
use crate::model::refusal::Refusal;
use crate::model::run::Run;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::ports::row;
use crate::recall::visibility;
use crate::safety::classifier::{Classifier, CountedClassifier};
use crate::tenant::bans::BanKey;
use crate::tenant::erasures::erasure_count_guard;
use crate::tenant::pipelines::OptIn;
use crate::tenant::{allow_list, bans, erasures, stores};

/// A closed run's scratch memory takes nothing more.
pub(crate) fn closed_run_refusal(engine: &Engine, caller: &Caller, scope: &Scope) -> Result<Option<Refusal>, Error> {
    let Scope::Run { run } = scope else { return Ok(None) };
    let found: Option<Run> = row::get_record(&*engine.backend, caller.tenant, run)?;
    let closed = found.is_some_and(|run| run.closed_at.is_some());
    Ok(closed.then(|| Refusal::new("policy.run_closed", "this run is closed: its working memory is gone")))
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
    let unerased = erasure_count_guard(erasures::count_erasures(engine, caller.tenant)?);
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
    let tally = &engine.scan_counters;
    let counted =
        engine.settings.classifier.as_deref().map(|classifier| CountedClassifier { classifier, counters: tally });
    let ground = GateContext {
        caller,
        intent: deed,
        store,
        ruleset: stores::ruleset_of(engine, store)?,
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

/// The least trust among the versions a draft says it is made from. A source the caller cannot see is no source.
pub(crate) fn least_source_trust(
    engine: &Engine,
    caller: &Caller,
    draft: &Draft,
) -> Result<Option<crate::model::vocabulary::Trust>, Error> {
    if draft.derived_from.is_empty() {
        return Ok(None);
    }
    let eyes = visibility::visible_to(engine, caller)?;
    let mut least = None;
    for source in &draft.derived_from {
        let version = engine.backend.get_version(&eyes, *source)?;
        let version = version.ok_or_else(|| Error::not_found(format!("source version `{source}`")))?;
        least = Some(least.map_or(version.memory.trust, |trust| version.memory.trust.min(trust)));
    }
    Ok(least)
}
