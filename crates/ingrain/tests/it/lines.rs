//! The lines people are shown in issue, README and help work as written.

use crate::world::{World, column, rows, text};

const NOTE: &str = "nginx crashlooped: configmap nginx-conf had a bad upstream";

fn with_note() -> World {
    let world = World::new();
    let line = "remember --as agent:triage --conversation c1 --store conversation_memory --path notes/nginx \
                --kind conversation_note";
    let saved = world.json(line, &["--evidence", "tool call 17", NOTE]);
    assert_eq!((text(&saved["status"]).as_str(), saved["deduped"].as_bool()), ("created", Some(false)));
    world
}

#[test]
fn remember_then_search_in_the_same_conversation() {
    let world = with_note();
    let answer = world.json("search --as agent:triage --conversation c1", &["why did nginx crash"]);
    let hit = &rows(&answer["hits"])[0];
    assert_eq!(text(&hit["path"]), "notes/nginx");
    assert_eq!(text(&hit["content"]), NOTE);
    for field in ["id", "store", "path", "kind", "trust", "state", "content"] {
        assert!(hit[field].is_string(), "{field}: {hit}");
    }
    assert!(hit["title"].is_null() && hit["score"].is_f64() && hit["parts"]["text"].is_f64(), "{hit}");
}

#[test]
fn another_conversation_does_not_find_it() {
    let world = with_note();
    let answer = world.json("search --as agent:triage --conversation c2", &["why did nginx crash"]);
    assert!(!column(&answer["hits"], "path").contains(&"notes/nginx".to_owned()), "{answer}");
}

#[test]
fn a_runbook_by_an_agent_is_refused_with_advice() {
    let world = World::new();
    let line =
        "remember --as agent:triage --store workspace_runbooks --path runbooks/nginx --kind runbook --evidence x";
    let refused = world.fails(3, line, &["text"]);
    assert_eq!(text(&refused["status"]), "refused");
    assert_eq!(text(&refused["code"]), "policy.needs_promotion");
    assert!(text(&refused["hint"]).contains("promotion"), "{refused}");
    let told = world.run(line, &["text"]);
    assert_eq!((told.exit, told.stdout.as_str()), (3, ""));
    assert!(told.stderr.contains("promotion"), "{told:?}");
}

#[test]
fn history_read_list_patch_forget() {
    let world = with_note();
    let memory = world.json("read notes/nginx", &[]);
    let (id, sha256) = (text(&memory["id"]), text(&memory["sha256"]));
    let listed = world.json("list --store conversation_memory --prefix notes/", &[]);
    assert_eq!(column(&listed["memories"], "id"), [id.as_str()]);
    let patched = world.json("patch", &[&id, "--expect", &sha256, "new text"]);
    assert_eq!(text(&patched["status"]), "patched");
    let history = world.json("history notes/nginx", &[]);
    assert_eq!(column(&history["versions"], "operation"), ["patch", "create"]);
    assert_eq!(column(&history["versions"], "content"), ["new text", NOTE]);
    assert_eq!(history["versions"][0]["previous"], history["versions"][1]["id"]);
    let forgotten = world.json("forget", &[&id, "--reason", "no longer true"]);
    assert_eq!((text(&forgotten["status"]).as_str(), text(&forgotten["state"]).as_str()), ("forgotten", "tombstoned"));
    assert_eq!(text(&world.json("history", &[&id])["versions"][0]["reason"]), "no longer true");
    assert!(column(&world.json("list --prefix notes/", &[])["memories"], "id").is_empty());
}

#[test]
fn output_is_text_or_one_json_value() {
    let world = with_note();
    let told = world.run("history notes/nginx", &[]);
    assert!(told.stdout.contains("+nginx crashlooped") && !told.stdout.contains('\u{1b}'), "{told:?}");
    for line in
        ["store list", "list", "search nginx", "events", "verify", "doctor", "config show", "tenant list", "upkeep"]
    {
        let ran = world.run(line, &[]);
        assert!(ran.exit == 0 && !ran.stdout.is_empty(), "{line}: {ran:?}");
        world.json(line, &[]);
    }
}

#[test]
fn a_first_run_needs_no_setup_and_its_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::on_file();
    let home = world.home().join("fresh/home");
    let home = home.to_str().expect("utf-8");
    let ran = world.run("remember", &["the door code changes monthly", "--home", home]);
    assert!(ran.exit == 0 && ran.stdout.contains("user_notes"), "{ran:?}");
    let mode = |path: &str| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(home), mode(&format!("{home}/ingrain.db"))), (0o700, 0o600));
    let found = world.json("search", &["door code", "--home", home]);
    assert_eq!(text(&found["hits"][0]["content"]), "the door code changes monthly");
}

#[test]
fn content_comes_from_an_argument_a_file_or_stdin() {
    let world = World::new();
    let file = world.home().join("note.txt");
    std::fs::write(&file, "from a file").expect("written");
    world.json("remember --path a", &["from an argument"]);
    world.json("remember --path b --file", &[file.to_str().expect("utf-8")]);
    assert_eq!(world.piped("remember --path c -", "from stdin".as_bytes()).exit, 0);
    for (path, content) in [("a", "from an argument"), ("b", "from a file"), ("c", "from stdin")] {
        assert_eq!(world.run(&format!("read {path} --raw"), &[]).stdout.trim_end(), content);
    }
    assert_eq!(world.code(2, "remember", &[]), "usage");
}

#[test]
fn completions_and_manual_pages_list_the_commands() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(world.run("completions", &[shell]).stdout.contains("remember"), "{shell}");
    }
    let pages = world.home().join("man");
    assert_eq!(world.run("man", &[pages.to_str().expect("utf-8")]).exit, 0);
    assert!(pages.join("ingrain-remember.1").exists());
}
