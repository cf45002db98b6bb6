use engine::model::limits::Neighbours;
use engine::model::memory::{Draft, Memory};
use engine::model::vocabulary::{Kind, Operation, State};
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::change::Write;
use engine::ports::{Backend, CandidateQuery, CandidateSet, Filter, PageRequest, SortOrder};
use engine::text::words;

use crate::postgres::has_vectors;
use crate::world::*;

pub(crate) fn words_find(text: &str) -> CandidateQuery {
    CandidateQuery { words: words::parse_query(text), pool: 10, ..CandidateQuery::default() }
}

fn contents(found: &CandidateSet) -> Vec<&str> {
    found.candidates.iter().map(|candidate| candidate.memory.content.as_str()).collect()
}

/// Frequencies of the query's terms that occur at all; a query also tries other spellings.
fn met(found: &CandidateSet) -> Vec<u32> {
    found.stats.df.iter().copied().filter(|df| *df > 0).collect()
}

pub(crate) fn sorted(found: &CandidateSet) -> Vec<&str> {
    let mut contents = contents(found);
    contents.sort_unstable();
    contents
}

pub(crate) fn turns_beside_the_best_are_found(backend: &dyn Backend) {
    let world = World::new(backend);
    let said = ["hello there", "the harbour ferry was late", "it was the fog again", "far off", "farther off"];
    for (turn, text) in (1..).zip(said) {
        let draft = Draft { session: Some("s1".to_owned()), turn: Some(turn), ..draft(text) };
        world.save(world.entry("c1", draft));
    }
    let other = Draft { session: Some("s2".to_owned()), turn: Some(3), ..draft("another session") };
    world.save(world.entry("c1", other));
    let find = words_find("ferry");
    assert_eq!(sorted(&backend.find_candidates(&world.all(), &find).unwrap()), ["the harbour ferry was late"]);
    let neighbours = Some(Neighbours { of_best: 10, reach: 1 });
    let found = backend.find_candidates(&world.all(), &CandidateQuery { neighbours, ..find }).unwrap();
    assert_eq!(sorted(&found), ["hello there", "it was the fog again", "the harbour ferry was late"]);
    // Candidates found only because they are new match no word, so their neighbours are not added.
    let newest = CandidateQuery { newest: true, pool: 2, neighbours, ..CandidateQuery::default() };
    assert_eq!(sorted(&backend.find_candidates(&world.all(), &newest).unwrap()), ["another session", "farther off"]);
}

pub(crate) fn words_find_the_best_first(backend: &dyn Backend) {
    let world = World::new(backend);
    for text in ["apple banana", "apple apple cherry", "banana cherry", "unrelated things"] {
        world.remember("c1", text);
    }
    let found = backend.find_candidates(&world.all(), &words_find("apple cherry")).unwrap();
    assert_eq!(contents(&found)[0], "apple apple cherry");
    assert_eq!(sorted(&found), ["apple apple cherry", "apple banana", "banana cherry"]);
    assert_eq!(found.stats.docs, 4);
    assert_eq!(met(&found), [2, 2]);
    assert_eq!(found.searched, 1);
    for candidate in &found.candidates {
        assert_eq!(candidate.words.len as usize, candidate.memory.content.split(' ').count());
    }
    let total: u64 = found.stats.total_len;
    assert_eq!(total, 9);
    let one = CandidateQuery { pool: 1, ..words_find("apple cherry") };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &one).unwrap()), ["apple apple cherry"]);
    assert_eq!(contents(&backend.find_candidates(&world.all(), &words_find("nothing like it")).unwrap()), [""; 0]);
}

pub(crate) fn statistics_are_of_what_is_seen(backend: &dyn Backend) {
    let world = World::new(backend);
    world.remember("c1", "apple pie");
    for i in 0..20 {
        world.remember("c2", &format!("apple number {i}"));
    }
    let found = backend.find_candidates(&seen_by(world.tenant, "c1"), &words_find("apple")).unwrap();
    assert_eq!((found.stats.docs, found.stats.total_len, met(&found)), (1, 2, vec![1]));
    let waiting = world.remember("c1", "apple waiting");
    world.save(world.transition(&waiting, Operation::Constrain, |memory| memory.state = State::Constrained));
    let states = vec![State::Active, State::Constrained];
    let asked = CandidateQuery { filter: Filter { states, ..Filter::default() }, ..words_find("apple") };
    let count = |readable: &Readable| backend.find_candidates(readable, &asked).unwrap().stats.docs;
    assert_eq!(count(&seen_by(world.tenant, "c1")), 2);
    let other = VisibleCandidates::AuthoredBy("agent:other".to_owned());
    assert_eq!(count(&Readable { constrained: other, ..seen_by(world.tenant, "c1") }), 1);
}

