//! Search: find, rank, explain.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::MemoryId;
use crate::model::limits::how_many;
use crate::model::memory::{Memory, content_sha256};
use crate::model::store::Store;
use crate::model::vocabulary::{Layer, Operation, Ranker, ScopeKind, State};
use crate::policy::{self, Readable};
use crate::ports::change::{Change, Write};
use crate::ports::{Filter, Find, Found};
use crate::recall::filtering::left_out;
use crate::recall::ranking::{self, Asked, Hit, when};
use crate::recall::usage::Touch;
use crate::text::entities::Entity;
use crate::text::words;

/// Said to who searches among what was forgotten.
const NO_WORDS_LEFT: &str =
    "forgotten memories have no words left to be found by; `list` shows them by their state, `tombstoned`";

/// What a caller looks for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub text: String,
    pub filter: Filter,
    pub limit: Option<usize>,
    /// `None`: the ranker of the store asked for, else `operational`.
    pub ranker: Option<Ranker>,
    /// Only memories that name all of these.
    pub entities: Vec<Entity>,
    /// Also say why this one was or was not returned.
    pub explain: Option<MemoryId>,
    pub words_only: bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Answer {
    pub hits: Vec<Hit>,
    pub ranker: Ranker,
    /// Candidates that were scored.
    pub considered: usize,
    /// What could not be done, in words: an embedder that is down.
    pub warnings: Vec<String>,
    pub why_not: Option<WhyNot>,
}

/// Why nothing speaks for a memory.
pub(crate) const UNRELATED: &str = "it shares no word with the query and its meaning is not near";

/// Why nothing can speak for one.
const FORGOTTEN: &str = "it was forgotten and has no words left to be found by";

/// Why one is gone that nobody put away.
const EXPIRED: &str = "it expired, and upkeep archived it";

/// Why one memory was, or was not, among the hits.
#[derive(Clone, Debug, serde::Serialize)]
pub struct WhyNot {
    pub memory: MemoryId,
    pub returned: bool,
    /// Place in the ranking, from 1, where it was ranked at all.
    pub rank: Option<usize>,
    pub score: Option<f64>,
    /// The score of the last hit returned.
    pub cutoff: Option<f64>,
    pub reason: String,
}

impl Engine {
    /// The best memories for a query, among those the caller may see.
    pub fn search(&self, caller: &Caller, query: &Query) -> Result<Answer, Error> {
        let eyes = self.eyes_on(caller, &query.filter)?;
        let ranker = self.ranker_for(caller, &eyes, query)?;
        let limit = self.results_limit(caller, query, ranker)?;
        let (mut hits, mut answer) = self.found_or_of_its_time(&eyes, query, ranker, limit)?;
        let asked_about = |hit: &Hit| query.explain == Some(hit.memory.id);
        // What `explain` asks about is judged whether it passes the filter or not; returned it is only if it does.
        let passes = |hit: &Hit| !asked_about(hit) || self.would_find(&query.filter, &hit.memory);
        let named = |hit: &Hit| query.entities.iter().all(|entity| hit.memory.entities.contains(entity));
        hits.retain(|hit| {
            eyes.shows(&hit.memory) && policy::in_its_run(caller, &hit.memory) && passes(hit) && named(hit)
        });
        answer.considered = hits.len();
        answer.why_not = query.explain.map(|id| self.why_not(caller, query, &hits, limit, id)).transpose()?;
        hits.truncate(limit);
        self.recalled(caller, query, &mut hits);
        if hits.is_empty() && query.filter.states.contains(&State::Tombstoned) {
            answer.warnings.push(NO_WORDS_LEFT.to_owned());
        }
        answer.hits = hits;
        Ok(answer)
    }

    /// How many to return. A pipeline's agent recalls as many lessons as its opt-in allows, and asking for none means
    /// asking for all of them.
    fn results_limit(&self, caller: &Caller, query: &Query, ranker: Ranker) -> Result<usize, Error> {
        let results_max = self.limits().results_max;
        match if ranker == Ranker::Lesson { self.opt_in(caller)? } else { None } {
            Some(opt_in) => {
                let max_recall = opt_in.max_recall.map_or(self.limits().lesson_recall_max, |max| max as usize);
                let asked = query.limit.filter(|limit| *limit > 0).unwrap_or(max_recall);
                Ok(asked.clamp(1, max_recall.clamp(1, results_max)))
            }
            None => how_many(query.limit, self.limits().results_default, results_max),
        }
    }

