//! Search: finds candidates, ranks them, explains the result and counts the recall.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::id::MemoryId;
use crate::model::limits::resolve_limit;
use crate::model::memory::Memory;
use crate::model::store::Store;
use crate::model::vocabulary::{Layer, Operation, Ranker, ScopeKind, State};
use crate::policy::{self, Readable};
use crate::ports::change::{Change, Write};
use crate::ports::{CandidateQuery, CandidateSet, Filter, embedding};
use crate::recall::exclusion_reason::exclusion_reason;
use crate::recall::ranking::{self, Hit, RankingQuery, named_time};
use crate::recall::usage::Touch;
use crate::recall::{promoted, read, usage, visibility};
use crate::tenant::stores;
use crate::text::digest::content_sha256;
use crate::text::entities::Entity;
use crate::text::words;

/// Warning for a search among tombstoned memories, whose text is no longer indexed.
const NO_WORDS_LEFT: &str =
    "forgotten memories have no words left to be found by; `list` shows them by their state, `tombstoned`";

/// A search request.
#[derive(Clone, Debug, Default)]
pub struct SearchQuery {
    pub text: String,
    pub filter: Filter,
    pub limit: Option<usize>,
    /// `None`: the ranker of the store in the filter if all have the same, else `operational`.
    pub ranker: Option<Ranker>,
    /// Only memories that contain all of these entities.
    pub entities: Vec<Entity>,
    /// Also explain why this memory was or was not returned.
    pub explain: Option<MemoryId>,
    /// Match by words only, without vectors.
    pub words_only: bool,
}

/// Hits, best first, with details of the search.
#[derive(Clone, Debug)]
pub struct SearchResults {
    pub hits: Vec<Hit>,
    pub ranker: Ranker,
    /// Ranked candidates the caller may see, before the limit.
    pub considered_count: usize,
    /// Parts of the search that could not be done, such as vectors while the embedder is down.
    pub warnings: Vec<String>,
    pub explanation: Option<HitExplanation>,
}

/// Explanation of a memory that does not match the query.
pub(crate) const UNRELATED_REASON: &str = "it shares no word with the query and its meaning is not near";

/// Explanation of a tombstoned memory, which passes the filter but has no indexed text.
const FORGOTTEN_REASON: &str = "it was forgotten and has no words left to be found by";

/// Explanation of a memory that upkeep archived at its expiry; "archived" alone would suggest that a person did it.
const EXPIRED_REASON: &str = "it expired, and upkeep archived it";

/// Explanation of why one memory was, or was not, among the hits.
#[derive(Clone, Debug, serde::Serialize)]
pub struct HitExplanation {
    pub memory: MemoryId,
    pub returned: bool,
    /// Position in the ranking, from 1; `None` if it was not ranked.
    pub rank: Option<usize>,
    pub score: Option<f64>,
    /// Score of the last hit returned.
    pub cutoff: Option<f64>,
    pub reason: String,
}

