//! Exclusion reason: why one memory does not pass a filter, in words. Backends filter in SQL; this is the same rule for
//! a single memory, with an explanation.

use jiff::Timestamp;

use crate::model::guard::Place;
use crate::model::memory::Memory;
use crate::model::vocabulary::State;
use crate::ports::Filter;

/// The first condition of the filter that the memory fails; `None` if it passes.
pub fn exclusion_reason(filter: &Filter, memory: &Memory, now: Timestamp) -> Option<String> {
    let states = if filter.states.is_empty() { &[State::Active][..] } else { &filter.states };
    let is_under = |prefix: &String| memory.path.as_ref().is_some_and(|path| path.starts_with(prefix));
    let is_there = |place: &Place| place.store == memory.store && place.scope == memory.scope;
    // The order matters: the state explains most, and the first reason is the only one shown.
    let reason = match () {
        () if !states.contains(&memory.state) => {
            format!("it is {}, and only {} are asked for", memory.state, join_states(states))
        }
        () if memory.is_expired(now) && !filter.asks_for_inactive() => "it has expired".to_owned(),
        () if is_excluded_by(&filter.stores, &memory.store) => {
            format!("it is in store `{}`, which was not asked for", memory.store)
        }
        () if is_excluded_by(&filter.scopes, &memory.scope.kind())
            || !(filter.places.is_empty() || filter.places.iter().any(is_there)) =>
        {
            format!("it lives in {}, which was not asked for", memory.scope)
        }
        () if is_excluded_by(&filter.kinds, &memory.kind) => {
            format!("its kind is {}, which was not asked for", memory.kind)
        }
        () if is_excluded_by(&filter.layers, &memory.layer) => {
            format!("its layer is {}, which was not asked for", memory.layer)
        }
        () if !filter.tags.iter().all(|tag| memory.tags.contains(tag)) => {
            "it does not carry all the tags asked for".to_owned()
        }
        () if !filter.path_prefix.as_ref().is_none_or(is_under) => {
            "its path is not under the prefix asked for".to_owned()
        }
        () if filter.trust_min.is_some_and(|trust| memory.trust < trust) => {
            format!("its trust is {}, below what was asked for", memory.trust)
        }
        () if filter.updated_after.is_some_and(|after| memory.updated_at < after) => {
            format!("it was updated {}, before the time asked for", memory.updated_at)
        }
        () if filter.updated_before.is_some_and(|before| memory.updated_at > before) => {
            format!("it was updated {}, after the time asked for", memory.updated_at)
        }
        () => return None,
    };
    Some(reason)
}

/// Whether a filter list excludes a value. An empty list does not filter.
fn is_excluded_by<T: PartialEq>(wanted: &[T], value: &T) -> bool {
    !wanted.is_empty() && !wanted.contains(value)
}

fn join_states(states: &[State]) -> String {
    states.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(", ")
}
