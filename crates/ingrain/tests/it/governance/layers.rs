//! Layers, rollback and runs: facts 29 to 32 and 34.

use serde_json::Value;

use super::{draft, episodes, propose, state};
use crate::world::{World, column, rows, text};

fn layered(world: &World, layer: &str, more: &[&str], content: &str) -> String {
    let mut line = vec!["--store", "layers", "--layer", layer];
    line.extend(more);
    line.push(content);
    text(&world.json("remember", &line)["id"])
}

#[test]
fn fact_29_profile_proposals_are_confirmed_or_rejected_once() {
    let world = World::new();
    let propose = |value: &str| {
        let proposed = world.json("profile propose --key editor --reason said", &["--value", value]);
        (text(&proposed["review"]["candidate"]), text(&proposed["review_item_id"]))
    };
    let (vim, _) = propose("vim");
    assert_eq!(state(&world, &vim), "constrained");
    assert!(rows(&world.json("list --store layers --as user:bob", &[])["memories"]).is_empty());
    world.json("memory review confirm", &[&vim]);
    assert_eq!(state(&world, &vim), "active");
    assert_eq!(world.run("review confirm", &[&vim]).exit, 2);
    assert_eq!(world.run("review reject", &[&vim]).exit, 2);
    let (emacs, review) = propose("emacs");
    assert_eq!(propose("emacs").1, review, "the same proposal is not repeated");
    world.json("review confirm", &[&review]);
    let (old, new) = (world.json("read", &[&vim]), world.json("read", &[&emacs]));
    assert_eq!((text(&old["state"]), text(&new["state"])), ("superseded".to_owned(), "active".to_owned()));
    assert_eq!(text(&old["superseded_by"]), emacs);
    assert_eq!(new["supersedes"], serde_json::json!([vim]));
    assert_eq!(text(&new["metadata"]["profile_key"]), "editor");
    let (nano, _) = propose("nano");
    world.json("review reject", &[&nano]);
    assert_eq!(state(&world, &nano), "tombstoned");
    assert_eq!(state(&world, &emacs), "active");
    let unwaiting = layered(&world, "semantic", &[], "Nothing was ever proposed about this.");
    assert_eq!(world.code(2, "review confirm", &[&unwaiting]), "conflict.not_constrained");
    assert_eq!(world.code(2, "review confirm 00000000-0000-7000-8000-000000000000", &[]), "not_found");
}

#[test]
fn fact_30_compaction_proposes_once_and_supersedes_both() {
    let world = World::new();
    let one = layered(&world, "semantic", &[], "Caches are warmed after deploys.");
    let two = layered(&world, "semantic", &[], "caches are warmed, after deploys");
    let events = world.events().len();
    let dry = world.json("semantic compact", &[]);
    assert_eq!((rows(&dry["groups"]).len(), &dry["dry_run"]), (1, &Value::Bool(true)));
    assert_eq!(world.events().len(), events, "a dry run writes nothing");
    assert!(rows(&world.json("review list", &[])["reviews"]).is_empty());
    let made = world.json("memory semantic compact --create-proposals", &[]);
    assert_eq!(made["proposed"], 1);
    let again = world.json("semantic compact --create-proposals", &[]);
    assert_eq!((rows(&again["groups"]).len(), &again["proposed"]), (0, &Value::from(0)));
    let review = &made["proposals"][0];
    let candidate = text(&review["candidate"]);
    assert_eq!(state(&world, &candidate), "constrained");
    world.json("review confirm", &[&candidate]);
    assert_eq!(state(&world, &candidate), "active");
    for id in [&one, &two] {
        assert_eq!(state(&world, id), "superseded");
    }
    let compacted = world.json("read", &[&candidate]);
    assert_eq!(rows(&compacted["metadata"]["compacted_from"]).len(), 2);
    assert_eq!(text(&compacted["metadata"]["origin"]), "compaction");
    assert!(rows(&world.json("semantic compact", &[])["groups"]).is_empty());
}

#[test]
fn fact_31_dedup_keeps_the_most_confident_then_the_oldest() {
    let world = World::new();
    let procedure = |day: &str, confidence: &str, content: &str| {
        let flags = ["--metadata", "workflow=deploy", "--confidence", confidence];
        layered(world.at(&format!("2026-03-{day}T12:00:00Z")), "procedural", &flags, content)
    };
    let ids = [
        procedure("01", "0.6", "Deploy slowly"),
        procedure("02", "0.9", "Deploy by the book"),
        procedure("03", "0.9", "Deploy late"),
    ];
    layered(&world, "procedural", &["--metadata", "workflow=other"], "Another workflow");
    let made = world.json("procedural dedup --create-proposals", &[]);
    assert_eq!(made["proposed"], 1);
    assert_eq!(text(&made["groups"][0]["canonical"]), ids[1], "the most confident, then the oldest");
    assert_eq!(world.json("procedural dedup --create-proposals", &[])["proposed"], 0);
    let candidate = text(&made["proposals"][0]["candidate"]);
    world.json("review confirm", &[&candidate]);
    let canonical = world.json("read", &[&candidate]);
    assert_eq!(
        (&canonical["metadata"]["canonical"], text(&canonical["content"])),
        (&Value::Bool(true), "Deploy by the book".to_owned())
    );
    for id in &ids {
        assert_eq!(state(&world, id), "superseded");
    }
    assert_eq!(rows(&world.json("list --store layers --layer procedural", &[])["memories"]).len(), 2);
}

