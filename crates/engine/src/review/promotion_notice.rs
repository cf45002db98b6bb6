//! What was done to the memory everybody shares is itself remembered: promotions and rollbacks leave an episode.

use serde_json::{Map, Value};

use crate::Engine;
use crate::gate::{VersionStamp, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::StoreId;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::scope::Scope;
use crate::model::store::{Store, find_builtin_store};
use crate::model::vocabulary::{EvidenceKind, Kind, Layer, Operation};
use crate::ports::change::Change;
use crate::ports::{embedding, row};
use crate::tenant::stores;
use crate::write::remember::SaveOutcome;
use crate::write::{clear, plan};

/// Where everybody reads what happened.
const LAYERS_STORE: &str = "layers";

/// The feats, as they stand in an episode's metadata.
pub(crate) const PROMOTION: &str = "promotion";
pub(crate) const ROLLBACK: &str = "rollback";

/// A deed worth remembering.
pub(crate) struct Notice<'a> {
    pub action: &'static str,
    /// What it was done to, as it stands afterwards.
    pub memory: &'a Memory,
    pub text: String,
}

/// Adds a feat's episode to the change that does it. What only some can see is not told to all.
pub(crate) fn plan_notice(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    feat: &Notice<'_>,
) -> Result<Change, Error> {
    if feat.memory.scope != Scope::Workspace {
        return Ok(change);
    }
    // The product keeps its own chronicle, in the name of whoever did it.
    let (principal, role, run) = (caller.principal.clone(), caller.role, caller.run.clone());
    let keeper = Caller { principal, role, run, ..Caller::admin(caller.tenant) };
    let (store, change) = match row::get_record::<Store>(&*engine.backend, caller.tenant, LAYERS_STORE)? {
        Some(store) if store.archived_at.is_some() => return Ok(change),
        Some(store) => (store, change),
        None => match find_builtin_store(LAYERS_STORE) {
            Some(builtin) => {
                add_store_creation(&keeper, builtin.to_store(StoreId(engine.clock.fresh_id()), change.at), change)
            }
            None => return Ok(change),
        },
    };
    let Ok(cleared) = clear::clear_draft_as(
        engine,
        &keeper,
        WriteIntent::SystemWrite,
        &store,
        &Scope::Workspace,
        notice_draft(feat),
    )?
    else {
        return Ok(change);
    };
    let stamp = VersionStamp::new(&keeper, engine.fresh_version_id(), change.at, None);
    let entry = cleared.into_new_memory(
        engine.fresh_memory_id(),
        &keeper,
        stores::ruleset_of(engine, &store)?,
        Operation::Create,
        stamp,
    );
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    Ok(plan::add_written_entry(engine, &keeper, change, entry.with_embedding(embedding), SaveOutcome::Created))
}

/// The store is made with what is first written into it.
fn add_store_creation(keeper: &Caller, store: Store, change: Change) -> (Store, Change) {
    let making = stores::plan_new_store(keeper, &store);
    let mut change = change;
    // Somebody else may make it at the same moment: theirs is as good, so no guard.
    change.writes.extend(making.writes);
    change.events.extend(making.events);
    (store, change)
}

fn notice_draft(feat: &Notice<'_>) -> Draft {
    let said = [
        ("event", Value::from(feat.action)),
        ("memory", Value::from(feat.memory.id.to_string())),
        ("store", Value::from(feat.memory.store.as_str())),
    ];
    Draft {
        store: LAYERS_STORE.to_owned(),
        layer: Some(Layer::Episodic),
        kind: Some(Kind::Decision),
        content: feat.text.clone(),
        metadata: Some(said.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>()),
        evidence: vec![Evidence::new(EvidenceKind::ApprovedMutation, format!("{} of {}", feat.action, feat.memory.id))],
        ..Draft::default()
    }
}

/// Whether a memory only tells that something was promoted or rolled back. It repeats the words of what it is about, so
/// it would take the place of the note itself in a turn; searches and decision points still find it.
pub(crate) fn is_notice(memory: &Memory) -> bool {
    let event = memory.metadata.get("event").and_then(Value::as_str);
    memory.layer == Layer::Episodic && memory.store == LAYERS_STORE && matches!(event, Some(PROMOTION | ROLLBACK))
}

/// How a memory is named to people.
pub(crate) fn display_address(memory: &Memory) -> String {
    match &memory.path {
        Some(path) => format!("{}/{path}", memory.store),
        None => format!("{} {}", memory.store, memory.id),
    }
}