    /// A store's own ranker where one sort of store is asked, else the operational one.
    fn ranker_for(&self, caller: &Caller, eyes: &Readable, query: &Query) -> Result<Ranker, Error> {
        let mut rankers = Vec::new();
        for slug in &query.filter.stores {
            let store = self.store_stands(caller, eyes, slug)?;
            self.opted_in(caller, &store)?;
            rankers.push(self.ruleset(&store)?.ranker);
        }
        rankers.dedup();
        match (query.ranker, rankers.as_slice()) {
            (Some(ranker), _) => Ok(ranker),
            (None, [one]) => Ok(*one),
            _ => Ok(Ranker::Operational),
        }
    }

    /// A program that asks a pipeline's store by name hears that it has no memory there, not that nothing is known.
    fn opted_in(&self, caller: &Caller, store: &Store) -> Result<(), Error> {
        match store.scope == ScopeKind::Pipeline && caller.role.is_program() && self.opt_in(caller)?.is_none() {
            true => Err(policy::pipeline_not_enabled().into()),
            false => Ok(()),
        }
    }

    /// As [`Engine::found`]; where nothing answers a query that names a time ("what happened last week"), all of it.
    pub(crate) fn found_or_of_its_time(
        &self,
        eyes: &Readable,
        query: &Query,
        ranker: Ranker,
        limit: usize,
    ) -> Result<(Vec<Hit>, Answer), Error> {
        let (hits, answer) = self.found(eyes, query, ranker, limit)?;
        match self.of_its_time(query).filter(|_| hits.is_empty()) {
            Some(query) => Ok((self.found(eyes, &query, ranker, limit)?.0, answer)),
            None => Ok((hits, answer)),
        }
    }

    pub(crate) fn found(
        &self,
        eyes: &Readable,
        query: &Query,
        ranker: Ranker,
        limit: usize,
    ) -> Result<(Vec<Hit>, Answer), Error> {
        let now = self.asked_at(&query.filter);
        let text = clipped(&query.text, self.limits().query_bytes_max);
        let words = words::query(text);
        let by_meaning = !query.words_only && !text.trim().is_empty() && self.embedder.reads(text);
        let vector = by_meaning.then(|| self.embedding(text)).flatten();
        let mut answer = Answer { hits: Vec::new(), ranker, considered: 0, warnings: Vec::new(), why_not: None };
        if vector.is_none() && by_meaning {
            answer.warnings.push("searched by words only: the embedder gave no vector".to_owned());
        }
        if text.len() < query.text.len() {
            let bytes_max = self.limits().query_bytes_max;
            answer.warnings.push(format!(
                "only the first {bytes_max} bytes of the query were looked for (`limits.query_bytes_max`)"
            ));
        }
        let find = Find {
            filter: query.filter.clone().unexpired(now),
            newest: words.terms.is_empty(),
            substring: (ranker == Ranker::Layered).then(|| text.trim().to_lowercase()).filter(|text| !text.is_empty()),
            words,
            vector,
            neighbours: Some(self.limits().neighbours()),
            pool: (limit * self.limits().overfetch).max(self.limits().pool_min),
            also: query.explain.into_iter().collect(),
        };
        let found: Found = self.backend.find(eyes, &find)?;
        let asked = Asked {
            text,
            words: &find.words,
            vector: find.vector.as_ref().map(|embedding| &embedding.vector),
            calibration: self.embedder.calibration(),
            ranker,
            weights: &self.limits().weights,
            now,
        };
        Ok((ranking::rank(&asked, found), answer))
    }

    fn of_its_time(&self, query: &Query) -> Option<Query> {
        let now = self.asked_at(&query.filter);
        let (from, to) = when::span(&when::times(&query.text, now.as_microsecond()).periods, now)?;
        let mut filter = query.filter.clone();
        filter.updated_after = filter.updated_after.max(Some(from));
        filter.updated_before = Some(filter.updated_before.map_or(to, |before| before.min(to)));
        Some(Query { text: String::new(), filter, ..query.clone() })
    }

