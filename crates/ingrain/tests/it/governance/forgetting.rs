//! What is taken away, and stays away: fact 14.

use serde_json::Value;

use super::{AGENT, draft, propose, read, state};
use crate::world::{World, column, rows, text};

#[test]
fn fact_14_redaction_erases_the_text_and_keeps_author_time_and_reason() {
    let world = World::new();
    let id = draft(&world, "notes/miller", "Mister Zanzibarquux lives at the corner.");
    draft(&world, "notes/miller", "Mister Zanzibarquux has moved to the harbour.");
    let quoting = format!("remember {AGENT} --path notes/miller --evidence Zanzibarquux-said-so");
    world.json(&quoting, &["Mister Zanzibarquux has moved to the hills."]);
    assert!(world.holds("Zanzibarquux"));
    let line = format!("redact {id} --reason personal-data");
    assert_eq!(world.code(3, &format!("{line} {AGENT}"), &[]), "policy.admins_only");
    let done = world.json(&line, &[]);
    assert_eq!(text(&done["state"]), "tombstoned");
    let history = world.json("history --limit 50", &[&id]);
    assert_eq!(column(&history["versions"], "operation"), ["redact", "update", "update", "create"]);
    assert_eq!(column(&history["versions"], "content"), ["", "", "", ""]);
    assert_eq!(text(&history["versions"][0]["reason"]), "personal-data");
    assert_eq!(text(&history["versions"][3]["actor"]), "agent:triage");
    assert!(!world.json("search Zanzibarquux harbour --state all", &[]).to_string().contains("Zanzibarquux"));
    let export = text(&world.json("export", &[])["path"]);
    assert!(!std::fs::read_to_string(export).expect("the export").contains("Zanzibarquux"));
    assert!(!world.holds("Zanzibarquux"), "the raw files do not have it");
    assert_eq!(world.json("certificate verify", &[&text(&done["certificate"]["id"])])["valid"], true);
    let again = format!("remember {AGENT} --evidence x");
    let refused = world.fails(3, &again, &["mister ZANZIBARQUUX lives - at the corner!"]);
    assert_eq!(text(&refused["code"]), "policy.forgotten");
    assert!(text(&refused["error"]).contains("2026-03-01") && text(&refused["error"]).contains("personal-data"));
}

#[test]
fn an_erased_user_cannot_be_read_and_values_cannot_return() {
    let world = World::new();
    let save = "remember --as user:ann --store user_memory";
    world.json(save, &["Ann lives in Quuxhausen near the mill."]);
    world.json("remember --as user:bob --store user_memory", &["Bob likes the sea."]);
    let done = world.json("erase --user ann --reason asked-to", &[]);
    assert_eq!(done["memories"], 1);
    assert!(!world.holds("Quuxhausen"));
    assert_eq!(world.code(3, save, &["ann lives in quuxhausen, near the mill"]), "policy.forgotten");
    assert_eq!(rows(&world.json("list --as user:bob --store user_memory", &[])["memories"]).len(), 1);
    let proof = world.run("certificate show --json", &[&text(&done["certificate"]["id"])]).stdout;
    let kept = world.home().join("proof.json");
    std::fs::write(&kept, proof.replace("asked-to", "made-up")).expect("written");
    let forged = world.run("certificate verify --json --file", &[kept.to_str().expect("utf-8")]);
    assert_eq!((forged.exit, &forged.json()["sealed"]), (2, &Value::Bool(false)));
    assert_eq!(world.code(3, "erase --user bob --as reviewer:ana", &[]), "policy.admins_only");
    assert_eq!(world.code(2, "erase --tenant default", &[]), "usage");
}

#[test]
fn quarantine_holds_back_a_memory_and_what_was_derived_from_it() {
    let world = World::new();
    let id = draft(&world, "notes/locks", "Deleting the lock file is always safe.");
    world.json("review confirm", &[&propose(&world, &id, "locks")]);
    world.json(&format!("search lock file safe {AGENT} --run r9"), &[]);
    let copy = text(&world.json("read locks --store workspace_runbooks", &[])["id"]);
    let held = world.json("quarantine --derived --reason wrong", &[&id]);
    assert_eq!(rows(&held["memories"]).len(), 2);
    assert!(held["reached"].to_string().contains("run:r9"), "{held}");
    assert_eq!((state(&world, &id), state(&world, &copy)), ("constrained".to_owned(), "constrained".to_owned()));
    assert_eq!(world.code(3, &format!("quarantine {copy} {AGENT}"), &[]), "policy.reviewers_only");
    world.json("quarantine --undo", &[&id]);
    assert_eq!((state(&world, &id), state(&world, &copy)), ("active".to_owned(), "active".to_owned()));
}

