//! Read: single memories, listings, version history and log events, as far as the caller may see them.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::Engine;
use crate::gate::normalize_path;
use crate::model::caller::Caller;
use crate::model::error::{Conflict, CurrentVersion, Error};
use crate::model::event::Event;
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::resolve_limit;
use crate::model::memory::{Memory, Version};
use crate::model::scope::Scope;
use crate::model::vocabulary::State;
use crate::policy::Readable;
use crate::ports::{Address, Filter, ListCursor, PageRequest, SortOrder};
use crate::recall::{search, usage, visibility};
use crate::tenant::stores;

/// Reference to a memory: its id, a path in a store, or a path that only one store has.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryReference {
    Id(MemoryId),
    Path { store: Option<String>, path: String },
}

impl MemoryReference {
    /// Parses an id; any other text is a path.
    pub fn parse(store: Option<&str>, text: &str) -> MemoryReference {
        match text.parse() {
            Ok(id) => MemoryReference::Id(id),
            Err(_) => MemoryReference::Path { store: store.map(str::to_owned), path: text.to_owned() },
        }
    }
}

/// One page of a listing, and the cursor of the next.
#[derive(Clone, Debug)]
pub struct Listing {
    pub memories: Vec<Memory>,
    pub next: Option<ListCursor>,
}

/// Batches of the log read for one page of events: about 100,000 events, some tenths of a second. A rare kind of event
/// in a long log must not keep a call busy for minutes.
const EVENT_BATCHES_MAX: usize = 100;

/// A past version may be redacted in any state.
fn ensure_version_intact(memory: &Memory, is_redacted: bool) -> Result<(), Error> {
    Ok(if is_redacted { Ok(()) } else { memory.ensure_intact() }?)
}

impl Engine {
    /// One memory in any state, if the caller may see it. Recorded as read by the caller's run.
    pub fn read(&self, caller: &Caller, reference: &MemoryReference) -> Result<Memory, Error> {
        let memory = self.locate(caller, reference)?;
        memory.ensure_intact()?;
        usage::record_reads(self, caller, [&memory]);
        Ok(memory)
    }

    /// As [`Engine::read`], without a record: for calls that change the memory and do not show it.
    pub fn locate(&self, caller: &Caller, reference: &MemoryReference) -> Result<Memory, Error> {
        match reference {
            MemoryReference::Id(id) => read_by_id(self, caller, *id),
            MemoryReference::Path { store, path } => read_by_path(self, caller, store.as_deref(), path),
        }
    }

    /// One memory as it was at a past time, if the caller may see that version.
    pub fn read_as_of(&self, caller: &Caller, reference: &MemoryReference, at: Timestamp) -> Result<Memory, Error> {
        let memory = load_as_of(self, caller, reference, at)?;
        ensure_version_intact(&memory, memory.content.is_empty())?;
        usage::record_reads(self, caller, [&memory]);
        Ok(memory)
    }

    /// As [`Engine::list`], for listings that show the contents: recorded as read by the caller's run.
    pub fn read_list(
        &self,
        caller: &Caller,
        filter: Filter,
        order: SortOrder,
        after: Option<ListCursor>,
        limit: Option<usize>,
    ) -> Result<Listing, Error> {
        let listing = self.list(caller, filter, order, after, limit)?;
        listing.memories.iter().try_for_each(Memory::ensure_intact)?;
        usage::record_reads(self, caller, &listing.memories);
        Ok(listing)
    }

    /// One page of the memories the caller may see. Not recorded as read: for listings without contents.
    pub fn list(
        &self,
        caller: &Caller,
        filter: Filter,
        order: SortOrder,
        after: Option<ListCursor>,
        limit: Option<usize>,
    ) -> Result<Listing, Error> {
        let readable = visibility::visible_to(self, caller)?;
        stores::ensure_stores_readable(self, caller, &readable, &filter.stores)?;
        let limit = resolve_limit(limit, self.limits().list_default, self.limits().list_max)?;
        let at = search::query_time(self, &filter);
        let filter = filter.without_expired(at);
        // One more than the limit shows whether there is a next page.
        let page = PageRequest { order, after, limit: limit + 1 };
        let mut memories = self.backend.list_memories(&readable, &filter, &page)?;
        memories.retain(|memory| readable.shows_memory(memory));
        let more = memories.len() > limit;
        memories.truncate(limit);
        let next = memories.last().filter(|_| more).and_then(|last| cursor_after(order, last));
        Ok(Listing { memories, next })
    }

