//! Notes, systems and rules: facts 36, 38, 39, 40, 42.

use crate::world::{World, column, text};

const NOTE: &str = "remember --store user_notes --kind note";

fn hinted(world: &World, who: &str, hint: &str, content: &str) -> serde_json::Value {
    world.json(&format!("{NOTE} {who}"), &["--hint", hint, content])
}

#[test]
fn fact_36_a_near_hint_with_agreeing_content_updates_in_place() {
    let world = World::new();
    let ann = "--as user:ann";
    let first = hinted(&world, ann, "wifi password of the office", "the office wifi card is in the top drawer");
    let second =
        hinted(&world, ann, "office wifi password", "the office wifi card is in the top drawer, behind the stamps");
    assert_eq!((text(&second["status"]), &second["id"]), ("updated".to_owned(), &first["id"]));
    assert_eq!(text(&second["deduped_by"]), "hint");
    let history = world.json("history", &[&text(&first["id"])]);
    assert_eq!(text(&history["versions"][1]["content"]), "the office wifi card is in the top drawer");
}

#[test]
fn fact_36_another_fact_under_a_near_hint_is_new_and_names_the_near_one() {
    let world = World::new();
    let ann = "--as user:ann";
    let first = hinted(&world, ann, "lunch on fridays", "pasta place at the corner closes early");
    let other = hinted(&world, ann, "fridays lunch", "budget review moved to nine with finance");
    assert_eq!((text(&other["status"]), &other["near"]), ("created".to_owned(), &first["id"]));
}

#[test]
fn fact_36_another_owner_or_system_is_new() {
    let world = World::new();
    let (hint, content) = ("restart order", "start the queue before the workers");
    let ann = hinted(&world, "--as user:ann", hint, content);
    let bob = hinted(&world, "--as user:bob", hint, content);
    assert_ne!(ann["id"], bob["id"]);
    let on = |system: &str| {
        let line =
            format!("remember --as user:ann --store system_notes --system {system} --grant system:{system}=read");
        text(&world.json(&line, &["--hint", hint, content])["id"])
    };
    let (one, two) = (on("erp"), on("crm"));
    assert_ne!(one, two);
    assert_eq!(on("erp"), one);
}

#[test]
fn fact_38_the_fourth_save_of_an_unattended_run_is_refused() {
    let world = World::new();
    let line = "remember --as agent:night --user ann --run r1 --unattended --store user_notes --kind user_preference";
    let ids: Vec<String> = (0..3)
        .map(|number| {
            text(&world.json(line, &["--hint", &format!("topic {number} alone"), &format!("fact {number}")])["id"])
        })
        .collect();
    let refused = world.fails(3, line, &["--hint", "one more thing", "a fourth fact"]);
    assert_eq!(text(&refused["code"]), "policy.run_cap");
    assert!(text(&refused["hint"]).contains("go on"), "{refused}");
    let other = line.replace("r1", "r2");
    world.json(&other, &["--hint", "another run", "a fact of the next run"]);
    let forget = format!("forget {} --as agent:night --user ann --run r1 --unattended", ids[0]);
    let refused = world.fails(3, &forget, &[]);
    assert_eq!(text(&refused["code"]), "policy.unattended_delete");
    assert!(text(&refused["hint"]).contains("propose --forget"), "{refused}");
    assert_eq!(text(&world.json("read", &[&ids[0]])["state"]), "active");
}

#[test]
fn an_unattended_save_without_a_run_is_refused_with_a_hint() {
    let world = World::new();
    let line = "remember --as agent:night --user ann --unattended --store user_notes --kind user_preference --hint h x";
    let refused = world.fails(2, line, &[]);
    assert_eq!(text(&refused["code"]), "scope.run_missing");
    assert!(text(&refused["hint"]).contains("--run"), "{refused}");
}

#[test]
fn fact_39_other_users_delete_nothing_and_see_nothing() {
    let world = World::new();
    let id = text(&hinted(&world, "--as user:ann", "door", "the side door sticks")["id"]);
    let real = world.fails(2, &format!("forget {id} --as user:bob"), &[]);
    let unknown = "0195f0a0-0000-7000-8000-000000000001";
    let made_up = world.fails(2, &format!("forget {unknown} --as user:bob"), &[]);
    assert_eq!(real.to_string().replace(&id, "ID"), made_up.to_string().replace(unknown, "ID"));
    assert_eq!(text(&world.json("read", &[&id])["state"]), "active");
}

