//! What takes its time meets others and dies in the middle: documents, and turns of one session.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::model::caller::Caller;
use engine::model::id::VersionId;
use engine::model::memory::Draft;
use engine::model::scope::Scope;
use engine::model::vocabulary::Kind;
use engine::ports::row::Paging;
use engine::ports::{Clock, Filter, SortOrder};
use engine::text::chunks::DocumentFormat;
use engine::{DocumentStatus, DocumentText, Engine, EraseTarget, IngestOutcome, QuarantineOutcome, Remembered, Turn};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::house::House;

/// A clock that does something else at one look.
struct Interrupted {
    clock: Arc<dyn Clock>,
    looks: AtomicUsize,
    at: usize,
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Clock for Interrupted {
    fn now(&self) -> Timestamp {
        if self.looks.fetch_add(1, Ordering::Relaxed) == self.at {
            (self.meanwhile)();
        }
        self.clock.now()
    }

    fn fresh_id(&self) -> Uuid {
        self.clock.fresh_id()
    }
}

/// This engine, with something happening at its so manieth look at the clock.
fn interrupted(engine: &Engine, at: usize, meanwhile: impl Fn() + Send + Sync + 'static) -> (Engine, Arc<Interrupted>) {
    let looks = AtomicUsize::new(0);
    let clock = Arc::new(Interrupted { clock: engine.clock.clone(), looks, at, meanwhile: Box::new(meanwhile) });
    (engine.with_clock(clock.clone()), clock)
}

fn document(path: &str, word: &str, sections: usize, status: DocumentStatus) -> DocumentText {
    let section =
        |number| format!("# {word} {number}\n\n{}\n\n", format!("{word} is told of here {number}. ").repeat(50));
    let text = (1..=sections).map(section).collect();
    let (path, status) = (path.to_owned(), Some(status));
    DocumentText { path, text, format: DocumentFormat::Markdown, category: None, status, source: None }
}

/// Contents of a document's chunks in a store.
fn standing(engine: &Engine, admin: &Caller, store: &str, path: &str) -> Vec<String> {
    let path_prefix = Some(format!("{path}#"));
    let filter = Filter { stores: vec![store.to_owned()], path_prefix, ..Filter::default() };
    let found = engine.list(admin, filter, SortOrder::Path, None, Some(100)).expect("a list");
    found.memories.into_iter().map(|memory| memory.content).collect()
}

/// Asserts that exactly the chunks of `given` are stored, and that its record agrees.
fn stands(engine: &Engine, admin: &Caller, given: &DocumentText, sections: usize, when: &str) {
    let chunks = standing(engine, admin, "knowledge_base", &given.path);
    let all = chunks.iter().all(|chunk| given.text.contains(chunk.lines().last().expect("a line")));
    assert!(all && chunks.len() == sections, "{when}: {} chunks of {sections}", chunks.len());
    assert_eq!(standing(engine, admin, "knowledge_drafts", &given.path), Vec::<String>::new(), "{when}");
    let again = engine.ingest(admin, given).expect("an answer");
    assert_eq!((again.outcome, again.document.chunks), (IngestOutcome::Unchanged, sections), "{when}");
}

/// What readers find of a document: the chunks of the old text, all two of them, or the four of the new one.
fn is_one_text(engine: &Engine, admin: &Caller, path: &str, when: &str) {
    let listed = standing(engine, admin, "knowledge_base", path);
    let hits = engine.search_knowledge(admin, "is told of here", &[], Some(100)).expect("hits");
    let of_path = |path_of: &Option<String>| path_of.as_ref().is_some_and(|of| of.starts_with(&format!("{path}#")));
    let found: Vec<String> =
        hits.hits.into_iter().map(|hit| hit.memory).filter(|m| of_path(&m.path)).map(|m| m.content).collect();
    for seen in [listed, found] {
        let of = |word: &str| seen.iter().filter(|chunk| chunk.starts_with(word)).count();
        assert!(matches!((of("old"), of("new"), seen.len()), (2, 0, 2) | (0, 4, 4)), "{when}: {seen:?}");
    }
    let record = engine.documents_at(admin, &[path.to_owned()]).expect("an answer").pop().expect("a record");
    assert_eq!(record.chunks, standing(engine, admin, "knowledge_base", path).len(), "{when}");
    assert_ne!(record.sha256, "", "{when}");
}

const PUBLISHED: DocumentStatus = DocumentStatus::Published;

/// Number of clock reads while a document of two sections is replaced by one of four.
fn looks(engine: &Engine, admin: &Caller) -> usize {
    let (watched, clock) = interrupted(engine, usize::MAX, || ());
    engine.ingest(admin, &document("watched", "old", 2, PUBLISHED)).expect("taken");
    watched.ingest(admin, &document("watched", "new", 4, PUBLISHED)).expect("taken");
    clock.looks.load(Ordering::Relaxed)
}

#[test]
fn an_ingestion_that_dies_is_taken_up_by_the_next() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    for at in 0..looks(engine, &admin) {
        for (word, sections) in [("new", 4), ("old", 2)] {
            let (path, when) = (format!("{word}/{at}"), format!("{word}, broken off at look {at}"));
            engine.ingest(&admin, &document(&path, "old", 2, PUBLISHED)).expect("taken");
            let (mortal, _) = interrupted(engine, at, || resume_unwind(Box::new("dies")));
            let given = document(&path, "new", 4, PUBLISHED);
            assert!(catch_unwind(AssertUnwindSafe(|| mortal.ingest(&admin, &given))).is_err(), "{when}");
            is_one_text(engine, &admin, &path, &when);
            let given = document(&path, word, sections, PUBLISHED);
            engine.ingest(&admin, &given).expect("taken");
            stands(engine, &admin, &given, sections, &when);
        }
    }
}

