//! `bench retrieval`: what the doors find by default on a set of turns and questions, then recall, MRR and nDCG of
//! text relevance and of each ranker.

pub mod all_sets;
pub mod default_doors;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use engine::model::caller::Caller;
use engine::model::id::{MemoryId, TenantId};
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Ranker};
use engine::ports::Filter;
use engine::{EPISODES_STORE, Engine, Remembered, SearchQuery, UpkeepOptions};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use all_sets::ByQuestion;
use default_doors::{DoorQuality, IdsByCollection};

use crate::clock::SystemClock;
use crate::error::Failure;

/// Each collection is one conversation: isolated from the others, and planted instructions are flagged, not refused.
const STORE: &str = "conversation_memory";
/// Expiry of all turns, so that none expires during the measurement.
const FAR_FUTURE: &str = "2999-01-01T00:00:00Z";
const HITS_MAX: usize = 20;
/// Category of questions without an answer in the data; reported separately.
const UNANSWERABLE_CATEGORY: i64 = 5;
/// Assumed distance of two turns: the sets give only their order.
const TURN_SECONDS: i64 = 60;

#[derive(Deserialize)]
pub struct RetrievalSet {
    pub(super) collections: Vec<Collection>,
}

#[derive(Default, Deserialize)]
pub(super) struct Collection {
    pub(super) id: String,
    pub(super) memories: Vec<RecordedTurn>,
    pub(super) queries: Vec<Question>,
}

#[derive(Default, Deserialize)]
pub(super) struct RecordedTurn {
    pub(super) id: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) session: Value,
    #[serde(default)]
    pub(super) date: Option<String>,
    #[serde(default)]
    pub(super) speaker: Option<String>,
    #[serde(default)]
    pub(super) caption: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct Question {
    pub(super) text: String,
    #[serde(default)]
    pub(super) category: i64,
    #[serde(default)]
    pub(super) gold: Vec<String>,
}

/// Means over all queries, in percent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Quality {
    pub queries: usize,
    pub recall: BTreeMap<String, f64>,
    pub mrr: f64,
    pub ndcg10: f64,
}

/// The memories that hold each turn of a collection, by the turn's id in the set.
type SavedIds = HashMap<String, Vec<MemoryId>>;

#[derive(Debug, Serialize, Deserialize)]
pub struct RetrievalReport {
    /// What people get by default.
    #[serde(default)]
    pub doors: BTreeMap<String, DoorQuality>,
    /// Text relevance alone with default settings; the figure to compare between versions.
    #[serde(flatten)]
    pub main: Quality,
    pub embedder: String,
    pub memories: usize,
    /// Turns refused by the gate; questions they answer count as not found.
    pub refused: usize,
    pub by_category: BTreeMap<String, Quality>,
    pub category_5: Option<Quality>,
    pub without_vectors: Quality,
    pub by_ranker: BTreeMap<String, Quality>,
}

/// Columns of [`RetrievalReport::table_rows`].
pub const RECALL_HEADER: [&str; 7] = ["", "questions", "R@5", "R@10", "R@20", "MRR", "nDCG@10"];

impl RetrievalReport {
    /// One row per method, category and ranker; `ranker_label` formats the name of a ranker.
    pub fn table_rows(&self, ranker_label: fn(&str) -> String) -> Vec<Vec<String>> {
        let row = |name: String, quality: &Quality| {
            let recall = quality.recalls().into_iter();
            let numbers = recall.chain([quality.mrr, quality.ndcg10]).map(|number| format!("{number:.1}"));
            [name, quality.queries.to_string()].into_iter().chain(numbers).collect()
        };
        let mut rows = vec![
            row("text relevance".to_owned(), &self.main),
            row("without vectors".to_owned(), &self.without_vectors),
        ];
        rows.extend(self.by_category.iter().map(|(category, quality)| row(format!("category {category}"), quality)));
        rows.extend(self.category_5.iter().map(|quality| row("category 5".to_owned(), quality)));
        rows.extend(self.by_ranker.iter().map(|(ranker, quality)| row(ranker_label(ranker), quality)));
        rows
    }
}

