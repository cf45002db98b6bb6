//! The layers of 003: profile proposals, compaction, dedup, and the bounded context planning gets.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::Engine;
use crate::gate::{Deed, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Kind, Layer, Operation, Ranker};
use crate::policy;
use crate::ports::change::{Change, Guard, Place};
use crate::ports::row::{self, Kept, RowFilter, RowKind};
use crate::ports::{Filter, Order, StoreError};
use crate::recall::ranking::Hit;
use crate::recall::search::Query;
use crate::recall::usage::Touch;
use crate::review::propose::Proposed;
use crate::review::{Action, Review, ReviewState, Source};
use crate::text::normalize;
use crate::write::remember::Outcome;

/// A fact about a person or a project that should stand.
#[derive(Clone, Debug)]
pub struct ProfileProposal {
    /// `None`: `layers`.
    pub store: Option<String>,
    pub key: String,
    pub value: String,
    pub reason: String,
}

/// Memories that say the same and what would stand instead.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they share: a summary, a topic or a workflow.
    pub key: String,
    pub members: Vec<Memory>,
    pub content: String,
    /// The review, where one was made or waits already.
    pub review: Option<Box<Review>>,
    /// Why it could not be proposed.
    pub refused: Option<Refusal>,
}

/// What planning is given: a few memories of each layer, never more.
#[derive(Clone, Debug, Default)]
pub struct LayerContext {
    pub profile: Vec<Hit>,
    pub procedural: Vec<Hit>,
    pub semantic: Vec<Hit>,
}

impl Engine {
    /// Proposes a profile fact: a constrained memory that a person confirms or rejects.
    pub fn propose_profile(&self, caller: &Caller, proposal: ProfileProposal) -> Result<Proposed, Error> {
        let ProfileProposal { store, key, value, reason } = proposal;
        if key.trim().is_empty() || value.trim().is_empty() {
            return Err(Error::invalid("shape.profile", "a profile proposal needs a key and a value"));
        }
        let store = self.open_store(caller, store.as_deref().unwrap_or("layers"))?;
        let scope = policy::scope_for(caller, store.scope, None)?;
        let place = Place { store: store.slug.clone(), scope };
        let metadata = json!({ "profile_key": key, "value": value, "reason": reason });
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
        if let Some(review) = self.same_profile_waits(caller, &place, &key, &value)? {
            return Ok(Proposed::Waiting { review: Box::new(review), new: false });
        }
        let review = Review {
            rationale: reason,
            ..self.drafted(caller, Action::ProfileUpdate, Vec::new(), &store.slug, None, place.scope.clone())
        };
        self.put_up_candidate(caller, &store, &place, draft, review)
    }

    fn same_profile_waits(
        &self,
        caller: &Caller,
        place: &Place,
        key: &str,
        value: &str,
    ) -> Result<Option<Review>, Error> {
        for review in self.open_reviews(caller, Some(&place.store))? {
            let Some(candidate) = review.candidate.filter(|_| review.action == Action::ProfileUpdate) else { continue };
            let memory = self.any_memory(caller, candidate)?;
            let is = |name: &str, wanted: &str| memory.metadata.get(name).and_then(Value::as_str) == Some(wanted);
            if memory.scope == place.scope && is("profile_key", key) && is("value", value) {
                return Ok(Some(review));
            }
        }
        Ok(None)
    }

    /// Groups semantic memories that say the same, by summary and then by topic. Writes only where asked to propose.
    pub fn compact(&self, caller: &Caller, store: Option<&str>, propose: bool) -> Result<Vec<Group>, Error> {
        let sort = Sort { layer: Layer::Semantic, action: Action::SemanticCompaction, group: compactions };
        self.grouped(caller, store, propose, sort)
    }

    /// Groups procedures of one workflow. The canonical one is the most confident, then the oldest.
    pub fn dedup(&self, caller: &Caller, store: Option<&str>, propose: bool) -> Result<Vec<Group>, Error> {
        let sort = Sort { layer: Layer::Procedural, action: Action::ProceduralDedup, group: duplicates };
        self.grouped(caller, store, propose, sort)
    }

    fn grouped(&self, caller: &Caller, store: Option<&str>, propose: bool, sort: Sort) -> Result<Vec<Group>, Error> {
        let eyes = self.eyes(caller)?;
        let mut taken = self.under_review(caller)?;
        let mut groups = Vec::new();
        for store in self.layered_stores(caller, store)? {
            let cap_bytes = self.ruleset(&store)?.content_bytes_max as usize;
            let filter = Filter { stores: vec![store.slug.clone()], layers: vec![sort.layer], ..Filter::default() };
            let filter = Filter { unexpired_at: Some(self.clock.now()), ..filter };
            let mut places: BTreeMap<_, Vec<Memory>> = BTreeMap::new();
            for memory in self.all(caller.tenant, &filter, Order::Oldest)? {
                if eyes.shows(&memory) && !taken.contains(&memory.id) {
                    places.entry(memory.scope.clone()).or_default().push(memory);
                }
            }
            for (scope, memories) in places {
                let place = Place { store: store.slug.clone(), scope };
                for found in (sort.group)(memories, cap_bytes) {
                    let ids: Vec<MemoryId> = found.members.iter().map(|memory| memory.id).collect();
                    if let Some(group) = self.group(caller, &store, &place, sort.action, found, propose)? {
                        taken.extend(ids);
                        groups.push(group);
                    }
                }
            }
        }
        Ok(groups)
    }

