use engine::model::caller::Caller;
use engine::model::id::MemoryId;
use engine::model::memory::{Draft, Memory};
use engine::model::scope::Scope;
use engine::model::vocabulary::{Kind, Layer, Operation, ScopeKind, State, Trust};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::change::Write;
use engine::ports::{Address, Backend, CandidateQuery, Filter, ListCursor, PageRequest, SortOrder};
use engine::text::words;
use jiff::Timestamp;

use crate::world::*;

const PAGE: PageRequest = PageRequest { order: SortOrder::Path, after: None, limit: 100 };

/// Walks every reading method with somebody else's eyes.
fn sees_nothing(backend: &dyn Backend, readable: &Readable, memory: &Memory) {
    let place = engine::model::guard::Place { store: memory.store.clone(), scope: memory.scope.clone() };
    let path = memory.path.clone().expect("has a path");
    for address in [
        Address::Id(memory.id),
        Address::Path { place: place.clone(), path: path.clone() },
        Address::Hash { place: place.clone(), sha256: memory.sha256.clone() },
    ] {
        assert_eq!(backend.get_memory(readable, &address).unwrap(), None, "{address:?}");
    }
    let every_state = State::ALL.to_vec();
    let filters = [
        Filter { states: every_state.clone(), ..Filter::default() },
        Filter { states: every_state.clone(), places: vec![place], ..Filter::default() },
        Filter { states: every_state.clone(), stores: vec![memory.store.clone()], ..Filter::default() },
        Filter { states: every_state.clone(), path: Some(path), ..Filter::default() },
        Filter { states: every_state, as_of: Some(memory.updated_at), ..Filter::default() },
    ];
    for filter in filters {
        assert_eq!(backend.list_memories(readable, &filter, &PAGE).unwrap(), [], "{filter:?}");
        let find = CandidateQuery {
            filter,
            words: words::parse_query(&memory.content),
            substring: Some(memory.summary_line().to_lowercase()),
            vector: Some(embedding(MODEL, &[1.0, 0.0])),
            pool: 10,
            newest: true,
            always_include: vec![memory.id],
            neighbours: None,
            weights: Default::default(),
        };
        let found = backend.find_candidates(readable, &find).unwrap();
        assert!(found.candidates.is_empty(), "{find:?}");
        assert_eq!((found.stats.docs, found.stats.total_len), (0, 0));
        assert!(found.stats.df.iter().all(|df| *df == 0));
    }
    assert_eq!(backend.list_versions(readable, memory.id, None, 10).unwrap(), []);
    assert_eq!(backend.get_version(readable, memory.version).unwrap(), None);
}

pub(crate) fn a_stranger_sees_nothing(backend: &dyn Backend) {
    let world = World::new(backend);
    let entry = world
        .entry("c1", at_path("notes/nginx", "nginx crashlooped"))
        .with_embedding(Some(embedding(MODEL, &[1.0, 0.0])));
    let memory = world.save(entry);
    assert_eq!(
        backend.get_memory(&seen_by(world.tenant, "c1"), &Address::Id(memory.id)).unwrap().as_ref(),
        Some(&memory)
    );
    sees_nothing(backend, &seen_by(world.tenant, "c2"), &memory);
    let nowhere = Readable { scopes: ReadableScopes::These(vec![]), ..world.all() };
    sees_nothing(backend, &nowhere, &memory);
    let other_kind = Scope::Agent { agent: "c1".to_owned() };
    sees_nothing(backend, &Readable { scopes: ReadableScopes::These(vec![other_kind]), ..world.all() }, &memory);

    // Waiting for review: its author and reviewers only.
    let waiting =
        world.save(world.transition(&memory, Operation::Constrain, |memory| memory.state = State::Constrained));
    let other_author = VisibleCandidates::AuthoredBy("agent:other".to_owned());
    sees_nothing(backend, &Readable { constrained: other_author, ..seen_by(world.tenant, "c1") }, &waiting);
    assert!(backend.get_memory(&seen_by(world.tenant, "c1"), &Address::Id(memory.id)).unwrap().is_some());
}

