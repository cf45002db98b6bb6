//! Both backends, asked the same, answer the same: candidates, their order, words, vectors and statistics.
//! The engine ranks what it is given by a pure function, so hits, order and score parts follow.

use std::sync::atomic::{AtomicU64, Ordering};

use engine::memory::Draft;
use engine::ports::{Backend, Filter, Find, Order, Page};
use engine::vocabulary::{Kind, Operation, State};
use engine::words;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Location, Options, open_sqlite};

use crate::postgres::{Database, has_vectors, server};
use crate::world::{World, draft, embedding, seen_by};

const WORDS: [&str; 14] = [
    "deploy",
    "rollback",
    "payments-api",
    "CrashLoopBackOff",
    "Störung",
    "東京",
    "メモリ",
    "the",
    "apple",
    "apples",
    "kubectl",
    "0xdeadbeef",
    "db.internal",
    "naïve",
];
const CONVERSATIONS: [&str; 3] = ["c1", "c2", "c3"];
/// Stores are small, so a few dozen of them in a minute.
const CASES: u32 = 24;

#[derive(Debug, Clone)]
struct Written {
    conversation: usize,
    words: Vec<usize>,
    vector: Option<[i8; 4]>,
    runbook: bool,
    fate: u8,
}

#[derive(Debug, Clone)]
struct Asked {
    words: Vec<usize>,
    vector: Option<[i8; 4]>,
    pool: usize,
    narrow: bool,
    waiting: bool,
    notes_only: bool,
    newest: bool,
    substring: Option<usize>,
    past: bool,
}

fn written() -> impl Strategy<Value = Written> {
    let words = prop::collection::vec(0..WORDS.len(), 1..9);
    (0..CONVERSATIONS.len(), words, prop::option::weighted(0.8, any::<[i8; 4]>()), any::<bool>(), 0..10_u8)
        .prop_map(|(conversation, words, vector, runbook, fate)| Written { conversation, words, vector, runbook, fate })
}

fn asked() -> impl Strategy<Value = Asked> {
    let words = prop::collection::vec(0..WORDS.len(), 0..4);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (words, prop::option::of(any::<[i8; 4]>()), 1..12_usize, flags, prop::option::weighted(0.3, 0..WORDS.len()))
        .prop_map(|(words, vector, pool, (narrow, waiting, notes_only, past), substring)| Asked {
            newest: words.is_empty(),
            words,
            vector,
            pool,
            narrow,
            waiting,
            notes_only,
            substring,
            past,
        })
}

fn text(words: &[usize]) -> String {
    words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ")
}

fn values(vector: [i8; 4]) -> Option<Vec<f32>> {
    (vector != [0; 4]).then(|| vector.map(f32::from).to_vec())
}

/// Writes the story into a tenant of its own and answers everything asked, as text to compare.
fn answers(backend: &dyn Backend, number: u64, story: &[Written], questions: &[Asked], vectors: bool) -> Vec<String> {
    let world = World::of_tenant(backend, &format!("parity-{number}"), number);
    let mut middle = world.now();
    for (at, written) in story.iter().enumerate() {
        if at == story.len() / 2 {
            middle = world.now();
        }
        write(&world, written);
    }
    let mut answers: Vec<String> = Vec::new();
    for asked in questions {
        let readable = if asked.narrow { seen_by(world.tenant, CONVERSATIONS[0]) } else { world.all() };
        let states = if asked.waiting { vec![State::Active, State::Constrained] } else { Vec::new() };
        let kinds = if asked.notes_only { vec![Kind::ConversationNote] } else { Vec::new() };
        let filter = Filter { states, kinds, as_of: asked.past.then_some(middle), ..Filter::default() };
        let vector = asked.vector.filter(|_| vectors).and_then(values).map(|values| embedding("parity", &values));
        let find = Find {
            filter: filter.clone(),
            words: words::query(&text(&asked.words)),
            substring: asked.substring.map(|at| WORDS[at].to_lowercase()),
            vector,
            pool: asked.pool,
            newest: asked.newest,
            also: Vec::new(),
            neighbours: None,
        };
        let mut found = backend.find(&readable, &find).expect("finds");
        if asked.past {
            // The past has no order of its own; ranking gives it one.
            found.candidates.sort_by_key(|candidate| candidate.memory.id);
        }
        answers.push(format!("{find:?} -> {found:#?}"));
        for order in [Order::Path, Order::Newest, Order::Oldest, Order::Fading] {
            let page = Page { order, after: None, limit: asked.pool };
            answers.push(format!("{:#?}", backend.list(&readable, &filter, &page).expect("lists")));
        }
    }
    answers.push(format!("{:#?}", backend.events(world.tenant, 0, 1_000).expect("reads")));
    answers
}

fn write(world: &World<'_>, written: &Written) {
    let kind = if written.runbook { Kind::Runbook } else { Kind::ConversationNote };
    let draft = Draft { kind: Some(kind), ..draft(&text(&written.words)) };
    let vector = written.vector.and_then(values).map(|values| embedding("parity", &values));
    let memory = world.save(world.entry(CONVERSATIONS[written.conversation], draft).with_embedding(vector));
    // Most stay as they are.
    let fate = match written.fate {
        0 => (Operation::Forget, State::Tombstoned),
        1 => (Operation::Archive, State::Archived),
        2 | 3 => (Operation::Constrain, State::Constrained),
        4 => {
            let other = text(&written.words.iter().map(|at| (at + 5) % WORDS.len()).collect::<Vec<_>>());
            world.save(world.revised(&memory, Draft { kind: None, ..crate::world::draft(&other) }));
            return;
        }
        _ => return,
    };
    world.save(world.transition(&memory, fate.0, |memory| memory.state = fate.1));
}

#[test]
fn both_backends_give_the_same_answers() {
    let Some(server) = server() else { return };
    let database = Database::fresh(&server);
    let postgres = database.open();
    let sqlite = open_sqlite(&Location::Memory, &Options::default()).expect("opens");
    let vectors = has_vectors(&*postgres);
    let number = AtomicU64::new(1);
    let mut runner =
        TestRunner::new(Config { cases: CASES, max_shrink_iters: 64, failure_persistence: None, ..Config::default() });
    let story = (prop::collection::vec(written(), 1..30), prop::collection::vec(asked(), 1..5));
    runner
        .run(&story, |(story, questions)| {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let of_sqlite = answers(&*sqlite, number, &story, &questions, vectors);
            let of_postgres = answers(&*postgres, number, &story, &questions, vectors);
            for (sqlite, postgres) in of_sqlite.iter().zip(&of_postgres) {
                prop_assert_eq!(sqlite, postgres);
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
