//! What ages: drafts with their conversation, receipts by the calendar, and the past as it stood.

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:t --conversation c1";

#[test]
fn drafts_expire_thirty_days_after_the_last_activity_of_their_conversation() {
    let world = World::new();
    let save = |words: &str| text(&world.json(&format!("remember {AGENT} --evidence seen"), &[words])["id"]);
    let alone = "--as agent:t --conversation c2";
    let early = save("the first draft about the quay");
    let chosen = world.json(&format!("remember {AGENT} --evidence seen --expires 2026-03-20"), &["gone by choice"]);
    world.json(&format!("remember {alone} --evidence seen"), &["a draft nobody came back to"]);
    world.at("2026-03-25T12:00:00Z");
    save("the second draft about the quay");
    let due = |line: &str| text(&world.json(line, &[])["expires_at"]);
    assert_eq!(due(&format!("read {early}")), "2026-03-31T12:00:00Z");
    world.at("2026-03-30T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["extended"], 1);
    assert_eq!(due(&format!("read {early}")), "2026-04-24T12:00:00Z");
    assert_eq!(due(&format!("read {}", text(&chosen["id"]))), "2026-03-20T00:00:00Z");
    world.at("2026-04-10T12:00:00Z");
    let listed =
        |who: &str| rows(&world.json(&format!("list {who} --store conversation_memory"), &[])["memories"]).len();
    assert_eq!((listed(AGENT), listed(alone)), (2, 0));
    // Asking is activity too.
    world.json(&format!("context {AGENT}"), &["what about the quay"]);
    world.at("2026-04-23T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["extended"], 2);
    assert_eq!(due(&format!("read {early}")), "2026-05-10T12:00:00Z");
    // Extending is none: it ends.
    world.at("2026-05-09T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["extended"], 0);
    world.at("2026-05-11T12:00:00Z");
    assert_eq!((listed(AGENT), world.json("upkeep", &[])["expired"].as_u64()), (0, Some(2)));
    let history = world.json(&format!("history {early}"), &[]);
    assert_eq!(column(&history["versions"], "operation"), ["expire", "extend", "extend", "create"]);
}

#[test]
fn old_receipts_are_deleted_and_answers_say_since_when_they_are_kept() {
    let world = World::with_config("[limits]\nreceipt_days = 90\n");
    world.json("remember --store workspace_runbooks --kind runbook --path quay/crane", &["oil the crane of the quay"]);
    let line = "context --as agent:t --conversation c1 --run r1";
    let receipt = text(&world.json(line, &["crane of the quay"])["receipt"]);
    let blamed = world.json("blame r1", &[]);
    assert_eq!(
        (rows(&blamed["memories"]).len(), text(&blamed["kept_since"])),
        (1, "2026-03-01T12:00:00Z".to_owned()),
        "not before there was anything"
    );
    world.at("2026-05-29T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["receipts"], 0);
    world.at("2026-05-31T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["receipts"], 2);
    assert_eq!(text(&world.json("blame r1", &[])["kept_since"]), "2026-03-02T12:00:00Z");
    assert_eq!(world.code(2, &format!("receipt show {receipt}"), &[]), "not_found");
    assert!(rows(&world.json("reach quay/crane", &[])["touches"]).is_empty());
    let forever = World::with_config("[limits]\nreceipt_days = 0\n");
    assert!(forever.json("blame r1", &[])["kept_since"].is_null());
}

#[test]
fn read_and_list_as_of_show_the_state_of_that_time() {
    let world = World::new();
    let line = "remember --store workspace_runbooks --kind runbook --path quay/crane";
    let id = text(&world.json(line, &["oil the crane weekly"])["id"]);
    world.at("2026-04-01T12:00:00Z");
    world.json(line, &["oil the crane daily"]);
    world.at("2026-05-01T12:00:00Z");
    world.json(&format!("forget {id}"), &[]);
    let check = |at: &str, content: &str, state: &str| {
        for name in [id.as_str(), "quay/crane"] {
            let then = world.json(&format!("read {name} --as-of {at}"), &[]);
            assert_eq!((text(&then["content"]), text(&then["state"])), (content.to_owned(), state.to_owned()), "{at}");
        }
        let listed = world.json(&format!("list --store workspace_runbooks --as-of {at}"), &[]).to_string();
        assert!(listed.contains(content), "{at}: {listed}");
    };
    check("2026-03-15", "oil the crane weekly", "active");
    check("2026-04-15", "oil the crane daily", "active");
    assert_eq!(world.code(2, &format!("read {id} --as-of 2026-02-01"), &[]), "not_found");
    assert_eq!(world.code(2, "read quay/crane --as-of 2026-02-01", &[]), "not_found");
    assert_eq!(text(&world.json(&format!("read {id} --as-of 2026-05-15"), &[])["state"]), "tombstoned");
    // The wall stood then too.
    let draft = world.json(&format!("remember {AGENT} --evidence seen"), &["a private thought"]);
    world.at("2026-05-02T12:00:00Z");
    let other = format!("read {} --as-of 2026-05-01T13:00:00Z --as agent:t --conversation c2", text(&draft["id"]));
    assert_eq!(world.code(2, &other, &[]), "not_found");
}

#[test]
fn an_expired_memory_is_active_again_when_saved_or_patched() {
    let world = World::new();
    for path in ["e1", "e2"] {
        world.json(&format!("remember --path {path} --expires 2026-03-05"), &["alpha for a while"]);
    }
    world.at("2026-03-06T12:00:00Z");
    world.json("remember --path e1", &["alpha once more"]);
    let sha256 = text(&world.json("read e2", &[])["sha256"]);
    world.json(&format!("patch e2 --expect {sha256}"), &["alpha mended"]);
    let found = world.json("search alpha", &[]);
    let mut paths = column(&found["hits"], "path");
    paths.sort();
    assert_eq!(paths, ["e1", "e2"]);
    assert_eq!(world.json("upkeep", &[])["expired"], 0);
    assert_eq!(world.code(2, "remember --path e3 --expires 2020-01-01", &["too late"]), "shape.expired");
}

#[test]
fn an_expired_memory_is_archived_and_a_forgotten_one_cannot_be_pinned() {
    let world = World::new();
    world.json("remember --path gone --expires 2026-03-05", &["alpha for a while"]);
    world.at("2026-03-06T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["expired"], 1);
    let listed = |line: &str| column(&world.json(line, &[])["memories"], "path").contains(&"gone".to_owned());
    assert!(!listed("list") && listed("list --state archived"));
    let found = world.json("search alpha --state archived", &[]);
    assert_eq!(column(&found["hits"], "path"), ["gone"]);
    world.json("remember --path kept", &["beta"]);
    world.json("forget kept --reason done", &[]);
    assert_eq!(world.code(2, "pin kept", &[]), "conflict.state");
}
