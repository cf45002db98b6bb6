//! Consolidation of layered memories: profile proposals, compaction, dedup; and the small context given to planning.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::Engine;
use crate::gate::{VersionStamp, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::EventName;
use crate::model::guard::{Guard, Place};
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, ReviewState, SourceVersion};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Kind, Layer, Operation, Ranker};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::{Filter, SortOrder, embedding, refusals, row};
use crate::recall::ranking::Hit;
use crate::recall::search::SearchQuery;
use crate::recall::usage::Touch;
use crate::recall::{already_there, read, usage, visibility};
use crate::removal::quarantine;
use crate::review::propose::{self, ProposalOutcome};
use crate::tenant::stores;
use crate::text::normalize;
use crate::write::{SaveOutcome, clear, draft_review, plan};

/// A fact about a person or a project, proposed for the profile layer.
#[derive(Clone, Debug)]
pub struct ProfileProposal {
    /// `None`: the store `layers`.
    pub store: Option<String>,
    pub key: String,
    pub value: String,
    pub reason: String,
}

/// Memories that say the same, and the text that would replace them.
#[derive(Clone, Debug)]
pub struct ConsolidationGroup {
    /// What the members share, in words: a summary, a topic or a workflow.
    pub key: String,
    pub members: Vec<Memory>,
    pub content: String,
    /// The review, if one was proposed.
    pub review: Option<Box<Review>>,
    /// Why the proposal was refused.
    pub refused: Option<Refusal>,
}

/// Context for planning: at most a few memories of each layer.
#[derive(Clone, Debug, Default)]
pub struct LayerContext {
    pub profile: Vec<Hit>,
    pub procedural: Vec<Hit>,
    pub semantic: Vec<Hit>,
}

impl Engine {
    /// Proposes a profile fact: saves a constrained memory that a person confirms or rejects.
    pub fn propose_profile(&self, caller: &Caller, proposal: ProfileProposal) -> Result<ProposalOutcome, Error> {
        let ProfileProposal { store, key, value, reason } = proposal;
        if key.trim().is_empty() || value.trim().is_empty() {
            return Err(Error::invalid("shape.profile", "a profile proposal needs a key and a value"));
        }
        let store = stores::open_store(self, caller, store.as_deref().unwrap_or("layers"))?;
        let scope = policy::scope_for(caller, store.scope, None)?;
        let place = Place { store: store.slug.clone(), scope };
        let metadata = json!({ "profile_key": key, "value": value });
        let draft = Draft {
            store: store.slug.clone(),
            layer: Some(Layer::Profile),
            kind: Some(Kind::UserPreference),
            recall_hint: Some(format!("{key}: {value}")),
            content: format!("{key}: {value}"),
            metadata: metadata.as_object().cloned(),
            reason: Some(reason.clone()),
            ..Draft::default()
        };
        // Profile proposals have no sources to make an id from, so equal ones are found by key and value.
        if let Some(review) = find_waiting_profile(self, caller, &place, &key, &value)? {
            return Ok(ProposalOutcome::Waiting { review: Box::new(review), new: false });
        }
        let review = Review {
            rationale: reason,
            ..draft_review::new_review(
                self,
                caller,
                Action::ProfileUpdate,
                Vec::new(),
                &store.slug,
                None,
                place.scope.clone(),
            )
        };
        propose_candidate(self, caller, &store, &place, draft, review)
    }

    /// Groups semantic memories that say the same, by summary and then by topic. Writes only with `propose`.
    pub fn compact(
        &self,
        caller: &Caller,
        store: Option<&str>,
        propose: bool,
    ) -> Result<Vec<ConsolidationGroup>, Error> {
        let rule = GroupingRule {
            layer: Layer::Semantic,
            action: Action::SemanticCompaction,
            group_memories: group_for_compaction,
        };
        find_groups(self, caller, store, propose, rule)
    }

    /// Groups the procedures of each workflow. The most confident one becomes canonical; of equals, the oldest. Writes
    /// only with `propose`.
    pub fn dedup(&self, caller: &Caller, store: Option<&str>, propose: bool) -> Result<Vec<ConsolidationGroup>, Error> {
        let rule = GroupingRule {
            layer: Layer::Procedural,
            action: Action::ProceduralDedup,
            group_memories: group_by_workflow,
        };
        find_groups(self, caller, store, propose, rule)
    }

