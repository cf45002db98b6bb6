//! Both backends, asked the same, answer the same: candidates, their order, words, vectors and statistics; and what the
//! engine makes of them: hits, their order and every part of their scores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::model::caller::Caller;
use engine::model::id::uuid_v7;
use engine::model::limits::Neighbours;
use engine::model::memory::Draft;
use engine::model::vocabulary::{Kind, Operation, Ranker, State};
use engine::ports::{
    Backend, Calibration, CandidateQuery, Clock, EmbedError, Embedder, Filter, PageRequest, SortOrder,
};
use engine::text::words;
use engine::{Engine, SearchQuery, Settings};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Location, SqliteOptions, open_sqlite};

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
    session: Option<u8>,
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
    /// How far turns beside the best are looked for.
    reach: Option<u32>,
}

fn written() -> impl Strategy<Value = Written> {
    let words = prop::collection::vec(0..WORDS.len(), 1..9);
    let vector = prop::option::weighted(0.8, any::<[i8; 4]>());
    (0..CONVERSATIONS.len(), words, vector, any::<bool>(), 0..10_u8, prop::option::weighted(0.7, 0..2_u8)).prop_map(
        |(conversation, words, vector, runbook, fate, session)| Written {
            conversation,
            words,
            vector,
            runbook,
            fate,
            session,
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    let words = prop::collection::vec(0..WORDS.len(), 0..4);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    let substring = prop::option::weighted(0.3, 0..WORDS.len());
    (words, prop::option::of(any::<[i8; 4]>()), 1..12_usize, flags, substring, prop::option::weighted(0.6, 1..3_u32))
        .prop_map(|(words, vector, pool, (narrow, waiting, notes_only, past), substring, reach)| Asked {
            newest: words.is_empty(),
            words,
            vector,
            pool,
            narrow,
            waiting,
            notes_only,
            substring,
            past,
            reach,
        })
}

fn text(words: &[usize]) -> String {
    words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ")
}

fn values(vector: [i8; 4]) -> Option<Vec<f32>> {
    (vector != [0; 4]).then(|| vector.map(f32::from).to_vec())
}

/// Writes the story into a tenant of its own and answers everything asked, as text to compare.
fn answers(
    backend: &Arc<dyn Backend>,
    number: u64,
    story: &[Written],
    questions: &[Asked],
    vectors: bool,
) -> Vec<String> {
    let world = World::of_tenant(&**backend, &format!("parity-{number}"), number);
    let mut middle = world.now();
    for (at, written) in story.iter().enumerate() {
        if at == story.len() / 2 {
            middle = world.now();
        }
        write(&world, written, at as u32);
    }
    let mut answers: Vec<String> = Vec::new();
    for asked in questions {
        let readable = if asked.narrow { seen_by(world.tenant, CONVERSATIONS[0]) } else { world.all() };
        let states = if asked.waiting { vec![State::Active, State::Constrained] } else { Vec::new() };
        let kinds = if asked.notes_only { vec![Kind::ConversationNote] } else { Vec::new() };
        let filter = Filter { states, kinds, as_of: asked.past.then_some(middle), ..Filter::default() };
        let vector = asked.vector.filter(|_| vectors).and_then(values).map(|values| embedding("parity", &values));
        let find = CandidateQuery {
            filter: filter.clone(),
            words: words::parse_query(&text(&asked.words)),
            substring: asked.substring.map(|at| WORDS[at].to_lowercase()),
            vector,
            pool: asked.pool,
            newest: asked.newest,
            always_include: Vec::new(),
            neighbours: asked.reach.map(|reach| Neighbours { of_best: 5, reach }),
            weights: Default::default(),
        };
        let mut found = backend.find_candidates(&readable, &find).expect("finds");
        if asked.past {
            // The past has no order of its own; ranking gives it one.
            found.candidates.sort_by_key(|candidate| candidate.memory.id);
        }
        answers.push(format!("{find:?} -> {found:#?}"));
        for order in [SortOrder::Path, SortOrder::Newest, SortOrder::Oldest, SortOrder::Fading] {
            let page = PageRequest { order, after: None, limit: asked.pool };
            answers.push(format!("{:#?}", backend.list_memories(&readable, &filter, &page).expect("lists")));
        }
    }
    answers.extend(questions.iter().map(|asked| ranked(backend, &world, asked, vectors)));
    answers.push(format!("{:#?}", backend.events_after(world.tenant, 0, 1_000).expect("reads")));
    answers
}

/// What a caller gets, with neighbours and everything the session says.
fn ranked(backend: &Arc<dyn Backend>, world: &World<'_>, asked: &Asked, vectors: bool) -> String {
    let (clock, embedder) = (Arc::new(Ticking(AtomicU64::new(0))), Arc::new(Letters));
    let engine = Engine::new(backend.clone(), embedder, clock, Settings::default());
    let caller = if asked.narrow { world.agent(CONVERSATIONS[0]) } else { Caller::admin(world.tenant) };
    let mut said = String::new();
    for ranker in Ranker::ALL {
        let query = SearchQuery {
            text: text(&asked.words),
            limit: Some(asked.pool),
            ranker: Some(*ranker),
            words_only: !vectors,
            ..SearchQuery::default()
        };
        said += &format!("{ranker:?} {:#?}\n", engine.search(&caller, &query).expect("searches"));
        // What this recall counts is there for the next one.
        backend.flush().expect("writes");
    }
    said
}

/// Equal on both sides: a second later at every look.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.fetch_add(1, Ordering::Relaxed) as i64).expect("in range")
    }

    fn fresh_id(&self) -> uuid::Uuid {
        uuid_v7(self.now().as_microsecond(), [3; 10])
    }
}

