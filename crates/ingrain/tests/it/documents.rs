//! Documents and scopes: facts 1 to 4, 8, 10, 35.

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:triage --conversation c1 --evidence seen";

#[test]
fn fact_01_seeding_twice_changes_nothing_and_a_deleted_seed_stays_deleted() {
    let world = World::new();
    for _ in 0..2 {
        let stores = world.json("store list", &[]);
        let mut slugs = column(&stores["stores"], "slug");
        slugs.sort();
        assert_eq!(slugs, ["conversation_memory", "workspace_conventions", "workspace_runbooks"]);
        let documents = world.json("list --store workspace_conventions", &[]);
        assert_eq!(rows(&documents["memories"]).len(), 4);
        let seeded = world.events().iter().filter(|name| *name == "memory.write.created").count();
        assert_eq!(seeded, 4, "four versions");
        for memory in rows(&documents["memories"]) {
            let history = world.json("history", &[&text(&memory["id"])]);
            assert_eq!(column(&history["versions"], "operation"), ["seed"]);
            assert_eq!(text(&memory["trust"]), "system_seeded");
        }
    }
    world.json("forget policies/verification --reason ours-is-better", &[]);
    let left = world.json("list --store workspace_conventions", &[]);
    assert_eq!(rows(&left["memories"]).len(), 3);
    assert!(!column(&left["memories"], "path").contains(&"policies/verification".to_owned()));
}

#[test]
fn fact_02_an_agent_does_not_write_runbooks() {
    let world = World::new();
    let line = "remember --as agent:triage --store workspace_runbooks --path runbooks/x --kind runbook --evidence x";
    let refused = world.fails(3, line, &["restart it"]);
    assert_eq!(text(&refused["code"]), "policy.needs_promotion");
    assert!(text(&refused["hint"]).contains("promotion"));
    assert!(world.events().contains(&"memory.policy.denied".to_owned()));
    assert!(rows(&world.json("list --store workspace_runbooks --state all", &[])["memories"]).is_empty());
    assert!(!world.holds("restart it"));
}

#[test]
fn fact_03_an_agent_keeps_preferences_of_its_own_user_only() {
    let world = World::new();
    let agent = "remember --as agent:helper --user ann --store user_memory --evidence said";
    assert_eq!(world.code(3, agent, &["--kind", "runbook", "text"]), "policy.kind_not_writable");
    world.json(agent, &["--kind", "user_preference", "--path", "prefs/tea", "ann drinks green tea"]);
    let read = |who: &str| world.run(&format!("read prefs/tea {who} --json"), &[]).exit;
    assert_eq!(read("--as user:ann"), 0);
    assert_eq!(read("--as agent:helper --user ann"), 0);
    assert_eq!(read("--as user:bob"), 2);
    assert_eq!(read("--as agent:helper --user bob"), 2);
    let id = text(&world.json("read prefs/tea", &[])["id"]);
    let sha256 = text(&world.json("read prefs/tea", &[])["sha256"]);
    let patch = ["--expect", &sha256, "--evidence", "x", "coffee"];
    assert_eq!(world.code(2, &format!("patch {id} --as agent:helper --user bob"), &patch), "not_found");
    assert!(!world.json("search tea --as agent:helper --user bob", &[]).to_string().contains("green tea"));
}

#[test]
fn fact_04_a_draft_of_one_conversation_is_invisible_from_another() {
    let world = World::new();
    let saved = world.json(&format!("remember {AGENT} --path notes/plum"), &["the plum service lost its leader"]);
    let id = text(&saved["id"]);
    let other = "--as agent:triage --conversation c2";
    let seen = |line: &str, field: &str| {
        let answer = world.json(&format!("{line} {other}"), &[]);
        rows(&answer[field]).iter().any(|row| row.to_string().contains(&id))
    };
    assert!(!seen("search plum leader", "hits"));
    assert!(!seen("list", "memories"));
    assert!(!seen("events --limit 1000", "events"));
    assert_eq!(world.code(2, &format!("read {id} {other}"), &[]), "not_found");
    assert_eq!(world.code(2, &format!("read notes/plum {other}"), &[]), "not_found");
    assert_eq!(world.code(2, &format!("history {id} {other}"), &[]), "not_found");
    assert_eq!(world.code(2, &format!("forget {id} {other}"), &[]), "not_found");
    assert_eq!(world.code(2, &format!("search plum --explain={id} {other}"), &[]), "not_found");
    let own = world.json("search plum leader --as agent:triage --conversation c1", &[]);
    assert_eq!(text(&own["hits"][0]["id"]), id);
}