impl Quality {
    /// Recall at each of [`RECALL_CUTOFFS`].
    pub fn recalls(&self) -> Vec<f64> {
        RECALL_CUTOFFS.iter().map(|cut| self.recall.get(&cut.to_string()).copied().unwrap_or_default()).collect()
    }
}

pub fn read_set_file(file: &Path) -> Result<RetrievalSet, Failure> {
    let wrong = |message: String| Failure::user_error("shape.bench_file", message);
    let text =
        std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot read `{}`: {error}", file.display())))?;
    serde_json::from_str(&text).map_err(|error| wrong(format!("`{}` is not a retrieval set: {error}", file.display())))
}

/// Measures a set; the figures of each question are for [`all_sets`].
pub fn run(engine: &Engine, tenant: TenantId, set: &RetrievalSet) -> Result<(RetrievalReport, ByQuestion), Failure> {
    let (mut refused, mut ids) = (0, IdsByCollection::new());
    for collection in &set.collections {
        let saved = ids.entry(collection.id.clone()).or_default();
        refused += save_collection(engine, tenant, collection, saved)?;
    }
    embed_pending(engine, tenant, set)?;
    let doors = default_doors::measure_doors(engine, tenant, set, &ids)?;
    let all = |ranker, words_only| measure_queries(engine, tenant, set, ranker, words_only);
    let text = all(Ranker::Lesson, false)?;
    let scored = |sums: &BTreeMap<i64, QualitySums>| {
        QualitySums::total(
            sums.iter().filter(|(category, _)| **category != UNANSWERABLE_CATEGORY).map(|(_, sums)| sums),
        )
    };
    let total = scored(&text);
    let mut by_question: ByQuestion =
        doors.iter().map(|(door, sums)| ((*door).to_owned(), sums.shares.clone())).collect();
    by_question.insert("text relevance R@10".to_owned(), total.recall10.clone());
    let main = total.mean_quality();
    // The ranker `lesson` is text relevance and nothing else.
    let mut by_ranker = BTreeMap::from([(Ranker::Lesson.to_string(), main.clone())]);
    for ranker in [Ranker::Operational, Ranker::Episodic, Ranker::Layered, Ranker::Hint] {
        let total = scored(&all(ranker, false)?);
        by_ranker.insert(ranker.to_string(), total.mean_quality());
        by_question.insert(format!("{ranker} R@10"), total.recall10);
    }
    let report = RetrievalReport {
        doors: default_doors::qualities(&doors),
        main,
        embedder: engine.embedder.model().to_owned(),
        memories: set.collections.iter().map(|collection| collection.memories.len()).sum(),
        refused,
        by_category: text
            .iter()
            .filter(|(category, _)| **category != UNANSWERABLE_CATEGORY)
            .map(|(category, sums)| (category.to_string(), sums.mean_quality()))
            .collect(),
        category_5: text.get(&UNANSWERABLE_CATEGORY).map(QualitySums::mean_quality),
        without_vectors: scored(&all(Ranker::Lesson, true)?).mean_quality(),
        by_ranker,
    };
    Ok((report, by_question))
}

/// Adds the vectors of a slow model by upkeep. The clock is set to the last turn, so that nothing expires or fades.
fn embed_pending(engine: &Engine, tenant: TenantId, set: &RetrievalSet) -> Result<(), Failure> {
    if engine.embedder.is_instant() {
        return Ok(());
    }
    let last = set.collections.iter().filter_map(last_turn_time).max();
    let engine = engine.with_clock(Arc::new(SystemClock::new(last)));
    engine.upkeep(tenant, UpkeepOptions::default())?;
    Ok(())
}

