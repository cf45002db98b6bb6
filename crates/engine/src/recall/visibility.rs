//! What a caller may see: the read predicate with pipelines and archived stores looked up.
use crate::Engine;
use crate::model;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::row::RowFilter;
use crate::model::store::Store;
use crate::policy::Readable;
use crate::ports;

/// As [`Engine::readable`]; without `memory.read` nothing exists.
pub(crate) fn visible_to(engine: &Engine, caller: &Caller) -> Result<Readable, Error> {
    let closed =
        RowFilter { state: Some("archived".to_owned()), limit: engine.limits().list_max, ..RowFilter::default() };
    let closed: Vec<Store> = ports::row::select_records(&*engine.backend, caller.tenant, &closed)?;
    let mut closed: Vec<String> = closed.into_iter().map(|store| store.slug).collect();
    if !caller.role.may_decide_reviews() {
        closed.push(model::store::KNOWLEDGE_DRAFTS.to_owned());
    }
    Ok(Readable { hidden_stores: closed, ..engine.readable_by(caller)?? })
}

/// As [`Engine::eyes`], without the stores that are looked into by name only, unless this filter names some.
pub(crate) fn visible_for_filter(engine: &Engine, caller: &Caller, filter: &ports::Filter) -> Result<Readable, Error> {
    let mut readable = visible_to(engine, caller)?;
    if filter.stores.is_empty() && filter.places.is_empty() {
        readable.hidden_stores.extend(model::store::STORES_BY_NAME_ONLY.iter().map(|slug| (*slug).to_owned()));
    }
    Ok(readable)
}
