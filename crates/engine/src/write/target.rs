//! Finds the memory a save is a new version of: the one at its path, a duplicate, or none.

use crate::Engine;
use crate::gate::duplicate::HintMatch;
use crate::gate::{ClearedDraft, duplicate};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::{Guard, Place};
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::ruleset::Ruleset;
use crate::model::vocabulary::{Dedup, ScopeKind, State};
use crate::policy::{self, Readable};
use crate::ports::{Address, CandidateQuery, Filter, PageRequest, SortOrder, embedding};
use crate::text::digest::content_sha256;
use crate::text::words;

/// Where a save goes.
pub(crate) enum SaveTarget {
    /// A new memory, if `guard` still holds. `near`: a memory with a similar hint that states another fact.
    /// `path`: where it goes if not to the path of the draft.
    New { guard: Option<Guard>, near: Option<MemoryId>, path: Option<String> },
    /// A new version of this memory.
    Existing(Box<Memory>),
    /// A duplicate of this memory: nothing to write.
    Same(Box<Memory>),
}

impl SaveTarget {
    /// The memory that is there already.
    pub(crate) fn into_existing(self) -> Option<Box<Memory>> {
        match self {
            SaveTarget::Existing(memory) | SaveTarget::Same(memory) => Some(memory),
            SaveTarget::New { .. } => None,
        }
    }

    pub(crate) fn existing(&self) -> Option<&Memory> {
        match self {
            SaveTarget::Existing(memory) | SaveTarget::Same(memory) => Some(memory),
            SaveTarget::New { .. } => None,
        }
    }
}

/// Finds the target of a draft by its path, else by the dedup rule of its store.
///
/// `skip_lookup`: assume that nothing is there and let the guard find out. Most saves are new, so this spares a read;
/// a save whose guard fails is planned again with the lookup.
pub(crate) fn find_save_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    ruleset: &Ruleset,
    place: &Place,
    skip_lookup: bool,
) -> Result<SaveTarget, Error> {
    if cleared.state() == State::Constrained {
        return find_draft_target(engine, caller, cleared, place);
    }
    let draft = cleared.draft();
    // An expected digest is compared with the memory, so that one is read anyway.
    let skip_lookup = skip_lookup && draft.expected_sha256.is_none();
    let find_memory = |address| match skip_lookup {
        true => Ok(None),
        false => engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address),
    };
    // A path is an address under every dedup rule: saving to it again makes a new version.
    if let Some(path) = draft.path.as_ref().filter(|_| draft.path_is_derived) {
        return find_derived_target(engine, caller, cleared, place, path, skip_lookup);
    }
    if let Some(path) = &draft.path {
        let found = match find_memory(Address::Path { place: place.clone(), path: path.clone() })? {
            None => find_in_merged_projects(engine, caller, place, path)?,
            found => found,
        };
        return Ok(match found {
            Some(memory) => SaveTarget::Existing(Box::new(memory)),
            None => new_at_path(place, path),
        });
    }
    match ruleset.dedup {
        Dedup::Exact => {
            let sha256 = content_sha256(&draft.content);
            Ok(match find_memory(Address::Hash { place: place.clone(), sha256: sha256.clone() })? {
                Some(memory) => SaveTarget::Same(Box::new(memory)),
                None => SaveTarget::New {
                    guard: Some(Guard::HashFree { place: place.clone(), sha256 }),
                    near: None,
                    path: None,
                },
            })
        }
        Dedup::Hint => find_hint_target(engine, caller, cleared, place),
        // Duplicates by key are found later and merged by review (`review::consolidation`).
        Dedup::Path | Dedup::Key | Dedup::None => Ok(SaveTarget::New { guard: None, near: None, path: None }),
    }
}

fn new_at_path(place: &Place, path: &str) -> SaveTarget {
    let guard = Some(Guard::PathFree { place: place.clone(), path: path.to_owned() });
    SaveTarget::New { guard, near: None, path: None }
}

/// Characters of the content's digest that keep two texts apart that begin alike.
const DERIVED_SUFFIX_CHARS: usize = 8;

/// Target of a draft whose path was made from its text. A memory with another text is another fact: it stays, and the
/// draft goes to a path of its own.
fn find_derived_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    place: &Place,
    path: &str,
    skip_lookup: bool,
) -> Result<SaveTarget, Error> {
    if skip_lookup {
        return Ok(new_at_path(place, path));
    }
    let sha256 = content_sha256(&cleared.draft().content);
    let suffixed = format!("{path}-{}", &sha256[..DERIVED_SUFFIX_CHARS]);
    let mut near = None;
    for path in [path.to_owned(), suffixed] {
        let address = Address::Path { place: place.clone(), path: path.clone() };
        let found = match engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address)? {
            None => find_in_merged_projects(engine, caller, place, &path)?,
            found => found,
        };
        match found {
            Some(memory) if memory.sha256 == sha256 => return Ok(SaveTarget::Same(Box::new(memory))),
            Some(memory) => near = Some(memory.id),
            None => {
                let guard = Some(Guard::PathFree { place: place.clone(), path: path.clone() });
                return Ok(SaveTarget::New { guard, near, path: Some(path) });
            }
        }
    }
    // Two digests that begin alike: as rare as a lost race, and answered like one.
    Err(Error::conflict("conflict.exists", "memories with this beginning exist already; give a `path`"))
}