#[test]
fn a_first_ingestion_that_dies_leaves_nothing_to_be_found() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    let mut died = 0;
    for at in 0.. {
        let given = document(&format!("first/{at}"), "new", 4, PUBLISHED);
        let (mortal, _) = interrupted(engine, at, || resume_unwind(Box::new("dies")));
        if catch_unwind(AssertUnwindSafe(|| mortal.ingest(&admin, &given))).is_ok() {
            break;
        }
        assert_eq!(standing(engine, &admin, "knowledge_base", &given.path), Vec::<String>::new(), "at look {at}");
        assert_eq!(engine.documents(&admin, &Paging::default()).expect("a list").items, [], "at look {at}");
        died += 1;
    }
    assert!(died > 3, "{died}");
}

#[test]
fn whoever_reads_during_an_ingestion_sees_one_text() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    for at in 0..looks(engine, &admin) {
        let (path, reader, caller) = (format!("read/{at}"), engine.clone(), admin.clone());
        engine.ingest(&admin, &document(&path, "old", 2, PUBLISHED)).expect("taken");
        let (read, when) = (path.clone(), format!("read at look {at}"));
        let (slow, _) = interrupted(engine, at, move || is_one_text(&reader, &caller, &read, &when));
        slow.ingest(&admin, &document(&path, "new", 4, PUBLISHED)).expect("taken");
        stands(engine, &admin, &document(&path, "new", 4, PUBLISHED), 4, "read");
        engine.ingest(&admin, &document(&path, "gone", 0, PUBLISHED)).expect("taken");
    }
}

#[test]
fn of_two_who_ingest_a_document_the_later_one_has_it() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    let mut overtaken = 0;
    for at in 0..looks(engine, &admin) {
        let (path, when) = (at.to_string(), format!("overtaken at look {at}"));
        engine.ingest(&admin, &document(&path, "old", 2, PUBLISHED)).expect("taken");
        let (other, theirs, caller) = (engine.clone(), document(&path, "other", 3, PUBLISHED), admin.clone());
        let later = theirs.clone();
        let (slow, _) = interrupted(engine, at, move || drop(other.ingest(&caller, &later).expect("taken")));
        let ours = document(&path, "new", 4, PUBLISHED);
        match slow.ingest(&admin, &ours) {
            // Theirs was done before ours began.
            Ok(_) => stands(engine, &admin, &ours, 4, &when),
            Err(error) => {
                assert_eq!(error.code(), "conflict.overtaken", "{when}: {error}");
                stands(engine, &admin, &theirs, 3, &when);
                overtaken += 1;
            }
        }
    }
    assert!(overtaken > 3, "{overtaken}");
}

