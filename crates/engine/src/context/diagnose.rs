//! Diagnosis: why a memory is or is not found and shown. Nothing is counted, logged or stored.

use jiff::Timestamp;
use serde::Serialize;

use crate::Engine;
use crate::context::turn::{self, ContextRequest};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::lifecycle;
use crate::model::limits::resolve_limit;
use crate::model::memory::Memory;
use crate::model::row::RowFilter;
use crate::model::scope::Scope;
use crate::model::vocabulary::{Ranker, ScopeKind, State};
use crate::policy::Readable;
use crate::ports::{Filter, PageRequest, SortOrder, row};
use crate::recall::exclusion_reason::exclusion_reason;
use crate::recall::ranking::{Hit, RecallSource};
use crate::recall::search::{HitExplanation, SearchQuery, UNRELATED_REASON};
use crate::recall::{read, search, visibility};
use crate::receipts::receipt::{ConsideredMemory, Receipt};
use crate::sources::four_sources::{absolute_similarity, is_near_enough};

/// Reason of a memory that a search ranks but that is not among a turn's candidates.
const RANKED_TOO_LOW: &str =
    "ranked too low: a turn considers only the best hits; pin the memory, or use more of its words in the message";

/// Outcome of one memory for one message, in a search, a context and four-source recall.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    pub search: HitExplanation,
    /// Decision of a turn's context; `None` if it is not a candidate.
    pub context: Option<ConsideredMemory>,
    /// Why it is not a candidate there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_left_out: Option<String>,
    /// Outcome in four-source recall, in words; `None` if its store is none of the four sources.
    pub recall: Option<String>,
}

/// Memories and receipts of a session or conversation.
#[derive(Clone, Debug, Serialize)]
pub struct SessionReport {
    pub session: String,
    pub memories: Vec<SessionMemory>,
    pub receipts: Vec<SessionReceipt>,
}

/// A memory of a session, and whether it can be recalled.
#[derive(Clone, Debug, Serialize)]
pub struct SessionMemory {
    pub id: MemoryId,
    pub store: String,
    pub turn: Option<u32>,
    pub state: State,
    pub importance_now: f64,
    pub expires_at: Option<Timestamp>,
    /// Why it is not recalled, or soon will not be; `None` if it is.
    pub left_out: Option<String>,
}

/// Counts of one receipt of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionReceipt {
    pub id: String,
    pub at: Timestamp,
    pub tokens: usize,
    pub shown: usize,
    pub over_budget: usize,
    /// Candidates not shown for another reason, mostly ranked below the last one shown.
    pub below: usize,
    pub skipped: Vec<String>,
}

impl Engine {
    /// Why a memory is, or is not, found and shown for a message. Nothing is counted, logged or stored.
    pub fn diagnose(&self, caller: &Caller, query: &SearchQuery, id: MemoryId) -> Result<Diagnosis, Error> {
        let readable = visibility::visible_for_filter(self, caller, &query.filter)?;
        // `explain` makes the backend return this memory whatever its rank, so that it has a score.
        let query = SearchQuery { explain: Some(id), ..query.clone() };
        let ranker = query.ranker.unwrap_or(Ranker::Operational);
        let limit = resolve_limit(query.limit, self.limits().results_default, self.limits().results_max)?;
        let (mut hits, _) = search::find_hits(self, &readable, &query, ranker, limit)?;
        // But it counts as ranked only if it passes the filter.
        let passes = |hit: &Hit| hit.memory.id != id || search::could_be_found(self, &query.filter, &hit.memory);
        hits.retain(|hit| readable.shows_memory(&hit.memory) && passes(hit));
        let search = search::explain_hit(self, caller, &query, &hits, limit, id)?;
        let request = ContextRequest { message: query.text, filter: query.filter, ..ContextRequest::default() };
        let recall = explain_recall(self, caller, &request.message, id)?;
        let context = turn::preview_candidate(self, caller, &request, id);
        let context_left_out = context.is_none().then(|| match search.rank {
            Some(_) => RANKED_TOO_LOW.to_owned(),
            None => search.reason.clone(),
        });
        Ok(Diagnosis { search, context, context_left_out, recall })
    }

