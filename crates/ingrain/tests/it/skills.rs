//! Skills: SKILL.md files, global, never cut, fresh at each use.

use serde_json::{Value, json};

use crate::world::{World, column, rows, text};

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: how to {name}\n---\n{body}\n")
}

fn put(world: &World, place: &str, text: &str) -> String {
    let folder = world.home().join(place);
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("SKILL.md"), text).expect("written");
    world.home().join(place.split('/').next().expect("a folder")).display().to_string()
}

fn window(world: &World, more: &Value) -> Value {
    let mut request = json!({ "window_tokens": 4_000, "message": "what now?" });
    request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let file = world.home().join("window.json");
    std::fs::write(&file, request.to_string()).expect("written");
    world.json(&format!("context --as agent:t --window {}", file.display()), &[])
}

#[test]
fn installed_skills_are_in_every_window_and_changes_apply_at_once() {
    let world = World::new();
    let long = "check the tide before the crossing. ".repeat(100);
    let from = put(&world, "mine/ferry", &skill("ferry", &long));
    let done = world.json("ingest --skills", &[&from]);
    assert_eq!(done["skills"], json!(["ferry"]));
    let all = |window: &Value| column(&window["messages"], "content").join("\n");
    assert!(all(&window(&world, &json!({}))).contains(long.trim()), "whole");
    put(&world, "skills/ferry", &skill("ferry", "the ferry was sold"));
    put(&world, "skills/bus", &skill("bus", "the bus leaves at eight"));
    let now = all(&window(&world, &json!({})));
    assert!(now.contains("the ferry was sold") && now.contains("leaves at eight") && !now.contains("tide"), "{now}");
    let chosen = all(&window(&world, &json!({ "skill_names": ["bus"] })));
    assert!(chosen.contains("leaves at eight") && !chosen.contains("sold"), "{chosen}");
    let doctor = world.json("doctor", &[]);
    let check = rows(&doctor["checks"]).iter().find(|check| check["name"] == "skills").expect("a check").clone();
    assert!(text(&check["detail"]).contains("bus, ferry"), "{check}");
}

#[test]
fn skill_folders_can_be_configured_and_invalid_skills_are_reported() {
    let world = World::new();
    let folder = put(&world, "theirs/tram", &skill("tram", "ring twice"));
    std::fs::write(world.home().join("config.toml"), format!("[skills]\nfolders = ['{folder}']\n")).expect("written");
    assert!(window(&world, &json!({})).to_string().contains("ring twice"));
    put(&world, "theirs/odd", "no front matter");
    let doctor = world.fails(1, "doctor", &[]);
    assert!(doctor.to_string().contains("skill.invalid") && doctor.to_string().contains("odd"), "{doctor}");
}

#[test]
fn one_invalid_skill_does_not_block_the_others() {
    let world = World::new();
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    put(&world, "mine/tram", &skill("tram", "ring twice"));
    put(&world, "mine/odd", "no front matter");
    put(&world, "mine/huge", &skill("huge", &"x".repeat(100_001)));
    let from = put(&world, "mine/keys", &skill("keys", &format!("use {secret}")));
    let done = world.fails(3, "ingest --skills", &[&from]);
    assert_eq!(done["skills"], json!(["tram"]), "{done}");
    assert_eq!(column(&done["refused"], "name"), ["huge", "keys", "odd"]);
    assert_eq!(column(&done["refused"], "code"), ["skill.invalid", "safety.secret_found", "skill.invalid"]);
    let told = world.run("ingest --skills", &[&from]);
    assert!(told.stdout.contains("odd/SKILL.md") && told.exit == 3, "{told:?}");
    // Put straight into the folder, they are scanned and left out as well.
    put(&world, "skills/odd", "no front matter");
    put(&world, "skills/keys", &skill("keys", &format!("use {secret}")));
    let window = window(&world, &json!({}));
    assert!(window["messages"].to_string().contains("ring twice") && !window.to_string().contains(&secret), "{window}");
    assert!(window["notes"].to_string().contains("skill `odd` left out"), "{window}");
    assert!(window["notes"].to_string().contains("skill `keys` left out"), "{window}");
}

