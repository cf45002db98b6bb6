//! Everything out and everything back: fact 33.

use serde_json::Value;

use super::{AGENT, draft, propose, read};
use crate::world::{World, column, rows, text};

#[test]
fn fact_33_export_lists_every_state_and_imports_back_equal() {
    let world = World::new();
    let id = draft(&world, "notes/a", "The first lesson of the day.");
    draft(&world, "notes/a", "The first lesson of the day, corrected.");
    propose(&world, &id, "first");
    let gone = draft(&world, "notes/b", "The second lesson of the day.");
    world.json("forget --reason wrong", &[&gone]);
    let old = text(&world.json("profile propose --key k --value v1 --reason r", &[])["review"]["candidate"]);
    world.json("review confirm", &[&old]);
    let new = text(&world.json("profile propose --key k --value v2 --reason r", &[])["review"]["candidate"]);
    world.json("review confirm", &[&new]);
    world.json("profile propose --key k --value v3 --reason r", &[]);
    world.json("forget policies/verification --reason ours", &[]);
    let outside = tempfile::tempdir().expect("a folder");
    let file = outside.path().join("all.json");
    let path = file.to_str().expect("utf-8");
    assert_eq!(world.code(3, "export --output", &[path]), "policy.export_outside");
    assert!(!file.exists());
    world.json("export --output-anywhere --output", &[path]);
    let default = text(&world.json("memory export", &[])["path"]);
    assert!(default.contains("/exports/") && default.ends_with(".json"));
    let export = read(path);
    let mut states = column(&export["memories"], "state");
    states.sort();
    states.dedup();
    assert_eq!(states, ["active", "constrained", "superseded", "tombstoned"]);

    let other = World::new();
    let done = other.json("import", &[path]);
    assert_eq!(rows(&done["refused"]).len(), 0, "{done}");
    let again = other.json("import", &[path]);
    assert_eq!((&again["imported"], rows(&again["refused"]).len()), (&Value::from(0), 0), "idempotent: {again}");
    let back = text(&other.json("export", &[])["path"]);
    let (one, two) = (stories(&export), stories(&read(&back)));
    assert_eq!(one.len(), rows(&export["memories"]).len() - 3, "all but the three untouched seeds");
    for story in &one {
        let same = two.iter().find(|other| other["id"] == story["id"]);
        assert_eq!(same, Some(story));
    }
    assert_eq!(column(&read(&back)["reviews"], "state"), column(&export["reviews"], "state"));
    let refused = other.fails(3, &format!("remember {AGENT} --evidence x"), &["the second lesson, of the day"]);
    assert_eq!(text(&refused["code"]), "policy.forgotten", "what was forgotten stays forgotten elsewhere");
    let verification = other.run("read policies/verification --store workspace_conventions --json", &[]).json();
    assert_ne!(text(&verification["state"]), "active", "a deleted seed does not return by import");
}

#[test]
fn fact_33_a_jsonl_export_imports_like_a_json_export() {
    let world = World::new();
    let id = draft(&world, "notes/a", "The first lesson of the day.");
    draft(&world, "notes/a", "The first lesson of the day, corrected.");
    propose(&world, &id, "first");
    world.json("forget --reason wrong", &[&draft(&world, "notes/b", "The second lesson of the day.")]);
    let path = text(&world.json("export --format jsonl", &[])["path"]);
    let lines = std::fs::read_to_string(&path).expect("the export");
    let parsed: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(parsed[0]["ingrain_export"]["format"], 1);
    let memories = parsed.iter().filter(|line| line["memory"].is_object()).count();
    assert_eq!(parsed[parsed.len() - 1]["end"]["memories"], memories);

    let other = World::new();
    let done = other.json("import", &[&path]);
    assert!(done["imported"].as_u64() >= Some(2) && rows(&done["refused"]).is_empty(), "{done}");
    assert_eq!(other.json("import", &[&path])["imported"], 0, "idempotent");
    let whole = |world: &World| stories(&read(&text(&world.json("export", &[])["path"])));
    assert_eq!(whole(&other), whole(&world));
    // One that broke off is told so; what it brought stays.
    let torn = world.home().join("torn.jsonl");
    std::fs::write(&torn, lines.lines().take(parsed.len() - 1).collect::<Vec<_>>().join("\n")).expect("written");
    let third = World::new();
    assert_eq!(third.code(2, "import", &[torn.to_str().expect("utf-8")]), "shape.export_broken_off");
    assert_eq!(whole(&third), whole(&world));
    std::fs::write(&torn, "{\"memory\": 7}").expect("written");
    assert_eq!(third.code(2, "import", &[torn.to_str().expect("utf-8")]), "shape.export");
}