    /// One group, proposed where asked. `None`: the same versions were put up before.
    fn group(
        &self,
        caller: &Caller,
        store: &Store,
        place: &Place,
        action: Action,
        found: Grouping,
        propose: bool,
    ) -> Result<Option<Group>, Error> {
        let sources: Vec<Source> = found.members.iter().map(Source::of).collect();
        let review = self.drafted(caller, action, sources, &store.slug, found.draft.path.clone(), place.scope.clone());
        if self.backend.row(caller.tenant, RowKind::Reviews, &review.id())?.is_some() {
            return Ok(None);
        }
        let (key, members, content) = (found.key, found.members, found.draft.content.clone());
        let mut group = Group { key, members, content, review: None, refused: None };
        if propose {
            let rationale = format!("{} memories share {}", group.members.len(), group.key);
            match self.put_up_candidate(caller, store, place, found.draft, Review { rationale, ..review })? {
                Proposed::Waiting { review, .. } => group.review = Some(review),
                Proposed::Refused(refusal) => group.refused = Some(refusal),
            }
        }
        Ok(Some(group))
    }

    /// Writes a constrained memory and the review it waits for, in one transaction.
    fn put_up_candidate(
        &self,
        caller: &Caller,
        store: &Store,
        place: &Place,
        draft: Draft,
        review: Review,
    ) -> Result<Proposed, Error> {
        let cleared = match self.clear_as(caller, Deed::Propose, store, &place.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Proposed::Refused(self.refuse(caller, &store.slug, refusal)?)),
        };
        self.store_for_write(caller, &store.slug)?;
        let now = self.clock.now();
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, cleared.draft().reason.clone());
        let entry = cleared.create(self.fresh_memory_id(), caller, self.ruleset(store)?, Operation::Create, stamp);
        let (candidate, version) = (entry.memory().id, entry.memory().version);
        let mut review = Review { candidate: Some(candidate), ..review };
        if review.sources.is_empty() {
            review.id = Review::id_for(review.action, &[], &store.slug, Some(&candidate.to_string()), 0);
        }
        let embedding = self.embedding_at_save(entry.memory());
        let mut change = Change::new(caller.tenant, now)
            .guard(Guard::RowIs { kind: RowKind::Reviews, id: review.id(), state: None })
            .event(review.event(EventName::ReviewProposed, caller, now));
        let sources = review.sources.iter();
        change.guards.extend(sources.map(|source| Guard::VersionIs { memory: source.memory, version: source.version }));
        let mut change = change.write(crate::ports::change::Write::Row(review.to_row()));
        change.writes.extend(self.proposed(caller, &review));
        change.writes.extend(self.touches(caller, Touch::Proposed, std::iter::once((candidate, version))));
        match self.backend.commit(self.with_entry(caller, change, entry.with_embedding(embedding), Outcome::Created)) {
            Ok(_) => Ok(Proposed::Waiting { review: Box::new(review), new: true }),
            Err(StoreError::Guard(_)) => {
                Err(Error::conflict("conflict.lost_race", "something this rests on has just changed; run it again"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The stores whose duplicates go through review, or the one asked for.
    fn layered_stores(&self, caller: &Caller, wanted: Option<&str>) -> Result<Vec<Store>, Error> {
        if let Some(slug) = wanted {
            return Ok(vec![self.open_store(caller, slug)?]);
        }
        let mut stores = self.stores(caller)?;
        let layered = |store: &Store| self.ruleset(store).is_ok_and(|ruleset| ruleset.dedup == Dedup::Key);
        stores.retain(|store| store.archived_at.is_none() && layered(store));
        Ok(stores)
    }

    /// Every memory some open proposal is about.
    fn under_review(&self, caller: &Caller) -> Result<HashSet<MemoryId>, Error> {
        let ids = |review: Review| {
            let sources: Vec<MemoryId> = review.sources.iter().map(|source| source.memory).collect();
            sources.into_iter().chain(review.candidate)
        };
        Ok(self.open_reviews(caller, None)?.into_iter().flat_map(ids).collect())
    }

    pub(crate) fn open_reviews(&self, caller: &Caller, store: Option<&str>) -> Result<Vec<Review>, Error> {
        let mut open = Vec::new();
        for state in [ReviewState::Pending, ReviewState::ChangesRequested] {
            let mut filter = RowFilter {
                state: Some(state.to_string()),
                parent: store.map(str::to_owned),
                limit: self.limits().list_max,
                ..RowFilter::default()
            };
            loop {
                let page: Vec<Review> = row::select(&*self.backend, caller.tenant, &filter)?;
                let last = page.len() < filter.limit;
                filter.after = page.last().map(|review| (review.at(), review.id()));
                open.extend(page);
                if last {
                    break;
                }
            }
        }
        Ok(open)
    }

    /// At most a few memories of each lasting layer for a goal: starting points, never permissions.
    pub fn layer_context(&self, caller: &Caller, goal: &str) -> Result<LayerContext, Error> {
        let of = |layer: Layer| -> Result<Vec<Hit>, Error> {
            let filter = Filter { layers: vec![layer], ..Filter::default() };
            let most = self.limits().layer_context_max.min(self.limits().results_max);
            if most == 0 {
                return Ok(Vec::new());
            }
            let (limit, ranker) = (Some(most), Some(Ranker::Layered));
            let query = Query { text: goal.to_owned(), filter, limit, ranker, ..Query::default() };
            Ok(self.search(caller, &query)?.hits)
        };
        let (profile, procedural, semantic) = (of(Layer::Profile)?, of(Layer::Procedural)?, of(Layer::Semantic)?);
        Ok(LayerContext { profile, procedural, semantic })
    }
}

/// What is grouped, how, and what for.
#[derive(Clone, Copy)]
struct Sort {
    layer: Layer,
    action: Action,
    /// The memories of one place, and the most bytes what stands instead may have.
    group: fn(Vec<Memory>, usize) -> Vec<Grouping>,
}

/// Memories that say the same, and what would stand instead.
struct Grouping {
    key: String,
    members: Vec<Memory>,
    draft: Draft,
}

/// By normalised summary first, then what is left by topic.
fn compactions(memories: Vec<Memory>, cap_bytes: usize) -> Vec<Grouping> {
    let mut by_summary: BTreeMap<String, Vec<Memory>> = BTreeMap::new();
    for memory in memories {
        by_summary.entry(normalize::value(memory.summary())).or_default().push(memory);
    }
    let (same, single): (Vec<_>, Vec<_>) = by_summary.into_values().partition(|members| members.len() > 1);
    let mut found: Vec<Grouping> = same
        .into_iter()
        .filter_map(|members| {
            let key = format!("the summary \"{}\"", members[0].summary());
            compaction(key, members, cap_bytes)
        })
        .collect();
    let mut left: Vec<Memory> = single.into_iter().flatten().collect();
    let topics: std::collections::BTreeSet<String> = left.iter().flat_map(topics_of).collect();
    for topic in topics {
        let (members, rest): (Vec<Memory>, Vec<Memory>) =
            left.into_iter().partition(|memory| topics_of(memory).contains(&topic));
        left = rest;
        if members.len() > 1 {
            found.extend(compaction(format!("the topic `{topic}`"), members, cap_bytes));
        } else {
            left.extend(members);
        }
    }
    found
}

/// The contract's `topic_tags`, else the tags.
fn topics_of(memory: &Memory) -> Vec<String> {
    match memory.metadata.get("topic_tags").and_then(Value::as_array) {
        Some(topics) => topics.iter().filter_map(Value::as_str).map(str::to_lowercase).collect(),
        None => memory.tags.iter().map(|tag| tag.to_lowercase()).collect(),
    }
}

/// One text that says what its members say, each statement once, the newest first. What does not fit is left out of
/// the group, not of the text.
fn compaction(key: String, mut members: Vec<Memory>, cap_bytes: usize) -> Option<Grouping> {
    members.sort_by(|one, other| other.updated_at.cmp(&one.updated_at).then(one.id.cmp(&other.id)));
    let (mut content, mut said, mut kept) = (String::new(), HashSet::new(), Vec::new());
    for memory in members {
        let fresh = said.insert(normalize::value(&memory.content));
        if fresh && content.len() + memory.content.len() + 2 > cap_bytes {
            continue;
        }
        if fresh {
            content += if content.is_empty() { "" } else { "\n\n" };
            content += memory.content.trim();
        }
        kept.push(memory);
    }
    let newest = kept.first().filter(|_| kept.len() > 1)?;
    let mut topics: Vec<String> = kept.iter().flat_map(topics_of).collect();
    topics.sort();
    topics.dedup();
    let mut metadata = Map::new();
    metadata.insert("origin".to_owned(), json!("compaction"));
    metadata.insert("topic_tags".to_owned(), json!(topics));
    metadata.insert("compacted_from".to_owned(), json!(kept.iter().map(|memory| memory.id).collect::<Vec<_>>()));
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
    Some(Grouping { key, members: kept, draft })
}

/// One procedure a workflow: the most confident, then the oldest.
fn duplicates(memories: Vec<Memory>, _: usize) -> Vec<Grouping> {
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
            let draft = Draft { metadata: Some(metadata), derived_from, ..Draft::of(canonical) };
            Grouping { key: format!("the workflow `{workflow}`"), members, draft }
        })
        .collect()
}
