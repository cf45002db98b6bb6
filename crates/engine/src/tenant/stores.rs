//! Stores: listing, creating, archiving, and the built-in ones that are created on first use.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Engine;
use crate::gate::check_label;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::{Guard, Place};
use crate::model::id::StoreId;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::ruleset::Ruleset;
use crate::model::scope::Scope;
use crate::model::store::{BUILTIN_STORES, CONVERSATION_MEMORY, PROJECT_MEMORY, Store, find_builtin_store};
use crate::model::vocabulary::{Access, Kind, ScopeKind, Trust};
use crate::policy::{self, Readable, admins_only};
use crate::ports::change::{Change, Write};
use crate::ports::row;

/// Settings of a store to create.
#[derive(Clone, Debug)]
pub struct NewStore {
    pub slug: String,
    pub title: Option<String>,
    pub scope: ScopeKind,
    pub ruleset: String,
    pub default_trust: Trust,
    pub access: Access,
}

impl SideRecord for Store {
    const KIND: RowKind = RowKind::Stores;
    fn row_id(&self) -> String {
        self.slug.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.created_at
    }
    fn row_state(&self) -> String {
        if self.archived_at.is_some() { "archived" } else { "open" }.to_owned()
    }
    fn row_subject(&self) -> String {
        self.scope.to_string()
    }
}

