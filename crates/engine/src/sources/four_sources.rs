//! Four-source recall: one search over an agent's episodes, the audit log, workflow steps and the knowledge base.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{Event, EventName};
use crate::model::id::MemoryId;
use crate::model::limits::resolve_limit;
use crate::model::store::{AUDIT_LOG, KNOWLEDGE_BASE, WORKFLOW_STEPS};
use crate::model::trust_flow::Field;
use crate::model::vocabulary::Ranker;
use crate::ports::Filter;
use crate::recall::ranking::named_time::{self, Period};
use crate::recall::ranking::{self, Hit, RELEVANCE, RecallSource};
use crate::recall::search::SearchQuery;
use crate::recall::{search, visibility};
use crate::sources::episodes::EPISODES_STORE;
use crate::sources::knowledge::{self, KnowledgeResults as SourceHits};
use crate::text::digest::content_sha256;
use crate::text::words;

/// Input of [`Engine::search_my_memories`].
#[derive(Clone, Debug, Default)]
pub struct RecallQuery {
    pub text: String,
    /// Similarity below which a hit that shares no word with the query is dropped; default: `limits.similarity_min`.
    pub similarity_min: Option<f64>,
    pub limit: Option<usize>,
}

/// One result, from any of the sources.
#[derive(Clone, Debug, Serialize)]
pub struct RecalledItem {
    pub source: RecallSource,
    /// `None` for an event of the event log.
    pub memory: Option<MemoryId>,
    pub title: Option<String>,
    pub content: String,
    pub at: Timestamp,
    pub author: String,
    pub score: f64,
    pub parts: BTreeMap<&'static str, f64>,
}

/// A source that could not be searched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceFailure {
    pub source: RecallSource,
    pub code: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct RecallResults {
    pub recollections: Vec<RecalledItem>,
    pub failed: Vec<SourceFailure>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

/// Importance of results that have none of their own: the middle of 0..1.
const OTHER_IMPORTANCE: f64 = 0.5;

impl RecallSource {
    /// The source that is kept in this store.
    pub(crate) fn from_store(slug: &str) -> Option<RecallSource> {
        RecallSource::ALL.into_iter().find(|source| source.store_slug() == slug)
    }

    const ALL: [RecallSource; 4] =
        [RecallSource::Memory, RecallSource::Audit, RecallSource::Workflow, RecallSource::Knowledge];

    const fn store_slug(self) -> &'static str {
        match self {
            RecallSource::Memory => EPISODES_STORE,
            RecallSource::Audit => AUDIT_LOG,
            RecallSource::Workflow => WORKFLOW_STEPS,
            RecallSource::Knowledge => KNOWLEDGE_BASE,
        }
    }

    /// Most hits of this source in one recall.
    pub(crate) const fn hits_max(self) -> usize {
        match self {
            RecallSource::Memory | RecallSource::Audit => 10,
            RecallSource::Workflow | RecallSource::Knowledge => 5,
        }
    }
}

impl Engine {
    /// The best results of four sources, each content once. A source that fails is named; the others still answer.
    pub fn search_my_memories(&self, caller: &Caller, query: &RecallQuery) -> Result<RecallResults, Error> {
        if query.similarity_min.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(Error::invalid("shape.out_of_range", "`similarity_min`: a number from 0 to 1 is expected"));
        }
        let limit = resolve_limit(query.limit, self.limits().my_results_max, self.limits().results_max)?;
        // A caller without `memory.read` gets one refusal instead of four failures.
        visibility::visible_to(self, caller)?;
        let mut found = search_sources(self, caller, query, None);
        match search_own_events(self, caller, query) {
            Ok(events) => found.items.extend(events),
            Err(error) => found.failed.push(SourceFailure { source: RecallSource::Audit, code: error.code() }),
        }
        let periods = named_time::parse_times(&query.text, self.clock.now().as_microsecond()).periods;
        if found.items.is_empty() && !periods.is_empty() {
            // No word matches, but the query names a time: answer with everything of that time.
            found = search_sources(self, caller, query, Some(&periods));
        }
        let FoundItems { mut items, mut hits, failed, warnings } = found;
        spread_similarity(self, &mut items);
        let recollections = merge_by_content(items, limit);
        // Only what is returned counts as recalled.
        hits.retain(|hit| recollections.iter().any(|kept| kept.memory == Some(hit.memory.id)));
        let query = SearchQuery { text: query.text.clone(), ..SearchQuery::default() };
        search::record_recall(self, caller, &query, &mut hits);
        Ok(RecallResults { recollections, failed, warnings })
    }
}

/// What a search of all sources found.
#[derive(Default)]
struct FoundItems {
    items: Vec<RecalledItem>,
    /// The hits behind the items.
    hits: Vec<Hit>,
    failed: Vec<SourceFailure>,
    warnings: Vec<String>,
}