#[test]
fn fact_08_the_same_path_is_one_memory_with_linked_versions() {
    let world = World::new();
    let line = format!("remember {AGENT} --path notes/disk");
    let first = world.json(&line, &["the disk is full"]);
    let second = world.at("2026-03-01T12:01:00Z").json(&line, &["the disk was full of core dumps"]);
    assert_eq!((&first["id"], text(&second["status"])), (&second["id"], "updated".to_owned()));
    assert_eq!(text(&second["deduped_by"]), "path");
    let history = world.json("history notes/disk", &[]);
    assert_eq!(history["versions"][0]["number"], 2);
    assert_eq!(history["versions"][0]["previous"], history["versions"][1]["id"]);
    assert_eq!(column(&history["versions"], "content"), ["the disk was full of core dumps", "the disk is full"]);
    world.json("forget notes/disk --as agent:triage --conversation c1", &[]);
    let anew = world.json(&line, &["the disk is fine"]);
    assert_eq!(text(&anew["status"]), "created");
    assert_ne!(anew["id"], first["id"]);
    assert_eq!(text(&world.json("read notes/disk", &[])["content"]), "the disk is fine");
}

#[test]
fn fact_10_a_claim_without_evidence_is_refused_where_it_is_required() {
    let world = World::new();
    let line = "remember --as agent:triage --conversation c1 --path notes/x";
    assert_eq!(world.code(3, line, &["it was DNS"]), "evidence.missing");
    let saved = world.json(line, &["--tool-call", "call-7", "it was DNS"]);
    let history = world.json("history", &[&text(&saved["id"])]);
    let evidence = &history["versions"][0]["evidence"][0];
    assert_eq!((text(&evidence["tool_call"]), text(&evidence["conversation"])), ("call-7".to_owned(), "c1".to_owned()));
}

#[test]
fn fact_35_an_unknown_id_is_not_found() {
    let world = World::new();
    let id = "0195f0a0-0000-7000-8000-000000000001";
    for line in ["read", "history", "forget", "pin", "unpin"] {
        let failed = world.fails(2, line, &[id]);
        assert_eq!((text(&failed["status"]), text(&failed["code"])), ("error".to_owned(), "not_found".to_owned()));
    }
    assert_eq!(world.code(2, "patch", &[id, "--expect", &"0".repeat(64), "x"]), "not_found");
    assert_eq!(world.code(2, "search x", &[&format!("--explain={id}")]), "not_found");
}

#[test]
fn an_archived_store_is_neither_read_nor_written() {
    let world = World::new();
    world.json("store create tickets --scope workspace", &[]);
    world.json("remember --store tickets --kind note --path t/1", &["printer on floor three jams"]);
    world.json("store archive tickets", &[]);
    assert_eq!(world.code(2, "remember --store tickets --kind note", &["more"]), "not_found");
    assert_eq!(world.code(2, "search printer --store tickets", &[]), "not_found");
    assert!(!world.json("search printer jams", &[]).to_string().contains("floor three"));
    assert!(rows(&world.json("list --prefix t/", &[])["memories"]).is_empty());
    assert_eq!(world.code(2, "read t/1", &[]), "not_found");
    assert_eq!(world.code(2, "store create tickets", &[]), "conflict.store_exists");
    assert_eq!(world.code(3, "store create mine --as agent:a", &[]), "policy.admins_only");
}

#[test]
fn tenants_are_isolated() {
    let world = World::new();
    world.json("tenant create acme", &[]);
    world.json("remember --tenant acme --path secret/plan", &["acme moves to the lake"]);
    assert_eq!(world.run("read secret/plan --tenant acme", &[]).exit, 0);
    assert_eq!(world.code(2, "read secret/plan", &[]), "not_found");
    assert!(!world.json("search acme lake", &[]).to_string().contains("lake"));
    assert_eq!(world.code(2, "list --tenant nobody", &[]), "not_found");
    assert_eq!(world.code(2, "tenant create acme", &[]), "conflict.tenant_exists");
    assert_eq!(world.code(3, "tenant list --as agent:a", &[]), "policy.admins_only");
}