pub(crate) fn tenants_are_walls(backend: &dyn Backend) {
    let (ours, theirs) = (World::new(backend), World::of_tenant(backend, "other", 2));
    let before = backend.last_event_seq(theirs.tenant).unwrap();
    let memory = ours.save(ours.entry("c1", at_path("a", "ours alone")));
    sees_nothing(backend, &theirs.all(), &memory);
    assert_eq!(backend.last_event_seq(theirs.tenant).unwrap(), before);
    assert_eq!(backend.place_state(theirs.tenant, &conversation_place("c1")).unwrap(), Default::default());
    assert!(backend.list_unembedded(theirs.tenant, MODEL, 10).unwrap().is_empty());
    theirs
        .commit(theirs.change().with_write(Write::CountRecalls { memories: vec![memory.id], fading: vec![memory.id] }));
    theirs.commit(theirs.change().with_write(Write::Erase { place: conversation_place("c1") }));
    let versions = vec![memory.version];
    theirs.commit(theirs.change().with_write(Write::Redact { memory: memory.id, versions }));
    assert_eq!(ours.get(memory.id), Some(memory));
    let slugs: Vec<_> = backend.list_tenants().unwrap().into_iter().map(|tenant| tenant.slug).collect();
    assert_eq!(slugs, ["default", "other"]);
    assert_eq!(World::of_tenant(backend, "other", 3).tenant, theirs.tenant, "a slug is made once");
}

pub(crate) fn lists_come_in_order_and_in_pages(backend: &dyn Backend) {
    let world = World::new(backend);
    let mut memories: Vec<Memory> = ["d", "a", "c", "b", "e"]
        .iter()
        .map(|path| world.save(world.entry("c1", at_path(path, &format!("text {path}")))))
        .collect();
    memories.push(world.remember("c2", "no path"));
    // The first made is the last touched.
    memories[0] = world.save(world.revised(&memories[0], draft("text d again")));
    let check = |order: SortOrder, expected: &str| {
        for limit in [1, 2, 3, 100] {
            let mut seen = String::new();
            let mut page = PageRequest { order, after: None, limit };
            loop {
                let stretch = backend.list_memories(&world.all(), &Filter::default(), &page).unwrap();
                assert!(stretch.len() <= limit);
                let Some(last) = stretch.last() else { break };
                page.after = Some(match order {
                    SortOrder::Path => ListCursor::Path(last.path.clone().unwrap_or_default(), last.id),
                    SortOrder::Newest => ListCursor::Time(last.updated_at, last.id),
                    SortOrder::Oldest | SortOrder::LastTurn | SortOrder::Expiring | SortOrder::Fading => {
                        ListCursor::Time(last.created_at, last.id)
                    }
                });
                seen.extend(stretch.iter().map(|memory| memory.path.clone().unwrap_or("-".to_owned())));
            }
            assert_eq!(seen, expected, "{order:?} by {limit}");
        }
    };
    check(SortOrder::Path, "-abcde");
    check(SortOrder::Newest, "d-ebca");
    check(SortOrder::Oldest, "dacbe-");
}

pub(crate) fn the_least_important_fades_first(backend: &dyn Backend) {
    let world = World::new(backend);
    let saved = |importance: f64, text: &str| {
        world.save(world.entry("c1", Draft { importance: Some(importance), ..draft(text) }))
    };
    let (middle, low, high) = (saved(0.5, "middle"), saved(0.1, "low"), saved(0.9, "high"));
    let page = PageRequest { order: SortOrder::Fading, after: None, limit: 10 };
    let faded = |filter: &Filter| -> Vec<MemoryId> {
        backend.list_memories(&world.all(), filter, &page).unwrap().into_iter().map(|memory| memory.id).collect()
    };
    assert_eq!(faded(&Filter::default()), [low.id, middle.id, high.id]);
    let below = engine::model::lifecycle::fade_key(0.2, high.created_at);
    assert_eq!(faded(&Filter { fade_below: Some(below), ..Filter::default() }), [low.id]);
}