#[test]
fn only_admins_install_skills_and_skills_with_secrets_are_refused() {
    let world = World::new();
    let from = put(&world, "mine/ferry", &skill("ferry", "check the tide"));
    assert_eq!(world.code(3, "ingest --as agent:t --skills", &[&from]), "policy.admins_only");
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    let bad = put(&world, "bad/ferry", &skill("keys", &format!("use {secret}")));
    assert_eq!(world.code(3, "ingest --skills", &[&bad]), "safety.secret_found");
    assert_eq!(world.code(2, "ingest --skills", &["/nowhere/at/all"]), "not_found");
}

#[test]
fn the_second_skill_with_the_same_name_is_refused() {
    let world = World::new();
    put(&world, "mine/a", &skill("deploy", "with a crane"));
    let mine = put(&world, "mine/b", &skill("deploy", "with a truck"));
    let done = world.fails(3, "ingest --skills", &[&mine]);
    assert_eq!(
        (&done["skills"], column(&done["refused"], "code")),
        (&json!(["deploy"]), vec!["skill.name_taken".into()])
    );
    assert_eq!(column(&done["refused"], "name"), ["b"]);
    // A skill of that name from another folder is refused; its own file may update it.
    let other = put(&world, "other/deploy", &skill("deploy", "with a ship"));
    assert_eq!(world.code(2, "ingest --skills", &[&other]), "skill.name_taken");
    let whole = |window: &Value| column(&window["messages"], "content").join("\n");
    assert!(whole(&window(&world, &json!({}))).contains("with a crane"));
    std::fs::remove_dir_all(world.home().join("mine/b")).expect("gone");
    put(&world, "mine/a", &skill("deploy", "with a tall crane"));
    assert_eq!(world.json("ingest --skills", &[&mine])["skills"], json!(["deploy"]));
    assert!(whole(&window(&world, &json!({}))).contains("with a tall crane"));
    // The same words from elsewhere take nothing away.
    let copy = put(&world, "copy/x", &skill("deploy", "with a tall crane"));
    assert_eq!(world.json("ingest --skills", &[&copy])["skills"], json!(["deploy"]));
}

#[test]
fn skills_with_similar_names_get_different_folders() {
    let world = World::new();
    put(&world, "mine/one", &skill("a/b", "first"));
    let mine = put(&world, "mine/two", &skill("a b", "second"));
    for _ in 0..2 {
        assert_eq!(world.json("ingest --skills", &[&mine])["skills"], json!(["a/b", "a b"]));
    }
    let names = |folder: &str| {
        let entries = std::fs::read_dir(world.home().join(folder)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names("skills"), ["a-b", "a-b-2"].map(Into::into).into());
    let given = window(&world, &json!({}))["messages"].to_string();
    assert!(given.contains("first") && given.contains("second"), "{given}");
}

#[test]
fn installing_from_the_install_folder_changes_nothing() {
    let world = World::new();
    put(&world, "skills/deploy", &skill("deploy", "with a crane"));
    let home = put(&world, "skills/old", &skill("deploy", "with a truck"));
    let done = world.fails(3, "ingest --skills", &[&home]);
    assert_eq!((&done["skills"], column(&done["refused"], "name")), (&json!(["deploy"]), vec!["old".into()]));
    for (folder, words) in [("deploy", "with a crane"), ("old", "with a truck")] {
        let text = std::fs::read_to_string(world.home().join("skills").join(folder).join("SKILL.md")).expect("a file");
        assert!(text.contains(words), "{folder}: {text}");
    }
    // `doctor` and the notes of a window both report the name used twice.
    let doctor = world.fails(1, "doctor", &[]).to_string();
    assert!(doctor.contains("deploy in ") && doctor.contains("skill.name_taken"), "{doctor}");
    let notes = window(&world, &json!({}))["notes"].to_string();
    assert!(notes.contains("skill `old` left out: another skill with the name `deploy` comes first"), "{notes}");
}

#[test]
fn a_window_reports_a_requested_skill_that_does_not_exist() {
    let world = World::new();
    put(&world, "skills/deploy", &skill("deploy", "with a crane"));
    let own = json!([{ "name": "own", "body": "brought along" }]);
    let given = window(&world, &json!({ "skills": own, "skill_names": ["deploy", "Deploy", "nope", "own"] }));
    assert_eq!(given["notes"], json!(["there is no skill `Deploy`", "there is no skill `nope`"]), "{given}");
}