    /// Versions of a memory, newest first. Recorded as read by the caller's run.
    pub fn history(
        &self,
        caller: &Caller,
        reference: &MemoryReference,
        below: Option<u32>,
        limit: Option<usize>,
    ) -> Result<Vec<Version>, Error> {
        let memory = self.locate(caller, reference)?;
        let limit = resolve_limit(limit, self.limits().history_default, self.limits().history_max)?;
        let versions = self.backend.list_versions(&visibility::visible_to(self, caller)?, memory.id, below, limit)?;
        versions.iter().try_for_each(|found| ensure_version_intact(&found.memory, found.redacted_at.is_some()))?;
        usage::record_reads(self, caller, versions.iter().map(|version| &version.memory));
        Ok(versions)
    }

    /// One version by its id. Recorded as read by the caller's run.
    pub fn version(&self, caller: &Caller, version: VersionId) -> Result<Version, Error> {
        let readable = visibility::visible_to(self, caller)?;
        let found =
            self.backend.get_version(&readable, version)?.filter(|version| readable.shows_memory(&version.memory));
        let found = found.ok_or_else(|| Error::not_found(format!("version `{version}`")))?;
        ensure_version_intact(&found.memory, found.redacted_at.is_some())?;
        usage::record_reads(self, caller, [&found.memory]);
        Ok(found)
    }