/// What upkeep asks: everything due, wherever it is, in any order; only episodes fade.
pub(crate) fn what_has_faded_is_found_in_every_place(backend: &dyn Backend) {
    let world = World::new(backend);
    let saved = |agent: &str, importance: f64| {
        let caller = Caller::agent(world.tenant, agent);
        let (scope, draft) =
            (Scope::Agent { agent: agent.to_owned() }, Draft { importance: Some(importance), ..draft("a turn") });
        world.save(world.entry_in("episodes", &caller, &scope, Draft { kind: None, ..draft }))
    };
    let (one, kept, other) = (saved("a1", 0.1), saved("a1", 0.9), saved("a2", 0.15));
    let fade_below = Some(engine::model::lifecycle::fade_key(0.2, other.created_at));
    let layers = vec![Layer::Episodic];
    let due = |limit: usize| {
        let page = PageRequest { order: SortOrder::Fading, after: None, limit };
        let filter = Filter { fade_below, layers: layers.clone(), ..Filter::default() };
        let mut ids: Vec<MemoryId> =
            backend.list_memories(&world.all(), &filter, &page).unwrap().into_iter().map(|memory| memory.id).collect();
        ids.sort();
        ids
    };
    assert_eq!(due(10), [one.id, other.id]);
    assert_eq!(due(1).len(), 1);
    world.save(world.transition(&one, Operation::Archive, |memory| memory.state = State::Archived));
    assert_eq!(due(10), [other.id]);
    assert!(!due(10).contains(&kept.id));
}

pub(crate) fn the_last_turn_of_a_session_comes_first(backend: &dyn Backend) {
    let world = World::new(backend);
    let turn = |session: &str, turn: Option<u32>| {
        let draft = Draft { session: Some(session.to_owned()), turn, ..draft("a turn") };
        world.save(world.entry("c1", draft))
    };
    for number in [3, 11, 2] {
        turn("s1", Some(number));
    }
    turn("s1", None);
    turn("s2", Some(40));
    let turns = |session: Option<&str>| -> Vec<Option<u32>> {
        let page = PageRequest { order: SortOrder::LastTurn, after: None, limit: 10 };
        let filter = Filter { session: session.map(str::to_owned), ..Filter::default() };
        backend.list_memories(&world.all(), &filter, &page).unwrap().iter().map(|memory| memory.turn).collect()
    };
    assert_eq!(turns(Some("s1")), [Some(11), Some(3), Some(2)]);
    assert_eq!(turns(None), [Some(40), Some(11), Some(3), Some(2)]);
    assert_eq!(turns(Some("s3")), []);
}