/// Time of the last turn; the questions are asked at this time.
fn last_turn_time(collection: &Collection) -> Option<Timestamp> {
    collection.memories.iter().enumerate().map(|(number, turn)| turn_time(turn, number)).max()
}

/// The agent in the conversation of a collection.
fn conversation_caller(tenant: TenantId, collection: &Collection) -> Caller {
    Caller::agent(tenant, "bench").in_conversation(&collection.id)
}

/// Saves the turns of a collection as notes of its conversation and as episodes of its agent, which different doors
/// search. Returns the number of refused turns.
fn save_collection(
    engine: &Engine,
    tenant: TenantId,
    collection: &Collection,
    saved: &mut SavedIds,
) -> Result<usize, Failure> {
    let mut refused = 0;
    for (number, turn) in collection.memories.iter().enumerate() {
        let engine = engine.with_clock(Arc::new(SystemClock::new(Some(turn_time(turn, number)))));
        let note = turn_draft(STORE, turn, number);
        match engine.remember(&conversation_caller(tenant, collection), note)? {
            Remembered::Saved(note) => saved.entry(turn.id.clone()).or_default().push(note.memory.id),
            Remembered::Refused(_) => refused += 1,
        }
        let episode = turn_draft(EPISODES_STORE, turn, number);
        let episode = engine.remember(&default_doors::episode_caller(tenant, collection), episode)?;
        if let Remembered::Saved(episode) = episode {
            saved.entry(turn.id.clone()).or_default().push(episode.memory.id);
        }
    }
    Ok(refused)
}

fn turn_draft(store: &str, turn: &RecordedTurn, number: usize) -> Draft {
    let content = match &turn.caption {
        Some(caption) => format!("{}\n{caption}", turn.text),
        None => turn.text.clone(),
    };
    Draft {
        store: store.to_owned(),
        // Empty content would be refused, and the turn would be missing from the order.
        content: if content.trim().is_empty() { "-".to_owned() } else { content },
        session: Some(session_name(turn)),
        turn: u32::try_from(number).ok(),
        // A set of chats names the roles as speakers.
        role: turn.speaker.as_deref().and_then(|speaker| speaker.parse().ok()),
        speaker: turn.speaker.clone(),
        title: None,
        // Id of the turn in the set, to recognise the hit.
        metadata: Some([("bench_id".to_owned(), Value::from(turn.id.clone()))].into_iter().collect()),
        expires_at: FAR_FUTURE.parse().ok(),
        evidence: vec![Evidence::new(EvidenceKind::UserStatement, "a turn of the set")],
        ..Draft::default()
    }
}

fn session_name(turn: &RecordedTurn) -> String {
    match &turn.session {
        Value::String(session) => session.clone(),
        other => other.to_string(),
    }
}

/// Date of the turn plus an offset by its number, so that turns keep their order.
fn turn_time(turn: &RecordedTurn, number: usize) -> Timestamp {
    let civil = |date: &str| {
        date.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|at| at.timestamp())
    };
    // Sets usually give dates without a zone, which are read as UTC.
    let date = turn.date.as_deref().and_then(|date| civil(date).or_else(|| date.parse().ok()));
    let base = date.unwrap_or(Timestamp::UNIX_EPOCH).as_second();
    // Each turn has its own second: ties in the ranking are broken by time, so every run gives the same order.
    let after = number as i64 % 1_000 * TURN_SECONDS + number as i64 / 1_000;
    Timestamp::from_second(base + after).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn measure_queries(
    engine: &Engine,
    tenant: TenantId,
    set: &RetrievalSet,
    ranker: Ranker,
    words_only: bool,
) -> Result<BTreeMap<i64, QualitySums>, Failure> {
    let mut sums: BTreeMap<i64, QualitySums> = BTreeMap::new();
    for collection in &set.collections {
        let caller = conversation_caller(tenant, collection);
        let engine = engine.with_clock(Arc::new(SystemClock::new(last_turn_time(collection))));
        // Questions without gold answers cannot be scored.
        for question in collection.queries.iter().filter(|question| !question.gold.is_empty()) {
            let query = SearchQuery {
                text: question.text.clone(),
                filter: Filter { stores: vec![STORE.to_owned()], ..Filter::default() },
                limit: Some(HITS_MAX),
                ranker: Some(ranker),
                words_only,
                ..SearchQuery::default()
            };
            let answer = engine.search(&caller, &query)?;
            let found: Vec<&str> = answer
                .hits
                .iter()
                .filter_map(|hit| hit.memory.metadata.get("bench_id").and_then(Value::as_str))
                .collect();
            sums.entry(question.category).or_default().add(&found, &question.gold);
        }
    }
    Ok(sums)
}