    /// Finds a few memories of each lasting layer for a goal. They are hints for a plan, not permissions.
    pub fn layer_context(&self, caller: &Caller, goal: &str) -> Result<LayerContext, Error> {
        let find_in_layer = |layer: Layer| -> Result<Vec<Hit>, Error> {
            let filter = Filter { layers: vec![layer], ..Filter::default() };
            // `results_max` bounds every search, also where configuration sets a larger layer context.
            let most = self.limits().layer_context_max.min(self.limits().results_max);
            if most == 0 {
                return Ok(Vec::new());
            }
            let (limit, ranker) = (Some(most), Some(Ranker::Layered));
            let query = SearchQuery { text: goal.to_owned(), filter, limit, ranker, ..SearchQuery::default() };
            Ok(self.search(caller, &query)?.hits)
        };
        Ok(LayerContext {
            profile: find_in_layer(Layer::Profile)?,
            procedural: find_in_layer(Layer::Procedural)?,
            semantic: find_in_layer(Layer::Semantic)?,
        })
    }
}

/// The open review that proposes the same value for the same profile key in this place, if the caller may see it.
fn find_waiting_profile(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    key: &str,
    value: &str,
) -> Result<Option<Review>, Error> {
    for review in list_open_reviews(engine, caller, Some(&place.store))? {
        let is_profile = review.action == Action::ProfileUpdate && already_there::shows_review(caller, &review);
        let Some(candidate) = review.candidate.filter(|_| is_profile) else { continue };
        let memory = quarantine::load_any_memory(engine, caller, candidate)?;
        let has_field = |name: &str, wanted: &str| memory.metadata.get(name).and_then(Value::as_str) == Some(wanted);
        if memory.scope == place.scope && has_field("profile_key", key) && has_field("value", value) {
            return Ok(Some(review));
        }
    }
    Ok(None)
}

/// Groups the memories of each place by a rule. Memories that an open review is about are left out.
fn find_groups(
    engine: &Engine,
    caller: &Caller,
    store: Option<&str>,
    propose: bool,
    rule: GroupingRule,
) -> Result<Vec<ConsolidationGroup>, Error> {
    let readable = visibility::visible_to(engine, caller)?;
    let mut grouped = memories_under_review(engine, caller)?;
    let mut groups = Vec::new();
    for store in layered_stores(engine, caller, store)? {
        let cap_bytes = stores::ruleset_of(engine, &store)?.content_bytes_max as usize;
        let filter = Filter { stores: vec![store.slug.clone()], layers: vec![rule.layer], ..Filter::default() };
        let filter = Filter { unexpired_at: Some(engine.clock.now()), ..filter };
        let mut places: BTreeMap<_, Vec<Memory>> = BTreeMap::new();
        for memory in read::list_all_memories(engine, caller.tenant, &filter, SortOrder::Oldest)? {
            let is_usable = readable.shows_memory(&memory) && memory.is_intact();
            if is_usable && !grouped.contains(&memory.id) {
                places.entry(memory.scope.clone()).or_default().push(memory);
            }
        }
        // Grouped within one scope only: a group across scopes would show a memory to callers who may not read it.
        for (scope, memories) in places {
            let place = Place { store: store.slug.clone(), scope };
            for found in (rule.group_memories)(memories, cap_bytes) {
                let ids: Vec<MemoryId> = found.members.iter().map(|memory| memory.id).collect();
                if let Some(group) = build_group(engine, caller, &store, &place, rule.action, found, propose)? {
                    grouped.extend(ids);
                    groups.push(group);
                }
            }
        }
    }
    Ok(groups)
}

/// Builds one group, with a review if `propose`. `None` if these exact versions were proposed before, also if that was
/// rejected.
fn build_group(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    place: &Place,
    action: Action,
    found: CandidateGroup,
    propose: bool,
) -> Result<Option<ConsolidationGroup>, Error> {
    let sources: Vec<SourceVersion> = found.members.iter().map(SourceVersion::from_memory).collect();
    let review = draft_review::new_review(
        engine,
        caller,
        action,
        sources,
        &store.slug,
        found.draft.path.clone(),
        place.scope.clone(),
    );
    if engine.backend.get_row(caller.tenant, RowKind::Reviews, &review.row_id())?.is_some() {
        return Ok(None);
    }
    let (key, members, content) = (found.key, found.members, found.draft.content.clone());
    let mut group = ConsolidationGroup { key, members, content, review: None, refused: None };
    if propose {
        let rationale = format!("{} memories share {}", group.members.len(), group.key);
        match propose_candidate(engine, caller, store, place, found.draft, Review { rationale, ..review })? {
            ProposalOutcome::Waiting { review, .. } => group.review = Some(review),
            ProposalOutcome::Refused(refusal) => group.refused = Some(refusal),
        }
    }
    Ok(Some(group))
}