pub(crate) fn the_nearest_vectors_are_found(backend: &dyn Backend) {
    if !has_vectors(backend) {
        return;
    }
    let world = World::new(backend);
    let save = |text: &str, values: &[f32], model: &str| {
        world.save(world.entry("c1", draft(text)).with_embedding(Some(embedding(model, values))));
    };
    save("east", &[1.0, 0.0, 0.1], MODEL);
    save("north east", &[0.7, 0.7, 0.0], MODEL);
    save("west", &[-1.0, 0.1, 0.0], MODEL);
    save("other model", &[1.0, 0.0, 0.0], "other-model");
    world.remember("c1", "no vector");
    let near = |pool: usize| CandidateQuery {
        vector: Some(embedding(MODEL, &[1.0, 0.0, 0.0])),
        pool,
        ..CandidateQuery::default()
    };
    let found = backend.find_candidates(&world.all(), &near(2)).unwrap();
    assert_eq!(contents(&found), ["east", "north east"]);
    assert!(found.candidates.iter().all(|candidate| candidate.vector.is_some()));
    let cosine = found.candidates[0].vector.as_ref().unwrap().cosine(&embedding(MODEL, &[1.0, 0.0, 0.0]).vector);
    assert!((cosine - 0.995).abs() < 0.01, "{cosine}");
    assert_eq!(contents(&backend.find_candidates(&world.all(), &near(10)).unwrap()), ["east", "north east", "west"]);
    // Another model sees its own only, also after this one was searched.
    let other = CandidateQuery {
        vector: Some(embedding("other-model", &[0.0, 1.0, 0.0])),
        pool: 10,
        ..CandidateQuery::default()
    };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &other).unwrap()), ["other model"]);
    let longer = CandidateQuery { vector: Some(embedding(MODEL, &[1.0; 5])), pool: 10, ..CandidateQuery::default() };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &longer).unwrap()), [""; 0]);
    // Words and vectors together, each once.
    let both = CandidateQuery { words: words::parse_query("west"), ..near(2) };
    assert_eq!(sorted(&backend.find_candidates(&world.all(), &both).unwrap()), ["east", "north east", "west"]);
}

pub(crate) fn filters_come_before_scoring(backend: &dyn Backend) {
    let world = World::new(backend);
    // Better matches that do not pass must not use up the pool.
    for i in 0..30 {
        world.save(world.entry("c1", Draft { kind: Some(Kind::Note), ..draft(&format!("apple apple {i}")) }));
    }
    let mut wanted = tagged(&["fruit"], "one apple among many other words of all sorts");
    (wanted.path, wanted.session) = (Some("notes/apple".to_owned()), Some("s1".to_owned()));
    wanted.always_inject = Some(true);
    let wanted = world.save(world.entry("c1", wanted));
    let check = |filter: Filter| {
        let find = CandidateQuery { filter, pool: 1, ..words_find("apple") };
        let found = backend.find_candidates(&world.all(), &find).unwrap();
        assert_eq!(contents(&found), [wanted.content.as_str()], "{find:?}");
        assert_eq!(found.stats.docs, 31, "statistics are of the place");
    };
    let none = Filter::default;
    check(Filter { kinds: vec![Kind::ConversationNote], ..none() });
    check(Filter { tags: vec!["fruit".to_owned()], ..none() });
    check(Filter { path_prefix: Some("notes/".to_owned()), ..none() });
    check(Filter { path: wanted.path.clone(), ..none() });
    check(Filter { session: wanted.session.clone(), ..none() });
    check(Filter { always_inject: Some(true), ..none() });
    check(Filter { updated_after: Some(wanted.updated_at - jiff::SignedDuration::from_secs(1)), ..none() });
}

pub(crate) fn a_closed_store_takes_no_place_in_the_pool(backend: &dyn Backend) {
    let world = World::new(backend);
    let admin = engine::model::caller::Caller::admin(world.tenant);
    for i in 0..30 {
        let log = draft(&format!("apple apple {i}"));
        world.save(world.entry_in("workspace_runbooks", &admin, &engine::model::scope::Scope::Workspace, log));
    }
    world.remember("c1", "one apple among many other words of all sorts");
    let closed = |readable: Readable| Readable { hidden_stores: vec!["workspace_runbooks".to_owned()], ..readable };
    for readable in [world.all(), seen_by(world.tenant, "c1")].map(closed) {
        let found = backend.find_candidates(&readable, &CandidateQuery { pool: 1, ..words_find("apple") }).unwrap();
        assert_eq!(contents(&found), ["one apple among many other words of all sorts"]);
        assert_eq!(found.stats.docs, 1, "nor in the statistics");
        let page = PageRequest { order: SortOrder::Newest, after: None, limit: 1 };
        assert_eq!(backend.list_memories(&readable, &Filter::default(), &page).unwrap().len(), 1);
    }
}