#[test]
fn fact_32_rollback_needs_an_active_memory_and_restores_on_request() {
    let world = World::new();
    let confirmed = |value: &str| {
        let proposed = world.json("profile propose --key tabs --reason said", &["--value", value]);
        let id = text(&proposed["review"]["candidate"]);
        world.json("review confirm", &[&id]);
        id
    };
    let (old, new) = (confirmed("two"), confirmed("four"));
    assert_eq!(world.code(2, "rollback", &[&old]), "conflict.not_active");
    let done = world.json("memory rollback --restore", &[&new]);
    assert_eq!(done["restored"], serde_json::json!([old]));
    assert_eq!((state(&world, &new), state(&world, &old)), ("tombstoned".to_owned(), "active".to_owned()));
    assert_eq!(world.code(2, "rollback", &[&new]), "conflict.not_active");
    let third = confirmed("eight");
    world.json("rollback", &[&third]);
    assert_eq!(state(&world, &old), "superseded", "not asked to restore");
    // A rollback is no forgetting: the value may be confirmed again.
    confirmed("eight");
    assert_eq!(episodes(&world), ["rollback", "rollback"]);
}

#[test]
fn fact_32_a_rollback_restores_the_previous_version_at_the_path() {
    let world = World::new();
    let at = "web/nginx --store workspace_runbooks";
    let promoted = |note: &str, content: &str| {
        let id = draft(&world, note, content);
        world.json("review confirm", &[&propose(&world, &id, "web/nginx")]);
        world.json(&format!("read {at}"), &[])
    };
    let one = promoted("notes/one", "nginx one");
    let id = text(&one["id"]);
    promoted("notes/two", "nginx two other words");
    let sha256 = text(&world.json(&format!("read {at}"), &[])["sha256"]);
    world.json(&format!("patch {id} --expect {sha256}"), &["nginx three"]);
    world.json("pin", &[&id]);
    let stands = || (text(&world.json("read", &[&id])["content"]), text(&world.json("read", &[&id])["trust"]));
    let back = || world.json("rollback --restore", &[&id]);
    for said in ["nginx two other words", "nginx one"] {
        assert_eq!((&back()["restored"], stands().0.as_str()), (&serde_json::json!([id]), said));
    }
    assert_eq!(stands().1, text(&one["trust"]));
    let versions = world.json("history --limit 10", &[&id])["versions"].clone();
    assert_eq!(
        column(&versions, "operation"),
        ["rollback", "rollback", "pin", "patch", "promote", "promote"],
        "every step is a version"
    );
    assert_eq!(versions[0]["evidence"], versions[5]["evidence"]);
    let hits = world.json("search --store workspace_runbooks", &["nginx one"]);
    assert_eq!(column(&hits["hits"], "content"), ["nginx one"]);
    // A writing after a rollback replaced what the rollback had brought back.
    promoted("notes/four", "nginx four");
    back();
    assert_eq!(stands().0, "nginx one");
    let last = back();
    assert_eq!((&last["restored"], text(&last["state"]).as_str()), (&serde_json::json!([]), "tombstoned"));
    assert_eq!(text(&last["not_restored"][0]["why"]), "it replaced nothing");
}

#[test]
fn a_rollback_does_not_restore_forgotten_values() {
    let world = World::new();
    let other =
        text(&world.json("remember --store workspace_runbooks --kind runbook --path c", &["the old word"])["id"]);
    world.json("remember --store workspace_runbooks --kind runbook --path c", &["the new word"]);
    let same =
        text(&world.json("remember --store workspace_runbooks --kind runbook --path d", &["the old word"])["id"]);
    world.json("forget", &[&same]);
    let done = world.json("rollback --restore", &[&other]);
    assert_eq!((&done["restored"], text(&done["state"]).as_str()), (&serde_json::json!([]), "tombstoned"));
    assert!(text(&done["not_restored"][0]["why"]).starts_with("version 1: "), "{done}");
}

#[test]
fn fact_34_closing_a_run_leaves_one_episode() {
    let world = World::new();
    let inside = "--as agent:worker --run r1";
    world.json(&format!("run open r1 --goal migrate --workflow migration {inside}"), &[]);
    for scratch in ["step one: dump the table", "step two: load the table"] {
        world.json(&format!("remember --store working_memory --layer working {inside}"), &[scratch]);
    }
    let found = |who: &str| world.json(&format!("search dump table {who}"), &[]).to_string().contains("dump the table");
    assert!(found(inside), "seen inside the run");
    assert!(!found("--as agent:worker --run r2") && !found("--as agent:worker") && !found(""), "and nowhere else");
    let line = format!("run close r1 --outcome success {inside}");
    let closed = world.json(&line, &["--summary", "Moved all rows in one go"]);
    assert_eq!(closed["tombstoned"], 2);
    assert_eq!(text(&closed["episode"]["layer"]), "episodic");
    assert_eq!(text(&closed["procedure"]["metadata"]["workflow"]), "migration");
    let working = world.json("list --store working_memory --state all", &[]);
    assert_eq!(column(&working["memories"], "state"), ["tombstoned", "tombstoned"]);
    let episodes = world.json(&format!("list --store episodes --layer episodic {inside}"), &[]);
    assert_eq!(rows(&episodes["memories"]).len(), 1, "exactly one");
    assert_eq!(world.code(2, &line, &[]), "conflict.run_closed");
    assert_eq!(world.code(2, "run close nowhere", &[]), "not_found");
    let late = format!("remember --store working_memory --layer working {inside}");
    assert_eq!(world.code(3, &late, &["too late"]), "policy.run_closed");
    // A failure leaves an episode and no procedure.
    world.json("run open r3 --workflow migration --as agent:worker", &[]);
    let failed = world.json("run close r3 --outcome failure --as agent:worker", &["--summary", "The disk was full"]);
    assert_eq!((text(&failed["episode"]["kind"]), &failed["procedure"]), ("error".to_owned(), &Value::Null));
}