/// Saves a constrained memory and its review in one transaction.
fn propose_candidate(
    engine: &Engine,
    caller: &Caller,
    store: &Store,
    place: &Place,
    draft: Draft,
    review: Review,
) -> Result<ProposalOutcome, Error> {
    let cleared = match clear::clear_draft_as(engine, caller, WriteIntent::Propose, store, &place.scope, draft)? {
        Ok(cleared) => cleared,
        Err(refusal) => {
            return Ok(ProposalOutcome::Refused(refusals::log_refusal(engine, caller, &store.slug, refusal)?));
        }
    };
    // After the gate: a refused proposal must not create a store that is made on first use.
    stores::store_for_write(engine, caller, &store.slug)?;
    let now = engine.clock.now();
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, cleared.draft().reason.clone());
    let entry = cleared.into_new_memory(
        engine.fresh_memory_id(),
        caller,
        stores::ruleset_of(engine, store)?,
        Operation::Create,
        stamp,
    );
    let (candidate, version) = (entry.memory().id, entry.memory().version);
    let mut review = Review { candidate: Some(candidate), version: Some(version), ..review };
    // Ids are made from the sources. Without any, all proposals for this store would share one id.
    if review.sources.is_empty() {
        review.id = Review::id_for_candidate(review.action, entry.memory());
    }
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    let mut change = Change::new(caller.tenant, now)
        .with_guard(Guard::RowInState { kind: RowKind::Reviews, id: review.row_id(), state: None })
        .with_event(review.to_event(EventName::ReviewProposed, caller, now));
    let sources = review.sources.iter();
    // The proposed text was built from these versions.
    change.guards.extend(sources.map(|source| Guard::VersionIs { memory: source.memory, version: source.version }));
    let mut change = change.with_write(Write::Row(review.to_row()));
    change.writes.extend(propose::plan_proposed_usage(engine, caller, &review));
    change.writes.extend(usage::plan_usages(engine, caller, Touch::Proposed, std::iter::once((candidate, version))));
    match engine.commit(plan::add_entry(engine, caller, change, entry.with_embedding(embedding), SaveOutcome::Created))
    {
        Ok(_) => Ok(ProposalOutcome::Waiting { review: Box::new(review), new: true }),
        Err(StoreError::Guard(_)) => {
            Err(Error::conflict("conflict.lost_race", "a memory or review this depends on has just changed; try again"))
        }
        Err(error) => Err(error.into()),
    }
}

/// The named store, or else all stores whose duplicates are consolidated by review (dedup by key).
fn layered_stores(engine: &Engine, caller: &Caller, wanted: Option<&str>) -> Result<Vec<Store>, Error> {
    if let Some(slug) = wanted {
        return Ok(vec![stores::open_store(engine, caller, slug)?]);
    }
    let mut stores = engine.stores(caller)?;
    let layered = |store: &Store| stores::ruleset_of(engine, store).is_ok_and(|ruleset| ruleset.dedup == Dedup::Key);
    stores.retain(|store| store.archived_at.is_none() && layered(store));
    Ok(stores)
}

/// Every memory that an open review the caller may see is about.
fn memories_under_review(engine: &Engine, caller: &Caller) -> Result<HashSet<MemoryId>, Error> {
    let ids = |review: Review| {
        let sources: Vec<MemoryId> = review.sources.iter().map(|source| source.memory).collect();
        sources.into_iter().chain(review.candidate)
    };
    let open = list_open_reviews(engine, caller, None)?.into_iter();
    Ok(open.filter(|review| already_there::shows_review(caller, review)).flat_map(ids).collect())
}

/// All open reviews of the tenant, optionally for one store.
pub(crate) fn list_open_reviews(engine: &Engine, caller: &Caller, store: Option<&str>) -> Result<Vec<Review>, Error> {
    let mut open = Vec::new();
    for state in [ReviewState::Pending, ReviewState::ChangesRequested] {
        let mut filter = RowFilter {
            state: Some(state.to_string()),
            parent: store.map(str::to_owned),
            limit: engine.limits().list_max,
            ..RowFilter::default()
        };
        loop {
            let page: Vec<Review> = row::select_records(&*engine.backend, caller.tenant, &filter)?;
            let last = page.len() < filter.limit;
            filter.after = page.last().map(|review| (review.row_time(), review.row_id()));
            open.extend(page);
            if last {
                break;
            }
        }
    }
    Ok(open)
}

/// How memories are grouped, and the action their review proposes.
#[derive(Clone, Copy)]
struct GroupingRule {
    layer: Layer,
    action: Action,
    /// Groups the memories of one place. The number is the most bytes the replacing text may have.
    group_memories: fn(Vec<Memory>, usize) -> Vec<CandidateGroup>,
}

/// Memories that say the same, and the draft that would replace them.
struct CandidateGroup {
    key: String,
    members: Vec<Memory>,
    draft: Draft,
}