pub(crate) fn a_find_sees_every_write(backend: &dyn Backend) {
    let world = World::new(backend);
    let find = |text: &str| -> Vec<String> {
        let found = backend.find_candidates(&world.all(), &words_find(text)).unwrap();
        sorted(&found).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(find("apple"), [""; 0]);
    let first = world.remember("c1", "apple one");
    assert_eq!(find("apple"), ["apple one"]);
    let second = world.remember("c2", "apple two");
    assert_eq!(find("apple"), ["apple one", "apple two"]);
    let revised = world.save(world.revised(&first, draft("banana now")));
    assert_eq!(find("apple"), ["apple two"]);
    assert_eq!(find("banana"), ["banana now"]);
    world.save(world.transition(&second, Operation::Forget, |memory| memory.state = State::Tombstoned));
    assert_eq!(find("apple"), [""; 0]);
    let archived = world.save(world.transition(&revised, Operation::Archive, |memory| memory.state = State::Archived));
    assert_eq!(find("banana"), [""; 0]);
    world.save(world.transition(&archived, Operation::Restore, |memory| memory.state = State::Active));
    assert_eq!(find("banana"), ["banana now"]);
    // Many new versions: dead rows neither count nor come back.
    let mut memory = world.get(first.id).unwrap();
    for i in 0..50 {
        memory = world.save(world.revised(&memory, draft(&format!("banana version {i}"))));
        assert_eq!(find("banana"), [format!("banana version {i}")]);
    }
    assert_eq!(backend.find_candidates(&world.all(), &words_find("banana")).unwrap().stats.docs, 1);
    if !has_vectors(backend) {
        return;
    }
    // A late vector is found too.
    let near = CandidateQuery { vector: Some(embedding(MODEL, &[1.0, 0.0])), pool: 5, ..CandidateQuery::default() };
    assert!(backend.find_candidates(&world.all(), &near).unwrap().candidates.is_empty());
    let embedding = embedding(MODEL, &[1.0, 0.0]);
    let late = Write::SetEmbedding { memory: memory.id, version: memory.version, embedding };
    world.commit(world.change().with_write(late));
    assert_eq!(backend.find_candidates(&world.all(), &near).unwrap().candidates.len(), 1);
}

pub(crate) fn every_searched_field_is_searched_in_the_past(backend: &dyn Backend) {
    let world = World::new(backend);
    let fields = Draft {
        title: Some("zirconium".to_owned()),
        recall_hint: Some("yttrium".to_owned()),
        path: Some("notes/xenon".to_owned()),
        speaker: Some("Wolfram".to_owned()),
        ..tagged(&["vanadium"], "uranium")
    };
    let memory = world.save(world.entry("c1", fields));
    for word in ["zirconium", "yttrium", "xenon", "wolfram", "vanadium", "uranium"] {
        let now = backend.find_candidates(&world.all(), &words_find(word)).unwrap();
        let filter = Filter { as_of: Some(memory.updated_at), ..Filter::default() };
        let past = backend.find_candidates(&world.all(), &CandidateQuery { filter, ..words_find(word) }).unwrap();
        assert_eq!((contents(&now), contents(&past)), (vec!["uranium"], vec!["uranium"]), "{word}");
        assert_eq!(now.candidates[0].words, past.candidates[0].words, "{word}");
        assert_eq!(now.stats, past.stats, "{word}");
    }
}

pub(crate) fn the_newest_a_piece_and_the_asked_about(backend: &dyn Backend) {
    let world = World::new(backend);
    let memories: Vec<Memory> =
        ["Alpha Beta", "Gamma Delta", "Epsilon"].iter().map(|text| world.remember("c1", text)).collect();
    let newest = CandidateQuery { newest: true, pool: 2, ..CandidateQuery::default() };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &newest).unwrap()), ["Epsilon", "Gamma Delta"]);
    let piece = CandidateQuery { substring: Some("a bet".to_owned()), pool: 5, ..CandidateQuery::default() };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &piece).unwrap()), ["Alpha Beta"]);
    let wild = CandidateQuery { substring: Some("%".to_owned()), pool: 5, ..CandidateQuery::default() };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &wild).unwrap()), [""; 0]);
    // Asked about by id: judged whatever the filter says, if it may be seen at all.
    let nothing = Filter { kinds: vec![Kind::Runbook], ..Filter::default() };
    let also =
        CandidateQuery { filter: nothing, always_include: vec![memories[0].id], pool: 5, ..CandidateQuery::default() };
    assert_eq!(contents(&backend.find_candidates(&world.all(), &also).unwrap()), ["Alpha Beta"]);
    assert!(backend.find_candidates(&seen_by(world.tenant, "c2"), &also).unwrap().candidates.is_empty());
    let expired = Filter { unexpired_at: Some(world.now()), ..Filter::default() };
    let short = Draft { expires_at: Some(world.now()), ..draft("apple expired") };
    world.save(world.entry("c1", short));
    let found =
        backend.find_candidates(&world.all(), &CandidateQuery { filter: expired, ..words_find("apple") }).unwrap();
    assert_eq!(contents(&found).len(), 1, "not yet expired at the time asked for");
    let later = Filter { unexpired_at: Some(world.now()), ..Filter::default() };
    let found =
        backend.find_candidates(&world.all(), &CandidateQuery { filter: later, ..words_find("apple") }).unwrap();
    assert_eq!((contents(&found).len(), found.stats.docs), (0, 3));
}
