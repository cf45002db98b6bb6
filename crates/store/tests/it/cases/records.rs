use engine::model::event::{EventBody, EventName, chain_hash};
use engine::model::guard::Guard;
use engine::model::row::{Row, RowFilter, RowKind};
use engine::ports::Backend;
use engine::ports::change::Write;
use engine::ports::scan::LogHead;
use serde_json::json;

use crate::world::*;

pub(crate) fn row(world: &World, id: &str, state: &str, subject: &str, parent: &str) -> Row {
    Row {
        kind: RowKind::Reviews,
        id: id.to_owned(),
        state: state.to_owned(),
        subject: subject.to_owned(),
        parent: parent.to_owned(),
        at: world.now(),
        body: json!({ "id": id, "text": "«ü»", "list": [1, null, 2.5] }),
    }
}

pub(crate) fn rows_are_found_by_their_columns(backend: &dyn Backend) {
    let world = World::new(backend);
    let rows = [
        row(&world, "a", "pending", "m1", "r1"),
        row(&world, "b", "pending", "m2", "r1"),
        row(&world, "c", "approved", "m1", "r2"),
    ];
    for row in &rows {
        world.commit(world.change().with_write(Write::Row(row.clone())));
    }
    assert_eq!(backend.get_row(world.tenant, RowKind::Reviews, "a").unwrap().as_ref(), Some(&rows[0]));
    assert_eq!(backend.get_row(world.tenant, RowKind::Runs, "a").unwrap(), None);
    let check = |filter: RowFilter, expected: &str| {
        let found = backend.list_rows(world.tenant, RowKind::Reviews, &filter).unwrap();
        assert_eq!(found.iter().map(|row| row.id.as_str()).collect::<String>(), expected, "{filter:?}");
    };
    let text = |word: &str| Some(word.to_owned());
    let all = RowFilter::default;
    check(all(), "abc");
    check(RowFilter { newest_first: true, ..all() }, "cba");
    check(RowFilter { limit: 2, ..all() }, "ab");
    check(RowFilter { state: text("pending"), ..all() }, "ab");
    check(RowFilter { subject: text("m1"), ..all() }, "ac");
    check(RowFilter { subject: text("m1"), state: text("pending"), ..all() }, "a");
    check(RowFilter { parent: text("r1"), newest_first: true, ..all() }, "ba");
    check(RowFilter { after: Some((rows[0].at, "a".to_owned())), ..all() }, "bc");
    check(RowFilter { after: Some((rows[2].at, "c".to_owned())), newest_first: true, ..all() }, "ba");
    check(RowFilter { before: Some(rows[1].at), ..all() }, "a");
    world.commit(world.change().with_write(Write::DeleteRow { kind: RowKind::Reviews, id: "b".to_owned() }));
    check(all(), "ac");
    world.commit(world.change().with_write(Write::Row(Row { state: "rejected".to_owned(), ..rows[0].clone() })));
    check(RowFilter { state: text("rejected"), ..all() }, "a");
    let other = World::of_tenant(backend, "other", 2);
    assert_eq!(backend.get_row(other.tenant, RowKind::Reviews, "a").unwrap(), None);
    assert_eq!(backend.list_rows(other.tenant, RowKind::Reviews, &all()).unwrap(), []);
    // Every table of the vocabulary is there.
    for kind in RowKind::ALL.iter().filter(|kind| **kind != RowKind::Stores) {
        let row = Row { kind: *kind, ..rows[0].clone() };
        world.commit(world.change().with_write(Write::Row(row.clone())));
        assert_eq!(backend.get_row(world.tenant, *kind, "a").unwrap(), Some(row));
    }
}

pub(crate) fn a_row_guard_looks_at_the_state(backend: &dyn Backend) {
    let world = World::new(backend);
    world.commit(world.change().with_write(Write::Row(row(&world, "a", "pending", "", ""))));
    let check = |id: &str, state: Option<&str>, holds: bool| {
        let state = state.map(str::to_owned);
        let guard = Guard::RowInState { kind: RowKind::Reviews, id: id.to_owned(), state };
        assert_eq!(backend.commit(world.change().with_guard(guard.clone()).scanned()).is_ok(), holds, "{guard:?}");
    };
    check("a", Some("pending"), true);
    check("a", Some("approved"), false);
    check("a", None, false);
    check("b", None, true);
    check("b", Some("pending"), false);
}

pub(crate) fn events_are_gapless_and_chained(backend: &dyn Backend) {
    let world = World::new(backend);
    // The world has set up its stores.
    let before = backend.last_event_seq(world.tenant).unwrap();
    let caller = world.agent("c1");
    let changes: Vec<_> = (0..40)
        .map(|i| {
            let happening =
                |part: u32| EventBody::new(EventName::Search, &caller, world.now()).with_field("part", i * 2 + part);
            world.change().with_event(happening(0)).with_event(happening(1))
        })
        .collect();
    std::thread::scope(|threads| {
        for change in changes {
            threads.spawn(|| assert!(backend.commit(change.scanned()).unwrap().last_event_seq > 1));
        }
    });
    let events = backend.events_after(world.tenant, before, 1_000).unwrap();
    assert_eq!(events.iter().map(|event| event.seq - before).collect::<Vec<_>>(), (1..=80).collect::<Vec<_>>());
    assert_eq!(backend.last_event_seq(world.tenant).unwrap(), before + 80);
    let mut previous = String::new();
    let entries = backend.scan_log(world.tenant, 0, 1_000).unwrap();
    assert_eq!(entries.len() as u64, before + 80);
    for entry in &entries {
        assert_eq!(entry.hash, chain_hash(&previous, entry.seq, &entry.body, entry.digests.as_deref()));
        previous.clone_from(&entry.hash);
    }
    let head = LogHead { seq: before + 80, hash: previous, covered_from: 1 };
    assert_eq!(backend.log_head(world.tenant).unwrap(), head);
    let page = backend.events_after(world.tenant, before + 77, 2).unwrap();
    assert_eq!(page.iter().map(|event| event.seq - before).collect::<Vec<_>>(), [78, 79]);
    assert_eq!(backend.events_after(world.tenant, u64::MAX, usize::MAX).unwrap(), []);
    assert_eq!(backend.commit(world.change().scanned()).unwrap().last_event_seq, 0);
}

pub(crate) fn recalls_are_counted(backend: &dyn Backend) {
    let world = World::new(backend);
    let (first, second) = (world.remember("c1", "one"), world.remember("c1", "two"));
    let recall = |memories: Vec<_>| {
        let change = world.change().with_write(Write::CountRecalls { fading: memories.clone(), memories });
        let at = change.at;
        backend.commit_later(change.scanned());
        at
    };
    recall(vec![first.id]);
    let last = recall(vec![first.id, engine::model::id::MemoryId(world.fresh())]);
    backend.flush().unwrap();
    let now = world.get(first.id).unwrap();
    assert_eq!((now.recall_count, now.last_recalled_at), (2, Some(last)));
    assert_eq!((now.version_number, now.updated_at), (1, first.updated_at), "a recall is not a change");
    assert_eq!(world.get(second.id).unwrap().recall_count, 0);
    // A new version keeps the counters.
    let revised = world.save(world.revised(&now, draft("one more")));
    assert_eq!(world.get(revised.id).unwrap().recall_count, 2);
}