impl Engine {
    /// The best memories for a query, among those the caller may see.
    pub fn search(&self, caller: &Caller, query: &SearchQuery) -> Result<SearchResults, Error> {
        let readable = visibility::visible_for_filter(self, caller, &query.filter)?;
        let ranker = ranker_for(self, caller, &readable, query)?;
        let limit = results_limit(self, caller, query, ranker)?;
        let (mut hits, mut results) = find_hits_or_by_time(self, &readable, query, ranker, limit)?;
        let is_explained = |hit: &Hit| query.explain == Some(hit.memory.id);
        // The backend returns the explained memory even if it fails the filter, so that it can be scored. It is a hit
        // only if it passes.
        let passes_filter = |hit: &Hit| !is_explained(hit) || could_be_found(self, &query.filter, &hit.memory);
        let has_entities = |hit: &Hit| query.entities.iter().all(|entity| hit.memory.entities.contains(entity));
        // INVARIANT: every hit passes the read predicate here, whatever the backend's query returned.
        hits.retain(|hit| {
            readable.shows_memory(&hit.memory)
                && policy::may_recall_in_run(caller, &hit.memory)
                && passes_filter(hit)
                && has_entities(hit)
        });
        results.considered_count = hits.len();
        let copied = query.explain.is_some_and(|id| promoted::copied_sources(&hits).contains(&id));
        promoted::arrange(&mut hits);
        results.explanation = query.explain.map(|id| explain_hit(self, caller, query, &hits, limit, id)).transpose()?;
        if let Some(explanation) = results.explanation.as_mut().filter(|_| copied) {
            explanation.reason = promoted::COPY_REASON.to_owned();
        }
        // Counted after the limit: a memory below it was not recalled.
        hits.truncate(limit);
        drop_altered(&mut hits, &mut results.warnings);
        record_recall(self, caller, query, &mut hits);
        if hits.is_empty() && query.filter.states.contains(&State::Tombstoned) {
            results.warnings.push(NO_WORDS_LEFT.to_owned());
        }
        results.hits = hits;
        Ok(results)
    }
}

/// Drops hits whose text is not the one that was saved, with a warning that names them: one damaged memory must neither
/// be shown nor fail the whole search.
pub(crate) fn drop_altered(hits: &mut Vec<Hit>, warnings: &mut Vec<String>) {
    hits.retain(|hit| note_altered(&hit.memory, warnings));
}

/// Whether the text is the one that was saved; if not, adds a warning that names the memory.
pub(crate) fn note_altered(memory: &Memory, warnings: &mut Vec<String>) -> bool {
    let altered = memory.ensure_intact().err();
    warnings.extend(altered.iter().map(|error| format!("left out: {error} [{}]", error.code())));
    altered.is_none()
}

/// Number of hits to return. For the lessons of a pipeline's agent, the opt-in sets the maximum, and a limit of 0 means
/// that maximum; elsewhere 0 is an error.
fn results_limit(engine: &Engine, caller: &Caller, query: &SearchQuery, ranker: Ranker) -> Result<usize, Error> {
    let results_max = engine.limits().results_max;
    match if ranker == Ranker::Lesson { engine.opt_in(caller)? } else { None } {
        Some(opt_in) => {
            let max_recall = opt_in.max_recall.map_or(engine.limits().lesson_recall_max, |max| max as usize);
            let limit = query.limit.filter(|limit| *limit > 0).unwrap_or(max_recall);
            Ok(limit.clamp(1, max_recall.clamp(1, results_max)))
        }
        None => resolve_limit(query.limit, engine.limits().results_default, results_max),
    }
}

/// The ranker of a search: the requested one, else the one all filtered stores share, else operational.
fn ranker_for(engine: &Engine, caller: &Caller, readable: &Readable, query: &SearchQuery) -> Result<Ranker, Error> {
    let mut rankers = Vec::new();
    for slug in &query.filter.stores {
        let store = stores::open_readable_store(engine, caller, readable, slug)?;
        ensure_opted_in(engine, caller, &store)?;
        rankers.push(stores::ruleset_of(engine, &store)?.ranker);
    }
    rankers.dedup();
    match (query.ranker, rankers.as_slice()) {
        (Some(ranker), _) => Ok(ranker),
        (None, [one]) => Ok(*one),
        _ => Ok(Ranker::Operational),
    }
}

/// Refuses a program that names a pipeline's store without an opt-in: an empty result would read as "nothing saved".
fn ensure_opted_in(engine: &Engine, caller: &Caller, store: &Store) -> Result<(), Error> {
    match store.scope == ScopeKind::Pipeline && caller.role.is_program() && engine.opt_in(caller)?.is_none() {
        true => Err(policy::pipeline_disabled_refusal().into()),
        false => Ok(()),
    }
}

