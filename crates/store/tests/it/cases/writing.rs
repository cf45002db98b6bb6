use std::sync::Arc;

use engine::model::error::StoreError;
use engine::model::guard::Guard;
use engine::model::memory::Draft;
use engine::model::row::RowKind;
use engine::model::vocabulary::{Operation, State};
use engine::ports::change::Write;
use engine::ports::{Address, Backend};

use crate::cases::finding::{sorted, words_find};
use crate::cases::records::row;
use crate::world::*;

fn guard_of(error: StoreError) -> Guard {
    match error {
        StoreError::Guard(guard) => guard,
        other => panic!("a guard should have failed, not: {other}"),
    }
}

pub(crate) fn a_memory_is_read_back_as_it_was_written(backend: &dyn Backend) {
    let world = World::new(backend);
    let mut draft = at_path("notes/nginx", "nginx crashlooped\nbad upstream, «тест» 日本");
    draft.title = Some("Nginx".to_owned());
    draft.tags = Some(vec!["k8s".to_owned(), "nginx".to_owned()]);
    draft.session = Some("s1".to_owned());
    draft.importance = Some(0.25);
    let memory = world.save(world.entry("c1", draft));
    assert_eq!(world.get(memory.id), Some(memory.clone()));
    let place = conversation_place("c1");
    let by_path = Address::Path { place: place.clone(), path: "notes/nginx".to_owned() };
    assert_eq!(backend.get_memory(&world.all(), &by_path).unwrap(), Some(memory.clone()));
    let without_path = world.remember("c1", "no path leads here");
    for (memory, expected) in [(&memory, None), (&without_path, Some(without_path.clone()))] {
        let by_hash = Address::Hash { place: place.clone(), sha256: memory.sha256.clone() };
        assert_eq!(backend.get_memory(&world.all(), &by_hash).unwrap(), expected, "{by_hash:?}");
    }
    let elsewhere = Address::Path { place: conversation_place("c2"), path: "notes/nginx".to_owned() };
    assert_eq!(backend.get_memory(&world.all(), &elsewhere).unwrap(), None);
}

pub(crate) fn a_taken_path_or_hash_is_a_failed_guard(backend: &dyn Backend) {
    let world = World::new(backend);
    let first = world.save(world.entry("c1", at_path("a/b", "at a path")));
    let second = world.remember("c1", "first");
    let check = |conversation: &str, draft, guards: Vec<Guard>, expected: Option<Guard>| {
        let entry = world.entry(conversation, draft);
        let mut change = world.change().with_write(Write::Entry(Box::new(entry)));
        change.guards = guards;
        assert_eq!(backend.commit(change.scanned()).err().map(guard_of), expected);
    };
    let path = |c: &str| Guard::PathFree { place: conversation_place(c), path: "a/b".to_owned() };
    let hash = |c: &str| Guard::HashFree { place: conversation_place(c), sha256: second.sha256.clone() };
    check("c1", at_path("a/b", "second"), vec![path("c1")], Some(path("c1")));
    check("c1", draft("first"), vec![hash("c1")], Some(hash("c1")));
    // Even an engine that forgot to ask cannot put two memories at one path.
    check("c1", at_path("a/b", "third"), vec![], Some(path("c1")));
    check("c2", at_path("a/b", "first"), vec![path("c2"), hash("c2")], None);
    for gone in [&first, &second] {
        world.save(world.transition(gone, Operation::Forget, |memory| memory.state = State::Tombstoned));
    }
    check("c1", at_path("a/b", "first"), vec![path("c1"), hash("c1")], None);
}

pub(crate) fn a_failed_guard_writes_nothing(backend: &dyn Backend) {
    let world = World::new(backend);
    let memory = world.remember("c1", "one");
    let before = backend.last_event_seq(world.tenant).unwrap();
    let stale = Guard::VersionIs { memory: memory.id, version: engine::model::id::VersionId(world.fresh()) };
    let entry = world.entry("c1", draft("two"));
    let id = entry.memory().id;
    let event =
        engine::model::event::EventBody::new(engine::model::event::EventName::Search, &world.agent("c1"), world.now());
    let change = world.change().with_guard(stale.clone()).with_write(Write::Entry(Box::new(entry))).with_event(event);
    assert_eq!(guard_of(backend.commit(change.scanned()).unwrap_err()), stale);
    assert_eq!(world.get(id), None);
    assert_eq!(backend.last_event_seq(world.tenant).unwrap(), before);
    assert_eq!(backend.place_state(world.tenant, &conversation_place("c1")).unwrap().live, 1);
}