/// Mean of a sum of shares, in percent, rounded to one decimal.
fn percent(sum: f64, questions: usize) -> f64 {
    (sum / questions.max(1) as f64 * 1_000.0).round() / 10.0
}

/// Sums over queries, for the means.
#[derive(Clone, Debug, Default)]
struct QualitySums {
    queries: usize,
    recall: [f64; 3],
    /// Recall in the first ten, per question.
    recall10: Vec<f64>,
    mrr: f64,
    ndcg10: f64,
}

/// Numbers of first hits at which recall is measured.
const RECALL_CUTOFFS: [usize; 3] = [5, 10, 20];

impl QualitySums {
    fn add(&mut self, found: &[&str], gold: &[String]) {
        let is_gold = |id: &&str| gold.iter().any(|wanted| wanted == id);
        self.queries += 1;
        let recall_at = |cut: usize| found.iter().take(cut).filter(|id| is_gold(id)).count() as f64 / gold.len() as f64;
        for (sum, cut) in self.recall.iter_mut().zip(RECALL_CUTOFFS) {
            *sum += recall_at(cut);
        }
        self.recall10.push(recall_at(10));
        self.mrr += found.iter().position(is_gold).map_or(0.0, |at| 1.0 / (at + 1) as f64);
        // Binary relevance: the gain of a hit is 1/log2(rank + 1).
        let gain = |at: usize| 1.0 / ((at + 2) as f64).log2();
        let got: f64 = found.iter().take(10).enumerate().filter(|(_, id)| is_gold(id)).map(|(at, _)| gain(at)).sum();
        let ideal: f64 = (0..gold.len().min(10)).map(gain).sum();
        // Never a division by zero: questions without gold answers were left out before.
        self.ndcg10 += got / ideal;
    }

    fn total<'a>(all: impl Iterator<Item = &'a QualitySums>) -> QualitySums {
        all.fold(QualitySums::default(), |total, one| QualitySums {
            queries: total.queries + one.queries,
            recall: std::array::from_fn(|at| total.recall[at] + one.recall[at]),
            recall10: total.recall10.iter().chain(&one.recall10).copied().collect(),
            mrr: total.mrr + one.mrr,
            ndcg10: total.ndcg10 + one.ndcg10,
        })
    }

    /// Means in percent, rounded to one decimal.
    fn mean_quality(&self) -> Quality {
        let mean = |sum: f64| percent(sum, self.queries);
        let recall = RECALL_CUTOFFS.iter().zip(self.recall).map(|(cut, sum)| (cut.to_string(), mean(sum))).collect();
        Quality { queries: self.queries, recall, mrr: mean(self.mrr), ndcg10: mean(self.ndcg10) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_and_mrr_of_one_query() {
        let mut sums = QualitySums::default();
        sums.add(&["x", "a", "y", "z", "w", "v", "b"], &["a".to_owned(), "b".to_owned()]);
        let quality = sums.mean_quality();
        assert_eq!((quality.recall["5"], quality.recall["10"], quality.mrr), (50.0, 100.0, 50.0));
    }
}