    /// Up to `limit` events after number `after` that are `wanted` and visible to the caller, and the number up to
    /// which the log was read. Reads a bounded part of the log, so it may return fewer events although more follow:
    /// call again from the returned number.
    pub fn events(
        &self,
        caller: &Caller,
        after: u64,
        limit: usize,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<(Vec<Event>, u64), Error> {
        let view = self.event_visibility(caller)?;
        let limit = resolve_limit(Some(limit), self.limits().list_default, self.limits().list_max)?;
        let (mut seen, mut read_to, mut batch) = (Vec::new(), after, limit);
        for _ in 0..EVENT_BATCHES_MAX {
            let events = self.backend.events_after(caller.tenant, read_to, batch)?;
            let is_last = events.len() < batch;
            for event in events {
                read_to = event.seq;
                if wanted(&event)
                    && let Some(shown) = view.visible_event(&event)
                {
                    seen.push(shown.into_owned());
                }
                if seen.len() == limit {
                    return Ok((seen, read_to));
                }
            }
            if is_last {
                break;
            }
            // The first batch is small, for the common case that all events match; then read in full batches.
            batch = self.limits().list_max;
        }
        Ok((seen, read_to))
    }

    /// The newest `limit` events that are `wanted` and visible to the caller, oldest first, and the number of the last
    /// event. As with [`Engine::events`], only a bounded part of a long log is read.
    pub fn latest_events(
        &self,
        caller: &Caller,
        limit: usize,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<(Vec<Event>, u64), Error> {
        let view = self.event_visibility(caller)?;
        let limit = resolve_limit(Some(limit), self.limits().list_default, self.limits().list_max)?;
        let last = self.backend.last_event_seq(caller.tenant)?;
        let (mut newest_first, mut upto, mut batch) = (Vec::new(), last, limit);
        for _ in 0..EVENT_BATCHES_MAX {
            let after = upto.saturating_sub(batch as u64);
            let events = self.backend.events_after(caller.tenant, after, batch)?;
            let in_batch = events.iter().rev().filter(|event| event.seq <= upto && wanted(event));
            newest_first.extend(in_batch.filter_map(|event| view.visible_event(event)).map(Cow::into_owned));
            if newest_first.len() >= limit || after == 0 {
                break;
            }
            (upto, batch) = (after, self.limits().list_max);
        }
        newest_first.truncate(limit);
        newest_first.reverse();
        Ok((newest_first, last))
    }
}

/// The version of a memory that was current at a past time.
fn load_as_of(engine: &Engine, caller: &Caller, reference: &MemoryReference, at: Timestamp) -> Result<Memory, Error> {
    let missing = || Error::not_found(format!("version of this memory at {at}"));
    let readable = visibility::visible_to(engine, caller)?;
    let id = match reference {
        MemoryReference::Id(id) => *id,
        MemoryReference::Path { store, path } => {
            let filter = Filter {
                stores: store.clone().into_iter().collect(),
                path: Some(normalize_path(path, engine.limits())?),
                as_of: Some(at),
                ..Filter::default()
            };
            let page = PageRequest { order: SortOrder::Newest, after: None, limit: 1 };
            engine.backend.list_memories(&readable, &filter, &page)?.first().ok_or_else(missing)?.id
        }
    };
    // Versions come newest first, page by page: the first one not after `at` was current then.
    let mut below = None;
    loop {
        let versions = engine.backend.list_versions(&readable, id, below, engine.limits().history_default)?;
        let last = versions.last().map(|version| version.number).ok_or_else(missing)?;
        if let Some(version) = versions.into_iter().find(|version| version.at <= at) {
            return Some(version.memory).filter(|memory| readable.shows_memory(memory)).ok_or_else(missing);
        }
        below = Some(last);
    }
}

pub(crate) fn read_by_id(engine: &Engine, caller: &Caller, id: MemoryId) -> Result<Memory, Error> {
    let readable = visibility::visible_to(engine, caller)?;
    let memory = engine.backend.get_memory(&readable, &Address::Id(id))?;
    memory.filter(|memory| readable.shows_memory(memory)).ok_or_else(|| Error::not_found(format!("memory `{id}`")))
}

fn read_by_path(engine: &Engine, caller: &Caller, store: Option<&str>, path: &str) -> Result<Memory, Error> {
    let found = without_merged_twins(caller, list_at_path(engine, caller, store, path)?);
    let missing = || Error::not_found(format!("memory at `{path}`"));
    match found.as_slice() {
        [] => {
            // Listings show addresses as `store/path`: try that form too.
            let (store, rest) =
                path.trim_start_matches('/').split_once('/').filter(|_| store.is_none()).ok_or_else(missing)?;
            stores::open_store(engine, caller, store).map_err(|_| missing())?;
            list_at_path(engine, caller, Some(store), rest)?.into_iter().next().ok_or_else(missing)
        }
        [_] => Ok(found.into_iter().next().ok_or_else(missing)?),
        many => {
            let places: Vec<String> = many.iter().map(|m| format!("{} ({}) {}", m.store, m.scope, m.id)).collect();
            let message = format!("`{path}` is in {} places; name one by id: {}", many.len(), places.join(", "));
            Err(Error::invalid("shape.ambiguous_path", message))
        }
    }
}

/// Leaves out memories of projects that were merged into the caller's, where the project itself has the path.
fn without_merged_twins(caller: &Caller, mut found: Vec<Memory>) -> Vec<Memory> {
    let own = caller.project.clone().map(|project| Scope::Project { project });
    let is_own = |memory: &Memory| own.as_ref() == Some(&memory.scope);
    if let Some(store) = found.iter().find(|memory| is_own(memory)).map(|memory| memory.store.clone()) {
        found.retain(|memory| memory.store != store || is_own(memory));
    }
    found
}

/// Active memories at a path, one per place; if there is none, the latest inactive one.
fn list_at_path(engine: &Engine, caller: &Caller, store: Option<&str>, path: &str) -> Result<Vec<Memory>, Error> {
    let path = normalize_path(path, engine.limits())?;
    let with_states = |states: Vec<State>| Filter {
        stores: store.map(str::to_owned).into_iter().collect(),
        path: Some(path.clone()),
        states,
        ..Filter::default()
    };
    let page = |limit| PageRequest { order: SortOrder::Newest, after: None, limit };
    let readable = visibility::visible_to(engine, caller)?;
    let mut found = engine.backend.list_memories(
        &readable,
        &with_states(vec![State::Active]),
        &page(engine.limits().list_default),
    )?;
    if found.is_empty() {
        found = engine.backend.list_memories(&readable, &with_states(State::ALL.to_vec()), &page(1))?;
    }
    found.retain(|memory| readable.shows_memory(memory));
    Ok(found)
}

/// Cursor of the page after this memory; `None` for orders that are not paged.
pub(crate) fn cursor_after(order: SortOrder, last: &Memory) -> Option<ListCursor> {
    match order {
        SortOrder::Path => Some(ListCursor::Path(last.path.clone().unwrap_or_default(), last.id)),
        SortOrder::Newest => Some(ListCursor::Time(last.updated_at, last.id)),
        SortOrder::Oldest => Some(ListCursor::Time(last.created_at, last.id)),
        SortOrder::Expiring => last.expires_at.map(|at| ListCursor::Time(at, last.id)),
        SortOrder::LastTurn | SortOrder::Fading => None,
    }
}

/// All memories of the tenant that pass a filter, read page by page. Not limited to what a caller may see.
pub(crate) fn list_all_memories(
    engine: &Engine,
    tenant: crate::model::id::TenantId,
    filter: &Filter,
    order: SortOrder,
) -> Result<Vec<Memory>, Error> {
    let mut memories: Vec<Memory> = Vec::new();
    let mut after = None;
    loop {
        let page = PageRequest { order, after, limit: engine.limits().list_max };
        let found = engine.backend.list_memories(&Readable::whole_tenant(tenant), filter, &page)?;
        let is_last = found.len() < page.limit;
        after = found.last().and_then(|memory| cursor_after(order, memory));
        memories.extend(found);
        if is_last {
            return Ok(memories);
        }
    }
}

/// Optimistic concurrency: a conflict if the caller expected another content than the current one.
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

/// The conflict for a caller that saw another version, with an excerpt of the current one. The excerpt counts as a
/// read.
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