/// Groups by normalised summary first, then the rest by topic. Each memory is in one group at most.
fn group_for_compaction(memories: Vec<Memory>, cap_bytes: usize) -> Vec<CandidateGroup> {
    let mut by_summary: BTreeMap<String, Vec<Memory>> = BTreeMap::new();
    for memory in memories {
        by_summary.entry(normalize::normalise_text(memory.summary_line())).or_default().push(memory);
    }
    let (same, single): (Vec<_>, Vec<_>) = by_summary.into_values().partition(|members| members.len() > 1);
    let mut found: Vec<CandidateGroup> = same
        .into_iter()
        .filter_map(|members| {
            let key = format!("the summary \"{}\"", members[0].summary_line());
            build_compaction(key, members, cap_bytes)
        })
        .collect();
    let mut left: Vec<Memory> = single.into_iter().flatten().collect();
    let topics: std::collections::BTreeSet<String> = left.iter().flat_map(memory_topics).collect();
    // Alphabetical: a memory with several topics joins the first topic that has a second member.
    for topic in topics {
        let (members, rest): (Vec<Memory>, Vec<Memory>) =
            left.into_iter().partition(|memory| memory_topics(memory).contains(&topic));
        left = rest;
        if members.len() > 1 {
            found.extend(build_compaction(format!("the topic `{topic}`"), members, cap_bytes));
        } else {
            left.extend(members);
        }
    }
    found
}

/// The `topic_tags` of the metadata, else the tags.
fn memory_topics(memory: &Memory) -> Vec<String> {
    match memory.metadata.get("topic_tags").and_then(Value::as_array) {
        Some(topics) => topics.iter().filter_map(Value::as_str).map(str::to_lowercase).collect(),
        None => memory.tags.iter().map(|tag| tag.to_lowercase()).collect(),
    }
}

/// Joins the contents of the members, newest first, each content once. A member that would exceed `cap_bytes` is left
/// out of the group, so it stays active instead of being cut. `None` if fewer than two fit.
fn build_compaction(key: String, mut members: Vec<Memory>, cap_bytes: usize) -> Option<CandidateGroup> {
    members.sort_by(|one, other| other.updated_at.cmp(&one.updated_at).then(one.id.cmp(&other.id)));
    let (mut content, mut seen, mut kept) = (String::new(), HashSet::new(), Vec::new());
    for memory in members {
        let is_new = seen.insert(normalize::normalise_text(&memory.content));
        // 2: the blank line between two contents.
        if is_new && content.len() + memory.content.len() + 2 > cap_bytes {
            continue;
        }
        if is_new {
            content += if content.is_empty() { "" } else { "\n\n" };
            content += memory.content.trim();
        }
        kept.push(memory);
    }
    // The newest member gives kind, title, hint and tags: the latest wording is most likely right.
    let newest = kept.first().filter(|_| kept.len() > 1)?;
    let mut topics: Vec<String> = kept.iter().flat_map(memory_topics).collect();
    topics.sort();
    topics.dedup();
    let mut metadata = Map::new();
    metadata.insert("origin".to_owned(), json!("compaction"));
    metadata.insert("topic_tags".to_owned(), json!(topics));
    metadata.insert("compacted_from".to_owned(), json!(kept.iter().map(|memory| memory.id).collect::<Vec<_>>()));
    // Several sources that agree do not lower the confidence of the best one.
    let confidence = kept.iter().map(|memory| memory.confidence).fold(0.0, f64::max);
    let draft = Draft {
        store: newest.store.clone(),
        layer: Some(Layer::Semantic),
        kind: Some(newest.kind),
        title: newest.title.clone(),
        recall_hint: newest.recall_hint.clone(),
        content,
        tags: Some(newest.tags.clone()),
        metadata: Some(metadata),
        confidence: Some(confidence),
        derived_from: kept.iter().map(|memory| memory.version).collect(),
        ..Draft::default()
    };
    Some(CandidateGroup { key, members: kept, draft })
}

/// Groups by workflow. The draft is a copy of the canonical member, so no size cap applies.
fn group_by_workflow(memories: Vec<Memory>, _: usize) -> Vec<CandidateGroup> {
    let mut by_workflow: BTreeMap<String, Vec<Memory>> = BTreeMap::new();
    for memory in memories {
        if let Some(workflow) = memory.metadata.get("workflow").and_then(Value::as_str) {
            by_workflow.entry(workflow.to_owned()).or_default().push(memory);
        }
    }
    let several = by_workflow.into_iter().filter(|(_, members)| members.len() > 1);
    several
        .map(|(workflow, mut members)| {
            members.sort_by(|one, other| {
                let by_confidence = other.confidence.total_cmp(&one.confidence);
                by_confidence.then(one.created_at.cmp(&other.created_at)).then(one.id.cmp(&other.id))
            });
            let canonical = &members[0];
            let mut metadata = canonical.metadata.clone();
            metadata.insert("canonical".to_owned(), Value::Bool(true));
            let derived_from = members.iter().map(|memory| memory.version).collect();
            let draft = Draft { metadata: Some(metadata), derived_from, ..Draft::from_memory(canonical) };
            CandidateGroup { key: format!("the workflow `{workflow}`"), members, draft }
        })
        .collect()
}
