//! Lineage: sources and descendants of a memory, and detection of saves that repeat what their run recalled before.

use std::collections::{HashMap, HashSet};

use crate::Engine;
use crate::gate::duplicate::jaccard_similarity;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::memory::{Draft, Memory};
use crate::model::row::RowFilter;
use crate::model::vocabulary::State;
use crate::policy::Readable;
use crate::ports::{CandidateQuery, Filter, SortOrder, row};
use crate::recall::usage::{MemoryUsage, Touch};
use crate::recall::{read, visibility};
use crate::text::{normalize, words};

/// Memories compared with a save: the best by word match.
const COMPARED_MEMORIES_MAX: usize = 12;
/// Bytes of a save used as the query for similar memories; a longer text is hardly a repetition of a recalled one.
const COMPARED_BYTES_MAX: usize = 4_096;

impl Engine {
    /// Sources and descendants of a memory, as far as the caller may see them.
    pub fn lineage(&self, caller: &Caller, memory: MemoryId) -> Result<Lineage, Error> {
        let memory = read::read_by_id(self, caller, memory)?;
        let readable = visibility::visible_to(self, caller)?;
        let mut sources = Vec::new();
        for version in &memory.derived_from {
            sources.extend(
                self.backend
                    .get_version(&readable, *version)?
                    .filter(|v| readable.shows_memory(&v.memory))
                    .map(|v| v.memory),
            );
        }
        let mut derived = find_descendants(self, caller.tenant, &HashSet::from([memory.id]), State::ALL)?;
        derived.retain(|memory| readable.shows_memory(memory));
        Ok(Lineage { sources, derived })
    }
}

/// Versions that a draft only repeats: memories its run was shown before, with the same or nearly the same text. The
/// save is recorded as derived from them, since it is no independent evidence. Empty for a new text and outside of a
/// run.
pub(crate) fn find_repeated_versions(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<Vec<VersionId>, Error> {
    if caller.run.is_none() || !caller.role.is_program() || !caller.rules.read {
        return Ok(Vec::new());
    }
    let readable = visibility::visible_to(engine, caller)?;
    let text = &draft.content[..draft.content.floor_char_boundary(COMPARED_BYTES_MAX)];
    let filter = Filter { unexpired_at: Some(engine.clock.now()), ..Filter::default() };
    let find = CandidateQuery {
        filter,
        words: words::parse_query(text),
        pool: COMPARED_MEMORIES_MAX,
        weights: engine.limits().weights.text.clone(),
        ..CandidateQuery::default()
    };
    let mut similar: Vec<Memory> = engine
        .backend
        .find_candidates(&readable, &find)?
        .candidates
        .into_iter()
        .map(|candidate| candidate.memory)
        .collect();
    // Writing to the path of a memory is an update of it, not a repetition.
    let same_place =
        |memory: &Memory| memory.store == draft.store && memory.path.is_some() && memory.path == draft.path;
    similar.retain(|memory| {
        readable.shows_memory(memory) && !same_place(memory) && is_repetition(engine, &draft.content, &memory.content)
    });
    if similar.is_empty() {
        return Ok(Vec::new());
    }
    let shown_ids = memories_shown_to_run(engine, caller)?;
    Ok(similar.into_iter().filter(|memory| shown_ids.contains(&memory.id)).map(|memory| memory.version).collect())
}

/// Whether two texts are equal after normalisation, or share nearly all words (Jaccard similarity).
fn is_repetition(engine: &Engine, draft_text: &str, memory_text: &str) -> bool {
    let word_set = |text: &str| -> HashSet<String> { words::folded_words(text).into_iter().collect() };
    normalize::normalise_text(draft_text) == normalize::normalise_text(memory_text)
        || jaccard_similarity(&word_set(draft_text), &word_set(memory_text)) >= engine.limits().echo_overlap
}

/// Memories that were shown to the caller's run, the latest `echo_uses` of them.
fn memories_shown_to_run(engine: &Engine, caller: &Caller) -> Result<HashSet<MemoryId>, Error> {
    // Usage records are written after the answer, with the next group commit: wait for it.
    engine.backend.flush()?;
    let filter = RowFilter {
        parent: caller.run.clone(),
        newest_first: true,
        limit: engine.limits().echo_uses,
        ..RowFilter::default()
    };
    let uses: Vec<MemoryUsage> = row::select_records(&*engine.backend, caller.tenant, &filter)?;
    Ok(uses.into_iter().filter(was_shown).map(|usage| usage.memory).collect())
}

/// Runs and conversations that were shown any of these memories, as `run:ID` or `conversation:ID`; else the actor.
pub(crate) fn list_audience<'a>(
    engine: &Engine,
    tenant: TenantId,
    memories: impl Iterator<Item = &'a MemoryId>,
) -> Result<Vec<String>, Error> {
    engine.backend.flush()?;
    let mut reached: Vec<String> = Vec::new();
    for memory in memories {
        let limit = engine.limits().list_max;
        let filter = RowFilter { subject: Some(memory.to_string()), limit, ..RowFilter::default() };
        for usage in
            row::select_records::<MemoryUsage>(&*engine.backend, tenant, &filter)?.into_iter().filter(was_shown)
        {
            let name = match (&usage.run, &usage.conversation) {
                (Some(run), _) => format!("run:{run}"),
                (None, Some(conversation)) => format!("conversation:{conversation}"),
                (None, None) => usage.actor.clone(),
            };
            if !reached.contains(&name) {
                reached.push(name);
            }
        }
    }
    Ok(reached)
}

/// Memories derived from the roots, directly or through others, in these states, oldest first. The roots are left out.
pub(crate) fn find_descendants(
    engine: &Engine,
    tenant: TenantId,
    roots: &HashSet<MemoryId>,
    states: &[State],
) -> Result<Vec<Memory>, Error> {
    let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    let mut derived = read::list_all_memories(engine, tenant, &filter, SortOrder::Oldest)?;
    derived.retain(|memory| !memory.derived_from.is_empty());
    // `derived_from` names versions; this maps them to their memories.
    let mut owner: HashMap<VersionId, MemoryId> = HashMap::new();
    for version in derived.iter().flat_map(|memory| &memory.derived_from) {
        if !owner.contains_key(version)
            && let Some(found) = engine.backend.get_version(&Readable::whole_tenant(tenant), *version)?
        {
            owner.insert(*version, found.memory.id);
        }
    }
    let mut reached = roots.clone();
    // Fixed point: each round adds the memories derived from those reached so far. Ends after at most one round per
    // memory.
    loop {
        let before = reached.len();
        let from_reached = |memory: &&Memory| {
            memory.derived_from.iter().any(|version| owner.get(version).is_some_and(|id| reached.contains(id)))
        };
        let more: Vec<MemoryId> = derived.iter().filter(from_reached).map(|memory| memory.id).collect();
        reached.extend(more);
        if reached.len() == before {
            break;
        }
    }
    derived
        .retain(|memory| !roots.contains(&memory.id) && reached.contains(&memory.id) && states.contains(&memory.state));
    Ok(derived)
}

/// Sources and descendants of a memory.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// The exact versions it was made from.
    pub sources: Vec<Memory>,
    /// Memories derived from it, directly or through others.
    pub derived: Vec<Memory>,
}

/// Whether a usage means that a model saw the memory, rather than wrote it.
fn was_shown(usage: &MemoryUsage) -> bool {
    matches!(usage.touch, Touch::Injected | Touch::Read)
}