pub(crate) fn filters_say_what_they_mean(backend: &dyn Backend) {
    let world = World::new(backend);
    let mut first = tagged(&["go", "k8s"], "alpha");
    (first.path, first.session) = (Some("notes/a".to_owned()), Some("s1".to_owned()));
    let a = world.save(world.entry("c1", first));
    let mut second = tagged(&["go-lang"], "beta");
    (second.path, second.kind) = (Some("notesx/b".to_owned()), Some(Kind::Runbook));
    (second.always_inject, second.expires_at) = (Some(true), Some(a.updated_at + jiff::SignedDuration::from_secs(30)));
    let b = world.save(world.entry("c2", second));
    let gone = world.remember("c1", "gamma");
    let gone = world.save(world.transition(&gone, Operation::Archive, |memory| memory.state = State::Archived));
    let admin = Caller::admin(world.tenant);
    let runbook = at_path("runbooks/x", "delta");
    let d = world.save(world.entry_in("workspace_runbooks", &admin, &Scope::Workspace, runbook));

    let check = |filter: Filter, expected: &[&Memory]| {
        let mut found: Vec<_> = world.list(&filter).iter().map(|memory| memory.id).collect();
        let mut expected: Vec<_> = expected.iter().map(|memory| memory.id).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{filter:?}");
        // The past of this moment is the present.
        let past = Filter { as_of: Some(world.now()), ..filter };
        let mut found: Vec<_> = world.list(&past).iter().map(|memory| memory.id).collect();
        found.sort();
        assert_eq!(found, expected, "{past:?}");
    };
    let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let none = Filter::default;
    check(none(), &[&a, &b, &d]);
    check(Filter { stores: strings(&["workspace_runbooks"]), ..none() }, &[&d]);
    check(Filter { stores: strings(&["workspace_runbooks", "conversation_memory"]), ..none() }, &[&a, &b, &d]);
    check(Filter { stores: strings(&["nothing"]), ..none() }, &[]);
    check(Filter { scopes: vec![ScopeKind::Conversation], ..none() }, &[&a, &b]);
    check(Filter { places: vec![conversation_place("c2")], ..none() }, &[&b]);
    check(Filter { places: vec![conversation_place("c9")], ..none() }, &[]);
    check(Filter { kinds: vec![Kind::Runbook], ..none() }, &[&b]);
    check(Filter { kinds: vec![Kind::Runbook, Kind::ConversationNote], ..none() }, &[&a, &b, &d]);
    check(Filter { layers: vec![Layer::Procedural], ..none() }, &[&b]);
    check(Filter { tags: strings(&["go"]), ..none() }, &[&a]);
    check(Filter { tags: strings(&["go", "k8s"]), ..none() }, &[&a]);
    check(Filter { tags: strings(&["go", "nothing"]), ..none() }, &[]);
    check(Filter { states: vec![State::Archived], ..none() }, &[&gone]);
    check(Filter { states: vec![State::Archived, State::Active], ..none() }, &[&a, &b, &gone, &d]);
    check(Filter { trust_min: Some(Trust::UserAuthored), ..none() }, &[&d]);
    check(Filter { updated_after: Some(a.updated_at), ..none() }, &[&b, &d]);
    check(Filter { updated_before: Some(b.updated_at), ..none() }, &[&a]);
    check(Filter { path_prefix: Some("notes/".to_owned()), ..none() }, &[&a]);
    check(Filter { path_prefix: Some("notes".to_owned()), ..none() }, &[&a, &b]);
    check(Filter { path: Some("notes/a".to_owned()), ..none() }, &[&a]);
    check(Filter { session: Some("s1".to_owned()), ..none() }, &[&a]);
    check(Filter { always_inject: Some(true), ..none() }, &[&b]);
    check(Filter { always_inject: Some(false), ..none() }, &[&a, &d]);
    check(Filter { unexpired_at: b.expires_at, ..none() }, &[&a, &d]);
    check(Filter { unexpired_at: Some(a.updated_at), places: vec![conversation_place("c2")], ..none() }, &[&b]);
    check(Filter { expired_by: b.expires_at, ..none() }, &[&b]);
    check(Filter { expired_by: Some(a.updated_at), places: vec![conversation_place("c2")], ..none() }, &[]);
}

pub(crate) fn an_archived_store_is_not_read(backend: &dyn Backend) {
    let world = World::new(backend);
    let memory = world.save(world.entry("c1", at_path("a", "text")));
    world.commit(world.change().with_write(Write::Row(world.store_row("conversation_memory", "archived"))));
    sees_nothing(backend, &world.all(), &memory);
    sees_nothing(backend, &seen_by(world.tenant, "c1"), &memory);
}

pub(crate) fn the_past_is_as_it_was(backend: &dyn Backend) {
    let world = World::new(backend);
    let before = world.now();
    let first = world.remember("c1", "old text");
    let second = world.save(world.revised(&first, draft("new text")));
    world.save(world.transition(&second, Operation::Forget, |memory| memory.state = State::Tombstoned));
    let at = |at| {
        let filter = Filter { as_of: Some(at), ..Filter::default() };
        world.list(&filter).into_iter().map(|memory| memory.content).collect::<Vec<_>>()
    };
    assert_eq!(at(before), [""; 0]);
    assert_eq!(at(first.updated_at), ["old text"]);
    assert_eq!(at(second.updated_at), ["new text"]);
    assert_eq!(at(world.now()), [""; 0]);
    let find = CandidateQuery {
        filter: Filter { as_of: Some(first.updated_at), ..Filter::default() },
        words: words::parse_query("old text"),
        substring: None,
        vector: None,
        pool: 10,
        newest: true,
        always_include: vec![],
        neighbours: None,
        weights: Default::default(),
    };
    let found = backend.find_candidates(&world.all(), &find).unwrap();
    assert_eq!(found.candidates.iter().map(|c| c.memory.content.as_str()).collect::<Vec<_>>(), ["old text"]);
}

