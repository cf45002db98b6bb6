//! Filters and sort orders as functions over one memory, for reads that no table can answer (`as_of`). Both backends
//! express the same conditions in SQL.

use std::cmp::Ordering;

use engine::model::lifecycle::fade_key;
use engine::model::memory::Memory;
use engine::model::vocabulary::State;
use engine::ports::{Filter, ListCursor, PageRequest, SortOrder};

/// The states a filter asks for: active where it names none.
pub(crate) fn wanted_states(filter: &Filter) -> &[State] {
    if filter.states.is_empty() { &[State::Active] } else { &filter.states }
}

/// Whether a filter has conditions on columns that the recall index lacks and only the table `memories` has.
pub(crate) fn needs_memory_table(filter: &Filter) -> bool {
    !filter.tags.is_empty()
        || filter.path_prefix.is_some()
        || filter.path.is_some()
        || filter.session.is_some()
        || filter.always_inject.is_some()
        || filter.fade_below.is_some()
}

/// Sort key by decayed importance: the memory with the lowest fades first.
pub(crate) fn memory_fade_key(memory: &Memory) -> f64 {
    fade_key(memory.importance, memory.last_recalled_at.unwrap_or(memory.created_at))
}

/// A filter as a predicate over one memory, in its current or an earlier version. Stores, scopes and places are not
/// tested here: the queries choose those.
pub(crate) fn matches_filter(filter: &Filter, memory: &Memory) -> bool {
    let path = memory.path.as_deref();
    let has_attributes = wanted_states(filter).contains(&memory.state)
        && (filter.kinds.is_empty() || filter.kinds.contains(&memory.kind))
        && (filter.layers.is_empty() || filter.layers.contains(&memory.layer))
        && filter.tags.iter().all(|tag| memory.tags.contains(tag));
    let is_timely = filter.updated_after.is_none_or(|at| memory.updated_at > at)
        && filter.updated_before.is_none_or(|at| memory.updated_at < at)
        && filter.unexpired_at.is_none_or(|at| !memory.is_expired(at))
        && filter.expired_by.is_none_or(|at| memory.is_expired(at));
    has_attributes
        && is_timely
        && filter.trust_min.is_none_or(|minimum| memory.trust >= minimum)
        && filter.path_prefix.as_deref().is_none_or(|prefix| path.is_some_and(|path| path.starts_with(prefix)))
        && filter.path.as_deref().is_none_or(|wanted| path == Some(wanted))
        && filter.session.as_deref().is_none_or(|session| memory.session.as_deref() == Some(session))
        && filter.always_inject.is_none_or(|wanted| memory.always_inject == wanted)
        && filter.fade_below.is_none_or(|key| memory_fade_key(memory) < key)
}

/// The sort order of a listing; the id breaks ties.
pub(crate) fn compare_memories(order: SortOrder, a: &Memory, b: &Memory) -> Ordering {
    let path = |memory: &Memory| memory.path.clone().unwrap_or_default();
    match order {
        SortOrder::Path => (path(a), a.id).cmp(&(path(b), b.id)),
        SortOrder::Newest => (b.updated_at, b.id).cmp(&(a.updated_at, a.id)),
        SortOrder::Oldest => (a.created_at, a.id).cmp(&(b.created_at, b.id)),
        SortOrder::Expiring => (a.expires_at, a.id).cmp(&(b.expires_at, b.id)),
        SortOrder::LastTurn => (b.turn, b.id).cmp(&(a.turn, a.id)),
        SortOrder::Fading => memory_fade_key(a).total_cmp(&memory_fade_key(b)).then(a.id.cmp(&b.id)),
    }
}

/// Whether a memory comes after the end of the previous page.
pub(crate) fn is_after_cursor(page: &PageRequest, memory: &Memory) -> bool {
    let path = || memory.path.as_deref().unwrap_or_default();
    match (page.order, &page.after) {
        (SortOrder::Path, Some(ListCursor::Path(last, id))) => (path(), memory.id) > (last.as_str(), *id),
        (SortOrder::Newest, Some(ListCursor::Time(at, id))) => (memory.updated_at, memory.id) < (*at, *id),
        (SortOrder::Oldest, Some(ListCursor::Time(at, id))) => (memory.created_at, memory.id) > (*at, *id),
        (SortOrder::Expiring, Some(ListCursor::Time(at, id))) => (memory.expires_at, memory.id) > (Some(*at), *id),
        (SortOrder::LastTurn, _) => memory.turn.is_some(),
        // A cursor of another order marks no place in this one.
        _ => true,
    }
}