#[test]
fn a_removal_takes_all_of_a_document_or_nothing() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    let mut overtaken = 0;
    for at in 0.. {
        let (path, when) = (format!("removed/{at}"), format!("overtaken at look {at}"));
        engine.ingest(&admin, &document(&path, "old", 2, PUBLISHED)).expect("taken");
        let (other, theirs, caller) = (engine.clone(), document(&path, "new", 4, PUBLISHED), admin.clone());
        let later = theirs.clone();
        let (slow, clock) = interrupted(engine, at, move || drop(other.ingest(&caller, &later).expect("taken")));
        match slow.remove_document(&admin, &path) {
            Ok(removed) => {
                assert_eq!(standing(engine, &admin, "knowledge_base", &path), Vec::<String>::new(), "{when}");
                assert_eq!(
                    engine.documents(&admin, &Paging::default()).expect("a list").items.len(),
                    overtaken,
                    "{when}"
                );
                assert_eq!(removed.archived, removed.document.chunks as u64, "{when}");
            }
            Err(error) => {
                assert_eq!(error.code(), "conflict.overtaken", "{when}: {error}");
                stands(engine, &admin, &theirs, 4, &when);
                overtaken += 1;
            }
        }
        if clock.looks.load(Ordering::Relaxed) <= at {
            break;
        }
    }
    assert!(overtaken > 1, "{overtaken}");
}

#[test]
fn a_draft_is_published_whole() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    let draft = |path: &str| document(path, "new", 4, DocumentStatus::Draft);
    let (mut unknown, mut republished) = (0, 0);
    for at in 0.. {
        let path = format!("ingested/{at}");
        let (mortal, _) = interrupted(engine, at, || resume_unwind(Box::new("dies")));
        if catch_unwind(AssertUnwindSafe(|| mortal.ingest(&admin, &draft(&path)))).is_ok() {
            break;
        }
        match engine.publish(&admin, &path) {
            Ok(done) => assert_eq!(done.document.chunks, 4, "broken off at look {at}"),
            Err(error) => {
                assert_eq!(error.code(), "not_found", "broken off at look {at}: {error}");
                unknown += 1;
            }
        }
    }
    for at in 0.. {
        let path = format!("published/{at}");
        engine.ingest(&admin, &draft(&path)).expect("taken");
        let (mortal, _) = interrupted(engine, at, || resume_unwind(Box::new("dies")));
        if catch_unwind(AssertUnwindSafe(|| mortal.publish(&admin, &path))).is_ok() {
            break;
        }
        let moved = ["knowledge_base", "knowledge_drafts"].map(|store| standing(engine, &admin, store, &path).len());
        assert!(matches!(moved, [0, 4] | [4, 0]), "broken off at look {at}: {moved:?}");
        let done = engine.publish(&admin, &path).expect("published");
        assert_eq!(done.document.chunks, 4, "broken off at look {at}");
        assert_eq!(standing(engine, &admin, "knowledge_base", &path).len(), 4);
        assert_eq!(standing(engine, &admin, "knowledge_drafts", &path).len(), 0);
        republished += 1;
    }
    assert!(unknown > 3 && republished > 3, "{unknown} {republished}");
}

/// A person saves to a place that was empty when the eraser looked.
#[test]
fn an_erasure_leaves_nothing_that_was_there_before_it() {
    let house = House::new();
    let (engine, ana, admin) = (&house.engine, Caller::user(house.tenant.id, "ana"), Caller::admin(house.tenant.id));
    let save = |engine: &Engine, ana: &Caller, store: &str| {
        let (store, content, kind) = (store.to_owned(), "prefers tea".to_owned(), Some(Kind::UserPreference));
        let saved = engine.remember(ana, Draft { store, content, kind, ..Draft::default() });
        assert!(matches!(saved, Ok(Remembered::Saved(_))), "{saved:?}");
    };
    save(engine, &ana, "user_memory");
    let (other, caller) = (engine.clone(), ana.clone());
    let (slow, clock) = interrupted(engine, 0, move || save(&other, &caller, "user_notes"));
    let what = EraseTarget::User("ana".to_owned());
    slow.erase(&admin, &what, Some("asked".to_owned()), true).expect("erased");
    assert!(clock.looks.load(Ordering::Relaxed) > 0, "after it looked for what there is");
    let left = engine.list(&ana, Filter::default(), SortOrder::Oldest, None, Some(100)).expect("a list").memories;
    assert!(!left.iter().any(|memory| matches!(memory.scope, Scope::User { .. })), "{left:?}");
}

