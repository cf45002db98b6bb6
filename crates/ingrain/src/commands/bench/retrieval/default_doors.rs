//! What people get by default: the questions of a set asked through `memory_search`, the context block and
//! `search_my_memories`, with their default limits, rankers and budgets.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use engine::model::caller::Caller;
use engine::model::id::{MemoryId, TenantId};
use engine::{ContextRequest, Engine, RecallQuery, SearchQuery};
use serde::{Deserialize, Serialize};

use super::{Collection, RetrievalSet, SavedIds, UNANSWERABLE_CATEGORY, last_turn_time, percent};
use crate::clock::SystemClock;
use crate::error::Failure;

pub const SEARCH: &str = "memory_search";
pub const CONTEXT: &str = "context block";
pub const RECALL: &str = "search_my_memories";

/// Means over all questions of a set, through one door.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DoorQuality {
    pub questions: usize,
    /// Share of the answering memories that the door returned, in percent.
    pub recall: f64,
    /// Questions with at least one answering memory returned, in percent.
    pub some: f64,
    /// Questions with all of them returned, in percent.
    pub all: f64,
    /// Memories returned.
    pub shown: f64,
    /// Tokens of the block; 0 for doors without one.
    pub tokens: f64,
}

/// Answers of one door to all questions.
#[derive(Default)]
pub struct DoorSums {
    /// Share of the answering memories, per question.
    pub shares: Vec<f64>,
    shown: usize,
    tokens: usize,
}

impl DoorSums {
    fn add(&mut self, found: &[MemoryId], gold: &[String], ids: &SavedIds, tokens: usize) {
        let is_found =
            |wanted: &&String| ids.get(*wanted).is_some_and(|saved| saved.iter().any(|id| found.contains(id)));
        self.shares.push(gold.iter().filter(is_found).count() as f64 / gold.len() as f64);
        self.shown += found.len();
        self.tokens += tokens;
    }

    fn quality(&self) -> DoorQuality {
        let questions = self.shares.len();
        let share_of = |holds: fn(&f64) -> bool| {
            percent(self.shares.iter().filter(|share| holds(share)).count() as f64, questions)
        };
        let mean = |sum: usize| (sum as f64 / questions.max(1) as f64 * 10.0).round() / 10.0;
        DoorQuality {
            questions,
            recall: percent(self.shares.iter().sum(), questions),
            some: share_of(|share| *share > 0.0),
            all: share_of(|share| *share >= 1.0),
            shown: mean(self.shown),
            tokens: mean(self.tokens),
        }
    }
}

/// The memory ids of each collection's turns, by the ids of the set.
pub type IdsByCollection = HashMap<String, SavedIds>;

/// Asks every question through every door.
pub fn measure_doors(
    engine: &Engine,
    tenant: TenantId,
    set: &RetrievalSet,
    ids: &IdsByCollection,
) -> Result<BTreeMap<&'static str, DoorSums>, Failure> {
    let mut doors: BTreeMap<&'static str, DoorSums> =
        [SEARCH, CONTEXT, RECALL].map(|door| (door, DoorSums::default())).into();
    for collection in &set.collections {
        let engine = engine.with_clock(Arc::new(SystemClock::new(last_turn_time(collection))));
        let Some(ids) = ids.get(&collection.id) else { continue };
        for question in collection
            .queries
            .iter()
            .filter(|question| !question.gold.is_empty() && question.category != UNANSWERABLE_CATEGORY)
        {
            let (text, gold) = (question.text.clone(), &question.gold);
            let caller = super::conversation_caller(tenant, collection);
            let hits = engine.search(&caller, &SearchQuery { text: text.clone(), ..SearchQuery::default() })?.hits;
            let found: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
            doors.entry(SEARCH).or_default().add(&found, gold, ids, 0);

            let context =
                engine.context(&caller, &ContextRequest { message: text.clone(), ..ContextRequest::default() })?;
            let shown = context.candidates.iter().filter(|considered| considered.block.is_some());
            let found: Vec<MemoryId> = shown.map(|considered| considered.memory).collect();
            doors.entry(CONTEXT).or_default().add(&found, gold, ids, context.tokens);

            let recalled = engine.search_my_memories(
                &episode_caller(tenant, collection),
                &RecallQuery { text, ..RecallQuery::default() },
            )?;
            let found: Vec<MemoryId> = recalled.recollections.iter().filter_map(|item| item.memory).collect();
            doors.entry(RECALL).or_default().add(&found, gold, ids, 0);
        }
    }
    Ok(doors)
}

pub fn qualities(doors: &BTreeMap<&'static str, DoorSums>) -> BTreeMap<String, DoorQuality> {
    doors.iter().map(|(door, sums)| ((*door).to_owned(), sums.quality())).collect()
}

/// An agent of its own for each collection: episodes are private to their agent.
pub fn episode_caller(tenant: TenantId, collection: &Collection) -> Caller {
    Caller::agent(tenant, &format!("bench-{}", collection.id))
}

pub const DOOR_HEADER: [&str; 7] = ["", "questions", "recall", "some evidence", "all evidence", "shown", "tokens"];

/// One row per door, first the one that a model calls most.
pub fn door_rows(doors: &BTreeMap<String, DoorQuality>) -> Vec<Vec<String>> {
    let row = |door: &&str| {
        let quality = doors.get(*door)?;
        let numbers = [quality.recall, quality.some, quality.all, quality.shown, quality.tokens];
        let numbers = numbers.iter().map(|number| format!("{number:.1}"));
        Some([(*door).to_owned(), quality.questions.to_string()].into_iter().chain(numbers).collect())
    };
    [SEARCH, CONTEXT, RECALL].iter().filter_map(row).collect()
}