/// Many changes are submitted before the first answer; each callback gets its own result.
pub(crate) fn what_is_submitted_is_answered_once_it_is_written(backend: &dyn Backend) {
    let world = World::new(backend);
    let taken = world.remember("c1", "start");
    let stale = Guard::VersionIs { memory: taken.id, version: engine::model::id::VersionId(world.fresh()) };
    let (told, heard) = std::sync::mpsc::channel();
    let mut ids = Vec::new();
    for i in 0..20 {
        let entry = world.entry("c1", draft(&format!("note {i}")));
        ids.push(entry.memory().id);
        let change = world.change().with_write(Write::Entry(Box::new(entry)));
        let change = if i % 2 == 1 { change.with_guard(stale.clone()) } else { change };
        let told = told.clone();
        backend.submit(Arc::new(change.scanned()), Box::new(move |done| told.send((i, done.is_ok())).unwrap()));
    }
    drop(told);
    let mut answers: Vec<(usize, bool)> = heard.iter().collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..20).map(|i| (i, i % 2 == 0)).collect::<Vec<_>>());
    for (i, id) in ids.into_iter().enumerate() {
        assert_eq!(world.get(id).is_some(), i % 2 == 0, "note {i}");
    }
}

pub(crate) fn of_64_patchers_one_wins(backend: &dyn Backend) {
    let world = World::new(backend);
    let memory = world.remember("c1", "start");
    let entries: Vec<_> = (0..64).map(|i| world.revised(&memory, draft(&format!("patch {i}")))).collect();
    let guard = Guard::VersionIs { memory: memory.id, version: memory.version };
    let change = |entry| world.change().with_guard(guard.clone()).with_write(Write::Entry(Box::new(entry)));
    let changes: Vec<_> = entries.into_iter().map(change).collect();
    let wins: usize = std::thread::scope(|threads| {
        let running: Vec<_> = changes
            .into_iter()
            .map(|change| threads.spawn(|| usize::from(backend.commit(change.scanned()).is_ok())))
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(wins, 1);
    assert_eq!(world.get(memory.id).unwrap().version_number, 2);
    assert_eq!(backend.list_versions(&world.all(), memory.id, None, 100).unwrap().len(), 2);
}

pub(crate) fn what_fails_among_others_fails_alone(backend: &dyn Backend) {
    let world = World::new(backend);
    world.save(world.entry("c1", at_path("a/b", "was here first")));
    let written = |entry| Write::Entry(Box::new(entry));
    let whole = |i: usize| world.change().with_write(written(world.entry("c1", draft(&format!("whole {i}")))));
    // Fails at its second write, with the first one done.
    let half = |i: usize| {
        let first = world.entry("c1", draft(&format!("half {i}")));
        let second = world.entry("c1", at_path("a/b", &format!("too late {i}")));
        world.change().with_write(written(first)).with_write(written(second))
    };
    let changes: Vec<_> = (0..64).map(|i| if i % 8 == 3 { half(i) } else { whole(i) }).collect();
    let done: Vec<bool> = std::thread::scope(|threads| {
        let running: Vec<_> =
            changes.into_iter().map(|change| threads.spawn(|| backend.commit(change.scanned()).is_ok())).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(done, (0..64).map(|i| i % 8 != 3).collect::<Vec<_>>());
    let page = engine::ports::PageRequest { order: engine::ports::SortOrder::Newest, after: None, limit: 100 };
    let stand = backend.list_memories(&world.all(), &Default::default(), &page).unwrap();
    assert_eq!(stand.iter().filter(|memory| memory.content.starts_with("whole")).count(), 56);
    assert_eq!(stand.len(), 57);
    assert_eq!(backend.place_state(world.tenant, &conversation_place("c1")).unwrap().live, 57);
}

pub(crate) fn versions_are_contiguous_and_newest_first(backend: &dyn Backend) {
    let world = World::new(backend);
    let mut memory = world.remember("c1", "text 1");
    for number in 2..=5 {
        memory = world.save(world.revised(&memory, draft(&format!("text {number}"))));
    }
    let versions = backend.list_versions(&world.all(), memory.id, None, 100).unwrap();
    assert_eq!(versions.iter().map(|v| v.number).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
    for pair in versions.windows(2) {
        assert_eq!(pair[0].previous, Some(pair[1].id));
    }
    let first = versions.last().unwrap();
    assert_eq!((first.previous, first.operation, first.actor.as_str()), (None, Operation::Create, "agent:triage"));
    assert_eq!(first.memory.content, "text 1");
    assert_eq!(first.evidence[0].summary, "tool call 17");
    assert_eq!(first.reason.as_deref(), Some("because"));
    assert_eq!(first.conversation.as_deref(), Some("c1"));
    let page = backend.list_versions(&world.all(), memory.id, Some(4), 2).unwrap();
    assert_eq!(page.iter().map(|v| v.number).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(backend.get_version(&world.all(), first.id).unwrap().as_ref(), Some(first));
    // A version whose predecessor is not the current version lost a race.
    let stale = world.revised(&versions[2].memory, draft("late"));
    let error = backend.commit(world.change().with_write(Write::Entry(Box::new(stale))).scanned()).unwrap_err();
    assert!(matches!(guard_of(error), Guard::VersionIs { .. }));
}

pub(crate) fn a_vector_stays_while_the_content_does(backend: &dyn Backend) {
    let world = World::new(backend);
    let entry = world.entry("c1", draft("text")).with_embedding(Some(embedding(MODEL, &[1.0, 0.0])));
    let memory = world.save(entry);
    let missing = |model: &str| -> Vec<_> {
        backend.list_unembedded(world.tenant, model, 10).unwrap().iter().map(|memory| memory.id).collect()
    };
    assert_eq!(missing(MODEL), []);
    assert_eq!(missing("other-model"), [memory.id]);
    let pinned = world.save(world.transition(&memory, Operation::Pin, |memory| memory.always_inject = true));
    assert_eq!(missing(MODEL), []);
    let revised = world.save(world.revised(&pinned, draft("other text")));
    assert_eq!(missing(MODEL), [memory.id]);
    world.save(world.transition(&revised, Operation::Archive, |memory| memory.state = State::Archived));
    assert_eq!(missing(MODEL), []);
}

pub(crate) fn a_late_vector_needs_its_version_to_stand(backend: &dyn Backend) {
    let world = World::new(backend);
    let memory = world.remember("c1", "text");
    let other = world.remember("c1", "more");
    let revised = world.save(world.revised(&memory, draft("newer")));
    let embed = |memory, version| {
        let embedding = embedding(MODEL, &[0.5, 0.5]);
        world.commit(world.change().with_write(Write::SetEmbedding { memory, version, embedding }));
    };
    let missing = || backend.list_unembedded(world.tenant, MODEL, 10).unwrap().len();
    embed(memory.id, memory.version);
    assert_eq!(missing(), 2);
    embed(memory.id, revised.version);
    assert_eq!(missing(), 1);
    embed(other.id, other.version);
    assert_eq!(missing(), 0);
    assert_eq!(world.get(memory.id).unwrap().version_number, 2, "a vector is not a change");
}

pub(crate) fn places_count_and_move(backend: &dyn Backend) {
    let world = World::new(backend);
    let place = conversation_place("c1");
    let state = || backend.place_state(world.tenant, &place).unwrap();
    assert_eq!(state(), Default::default());
    let mut seen = vec![state().generation];
    let first = world.remember("c1", "one");
    seen.push(state().generation);
    world.remember("c1", "two");
    seen.push(state().generation);
    assert_eq!(state().live, 2);
    world.remember("c2", "elsewhere");
    assert_eq!(state().generation, seen[2]);
    let archived = world.save(world.transition(&first, Operation::Archive, |memory| memory.state = State::Archived));
    seen.push(state().generation);
    assert_eq!(state().live, 1);
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");

    let check = |guard: Guard, holds: bool| {
        assert_eq!(backend.commit(world.change().with_guard(guard.clone()).scanned()).is_ok(), holds, "{guard:?}");
    };
    check(Guard::RoomLeft { place: place.clone(), live_max: 2 }, true);
    check(Guard::RoomLeft { place: place.clone(), live_max: 1 }, false);
    check(Guard::PlaceUnchanged { place: place.clone(), generation: seen[3] }, true);
    check(Guard::PlaceUnchanged { place: place.clone(), generation: seen[2] }, false);
    check(Guard::PlaceUnchanged { place: conversation_place("new"), generation: 0 }, true);
    world.save(world.transition(&archived, Operation::Restore, |memory| memory.state = State::Active));
    assert_eq!(state().live, 2);
}

pub(crate) fn turns_end_where_they_end(backend: &dyn Backend) {
    let world = World::new(backend);
    let turn = |conversation: &str, session: &str, number: u32| {
        let (session, turn) = (Some(session.to_owned()), Some(number));
        let draft = Draft { session, turn, ..draft(&format!("{conversation} says {number}")) };
        world.save(world.entry(conversation, draft))
    };
    let check = |conversation: &str, session: &str, turn: u32, holds: bool| {
        let guard = Guard::TurnsBefore { place: conversation_place(conversation), session: session.to_owned(), turn };
        assert_eq!(backend.commit(world.change().with_guard(guard.clone()).scanned()).is_ok(), holds, "{guard:?}");
    };
    check("c1", "s1", 1, true);
    turn("c1", "s1", 1);
    let last = turn("c1", "s1", 4);
    turn("c1", "s2", 9);
    turn("c2", "s1", 12);
    for (number, holds) in [(1, false), (2, false), (4, false), (5, true), (u32::MAX, true)] {
        check("c1", "s1", number, holds);
    }
    world.save(world.transition(&last, Operation::Archive, |memory| memory.state = State::Archived));
    check("c1", "s1", 2, true);
    check("c1", "s1", 1, false);
}

pub(crate) fn a_run_saves_so_many(backend: &dyn Backend) {
    let world = World::new(backend);
    let save = |run: &str| {
        let guard = Guard::RunSavesLeft { run: run.to_owned(), saves_max: 3 };
        backend
            .commit(world.change().with_guard(guard).with_write(Write::CountRunSave { run: run.to_owned() }).scanned())
            .is_ok()
    };
    let done: Vec<bool> = (0..5).map(|_| save("r1")).collect();
    assert_eq!(done, [true, true, true, false, false]);
    assert!(save("r2"));
}

/// Each of a group sees what those before it in the group did.
pub(crate) fn what_is_written_together_sees_each_other(backend: &dyn Backend) {
    let world = World::new(backend);
    let secret = world.remember("c1", "a secret to redact");
    let entry = |conversation: &str, text: &str| Write::Entry(Box::new(world.entry(conversation, draft(text))));
    let room = Guard::RoomLeft { place: conversation_place("c1"), live_max: 4 };
    let place = |name: &str| backend.place_state(world.tenant, &conversation_place(name)).unwrap();
    let unmoved = Guard::PlaceUnchanged { place: conversation_place("c1"), generation: place("c1").generation };
    let row_is = |state: Option<&str>| Guard::RowInState {
        kind: RowKind::Reviews,
        id: "a".to_owned(),
        state: state.map(str::to_owned),
    };
    let row = |state: &str| Write::Row(row(&world, "a", state, "", ""));
    let redact = Write::Redact { memory: secret.id, versions: vec![secret.version] };
    for change in [
        world.change().with_guard(room.clone()).with_write(entry("c1", "pear one")),
        world.change().with_guard(unmoved).with_write(entry("c1", "pear of a place that moved")),
        world.change().with_guard(row_is(None)).with_write(entry("c2", "pear elsewhere")),
        world.change().with_guard(room.clone()).with_guard(row_is(None)).with_write(entry("c1", "pear two")),
        world.change().with_write(redact),
        world.change().with_guard(row_is(None)).with_write(row("open")),
        world.change().with_guard(row_is(None)).with_write(entry("c1", "pear although the row is there")),
        world.change().with_guard(row_is(Some("open"))).with_guard(room.clone()).with_write(entry("c1", "pear three")),
        world.change().with_guard(room).with_write(entry("c1", "pear too many")),
        world.change().with_guard(row_is(Some("open"))).with_write(row("closed")),
        world.change().with_guard(row_is(Some("open"))).with_write(entry("c2", "pear although the row moved")),
    ] {
        backend.commit_later(change.scanned());
    }
    backend.flush().unwrap();
    assert_eq!((place("c1").live, place("c2").live), (4, 1));
    let found = backend.find_candidates(&world.all(), &words_find("pear secret")).unwrap();
    assert_eq!(sorted(&found), ["pear elsewhere", "pear one", "pear three", "pear two"]);
}

pub(crate) fn later_is_written_by_flush(backend: &dyn Backend) {
    let world = World::new(backend);
    let entries: Vec<_> = (0..20).map(|i| world.entry("c1", draft(&format!("later {i}")))).collect();
    for entry in entries {
        backend.commit_later(world.change().with_write(Write::Entry(Box::new(entry))).scanned());
    }
    backend.flush().unwrap();
    assert_eq!(backend.place_state(world.tenant, &conversation_place("c1")).unwrap().live, 20);
    // A guard that does not hold says that the change is not wanted any more: nobody needs to hear of it.
    let never = Guard::RoomLeft { place: conversation_place("c1"), live_max: 0 };
    backend.commit_later(world.change().with_guard(never).scanned());
    assert!(backend.flush().is_ok());
    // Another failure does not affect other changes, and the next flush reports it once.
    let nobody = engine::model::id::TenantId(world.fresh());
    backend.commit_later(engine::ports::change::Change::new(nobody, world.now()).scanned());
    world.remember("c1", "after");
    assert!(backend.flush().is_err());
    assert!(backend.flush().is_ok());
    assert_eq!(backend.place_state(world.tenant, &conversation_place("c1")).unwrap().live, 21);
}