#[test]
fn a_release_that_loses_a_race_releases_the_rest() {
    let house = House::new();
    let (engine, admin) = (&house.engine, Caller::admin(house.tenant.id));
    let save = |content: &str, derived_from: Vec<VersionId>| {
        let (store, kind) = ("workspace_runbooks".to_owned(), Some(Kind::Runbook));
        let draft = Draft { store, kind, content: content.to_owned(), derived_from, ..Draft::default() };
        match engine.remember(&admin, draft) {
            Ok(Remembered::Saved(saved)) => saved.memory,
            other => panic!("{other:?}"),
        }
    };
    let source = save("the queue holds ten jobs", Vec::new());
    let derived = save("ten jobs wait at most", vec![source.version]);
    engine.quarantine(&admin, source.id, true, None).expect("held back");
    // Another caller forgets one of the two after the release has planned for both.
    let (other, caller) = (engine.clone(), admin.clone());
    let (slow, clock) =
        interrupted(engine, 0, move || drop(other.forget(&caller, derived.id, None).expect("forgotten")));
    let released = match slow.release(&admin, source.id, None) {
        Ok(QuarantineOutcome::Done(reach)) => reach.memories,
        other => panic!("{other:?}"),
    };
    assert!(clock.looks.load(Ordering::Relaxed) > 1, "it planned twice");
    assert_eq!(released.iter().map(|memory| memory.id).collect::<Vec<_>>(), [source.id]);
}

#[test]
fn turns_sent_at_once_have_a_number_each() {
    let house = House::new();
    let agent = house.agent("triage");
    std::thread::scope(|scope| {
        for sender in 0..8 {
            let (house, agent) = (&house, &agent);
            scope.spawn(move || {
                for message in 0..4 {
                    let said = |part: &str| json!({ "role": "user", "content": format!("{sender} {message} {part}") });
                    let turns = json!({ "session": "s1", "turns": [said("asks"), said("adds")] });
                    let reply = house.ask_as(agent, "POST", "/v1/episodes").json(&turns).send();
                    assert_eq!(reply.json()["saved"], json!(2), "{}", reply.body);
                }
            });
        }
    });
    let caller = Caller::admin(house.tenant.id);
    let filter = Filter { stores: vec!["episodes".to_owned()], ..Filter::default() };
    let all = house.engine.list(&caller, filter, SortOrder::Oldest, None, Some(100)).expect("a list").memories;
    let mut turns: Vec<(u32, String)> =
        all.into_iter().map(|memory| (memory.turn.expect("a number"), memory.content)).collect();
    turns.sort();
    assert_eq!(turns.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
    for pair in turns.chunks(2) {
        let (asks, adds) = (&pair[0].1, &pair[1].1);
        assert_eq!(asks.replace("asks", "adds"), *adds, "what was sent together stays together");
    }
}

#[test]
fn a_number_the_host_names_is_kept() {
    let house = House::new();
    let agent = Caller { agent: Some("triage".to_owned()), ..Caller::admin(house.tenant.id) };
    let turn = |number| Turn { content: format!("says {number:?}"), turn: number, ..Turn::default() };
    let numbers = |turns: Vec<Turn>| {
        let saved = house.engine.remember_turns(&agent, "s1", &turns).expect("saved");
        let number = |one: Remembered| match one {
            Remembered::Saved(saved) => saved.memory.turn,
            Remembered::Refused(refusal) => panic!("{refusal:?}"),
        };
        saved.into_iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(vec![turn(None), turn(Some(7)), turn(None)]), [Some(1), Some(7), Some(8)]);
    assert_eq!(numbers(vec![turn(Some(3)), turn(None)]), [Some(3), Some(4)]);
    assert_eq!(numbers(vec![turn(None)]), [Some(9)]);
}