    /// Memories and receipts of a session or conversation, as far as the caller may see them.
    pub fn diagnose_session(&self, caller: &Caller, session: &str) -> Result<SessionReport, Error> {
        let readable = visibility::visible_to(self, caller)?;
        let filter = Filter { session: Some(session.to_owned()), states: State::ALL.to_vec(), ..Filter::default() };
        let page = PageRequest { order: SortOrder::Oldest, after: None, limit: self.limits().list_max };
        let mut memories = self.backend.list_memories(&readable, &filter, &page)?;
        // `session` may also be the id of a conversation; a memory can be in both lists.
        memories.extend(list_conversation_drafts(self, caller, &readable, session)?);
        memories.retain(|memory| readable.shows_memory(memory));
        memories.sort_by_key(|memory| (memory.created_at, memory.turn, memory.id));
        // The id is part of the sort key, so duplicates are adjacent.
        memories.dedup_by_key(|memory| memory.id);
        let receipts_filter = RowFilter {
            subject: Some(session.to_owned()),
            newest_first: true,
            limit: self.limits().list_default,
            ..RowFilter::default()
        };
        let receipts: Vec<Receipt> = row::select_records(&*self.backend, caller.tenant, &receipts_filter)?;
        // Filtered after the limit, so fewer than the limit may remain.
        let own: Vec<Receipt> = receipts.into_iter().filter(|receipt| receipt.is_visible_to(caller)).collect();
        if memories.is_empty() && own.is_empty() {
            return Err(Error::not_found(format!("session `{session}`")));
        }
        let now = self.clock.now();
        Ok(SessionReport {
            session: session.to_owned(),
            memories: memories.iter().map(|memory| to_session_memory(memory, now)).collect(),
            receipts: own.iter().map(to_session_receipt).collect(),
        })
    }
}

/// Outcome of a memory in four-source recall; `None` if its store is not a source.
fn explain_recall(engine: &Engine, caller: &Caller, text: &str, id: MemoryId) -> Result<Option<String>, Error> {
    let memory = read::read_by_id(engine, caller, id)?;
    let Some(source) = RecallSource::from_store(&memory.store) else { return Ok(None) };
    if let Some(reason) = exclusion_reason(&Filter::default(), &memory, engine.clock.now()) {
        return Ok(Some(reason));
    }
    let filter = Filter { stores: vec![memory.store], ..Filter::default() };
    let query = SearchQuery { text: text.to_owned(), filter, explain: Some(id), ..SearchQuery::default() };
    let (hits, _) = search::find_hits(
        engine,
        &visibility::visible_to(engine, caller)?,
        &query,
        Ranker::Episodic,
        source.hits_max(),
    )?;
    let near = |hit: &&Hit| is_near_enough(hit, engine.limits().similarity_min);
    // The rank among hits that are near enough: the others do not take a place of the source.
    let rank = hits.iter().filter(near).position(|hit| hit.memory.id == id);
    let similarity = hits.iter().find(|hit| hit.memory.id == id).map(absolute_similarity);
    Ok(Some(match (rank, similarity) {
        (Some(rank), _) if rank < source.hits_max() => format!("number {} of its source", rank + 1),
        (Some(rank), _) => format!("number {} of its source, which gives {}", rank + 1, source.hits_max()),
        (None, Some(similarity)) => {
            let similarity_min = engine.limits().similarity_min;
            format!(
                "below the threshold: it shares no word, and its similarity {similarity:.2} is under {similarity_min}"
            )
        }
        (None, None) => UNRELATED_REASON.to_owned(),
    }))
}

/// Memories in a conversation's scope. The session filter misses those that were saved without a session.
fn list_conversation_drafts(
    engine: &Engine,
    caller: &Caller,
    readable: &Readable,
    conversation: &str,
) -> Result<Vec<Memory>, Error> {
    let stores = engine.stores(caller)?.into_iter().filter(|store| store.scope == ScopeKind::Conversation);
    let scope = Scope::Conversation { conversation: conversation.to_owned() };
    let places: Vec<Place> = stores.map(|store| Place { store: store.slug, scope: scope.clone() }).collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter { places, states: State::ALL.to_vec(), ..Filter::default() };
    let page = PageRequest { order: SortOrder::Oldest, after: None, limit: engine.limits().list_max };
    Ok(engine.backend.list_memories(readable, &filter, &page)?)
}

fn to_session_memory(memory: &Memory, now: Timestamp) -> SessionMemory {
    let importance_now = memory.decayed_importance(now);
    let decay_reason = (importance_now < lifecycle::ARCHIVE_BELOW && memory.state == State::Active)
        .then(|| "not recalled for long: the next upkeep archives it".to_owned());
    // Names the successor, which the general reason does not.
    let reason = match memory.superseded_by {
        Some(by) if memory.state == State::Superseded => Some(format!("it is superseded by {by}")),
        _ => exclusion_reason(&Filter::default(), memory, now),
    };
    SessionMemory {
        id: memory.id,
        store: memory.store.clone(),
        turn: memory.turn,
        state: memory.state,
        importance_now,
        expires_at: memory.expires_at,
        left_out: reason.or(decay_reason),
    }
}

fn to_session_receipt(receipt: &Receipt) -> SessionReceipt {
    let shown = receipt.candidates.iter().filter(|considered| considered.block.is_some()).count();
    let over_budget = receipt.candidates.iter().filter(|considered| considered.is_over_budget()).count();
    let below = receipt.candidates.len() - shown - over_budget;
    SessionReceipt {
        id: receipt.id.clone(),
        at: receipt.at,
        tokens: receipt.tokens,
        shown,
        over_budget,
        below,
        skipped: receipt.skipped.clone(),
    }
}