    /// The time a question is about: now, or the past one it names.
    pub(crate) fn asked_at(&self, filter: &Filter) -> jiff::Timestamp {
        filter.as_of.unwrap_or_else(|| self.clock.now())
    }

    /// Counts the recall in the answer now and in the store soon, so that nobody waits for a disk.
    pub(crate) fn recalled(&self, caller: &Caller, query: &Query, hits: &mut [Hit]) {
        // A read still answers while memory is turned off, and leaves no trace.
        if self.settings.memory_off {
            return;
        }
        let now = self.clock.now();
        for hit in hits.iter_mut() {
            hit.memory.recall_count += 1;
            hit.memory.last_recalled_at = Some(now);
        }
        let memories: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
        let event = Happening::new(EventName::Search, caller, now)
            // The query itself may hold a secret: its digest is enough to tell two apart.
            .with("query_sha256", content_sha256(&query.text))
            .with("hits", &memories)
            .in_scope(
                caller
                    .conversation
                    .clone()
                    .map(|conversation| crate::model::scope::Scope::Conversation { conversation }),
            );
        let episodes = hits.iter().filter(|hit| hit.memory.layer == Layer::Episodic);
        let fading = episodes.map(|hit| hit.memory.id).collect();
        let mut change = Change::new(caller.tenant, now).event(event).write(Write::Recalled { memories, fading });
        // What a run was told is known again when the run saves it.
        let shown = hits.iter().map(|hit| (hit.memory.id, hit.memory.version));
        change.writes.extend(self.touches(caller, Touch::Read, shown));
        self.backend.commit_later(change);
    }

    /// Whether it is in the archive because its time was up, which its history says.
    fn ran_out(&self, caller: &Caller, query: &Query, memory: &Memory) -> Result<bool, Error> {
        if memory.state != State::Archived || query.filter.states.contains(&State::Archived) {
            return Ok(false);
        }
        let last = self.backend.versions(&self.eyes(caller)?, memory.id, None, 1)?;
        Ok(last.first().is_some_and(|version| version.operation == Operation::Expire))
    }

    /// Whether a search could find it, were it not asked about: what was forgotten has no words, whatever is asked for.
    pub(crate) fn would_find(&self, filter: &Filter, memory: &Memory) -> bool {
        memory.state != State::Tombstoned && left_out(filter, memory, self.asked_at(filter)).is_none()
    }

    /// Why this one, and why not that one.
    pub(crate) fn why_not(
        &self,
        caller: &Caller,
        query: &Query,
        ranked: &[Hit],
        limit: usize,
        id: MemoryId,
    ) -> Result<WhyNot, Error> {
        let memory = self.read_by_id(caller, id)?;
        let rank = ranked.iter().position(|hit| hit.memory.id == id);
        let cutoff = ranked.get(limit.min(ranked.len()).wrapping_sub(1)).map(|hit| hit.score);
        let score = rank.and_then(|rank| ranked.get(rank)).map(|hit| hit.score);
        let returned = rank.is_some_and(|rank| rank < limit);
        let reason = match (rank, returned) {
            (Some(rank), true) => format!("returned at rank {}", rank + 1),
            (Some(rank), false) => format!("ranked {}, below the {limit} returned", rank + 1),
            (None, _) if !query.entities.iter().all(|entity| memory.entities.contains(entity)) => {
                "it does not name the environment, namespace or service asked for".to_owned()
            }
            (None, _) if self.ran_out(caller, query, &memory)? => EXPIRED.to_owned(),
            (None, _) => left_out(&query.filter, &memory, self.asked_at(&query.filter))
                .unwrap_or_else(|| if memory.state == State::Tombstoned { FORGOTTEN } else { UNRELATED }.to_owned()),
        };
        Ok(WhyNot { memory: id, returned, rank: rank.map(|rank| rank + 1), score, cutoff, reason })
    }
}

/// The head of a text, cut between characters.
fn clipped(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