/// As [`find_hits`]. A query without hits that names a time ("what happened last week") gets all memories of that time.
pub(crate) fn find_hits_or_by_time(
    engine: &Engine,
    readable: &Readable,
    query: &SearchQuery,
    ranker: Ranker,
    limit: usize,
) -> Result<(Vec<Hit>, SearchResults), Error> {
    let (hits, results) = find_hits(engine, readable, query, ranker, limit)?;
    match query_by_named_time(engine, query).filter(|_| hits.is_empty()) {
        Some(query) => Ok((find_hits(engine, readable, &query, ranker, limit)?.0, results)),
        None => Ok((hits, results)),
    }
}

/// Candidates from the backend, ranked. The caller of this function must still apply the read predicate.
pub(crate) fn find_hits(
    engine: &Engine,
    readable: &Readable,
    query: &SearchQuery,
    ranker: Ranker,
    limit: usize,
) -> Result<(Vec<Hit>, SearchResults), Error> {
    let now = query_time(engine, &query.filter);
    let text = clip_to_bytes(&query.text, engine.limits().query_bytes_max);
    let words = words::parse_query(text);
    // A model gives arbitrary vectors for scripts it was not trained on.
    let by_meaning = !query.words_only && !text.trim().is_empty() && engine.embedder.supports_script(text);
    let vector = by_meaning.then(|| embedding::embed_text(engine, text)).flatten();
    let mut results =
        SearchResults { hits: Vec::new(), ranker, considered_count: 0, warnings: Vec::new(), explanation: None };
    if vector.is_none() && by_meaning {
        results.warnings.push("searched by words only: the embedder gave no vector".to_owned());
    }
    if text.len() < query.text.len() {
        let bytes_max = engine.limits().query_bytes_max;
        results
            .warnings
            .push(format!("only the first {bytes_max} bytes of the query were looked for (`limits.query_bytes_max`)"));
    }
    let candidate_query = CandidateQuery {
        filter: query.filter.clone().without_expired(now),
        newest: words.terms.is_empty(),
        substring: (ranker == Ranker::Layered).then(|| text.trim().to_lowercase()).filter(|text| !text.is_empty()),
        words,
        vector,
        neighbours: Some(engine.limits().neighbour_limits()),
        // More candidates than hits: the pool is selected by words or vector alone, and trust, entities and neighbours
        // can reorder it.
        pool: (limit * engine.limits().overfetch).max(engine.limits().pool_min),
        always_include: query.explain.into_iter().collect(),
        weights: engine.limits().weights.text.clone(),
    };
    let candidates: CandidateSet = engine.backend.find_candidates(readable, &candidate_query)?;
    let ranking_query = RankingQuery {
        text,
        words: &candidate_query.words,
        vector: candidate_query.vector.as_ref().map(|embedding| &embedding.vector),
        calibration: engine.embedder.calibration(),
        ranker,
        weights: &engine.limits().weights,
        now,
    };
    Ok((ranking::rank_candidates(&ranking_query, candidates), results))
}

/// The query's filter, narrowed to the time its text names, without the text. `None` if it names no time.
fn query_by_named_time(engine: &Engine, query: &SearchQuery) -> Option<SearchQuery> {
    let now = query_time(engine, &query.filter);
    let (from, to) = named_time::time_span(&named_time::parse_times(&query.text, now.as_microsecond()).periods, now)?;
    let mut filter = query.filter.clone();
    filter.updated_after = filter.updated_after.max(Some(from));
    filter.updated_before = Some(filter.updated_before.map_or(to, |before| before.min(to)));
    Some(SearchQuery { text: String::new(), filter, ..query.clone() })
}

/// The time the filter asks about: `as_of`, else now.
pub(crate) fn query_time(engine: &Engine, filter: &Filter) -> jiff::Timestamp {
    filter.as_of.unwrap_or_else(|| engine.clock.now())
}