#[test]
fn fact_39_systems_need_read_to_save_and_manage_to_delete() {
    let world = World::new();
    let save = "remember --as user:ann --store system_notes --system erp --hint ports";
    assert_eq!(world.code(3, save, &["erp listens on 8443"]), "policy.system_not_readable");
    let saved = world.json(&format!("{save} --grant system:erp=read"), &["erp listens on 8443"]);
    let id = text(&saved["id"]);
    let with = |grant: &str| format!("--as user:ann {grant}");
    assert_eq!(world.code(3, &format!("forget {id} {}", with("--grant system:erp=read")), &[]), "policy.system_manage");
    // Without the grant even one's own is out of sight.
    assert_eq!(world.code(2, &format!("read {id} {}", with("")), &[]), "not_found");
    assert!(!world.json(&format!("search erp listens {}", with("")), &[]).to_string().contains("8443"));
    let seen = world.json(&format!("search erp listens --system erp {}", with("--grant system:erp=read")), &[]);
    assert_eq!(column(&seen["hits"], "id"), [id.as_str()]);
    world.json(&format!("forget {id} {}", with("--grant system:erp=manage")), &[]);
}

#[test]
fn fact_39_grants_can_come_from_configuration() {
    let world = World::with_config("[grants.\"user:ann\"]\nerp = 'manage'\n");
    let saved = world.json("remember --as user:ann --store system_notes --system erp", &["erp restarts on sundays"]);
    world.json("forget --as user:ann", &[&text(&saved["id"])]);
    assert_eq!(
        world.code(3, "remember --as user:bob --store system_notes --system erp", &["x"]),
        "policy.system_not_readable"
    );
}

#[test]
fn fact_40_a_revoked_rule_fails_the_calls() {
    let world = World::new();
    let id = text(&hinted(&world, "--as user:ann", "plants", "water the plants on monday")["id"]);
    let without =
        |rule: &str, line: &str, more: &[&str]| world.code(3, &format!("{line} --as user:ann --revoke {rule}"), more);
    for line in ["search plants", "list", &format!("read {id}"), &format!("history {id}"), "events"] {
        assert_eq!(without("memory.read", line, &[]), "policy.read_revoked", "{line}");
    }
    assert_eq!(without("memory.manage", NOTE, &["x"]), "policy.manage_revoked");
    assert_eq!(without("memory.manage", &format!("forget {id}"), &[]), "policy.manage_revoked");
    let strict = World::with_config("[roles.agent]\nrules = ['memory.read']\n");
    let agent = "--as agent:a --conversation c1 --evidence x";
    assert_eq!(strict.code(3, &format!("remember {agent}"), &["x"]), "policy.manage_revoked");
    strict.json("search x --as agent:a", &[]);
    strict.json(NOTE, &["an admin still writes"]);
}

#[test]
fn fact_42_a_system_store_needs_a_system() {
    let world = World::new();
    assert_eq!(world.code(2, "remember --store system_notes", &["which one?"]), "scope.system_missing");
    for (store, code) in [
        ("conversation_memory", "scope.conversation_missing"),
        ("lessons", "scope.pipeline_missing"),
        ("working_memory", "scope.run_missing"),
    ] {
        let line = format!("remember --as agent:a --evidence x --store {store}");
        assert_eq!(world.code(2, &line, &["x"]), code);
    }
    assert_eq!(world.code(2, "remember --as agent:a --evidence x --store user_notes", &["x"]), "scope.user_missing");
}

#[test]
fn pin_makes_one_version() {
    let world = World::new();
    let id = text(&hinted(&world, "--as user:ann", "diet", "no nuts, ever")["id"]);
    assert_eq!(world.json(&format!("pin {id} --as user:ann"), &[])["always_inject"], true);
    assert_eq!(world.json(&format!("unpin {id} --as user:ann"), &[])["always_inject"], false);
    assert_eq!(column(&world.json("history", &[&id])["versions"], "operation"), ["pin", "pin", "create"]);
}
