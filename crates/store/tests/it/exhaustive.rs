//! A word search that skips postings finds the same ten memories as scoring every memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::model::id::MemoryId;
use engine::model::limits::text_weights::TextWeights;
use engine::model::memory::Draft;
use engine::model::vocabulary::{Operation, State};
use engine::ports::{Backend, CandidateQuery, CorpusStats};
use engine::recall::ranking::text::bm25_term_score;
use engine::text::words::{self, IndexedWords, QueryWords};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Location, SqliteOptions, open_sqlite};

use crate::postgres::{Database, server};
use crate::world::{World, draft, seen_by};

/// How many of the best must be the best.
const BEST: usize = 10;
/// Stores add up in single precision, in whatever order suits them.
const TOLERANCE: f64 = 1e-4;
/// Words there are; low numbers are said far more often, as in any language.
const VOCABULARY: usize = 60;
const CONVERSATIONS: [&str; 3] = ["c1", "c2", "c3"];

#[derive(Debug, Clone)]
struct Written {
    conversation: usize,
    words: Vec<usize>,
    fate: u8,
}

#[derive(Debug, Clone)]
struct Asked {
    words: Vec<usize>,
    narrow: bool,
}

/// A memory as the test remembers it.
struct Kept {
    id: MemoryId,
    conversation: usize,
    words: IndexedWords,
}

fn word() -> impl Strategy<Value = usize> {
    (0..VOCABULARY, 0..VOCABULARY).prop_map(|(one, other)| one * other / VOCABULARY)
}

fn written() -> impl Strategy<Value = Written> {
    (0..CONVERSATIONS.len(), prop::collection::vec(word(), 1..40), 0..12_u8)
        .prop_map(|(conversation, words, fate)| Written { conversation, words, fate })
}

fn asked() -> impl Strategy<Value = Asked> {
    // One beyond the vocabulary is a word nobody said.
    let words = prop::collection::vec(prop_oneof![4 => word(), 1 => 0..=VOCABULARY], 1..9);
    (words, any::<bool>()).prop_map(|(words, narrow)| Asked { words, narrow })
}

/// No stop words, no shared stems: digits keep them apart.
fn text(words: &[usize]) -> String {
    words.iter().map(|word| format!("kelp{word}")).collect::<Vec<_>>().join(" ")
}

fn write(world: &World<'_>, written: &Written) -> Option<Kept> {
    let entry = world.entry(CONVERSATIONS[written.conversation], draft(&text(&written.words)));
    let words = entry.words().clone();
    let memory = world.save(entry);
    let kept = |words| Some(Kept { id: memory.id, conversation: written.conversation, words });
    match written.fate {
        0 => {
            world.save(world.transition(&memory, Operation::Forget, |memory| memory.state = State::Tombstoned));
            None
        }
        1 => {
            let other: Vec<usize> = written.words.iter().map(|word| (word + 7) % VOCABULARY).collect();
            let entry = world.revised(&memory, Draft { kind: None, ..draft(&text(&other)) });
            let words = entry.words().clone();
            world.save(entry);
            kept(words)
        }
        _ => kept(words),
    }
}

fn counted(visible: &[&Kept], query: &QueryWords) -> CorpusStats {
    let holding = |term| visible.iter().filter(|kept| kept.words.term_frequency(term) > 0).count() as u32;
    CorpusStats {
        docs: visible.len() as u64,
        total_len: visible.iter().map(|kept| u64::from(kept.words.len)).sum(),
        df: query.terms.iter().map(|term| holding(term.term)).collect(),
    }
}

fn score(kept: &Kept, query: &QueryWords, stats: &CorpusStats) -> f64 {
    let weights = TextWeights::default();
    let terms = query.terms.iter().zip(&stats.df).map(|(term, df)| (term, *df, kept.words.term_frequency(term.term)));
    terms
        .filter(|(.., tf)| *tf > 0)
        .map(|(term, df, tf)| bm25_term_score(term, df, tf, kept.words.len, stats, &weights))
        .sum()
}

fn check(backend: &dyn Backend, world: &World<'_>, all: &[Kept], asked: &Asked) -> Result<(), TestCaseError> {
    let readable = if asked.narrow { seen_by(world.tenant, CONVERSATIONS[0]) } else { world.all() };
    let visible: Vec<&Kept> = all.iter().filter(|kept| !asked.narrow || kept.conversation == 0).collect();
    let query = words::parse_query(&text(&asked.words));
    let stats = counted(&visible, &query);
    let mut best: Vec<f64> = visible.iter().map(|kept| score(kept, &query, &stats)).filter(|s| *s > 0.0).collect();
    best.sort_by(|one, other| other.total_cmp(one));
    let find = CandidateQuery { words: query.clone(), pool: BEST, ..CandidateQuery::default() };
    let found = backend.find_candidates(&readable, &find).expect("finds");
    prop_assert_eq!(&found.stats.df, &stats.df);
    prop_assert_eq!((found.stats.docs, found.stats.total_len), (stats.docs, stats.total_len));
    prop_assert_eq!(found.candidates.len(), best.len().min(BEST));
    for (place, (candidate, best)) in found.candidates.iter().zip(&best).enumerate() {
        let kept = visible.iter().find(|kept| kept.id == candidate.memory.id);
        let score = kept.map(|kept| score(kept, &query, &stats)).unwrap_or_default();
        prop_assert!((score - best).abs() < TOLERANCE, "place {}: {} is found, {} is the best", place, score, best);
    }
    Ok(())
}

fn holds(backend: &Arc<dyn Backend>, cases: u32, memories_max: usize) {
    let number = AtomicU64::new(1);
    let mut runner =
        TestRunner::new(Config { cases, max_shrink_iters: 64, failure_persistence: None, ..Config::default() });
    let story = (prop::collection::vec(written(), 1..memories_max), prop::collection::vec(asked(), 1..12));
    let outcome = runner.run(&story, |(story, questions)| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let world = World::of_tenant(&**backend, &format!("exhaustive-{number}"), number);
        let mut kept: Vec<Kept> = Vec::new();
        for (at, written) in story.iter().enumerate() {
            kept.extend(write(&world, written));
            // In the middle as well: what is written after the first search is found too.
            if at == story.len() / 2 {
                check(&**backend, &world, &kept, &questions[0])?;
            }
        }
        questions.iter().try_for_each(|asked| check(&**backend, &world, &kept, asked))
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn the_ten_found_by_words_are_the_best_of_all_on_sqlite() {
    holds(&open_sqlite(&Location::Memory, &SqliteOptions::default()).expect("opens"), 24, 300);
}

#[test]
fn the_ten_found_by_words_are_the_best_of_all_without_an_index() {
    let options = SqliteOptions { recall_bytes_max: 0, ..SqliteOptions::default() };
    holds(&open_sqlite(&Location::Memory, &options).expect("opens"), 12, 300);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn the_ten_found_by_words_are_the_best_of_all_on_postgres() {
    let server = server();
    let database = Database::fresh(&server);
    holds(&database.open(), 6, 80);
}