#[test]
fn a_text_stays_banned_while_one_of_its_memories_is_in_quarantine() {
    let wrong = "Deleting the lock file is always safe.";
    for first in [0, 1] {
        let world = World::new();
        let twins = [draft(&world, "notes/one", wrong), draft(&world, "notes/other", wrong)];
        let order = [&twins[first], &twins[1 - first]];
        twins.iter().for_each(|id| drop(world.json("quarantine", &[id])));
        world.json("quarantine --undo", &[order[0]]);
        let again = || world.run(&format!("remember --path notes/again {AGENT} --evidence seen"), &[wrong]).exit;
        assert_eq!(again(), 3, "one of the two is still held back");
        world.json("quarantine --undo", &[order[1]]);
        assert_eq!(again(), 0, "none is held back");
    }
}

#[test]
fn releasing_a_quarantine_does_not_lift_the_ban_of_a_forget() {
    let world = World::new();
    let wrong = "Deleting the lock file is always safe.";
    let (one, other) = (draft(&world, "notes/one", wrong), draft(&world, "notes/other", wrong));
    world.json("forget --reason wrong", &[&one]);
    world.json("quarantine", &[&other]);
    world.json("quarantine --undo", &[&other]);
    assert_eq!(world.code(3, &format!("remember {AGENT} --evidence seen"), &[wrong]), "policy.forgotten");
}

#[test]
fn the_certificate_of_a_partial_redaction_is_valid() {
    let world = World::new();
    let id = draft(&world, "notes/doors", "The code of the door is in the blue book.");
    let first = text(&rows(&world.json("history", &[&id])["versions"])[0]["id"]);
    draft(&world, "notes/doors", "Ask the porter for the code.");
    let done = world.json("redact --reason leaked --version-id", &[&first, &id]);
    let check = world.json("certificate verify", &[&text(&done["certificate"]["id"])]);
    assert_eq!((&check["gone"], &check["valid"]), (&Value::Bool(true), &Value::Bool(true)), "{check}");
    assert!(text(&world.json("read", &[&id])["content"]).contains("porter"));
}

/// More at once than keys are kept: a key each would leave most of them unrecognised, and every save in vain.
#[test]
fn memories_forgotten_in_bulk_stay_forgotten() {
    const MANY: usize = 18;
    let world = World::new();
    let lesson = |number: usize| format!("Lesson {number}: never restart the gateway at hour {number}.");
    for number in 0..MANY {
        let id = draft(&world, &format!("notes/{number}"), &lesson(number));
        world.json("propose --forget --reason wrong", &[&id]);
    }
    assert_eq!(world.json("review confirm --all", &[])["decided"], MANY);
    for number in [0, MANY / 2, MANY - 1] {
        let again = world.fails(3, &format!("remember {AGENT} --evidence seen"), &[&lesson(number)]);
        assert_eq!(text(&again["code"]), "policy.forgotten", "{number}");
    }
    draft(&world, "notes/new", "Lesson of its own: drain the gateway first.");
    let export = read(&text(&world.json("export", &[])["path"]));
    assert_eq!((rows(&export["ban_keys"]).len(), rows(&export["bans"]).len()), (1, MANY));
}

#[test]
fn an_erased_tenant_is_listed_as_erased_until_it_is_used_again() {
    let world = World::new();
    world.json("tenant create acme", &[]);
    world.json("--tenant acme key create --for admin --user ann first", &[]);
    world.json("--tenant acme remember", &["the crane is green"]);
    let erased = || {
        let listed = world.json("tenant list", &[]);
        rows(&listed["tenants"]).iter().any(|tenant| tenant["slug"] == "acme" && tenant["erased_at"].is_string())
    };
    assert!(!erased());
    let stands = world.fails(2, "tenant create acme", &[]);
    assert!(text(&stands["hint"]).contains("`--tenant acme`"), "{stands}");
    world.json("erase --tenant acme --yes", &[]);
    assert!(erased());
    let stands = world.fails(2, "tenant create acme", &[]);
    assert_eq!(text(&stands["code"]), "conflict.tenant_exists");
    assert!(text(&stands["error"]).contains("was erased on 2026-03-01"), "{stands}");
    assert!(text(&stands["hint"]).contains("`ingrain --tenant acme remember"), "{stands}");
    let keys = world.json("--tenant acme key list", &[]);
    assert!(rows(&keys["keys"]).iter().all(|key| key["revoked_at"].is_string()), "{keys}");
    assert!(world.json("--tenant acme events --limit 1000", &[]).to_string().contains("key.revoked"));
    world.json("--tenant acme remember", &["the crane is blue"]);
    assert!(!erased());
}
