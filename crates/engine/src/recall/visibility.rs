//! Visibility: the scopes and stores a caller may read. Every read starts with one of these two functions.

use crate::Engine;
use crate::model;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::row::RowFilter;
use crate::model::store::Store;
use crate::policy::Readable;
use crate::ports;

/// The read predicate of a caller, without archived stores and, unless the caller decides reviews, without knowledge
/// drafts. An error if the caller's role does not hold the rule `memory.read`.
pub(crate) fn visible_to(engine: &Engine, caller: &Caller) -> Result<Readable, Error> {
    let archived_filter =
        RowFilter { state: Some("archived".to_owned()), limit: engine.limits().list_max, ..RowFilter::default() };
    let archived: Vec<Store> = ports::row::select_records(&*engine.backend, caller.tenant, &archived_filter)?;
    let mut hidden: Vec<String> = archived.into_iter().map(|store| store.slug).collect();
    if !caller.role.may_decide_reviews() {
        hidden.push(model::store::KNOWLEDGE_DRAFTS.to_owned());
    }
    Ok(Readable { hidden_stores: hidden, ..engine.readable_by(caller)?? })
}

/// As [`visible_to`]. A filter without stores and places also leaves out the stores that are searched by name only.
pub(crate) fn visible_for_filter(engine: &Engine, caller: &Caller, filter: &ports::Filter) -> Result<Readable, Error> {
    let mut readable = visible_to(engine, caller)?;
    if filter.stores.is_empty() && filter.places.is_empty() {
        readable.hidden_stores.extend(model::store::STORES_BY_NAME_ONLY.iter().map(|slug| (*slug).to_owned()));
    }
    Ok(readable)
}