/// Searches all sources in parallel.
fn search_sources(engine: &Engine, caller: &Caller, query: &RecallQuery, periods: Option<&[Period]>) -> FoundItems {
    let search = |source| match periods {
        None => search_source(engine, caller, query, source),
        Some(periods) => search_source_by_time(engine, caller, periods, source),
    };
    let answers: Vec<(RecallSource, Result<SourceHits, Error>)> = std::thread::scope(|scope| {
        let search = &search;
        let searches: Vec<_> =
            RecallSource::ALL.into_iter().map(|source| (source, scope.spawn(move || search(source)))).collect();
        // A search that panics fails its source alone.
        let broken = || Error::invalid("source.broken", "the search of this source failed");
        searches.into_iter().map(|(source, done)| (source, done.join().unwrap_or_else(|_| Err(broken())))).collect()
    });
    let mut found = FoundItems::default();
    for (source, answer) in answers {
        match answer {
            Ok(SourceHits { hits, warnings }) => {
                found.items.extend(hits.iter().map(|hit| to_recalled_item(engine, source, hit)));
                found.hits.extend(hits);
                found.warnings.extend(warnings);
            }
            Err(error) => found.failed.push(SourceFailure { source, code: error.code() }),
        }
    }
    found
}

/// Everything of a source that happened in these periods. Documents of the knowledge base are no events.
fn search_source_by_time(
    engine: &Engine,
    caller: &Caller,
    periods: &[Period],
    source: RecallSource,
) -> Result<SourceHits, Error> {
    let readable = visibility::visible_to(engine, caller)?;
    let mut filter = Filter { stores: vec![source.store_slug().to_owned()], ..Filter::default() };
    match (source, named_time::time_span(periods, engine.clock.now())) {
        (RecallSource::Knowledge, _) | (_, None) => return Ok(SourceHits::default()),
        // Entries may be recorded long after they happened, so a filter on their save time would miss some.
        (RecallSource::Audit | RecallSource::Workflow, _) => {}
        (RecallSource::Memory, Some((from, to))) => {
            (filter.updated_after, filter.updated_before) = (Some(from), Some(to))
        }
    }
    let query = SearchQuery { filter, ..SearchQuery::default() };
    let mut warnings = Vec::new();
    let (mut hits, _) = search::find_hits(engine, &readable, &query, Ranker::Episodic, source.hits_max())?;
    let is_in_period = |hit: &Hit| named_time::time_fit(periods, hit.memory.happened_at().as_microsecond()) >= 1.0;
    hits.retain(|hit| readable.shows_memory(&hit.memory) && is_in_period(hit));
    hits.truncate(source.hits_max());
    search::drop_altered(&mut hits, &mut warnings);
    Ok(SourceHits { hits, warnings })
}

fn search_source(
    engine: &Engine,
    caller: &Caller,
    recall: &RecallQuery,
    source: RecallSource,
) -> Result<SourceHits, Error> {
    let mut warnings = Vec::new();
    let mut hits = match source {
        RecallSource::Knowledge => {
            let found =
                knowledge::find_knowledge_hits(engine, caller, &recall.text, &[], Ranker::Episodic, source.hits_max())?;
            warnings = found.warnings;
            found.hits
        }
        source => {
            let readable = visibility::visible_to(engine, caller)?;
            let filter = Filter { stores: vec![source.store_slug().to_owned()], ..Filter::default() };
            let query = SearchQuery { text: recall.text.clone(), filter, ..SearchQuery::default() };
            let (mut hits, _) = search::find_hits(engine, &readable, &query, Ranker::Episodic, source.hits_max())?;
            hits.retain(|hit| readable.shows_memory(&hit.memory));
            hits
        }
    };
    let similarity_min = recall.similarity_min.unwrap_or(engine.limits().similarity_min);
    hits.retain(|hit| is_near_enough(hit, similarity_min));
    hits.truncate(source.hits_max());
    search::drop_altered(&mut hits, &mut warnings);
    Ok(SourceHits { hits, warnings })
}

fn to_recalled_item(engine: &Engine, source: RecallSource, hit: &Hit) -> RecalledItem {
    let memory = &hit.memory;
    let at = memory.happened_at();
    // Only episodes are judged for importance when they are saved.
    let importance = if source == RecallSource::Memory { memory.importance } else { OTHER_IMPORTANCE };
    let similarity = hit.parts.get(RELEVANCE).copied().unwrap_or_default();
    let (score, parts) = score_recalled(engine, similarity, at, importance, source);
    RecalledItem {
        source,
        memory: Some(memory.id),
        // Shown beside the content, so it must be as trusted.
        title: memory.title.clone().filter(|_| memory.reaches(Field::Title, memory.trust)),
        content: memory.content.clone(),
        at,
        author: memory.author.clone(),
        score,
        parts,
    }
}