pub(crate) fn what_is_due_comes_first_to_expire_first(backend: &dyn Backend) {
    let world = World::new(backend);
    let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).expect("in range");
    for (text, second) in [("third", 30), ("first", 10), ("later", 99), ("second", 20)] {
        world.save(world.entry("c1", Draft { expires_at: Some(at(second)), ..draft(text) }));
    }
    let gone = world.save(world.entry("c2", Draft { expires_at: Some(at(5)), ..draft("archived") }));
    world.save(world.transition(&gone, Operation::Expire, |memory| memory.state = State::Archived));
    let states = vec![State::Active, State::Constrained];
    let filter = Filter { expired_by: Some(at(50)), states, ..Filter::default() };
    let mut page = PageRequest { order: SortOrder::Expiring, after: None, limit: 2 };
    let contents = |memories: &[Memory]| memories.iter().map(|memory| memory.content.clone()).collect::<Vec<_>>();
    let first = backend.list_memories(&world.all(), &filter, &page).unwrap();
    assert_eq!(contents(&first), ["first", "second"]);
    page.after = first.last().map(|last| ListCursor::Time(last.expires_at.expect("it expires"), last.id));
    assert_eq!(contents(&backend.list_memories(&world.all(), &filter, &page).unwrap()), ["third"]);
}

pub(crate) fn places_of_one_kind_are_listed(backend: &dyn Backend) {
    let (world, other) = (World::new(backend), World::of_tenant(backend, "other", 2));
    let project = |name: &str| Scope::Project { project: name.to_owned() };
    let save = |world: &World, name: &str, path: &str| {
        let caller = Caller::agent(world.tenant, "triage").in_project(name);
        world.save(world.entry_in("project_memory", &caller, &project(name), at_path(path, "carts live in redis")))
    };
    for world in [&world, &other] {
        world.commit(world.change().with_write(Write::Row(world.store_row("project_memory", ""))));
        world.remember("c1", "a draft of a conversation");
    }
    let first = save(&world, "b/shop", "one");
    save(&world, "b/shop", "two");
    save(&world, "a/shop", "one");
    save(&other, "c/shop", "one");
    let names = |world: &World| -> Vec<(String, u64)> {
        let places = backend.list_places(world.tenant, ScopeKind::Project).unwrap();
        places.into_iter().map(|(place, live)| (format!("{} {}", place.store, place.scope), live)).collect()
    };
    let expected = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        rows.iter().map(|(place, live)| (format!("project_memory project:{place}"), *live)).collect()
    };
    assert_eq!(names(&world), expected(&[("a/shop", 1), ("b/shop", 2)]));
    assert_eq!(names(&other), expected(&[("c/shop", 1)]));
    // Another project of the same tenant, and the same project name of another tenant, see nothing.
    let member = |tenant, name: &str| Readable {
        scopes: ReadableScopes::These(vec![Scope::Workspace, project(name)]),
        constrained: VisibleCandidates::AuthoredBy("agent:triage".to_owned()),
        ..everything(tenant)
    };
    sees_nothing(backend, &member(world.tenant, "a"), &first);
    sees_nothing(backend, &member(other.tenant, "b/shop"), &first);
    let own = Filter { path: first.path, ..Filter::default() };
    assert_eq!(backend.list_memories(&member(world.tenant, "b/shop"), &own, &PAGE).unwrap().len(), 1);
}
