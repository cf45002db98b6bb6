//! Four-source recall: what an agent went through, what was done, what workflows came to, what is written down.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{Event, EventName};
use crate::model::id::MemoryId;
use crate::model::limits::how_many;
use crate::model::memory::content_sha256;
use crate::model::store::{AUDIT_LOG, KNOWLEDGE_BASE, WORKFLOW_STEPS};
use crate::model::vocabulary::Ranker;
use crate::ports::Filter;
use crate::recall::ranking::when::{self, Period};
use crate::recall::ranking::{self, Hit, Source};
use crate::recall::search::Query;
use crate::sources::episodes::EPISODES;
use crate::text::words;

/// What an agent asks its memory.
#[derive(Clone, Debug, Default)]
pub struct MyQuery {
    pub text: String,
    /// Similarity below which a hit found by its vector alone is dropped; default: `limits.similarity_min`.
    pub similarity_min: Option<f64>,
    pub limit: Option<usize>,
}

/// One thing recalled, from wherever.
#[derive(Clone, Debug, Serialize)]
pub struct Recollection {
    pub source: Source,
    /// `None`: an event of our own log.
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
    pub source: Source,
    pub code: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct Recalled {
    pub recollections: Vec<Recollection>,
    pub failed: Vec<SourceFailure>,
}

/// Importance of what was never judged: in the middle.
const OTHER_IMPORTANCE: f64 = 0.5;

impl Source {
    /// The source a store is, where it is one.
    pub(crate) fn of_store(slug: &str) -> Option<Source> {
        Source::ALL.into_iter().find(|source| source.store() == slug)
    }

    const ALL: [Source; 4] = [Source::Memory, Source::Audit, Source::Workflow, Source::Knowledge];

    const fn store(self) -> &'static str {
        match self {
            Source::Memory => EPISODES,
            Source::Audit => AUDIT_LOG,
            Source::Workflow => WORKFLOW_STEPS,
            Source::Knowledge => KNOWLEDGE_BASE,
        }
    }

    /// The most it gives to one recall (seed 001).
    pub(crate) const fn most(self) -> usize {
        match self {
            Source::Memory | Source::Audit => 10,
            Source::Workflow | Source::Knowledge => 5,
        }
    }
}