/// Counts the recall in the hits at once and in the store with the next group commit, so that a search does not wait
/// for the disk.
pub(crate) fn record_recall(engine: &Engine, caller: &Caller, query: &SearchQuery, hits: &mut [Hit]) {
    // Reading works while memory is turned off, but writes nothing.
    if engine.settings.memory_off {
        return;
    }
    let now = engine.clock.now();
    for hit in hits.iter_mut() {
        hit.memory.recall_count += 1;
        hit.memory.last_recalled_at = Some(now);
    }
    let memories: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
    let event = EventBody::new(EventName::Search, caller, now)
        // A digest, because the query may contain a secret.
        .with_field("query_sha256", content_sha256(&query.text))
        .with_field("hits", &memories)
        .with_scope(caller.activity_scope());
    // Only episodes decay, so only they need their last recall in the decay key.
    let episodes = hits.iter().filter(|hit| hit.memory.layer == Layer::Episodic);
    let fading = episodes.map(|hit| hit.memory.id).collect();
    let mut change =
        Change::new(caller.tenant, now).with_event(event).with_write(Write::CountRecalls { memories, fading });
    // Usage records let a save recognise text that its own run recalled before (`lineage.rs`).
    let shown = hits.iter().map(|hit| (hit.memory.id, hit.memory.version));
    change.writes.extend(usage::plan_usages(engine, caller, Touch::Read, shown));
    engine.commit_later(change);
}

/// Whether upkeep archived the memory at its expiry; the last version says so.
fn was_expired_by_upkeep(
    engine: &Engine,
    caller: &Caller,
    query: &SearchQuery,
    memory: &Memory,
) -> Result<bool, Error> {
    if memory.state != State::Archived || query.filter.states.contains(&State::Archived) {
        return Ok(false);
    }
    let last = engine.backend.list_versions(&visibility::visible_to(engine, caller)?, memory.id, None, 1)?;
    Ok(last.first().is_some_and(|version| version.operation == Operation::Expire))
}

/// Whether a search could return this memory: it passes the filter and is not tombstoned (tombstones have no indexed
/// text).
pub(crate) fn could_be_found(engine: &Engine, filter: &Filter, memory: &Memory) -> bool {
    memory.state != State::Tombstoned && exclusion_reason(filter, memory, query_time(engine, filter)).is_none()
}

/// Explains the rank of one memory, or why it has none. `ranked` holds all ranked hits, before the limit.
pub(crate) fn explain_hit(
    engine: &Engine,
    caller: &Caller,
    query: &SearchQuery,
    ranked: &[Hit],
    limit: usize,
    id: MemoryId,
) -> Result<HitExplanation, Error> {
    let memory = read::read_by_id(engine, caller, id)?;
    let rank = ranked.iter().position(|hit| hit.memory.id == id);
    // With no hits, `wrapping_sub` gives an index that is out of range, and so `None`.
    let cutoff = ranked.get(limit.min(ranked.len()).wrapping_sub(1)).map(|hit| hit.score);
    let score = rank.and_then(|rank| ranked.get(rank)).map(|hit| hit.score);
    let returned = rank.is_some_and(|rank| rank < limit);
    let reason = match (rank, returned) {
        (Some(rank), true) => format!("returned at rank {}", rank + 1),
        (Some(rank), false) => format!("ranked {}, below the {limit} returned", rank + 1),
        (None, _) if !query.entities.iter().all(|entity| memory.entities.contains(entity)) => {
            "it does not name the environment, namespace or service asked for".to_owned()
        }
        (None, _) if was_expired_by_upkeep(engine, caller, query, &memory)? => EXPIRED_REASON.to_owned(),
        (None, _) => exclusion_reason(&query.filter, &memory, query_time(engine, &query.filter)).unwrap_or_else(|| {
            if memory.state == State::Tombstoned { FORGOTTEN_REASON } else { UNRELATED_REASON }.to_owned()
        }),
    };
    Ok(HitExplanation { memory: id, returned, rank: rank.map(|rank| rank + 1), score, cutoff, reason })
}

/// The longest prefix of at most `bytes_max` bytes that ends between characters.
fn clip_to_bytes(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