impl Engine {
    /// All stores, including archived ones. Every caller may see their names, but not their contents.
    pub fn stores(&self, caller: &Caller) -> Result<Vec<Store>, Error> {
        let filter = RowFilter { limit: self.limits().list_max, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// A system's place in every store of scope `system`, to limit a search to one system.
    pub fn places_of_system(&self, caller: &Caller, system: &str) -> Result<Vec<Place>, Error> {
        let by_system = self.stores(caller)?.into_iter().filter(|store| store.scope == ScopeKind::System);
        let scope = Scope::System { system: system.to_owned() };
        let places: Vec<Place> = by_system.map(|store| Place { store: store.slug, scope: scope.clone() }).collect();
        match places.is_empty() {
            // An empty list of places would not filter, so the search would cover everything.
            true => Err(Error::not_found(format!("system `{system}`"))),
            false => Ok(places),
        }
    }

    /// Whether a store of this name exists or is built in.
    pub fn has_store(&self, caller: &Caller, slug: &str) -> Result<bool, Error> {
        match open_store(self, caller, slug) {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All open stores that the caller may write to, built-in ones too that were never used.
    pub fn writable_stores(&self, caller: &Caller) -> Result<Vec<Store>, Error> {
        let mut stores = self.stores(caller)?;
        let known: HashSet<String> = stores.iter().map(|store| store.slug.clone()).collect();
        let unused = BUILTIN_STORES.iter().filter(|builtin| !known.contains(builtin.slug));
        stores.extend(unused.map(|builtin| builtin.to_store(StoreId(self.clock.fresh_id()), self.clock.now())));
        let pipeline_enabled = self.opt_in(caller)?.is_some();
        stores.retain(|store| store.archived_at.is_none() && is_writable(caller, store, pipeline_enabled));
        Ok(stores)
    }

    /// Creates a store. Admins only.
    pub fn create_store(&self, caller: &Caller, new: NewStore) -> Result<Store, Error> {
        admins_only(caller)?;
        checked_slug(&new.slug)?;
        new.title.as_ref().map(|title| check_label("title", title, self.limits())).transpose()?;
        if self.settings.rulesets.get(&new.ruleset).is_none() {
            let known: Vec<&str> = self.settings.rulesets.names().collect();
            let message = format!("unknown ruleset `{}`; one of: {}", new.ruleset, known.join(", "));
            return Err(Error::invalid("shape.unknown_word", message));
        }
        let now = self.clock.now();
        let store = Store {
            id: StoreId(self.clock.fresh_id()),
            title: new.title.unwrap_or_else(|| new.slug.clone()),
            slug: new.slug,
            scope: new.scope,
            ruleset: new.ruleset,
            default_trust: new.default_trust,
            access: new.access,
            owner: caller.principal.clone(),
            created_at: now,
            archived_at: None,
        };
        match self.commit(plan_new_store(caller, &store)) {
            Ok(_) => Ok(store),
            Err(StoreError::Guard(_)) => {
                let reason = format!("store `{}` exists already", store.slug);
                Err(Error::conflict("conflict.store_exists", reason))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Closes a store to reads and writes. Deletes nothing. Admins only.
    pub fn archive_store(&self, caller: &Caller, slug: &str) -> Result<Store, Error> {
        admins_only(caller)?;
        let now = self.clock.now();
        // Also for a built-in store that was never used: its row is created as archived.
        let store = Store { archived_at: Some(now), ..open_store(self, caller, slug)? };
        let event = EventBody::new(EventName::StoreArchived, caller, now).with_field("store", slug);
        self.commit(Change::new(caller.tenant, now).with_write(Write::Row(store.to_row())).with_event(event))?;
        Ok(store)
    }
}

/// Store of a save that names none: that of the caller's narrowest place that others of its kind share.
pub fn default_store(caller: &Caller, system: Option<&str>) -> Option<&'static str> {
    match caller {
        _ if system.is_some() => Some("system_notes"),
        Caller { project: Some(_), .. } => Some(PROJECT_MEMORY),
        Caller { conversation: Some(_), .. } => Some(CONVERSATION_MEMORY),
        Caller { pipeline: Some(_), agent: Some(_), .. } => Some("lessons"),
        Caller { user: Some(_), .. } => Some("user_notes"),
        Caller { agent: Some(_), .. } => Some("episodes"),
        _ => None,
    }
}

/// Whether the caller may save something in a store. Which kinds, policy says at the save.
fn is_writable(caller: &Caller, store: &Store, pipeline_enabled: bool) -> bool {
    // Any system does: which ones the caller may write to, its grants say.
    let system = caller.grants.keys().next().map(String::as_str);
    let kind = if store.scope == ScopeKind::User { Kind::UserPreference } else { Kind::Note };
    let scope = policy::scope_for(caller, store.scope, system);
    scope.is_ok_and(|scope| policy::may_write(caller, store, &scope, kind, pipeline_enabled).is_ok())
}

/// Reads a store that is not archived. A built-in store that was never used counts as existing and empty.
pub(crate) fn open_store(engine: &Engine, caller: &Caller, slug: &str) -> Result<Store, Error> {
    let store: Option<Store> = row::get_record(&*engine.backend, caller.tenant, slug)?;
    let unused = || {
        find_builtin_store(slug).map(|builtin| builtin.to_store(StoreId(engine.clock.fresh_id()), engine.clock.now()))
    };
    let store = store.or_else(unused);
    store.filter(|store| store.archived_at.is_none()).ok_or_else(|| Error::not_found(format!("store `{slug}`")))
}

/// Fails if a named store does not exist or is hidden from the caller.
pub(crate) fn ensure_stores_readable(
    engine: &Engine,
    caller: &Caller,
    readable: &Readable,
    slugs: &[String],
) -> Result<(), Error> {
    for slug in slugs {
        open_readable_store(engine, caller, readable, slug)?;
    }
    Ok(())
}

/// As [`open_store`]; a store hidden from the caller is not found.
pub(crate) fn open_readable_store(
    engine: &Engine,
    caller: &Caller,
    readable: &Readable,
    slug: &str,
) -> Result<Store, Error> {
    match readable.hidden_stores.iter().any(|hidden| hidden == slug) {
        true => Err(Error::not_found(format!("store `{slug}`"))),
        false => open_store(engine, caller, slug),
    }
}

/// As [`open_store`]; a built-in store that was never used is created.
pub(crate) fn store_for_write(engine: &Engine, caller: &Caller, slug: &str) -> Result<Store, Error> {
    let store: Option<Store> = row::get_record(&*engine.backend, caller.tenant, slug)?;
    match (store, find_builtin_store(slug)) {
        (Some(store), _) if store.archived_at.is_none() => Ok(store),
        (None, Some(builtin)) => {
            let store = builtin.to_store(StoreId(engine.clock.fresh_id()), engine.clock.now());
            match engine.commit_setup(plan_new_store(caller, &store)) {
                // Fail now: the save itself would only wait for the same database once more.
                Err(error @ (StoreError::Busy(_) | StoreError::Unavailable(_))) => Err(error.into()),
                // A failed guard means that another process has created it; read that one.
                _ => open_store(engine, caller, slug),
            }
        }
        _ => Err(Error::not_found(format!("store `{slug}`"))),
    }
}

/// As [`store_for_write`], from the cache. The write needs [`crate::tenant::cache::open_store_guard`].
pub(crate) fn cached_store_for_write(engine: &Engine, caller: &Caller, slug: &str) -> Result<Arc<Store>, Error> {
    if let Some(cached) = engine.tenant_cache.store(caller.tenant, slug) {
        return Ok(cached);
    }
    let store = Arc::new(store_for_write(engine, caller, slug)?);
    engine.tenant_cache.cache_store(caller.tenant, &store);
    Ok(store)
}

/// Plans the creation of a store, guarded against one with the same slug.
pub(crate) fn plan_new_store(caller: &Caller, store: &Store) -> Change {
    let event = EventBody::new(EventName::StoreCreated, caller, store.created_at)
        .with_field("store", &store.slug)
        .with_field("ruleset", &store.ruleset);
    Change::new(caller.tenant, store.created_at)
        .with_guard(Guard::RowInState { kind: RowKind::Stores, id: store.slug.clone(), state: None })
        .with_write(Write::Row(store.to_row()))
        .with_event(event)
}

pub(crate) fn checked_slug(slug: &str) -> Result<(), Error> {
    // ASCII only: slugs appear in URLs, flags and file names.
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    match !slug.is_empty() && slug.len() <= 64 && slug.bytes().all(plain) {
        true => Ok(()),
        false => {
            let message = "a slug is 1 to 64 of a-z, 0-9, `_` and `-`";
            Err(Error::invalid("shape.slug", message))
        }
    }
}

/// The ruleset of a store; an error if it is no longer configured.
pub(crate) fn ruleset_of<'a>(engine: &'a Engine, store: &Store) -> Result<&'a Ruleset, Error> {
    engine.settings.rulesets.get(&store.ruleset).ok_or_else(|| {
        let message = format!("store `{}` needs ruleset `{}`, which is not configured", store.slug, store.ruleset);
        Error::invalid("config.ruleset_missing", message)
    })
}