/// The memory at a path of the same store in a project that was merged into the caller's.
fn find_in_merged_projects(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    path: &str,
) -> Result<Option<Memory>, Error> {
    if place.scope.kind() != ScopeKind::Project {
        return Ok(None);
    }
    for scope in policy::merged_scopes(caller) {
        let address = Address::Path { place: Place { scope, ..place.clone() }, path: path.to_owned() };
        if let Some(memory) = engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address)? {
            return Ok(Some(memory));
        }
    }
    Ok(None)
}

/// Target of a draft that waits for review: the caller's own waiting draft at this path, never the memory there.
fn find_draft_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    place: &Place,
) -> Result<SaveTarget, Error> {
    match &cleared.draft().path {
        Some(path) => find_own_candidate(engine, caller, place, Some(path), |_| true),
        None => Ok(SaveTarget::New { guard: None, near: None, path: None }),
    }
}

/// Target of a candidate that would replace `current`: the one that the caller has waiting already, or a new one.
pub(crate) fn find_candidate_target(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    current: &Memory,
) -> Result<SaveTarget, Error> {
    let path = current.path.as_deref();
    // Without a path, by the version that it was written for.
    let is_for_current = |waiting: &Memory| match path {
        Some(_) => true,
        None => waiting.path.is_none() && waiting.derived_from.contains(&current.version),
    };
    find_own_candidate(engine, caller, place, path, is_for_current)
}

fn find_own_candidate(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    path: Option<&str>,
    matches: impl Fn(&Memory) -> bool,
) -> Result<SaveTarget, Error> {
    let filter = Filter {
        places: vec![place.clone()],
        path: path.map(str::to_owned),
        states: vec![State::Constrained],
        ..Filter::default()
    };
    let page = PageRequest { order: SortOrder::Newest, after: None, limit: engine.limits().list_default };
    let waiting = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
    // Each author has a draft of their own: callers do not overwrite each other's proposals.
    let own = waiting.into_iter().find(|memory| memory.author == caller.principal && matches(memory));
    Ok(match own {
        Some(memory) => SaveTarget::Existing(Box::new(memory)),
        None => SaveTarget::New { guard: None, near: None, path: None },
    })
}

/// Target by similar recall hint: the memory that states the same fact. One that states another fact is only reported.
fn find_hint_target(
    engine: &Engine,
    caller: &Caller,
    cleared: &ClearedDraft,
    place: &Place,
) -> Result<SaveTarget, Error> {
    let draft = cleared.draft();
    let Some(hint) = draft.recall_hint.as_deref() else {
        return Ok(SaveTarget::New { guard: None, near: None, path: None });
    };
    // Read before the search: a memory saved by another caller meanwhile fails the guard.
    let generation = engine.backend.place_state(caller.tenant, place)?.generation;
    let filter = Filter { places: vec![place.clone()], ..Filter::default() };
    let find = CandidateQuery {
        filter,
        words: words::parse_query(hint),
        pool: engine.limits().pool_min,
        weights: engine.limits().weights.text.clone(),
        ..CandidateQuery::default()
    };
    let found = engine.backend.find_candidates(&Readable::whole_tenant(caller.tenant), &find)?;
    let memories = found.candidates.into_iter().map(|candidate| candidate.memory);
    // A program's note beside a person's is a memory of its own, which a later save finds again.
    let is_kept = |memory: &Memory| !cleared.is_confirmed() && policy::replace_needs_person(caller, memory);
    let (kept, memories): (Vec<Memory>, Vec<Memory>) = memories.partition(is_kept);
    let similarity = |text: &str| text_similarity(engine, &draft.content, text);
    let find_nearest = |among| duplicate::find_nearest_hint(hint, &draft.content, among, engine.limits(), similarity);
    match find_nearest(&memories) {
        Some((memory, HintMatch::SameFact)) => Ok(SaveTarget::Existing(Box::new(memory.clone()))),
        other => {
            let other = find_nearest(&kept).or(other);
            // The search is no lock: the guard fails if anything was saved to the place meanwhile.
            let guard = Some(Guard::PlaceUnchanged { place: place.clone(), generation });
            Ok(SaveTarget::New { guard, near: other.map(|(memory, _)| memory.id), path: None })
        }
    }
}

/// Calibrated similarity of two texts; 0 without an instant embedder, because a save does not wait for a model.
fn text_similarity(engine: &Engine, one: &str, other: &str) -> f64 {
    if !engine.embedder.is_instant() {
        return 0.0;
    }
    match (embedding::embed_text(engine, one), embedding::embed_text(engine, other)) {
        (Some(one), Some(other)) => engine.embedder.calibration().cosine_to_relevance(one.vector.cosine(&other.vector)),
        _ => 0.0,
    }
}