/// The memories of an export without what belongs to the database they were in; seeds that nobody touched are each
/// database's own.
fn stories(export: &Value) -> Vec<Value> {
    let mut stories: Vec<Value> = rows(&export["memories"]).to_vec();
    stories.retain(|story| !(story["author"] == "ingrain" && story["state"] == "active"));
    for story in &mut stories {
        for counter in ["tenant", "recall_count", "last_recalled_at"] {
            story[counter] = Value::Null;
        }
        for version in story["versions"].as_array_mut().expect("versions") {
            version["memory"]["tenant"] = Value::Null;
        }
    }
    stories
}

#[test]
fn a_markdown_export_is_imported_with_the_checks_of_a_save() {
    let world = World::new();
    world.json(
        "remember --store workspace_runbooks --path web/restart --kind runbook --tag web",
        &["Drain, then restart."],
    );
    let folder = text(&world.json("export --format markdown", &[])["path"]);
    let file = format!("{folder}/workspace_runbooks/web/restart.md");
    let text_of = std::fs::read_to_string(&file).expect("the file");
    assert!(text_of.starts_with("---\n") && text_of.ends_with("---\nDrain, then restart."), "{text_of}");
    let planted = ["AKIA", "Q3EGRYKZWT5PJ7XN"].concat();
    std::fs::write(
        format!("{folder}/workspace_runbooks/leak.md"),
        format!("---\nkind: runbook\npath: leak\n---\nUse {planted} for S3"),
    )
    .expect("written");
    let other = World::new();
    let ran = other.run("import --json", &[&folder]);
    let done = ran.json();
    assert_eq!((ran.exit, column(&done["refused"], "code")), (3, vec!["safety.secret_found".to_owned()]));
    let back = other.json("read web/restart --store workspace_runbooks", &[]);
    assert_eq!(
        (text(&back["content"]), &back["tags"]),
        ("Drain, then restart.".to_owned(), &serde_json::json!(["web"]))
    );
    let again = other.run("import --json", &[&folder]).json();
    assert_eq!(again["imported"], 0, "{again}");
}

#[test]
fn an_invalid_import_is_reported_by_line_and_field_without_quoting_it() {
    let world = World::new();
    let folder = world.home().join("in");
    std::fs::create_dir_all(&folder).expect("made");
    let check = |line: &str, name: &str, body: &str, words: &str| {
        let file = folder.join(name);
        std::fs::write(&file, body).expect("written");
        let told = world.fails(2, line, &[file.to_str().expect("utf-8")]);
        assert!(text(&told["error"]).contains(words) && !told.to_string().contains("hunter2"), "{name}: {told}");
    };
    let stores = "{\"ingrain_export\": 1,\n\"stores\": [{\"slug\": \"hunter2\", \"id\": 7}]}";
    check("import", "a.json", stores, "is not a valid export: line 2, column");
    check("import", "a.json", stores, "`stores[0].id`: expected");
    let lines = "{\"ban_key\": {}}\n";
    check("import", "a.jsonl", lines, "line 1, column");
    check("import", "b.jsonl", "\n{\"memory\": {\"id\": \"hunter2\"}}", "line 2, column");
    check("context --window", "w.json", "{\"window_tokens\": \"hunter2\"}", "`window_tokens`: expected a whole number");
    let file = folder.join("note.md");
    std::fs::write(&file, "---\npath: a\nconfidence: hunter2\n---\nx").expect("written");
    let told = world.fails(3, "import", &[file.to_str().expect("utf-8")]);
    let refused = &rows(&told["refused"])[0];
    assert!(text(&refused["what"]).contains("note.md"), "{told}");
    assert_eq!(text(&refused["message"]), "line 3, `confidence`: expected a number");
}
