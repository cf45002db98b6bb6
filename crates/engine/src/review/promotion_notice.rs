//! Promotion notices: a promotion or rollback of a workspace memory is also saved as an episode that all callers read.

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
use crate::recall::promoted::NOTICES_STORE;
use crate::tenant::stores;
use crate::write::{SaveOutcome, clear, plan};

/// A promotion or rollback to report.
pub(crate) struct Notice<'a> {
    pub action: &'static str,
    /// The promoted or rolled back memory, as it is afterwards.
    pub memory: &'a Memory,
    pub text: String,
}

/// Adds the notice to the change it reports. Memories outside the workspace scope get none: all callers would read it.
pub(crate) fn plan_notice(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    notice: &Notice<'_>,
) -> Result<Change, Error> {
    if notice.memory.scope != Scope::Workspace {
        return Ok(change);
    }
    // Principal and role of the caller, but no agent, user or conversation: the notice is a workspace memory.
    let (principal, role, run) = (caller.principal.clone(), caller.role, caller.run.clone());
    let author = Caller { principal, role, run, ..Caller::admin(caller.tenant) };
    let (store, change) = match row::get_record::<Store>(&*engine.backend, caller.tenant, NOTICES_STORE)? {
        // An archived store takes no notices; the promotion itself goes on.
        Some(store) if store.archived_at.is_some() => return Ok(change),
        Some(store) => (store, change),
        None => match find_builtin_store(NOTICES_STORE) {
            Some(builtin) => {
                add_store_creation(&author, builtin.to_store(StoreId(engine.clock.fresh_id()), change.at), change)
            }
            None => return Ok(change),
        },
    };
    let Ok(cleared) = clear::clear_draft_as(
        engine,
        &author,
        WriteIntent::SystemWrite,
        &store,
        &Scope::Workspace,
        notice_draft(notice),
    )?
    else {
        // A refused notice, such as a banned text, does not stop the promotion.
        return Ok(change);
    };
    let stamp = VersionStamp::new(&author, engine.fresh_version_id(), change.at, None);
    let entry = cleared.into_new_memory(
        engine.fresh_memory_id(),
        &author,
        stores::ruleset_of(engine, &store)?,
        Operation::Create,
        stamp,
    );
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    Ok(plan::add_written_entry(engine, &author, change, entry.with_embedding(embedding), SaveOutcome::Created))
}

/// Adds the creation of the built-in store, which is made with the first memory in it.
fn add_store_creation(author: &Caller, store: Store, change: Change) -> (Store, Change) {
    let creation = stores::plan_new_store(author, &store);
    let mut change = change;
    // The guard is left out: another call may create the same built-in store meanwhile, and either row will do.
    change.writes.extend(creation.writes);
    change.events.extend(creation.events);
    (store, change)
}

fn notice_draft(notice: &Notice<'_>) -> Draft {
    let fields = [
        ("event", Value::from(notice.action)),
        ("memory", Value::from(notice.memory.id.to_string())),
        ("store", Value::from(notice.memory.store.as_str())),
    ];
    Draft {
        store: NOTICES_STORE.to_owned(),
        layer: Some(Layer::Episodic),
        kind: Some(Kind::Decision),
        content: notice.text.clone(),
        metadata: Some(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>()),
        evidence: vec![Evidence::new(
            EvidenceKind::ApprovedMutation,
            format!("{} of {}", notice.action, notice.memory.id),
        )],
        ..Draft::default()
    }
}

/// Name of a memory in messages: store and path, or store and id.
pub(crate) fn display_address(memory: &Memory) -> String {
    match &memory.path {
        Some(path) => format!("{}/{path}", memory.store),
        None => format!("{} {}", memory.store, memory.id),
    }
}