impl Engine {
    /// The best of four sources, each thing once. A source that fails is named and the others answer.
    pub fn search_my_memories(&self, caller: &Caller, asked: &MyQuery) -> Result<Recalled, Error> {
        if asked.similarity_min.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(Error::invalid("shape.out_of_range", "the similarity must be between 0 and 1"));
        }
        let limit = how_many(asked.limit, self.limits().my_results_max, self.limits().results_max)?;
        // Who may read nothing is told so, instead of four failures.
        self.eyes(caller)?;
        let (mut found, mut hits, mut failed) = self.of_sources(caller, asked, None);
        match self.own_events(caller, asked) {
            Ok(events) => found.extend(events),
            Err(error) => failed.push(SourceFailure { source: Source::Audit, code: error.code() }),
        }
        let periods = when::times(&asked.text, self.clock.now().as_microsecond()).periods;
        if found.is_empty() && !periods.is_empty() {
            // Nothing answers a question that names a time: then all that is of it does.
            (found, hits, failed) = self.of_sources(caller, asked, Some(&periods));
        }
        let recollections = merged(found, limit);
        hits.retain(|hit| recollections.iter().any(|kept| kept.memory == Some(hit.memory.id)));
        let query = Query { text: asked.text.clone(), ..Query::default() };
        self.recalled(caller, &query, &mut hits);
        Ok(Recalled { recollections, failed })
    }

    /// What each source gives, what of that are memories, and which of them failed.
    fn of_sources(
        &self,
        caller: &Caller,
        asked: &MyQuery,
        periods: Option<&[Period]>,
    ) -> (Vec<Recollection>, Vec<Hit>, Vec<SourceFailure>) {
        let look = |source| match periods {
            None => self.of_source(caller, asked, source),
            Some(periods) => self.of_time(caller, periods, source),
        };
        let answers: Vec<(Source, Result<Vec<Hit>, Error>)> = std::thread::scope(|scope| {
            let look = &look;
            let searches: Vec<_> =
                Source::ALL.into_iter().map(|source| (source, scope.spawn(move || look(source)))).collect();
            let broken = || Error::invalid("source.broken", "the search of this source broke");
            searches.into_iter().map(|(source, done)| (source, done.join().unwrap_or_else(|_| Err(broken())))).collect()
        });
        let (mut found, mut hits, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (source, answer) in answers {
            match answer {
                Ok(of_source) => {
                    found.extend(of_source.iter().map(|hit| self.recollection(source, hit)));
                    hits.extend(of_source);
                }
                Err(error) => failed.push(SourceFailure { source, code: error.code() }),
            }
        }
        (found, hits, failed)
    }

    /// What happened then. What is written down did not happen, whenever it was.
    fn of_time(&self, caller: &Caller, periods: &[Period], source: Source) -> Result<Vec<Hit>, Error> {
        let eyes = self.eyes(caller)?;
        let mut filter = Filter { stores: vec![source.store().to_owned()], ..Filter::default() };
        match (source, when::span(periods, self.clock.now())) {
            (Source::Knowledge, _) | (_, None) => return Ok(Vec::new()),
            // These tell of what happened before they were recorded.
            (Source::Audit | Source::Workflow, _) => {}
            (Source::Memory, Some((from, to))) => {
                (filter.updated_after, filter.updated_before) = (Some(from), Some(to))
            }
        }
        let query = Query { filter, ..Query::default() };
        let (mut hits, _) = self.found(&eyes, &query, Ranker::Episodic, source.most())?;
        let of_then = |hit: &Hit| when::fit(periods, hit.memory.happened_at().as_microsecond()) >= 1.0;
        hits.retain(|hit| eyes.shows(&hit.memory) && of_then(hit));
        hits.truncate(source.most());
        Ok(hits)
    }

    fn of_source(&self, caller: &Caller, asked: &MyQuery, source: Source) -> Result<Vec<Hit>, Error> {
        let mut hits = match source {
            Source::Knowledge => self.knowledge_hits(caller, &asked.text, &[], Ranker::Episodic, source.most())?,
            source => {
                let eyes = self.eyes(caller)?;
                let filter = Filter { stores: vec![source.store().to_owned()], ..Filter::default() };
                let query = Query { text: asked.text.clone(), filter, ..Query::default() };
                let (mut hits, _) = self.found(&eyes, &query, Ranker::Episodic, source.most())?;
                hits.retain(|hit| eyes.shows(&hit.memory));
                hits
            }
        };
        let similarity_min = asked.similarity_min.unwrap_or(self.limits().similarity_min);
        hits.retain(|hit| is_near(hit, similarity_min));
        hits.truncate(source.most());
        Ok(hits)
    }

    fn recollection(&self, source: Source, hit: &Hit) -> Recollection {
        let memory = &hit.memory;
        let at = memory.happened_at();
        let importance = if source == Source::Memory { memory.importance } else { OTHER_IMPORTANCE };
        let similarity = hit.parts.get("similarity").copied().unwrap_or_default();
        let (score, parts) = self.scored(similarity, at, importance, source);
        Recollection {
            source,
            memory: Some(memory.id),
            title: memory.title.clone(),
            content: memory.content.clone(),
            at,
            author: memory.author.clone(),
            score,
            parts,
        }
    }

    fn scored(
        &self,
        similarity: f64,
        at: Timestamp,
        importance: f64,
        source: Source,
    ) -> (f64, BTreeMap<&'static str, f64>) {
        let weights = &self.limits().weights;
        let recency = ranking::recency(at, self.clock.now(), weights.half_life_days);
        ranking::episodic(weights, similarity, recency, importance, source)
    }

    /// The newest entries of our own log that this caller may see and that share words with the question.
    fn own_events(&self, caller: &Caller, asked: &MyQuery) -> Result<Vec<Recollection>, Error> {
        let wanted = parts_of_names(&asked.text);
        let last = self.backend.last_event(caller.tenant)?;
        let after = last.saturating_sub(self.limits().own_events_max as u64);
        let events = self.backend.events(caller.tenant, after, self.limits().own_events_max)?;
        let witness = self.witness(caller)?;
        let mut found: Vec<Recollection> = events
            .iter()
            .filter(|event| is_telling(event) && witness.sees(event))
            .filter_map(|event| self.of_event(event, &wanted))
            .collect();
        found.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.at.cmp(&one.at)));
        found.truncate(Source::Audit.most());
        Ok(found)
    }

    fn of_event(&self, event: &Event, wanted: &HashSet<String>) -> Option<Recollection> {
        let happening = &event.happening;
        let payload = serde_json::to_string(&happening.payload).unwrap_or_default();
        let content = format!("{} by {}: {payload}", happening.name, happening.actor);
        let said = parts_of_names(&content);
        let shared = wanted.iter().filter(|word| said.contains(*word)).count();
        if shared == 0 {
            return None;
        }
        let similarity = shared as f64 / wanted.len() as f64;
        let (score, parts) = self.scored(similarity, happening.at, OTHER_IMPORTANCE, Source::Audit);
        Some(Recollection {
            source: Source::Audit,
            memory: None,
            title: Some(happening.name.to_string()),
            content,
            at: happening.at,
            author: happening.actor.clone(),
            score,
            parts,
        })
    }
}

/// The words of a text, those within names such as `memory.context_loaded` apart.
fn parts_of_names(text: &str) -> HashSet<String> {
    words::tokens(&text.replace(['.', '_', '/'], " ")).into_iter().collect()
}

/// Reading leaves events too, and those only echo the questions; what is kept as a memory is found as one.
fn is_telling(event: &Event) -> bool {
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

/// What shares a word stays; what is only near in meaning must be near enough.
pub(crate) fn is_near(hit: &Hit, similarity_min: f64) -> bool {
    let part = |name: &str| hit.parts.get(name).copied().unwrap_or_default();
    // A turn beside a good one is as near as what it is lent: being next to it alone is not enough.
    part("text.words") > 0.0 || part("text.vector").max(part("similarity")) >= similarity_min
}

/// Each content once, the best first.
fn merged(found: Vec<Recollection>, limit: usize) -> Vec<Recollection> {
    let mut best: HashMap<String, Recollection> = HashMap::new();
    for recollection in found {
        let key = content_sha256(recollection.content.trim());
        match best.get(&key) {
            Some(kept) if kept.score >= recollection.score => {}
            _ => {
                best.insert(key, recollection);
            }
        }
    }
    let mut merged: Vec<Recollection> = best.into_values().collect();
    merged.sort_by(|one, other| {
        let newer = other.at.cmp(&one.at);
        other.score.total_cmp(&one.score).then(newer).then_with(|| one.content.cmp(&other.content))
    });
    merged.truncate(limit);
    merged
}
