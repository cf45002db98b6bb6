use engine::model::guard::Guard;
use engine::model::vocabulary::{Operation, State};
use engine::ports::change::Write;
use engine::ports::{Address, Backend, CandidateQuery, Filter};
use engine::text::words;

use crate::world::*;

pub(crate) fn redaction_takes_text_and_leaves_the_story(backend: &dyn Backend) {
    let world = World::new(backend);
    let mut first = tagged(&["secret-tag"], "first secret text");
    (first.title, first.path) = (Some("Secret title".to_owned()), Some("a/b".to_owned()));
    let first = world.save(world.entry("c1", first).with_embedding(Some(embedding(MODEL, &[1.0, 0.0]))));
    let second = world.save(world.revised(&first, draft("second secret text")));
    let redact = |versions| world.commit(world.change().with_write(Write::Redact { memory: first.id, versions }));

    redact(vec![first.version]);
    assert_eq!(world.get(first.id).unwrap().content, "second secret text", "only the named version");
    let old = backend.get_version(&world.all(), first.version).unwrap().unwrap();
    assert_eq!((old.memory.content.as_str(), old.memory.title.as_deref(), old.memory.tags.len()), ("", None, 0));
    assert!(old.redacted_at.is_some());
    assert_eq!((old.actor.as_str(), old.reason.as_deref(), old.number), ("agent:triage", Some("because"), 1));

    redact(vec![first.version, second.version]);
    let now = world.get(first.id).unwrap();
    assert_eq!((now.content.as_str(), now.title.as_deref(), now.tags.len()), ("", None, 0));
    assert_eq!(world.list(&Filter { tags: vec!["secret-tag".to_owned()], ..Filter::default() }), []);
    let find = CandidateQuery {
        filter: Filter::default(),
        words: words::parse_query("second secret text title"),
        substring: Some("secret".to_owned()),
        vector: Some(embedding(MODEL, &[1.0, 0.0])),
        pool: 10,
        newest: false,
        always_include: vec![],
        neighbours: None,
        weights: Default::default(),
    };
    assert!(backend.find_candidates(&world.all(), &find).unwrap().candidates.is_empty());
    // The memory keeps its id and can get a new version.
    let third = world.save(world.revised(&now, draft("third text")));
    assert_eq!(world.get(first.id).unwrap().content, "third text");
    assert_eq!(third.version_number, 3);
}

pub(crate) fn erasing_a_place_leaves_nothing(backend: &dyn Backend) {
    let world = World::new(backend);
    let gone = world.save(world.entry("c1", tagged(&["t"], "goes away")));
    let gone = world.save(world.revised(&gone, draft("goes away too")));
    let tombstoned = world.remember("c1", "already gone");
    world.save(world.transition(&tombstoned, Operation::Forget, |memory| memory.state = State::Tombstoned));
    let stays = world.remember("c2", "stays here");
    world.commit(world.change().with_write(Write::CountRecalls { memories: vec![gone.id], fading: vec![gone.id] }));
    let generation = backend.place_state(world.tenant, &conversation_place("c1")).unwrap().generation;

    // Something keeps a copy of the place before it goes.
    let find = |word: &str| {
        let find = CandidateQuery {
            filter: Filter::default(),
            words: words::parse_query(word),
            substring: None,
            vector: None,
            pool: 10,
            newest: true,
            always_include: vec![],
            neighbours: None,
            weights: Default::default(),
        };
        backend.find_candidates(&world.all(), &find).unwrap()
    };
    find("goes");
    let committed =
        backend.commit(world.change().with_write(Write::Erase { place: conversation_place("c1") }).scanned()).unwrap();
    assert_eq!(committed.erased_count, 2);
    assert_eq!(world.get(gone.id), None);
    assert_eq!(backend.list_versions(&world.all(), gone.id, None, 10).unwrap(), []);
    assert_eq!(backend.get_version(&world.all(), gone.version).unwrap(), None);
    assert_eq!(backend.place_state(world.tenant, &conversation_place("c1")).unwrap(), Default::default());
    assert!(find("goes").candidates.iter().all(|candidate| candidate.memory.id == stays.id));

    // A place of the same name starts anew.
    let fresh = world.remember("c1", "fresh start");
    let place = conversation_place("c1");
    assert!(backend.place_state(world.tenant, &place).unwrap().generation > generation);
    let guard = Guard::PlaceUnchanged { place: place.clone(), generation };
    assert!(backend.commit(world.change().with_guard(guard).scanned()).is_err());
    let by_hash = Address::Hash { place, sha256: fresh.sha256.clone() };
    assert_eq!(backend.get_memory(&world.all(), &by_hash).unwrap(), Some(fresh));
    let again = world.change().with_write(Write::Erase { place: conversation_place("nowhere") });
    assert_eq!(backend.commit(again.scanned()).unwrap().erased_count, 0);
}