fn score_recalled(
    engine: &Engine,
    similarity: f64,
    at: Timestamp,
    importance: f64,
    source: RecallSource,
) -> (f64, BTreeMap<&'static str, f64>) {
    let weights = &engine.limits().weights;
    let recency = ranking::recency_score(at, engine.clock.now(), weights.episodic_half_life_days);
    ranking::episodic_score(weights, similarity, recency, importance, source)
}

/// Spreads the similarity over 0..1 among the results of all sources together: the best of a poor source is no good
/// result.
fn spread_similarity(engine: &Engine, found: &mut [RecalledItem]) {
    let relevance: Vec<f64> = found.iter().map(|item| item.parts["similarity"]).collect();
    for (item, similarity) in found.iter_mut().zip(ranking::spread_relevance(&relevance)) {
        let before = item.parts.insert("similarity", similarity).unwrap_or_default();
        item.parts.insert(RELEVANCE, before);
        item.score += engine.limits().weights.episodic_similarity * (similarity - before);
    }
}

/// Searches the newest events of the event log that the caller may see, by shared words.
fn search_own_events(engine: &Engine, caller: &Caller, query: &RecallQuery) -> Result<Vec<RecalledItem>, Error> {
    let query_words = split_name_words(&query.text);
    let last = engine.backend.last_event_seq(caller.tenant)?;
    // Event numbers have no gaps, so the newest ones start here.
    let after = last.saturating_sub(engine.limits().own_events_max as u64);
    let events = engine.backend.events_after(caller.tenant, after, engine.limits().own_events_max)?;
    let visibility = engine.event_visibility(caller)?;
    let mut found: Vec<RecalledItem> = events
        .iter()
        .filter(|event| is_recallable_event(event) && visibility.sees_event(event))
        .filter_map(|event| event_to_recalled_item(engine, event, &query_words))
        .collect();
    found.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.at.cmp(&one.at)));
    found.truncate(RecallSource::Audit.hits_max());
    Ok(found)
}

fn event_to_recalled_item(engine: &Engine, event: &Event, query_words: &HashSet<String>) -> Option<RecalledItem> {
    let happening = &event.happening;
    let payload = serde_json::to_string(&happening.payload).unwrap_or_default();
    let content = format!("{} by {}: {payload}", happening.name, happening.actor);
    let event_words = split_name_words(&content);
    let shared = query_words.iter().filter(|word| event_words.contains(*word)).count();
    if shared == 0 {
        return None;
    }
    let similarity = shared as f64 / query_words.len() as f64;
    let (score, parts) = score_recalled(engine, similarity, happening.at, OTHER_IMPORTANCE, RecallSource::Audit);
    Some(RecalledItem {
        source: RecallSource::Audit,
        memory: None,
        title: Some(happening.name.to_string()),
        content,
        at: happening.at,
        author: happening.actor.clone(),
        score,
        parts,
    })
}

/// The words of a text; names such as `memory.context_loaded` are split into their words.
fn split_name_words(text: &str) -> HashSet<String> {
    words::folded_words(&text.replace(['.', '_', '/'], " ")).into_iter().collect()
}

/// Events of reads only repeat queries, and events of saves repeat memories that are found as such: both are left out.
fn is_recallable_event(event: &Event) -> bool {
    !matches!(
        event.happening.name,
        EventName::Search
            | EventName::ContextLoaded
            | EventName::WriteCreated
            | EventName::WriteUpdated
            | EventName::AuditRecorded
            | EventName::WorkflowStep
    )
}

/// Whether a hit is kept: it shares a word with the query, or its similarity is at least `similarity_min`.
pub(crate) fn is_near_enough(hit: &Hit, similarity_min: f64) -> bool {
    hit.parts.get("text.words").is_some_and(|words| *words > 0.0) || absolute_similarity(hit) >= similarity_min
}

/// Similarity of a hit to the query, whatever else was found. That of a turn next to a good hit includes the words lent
/// by that hit.
pub(crate) fn absolute_similarity(hit: &Hit) -> f64 {
    let part = |name: &str| hit.parts.get(name).copied().unwrap_or_default();
    part("text.vector").max(part("text.level"))
}

/// Keeps the best result of each content, best first.
fn merge_by_content(found: Vec<RecalledItem>, limit: usize) -> Vec<RecalledItem> {
    let mut best: HashMap<String, RecalledItem> = HashMap::new();
    for recollection in found {
        // The same text may be an episode and an audit entry: the better score wins.
        let key = content_sha256(recollection.content.trim());
        match best.get(&key) {
            Some(kept) if kept.score >= recollection.score => {}
            _ => {
                best.insert(key, recollection);
            }
        }
    }
    let mut merged: Vec<RecalledItem> = best.into_values().collect();
    merged.sort_by(|one, other| {
        let newer = other.at.cmp(&one.at);
        other.score.total_cmp(&one.score).then(newer).then_with(|| one.content.cmp(&other.content))
    });
    merged.truncate(limit);
    merged
}