/// A model that counts letters.
struct Letters;

impl Embedder for Letters {
    fn model(&self) -> &str {
        "parity"
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let mut counts = [0.5_f32; 4];
            text.bytes().for_each(|byte| counts[usize::from(byte % 4)] += 1.0);
            let length = counts.iter().map(|value| value * value).sum::<f32>().sqrt();
            counts.iter().map(|value| value / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn calibration(&self) -> Calibration {
        Calibration { unrelated: 0.1, same: 0.9 }
    }
}

fn write(world: &World<'_>, written: &Written, turn: u32) {
    let kind = if written.runbook { Kind::Runbook } else { Kind::ConversationNote };
    let session = written.session.map(|session| format!("s{session}"));
    let turn = session.as_ref().map(|_| turn);
    let draft = Draft { kind: Some(kind), session, turn, ..draft(&text(&written.words)) };
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

/// A find so narrow that a way of finding brings more than its own best: only the best have neighbours.
fn narrow() -> (Vec<Written>, Vec<Asked>) {
    let turn = |words: &[usize], session: Option<u8>| Written {
        conversation: 0,
        words: words.to_vec(),
        vector: Some([1, 2, 3, 4]),
        runbook: false,
        fate: 9,
        session,
    };
    let story = vec![turn(&[1], Some(1)), turn(&[0, 1], Some(1)), turn(&[1], None), turn(&[5, 5], Some(0))];
    let asked = |words: &[usize], vector| Asked {
        words: words.to_vec(),
        vector,
        pool: 1,
        narrow: false,
        waiting: false,
        notes_only: false,
        newest: false,
        substring: Some(0),
        past: false,
        reach: Some(1),
    };
    (story, vec![asked(&[5, 1], None), asked(&[5], Some([1, 2, 3, 4])), asked(&[], Some([4, 3, 2, 1]))])
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn both_backends_give_the_same_answers() {
    let server = server();
    let database = Database::fresh(&server);
    let postgres = database.open();
    let sqlite = open_sqlite(&Location::Memory, &SqliteOptions::default()).expect("opens");
    let vectors = has_vectors(&*postgres);
    let number = AtomicU64::new(1);
    let agree = |(story, questions): (Vec<Written>, Vec<Asked>)| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let of_sqlite = answers(&sqlite, number, &story, &questions, vectors);
        let of_postgres = answers(&postgres, number, &story, &questions, vectors);
        for (sqlite, postgres) in of_sqlite.iter().zip(&of_postgres) {
            prop_assert_eq!(sqlite, postgres);
        }
        Ok(())
    };
    agree(narrow()).unwrap_or_else(|failure| panic!("{failure}"));
    let mut runner =
        TestRunner::new(Config { cases: CASES, max_shrink_iters: 64, failure_persistence: None, ..Config::default() });
    let story = (prop::collection::vec(written(), 1..30), prop::collection::vec(asked(), 1..5));
    runner.run(&story, agree).unwrap_or_else(|failure| panic!("{failure}"));
}
