//! Flags mean the same everywhere, and none is ignored.

use serde_json::json;

use crate::world::{World, rows, text};

#[test]
fn every_listing_reports_the_bounds_of_its_limit() {
    let world = World::new();
    let id = text(&world.json("remember --store workspace_runbooks --kind runbook --path a", &["crane"])["id"]);
    world.json("episodes add --as agent:t --session s", &["the crane was oiled"]);
    world.json("context crane --run r1", &[]);
    world.json("run open r1", &[]);
    for line in [
        "list",
        "search crane",
        "recall crane --as agent:t",
        "episodes list --as agent:t",
        "events",
        &format!("history {id}"),
        "receipt list",
        "review list",
        "run list",
    ] {
        for limit in ["0", "-3", "100000"] {
            let told = world.fails(2, &format!("{line} --limit {limit}"), &[]);
            assert_eq!(text(&told["code"]), "shape.out_of_range", "{line} --limit {limit}");
            assert!(text(&told["error"]).starts_with("`limit`: a number from 1 to "), "{line}: {told}");
        }
        world.json(&format!("{line} --limit 1"), &[]);
        assert_eq!(world.code(2, &format!("{line} --limit many"), &[]), "usage", "{line}");
    }
}

#[test]
fn context_reports_the_bounds_of_budget_and_max() {
    let world = World::new();
    for (flag, told) in
        [("budget", "`budget_tokens`: a number from 1 to 100000"), ("max", "`memories_max`: a number from 1 to 200")]
    {
        for number in ["0", "-3", "1000000"] {
            let failed = world.fails(2, &format!("context crane --{flag} {number}"), &[]);
            assert_eq!(text(&failed["code"]), "shape.out_of_range", "--{flag} {number}");
            assert!(text(&failed["error"]).starts_with(told), "{failed}");
        }
        world.json(&format!("context crane --{flag} 1"), &[]);
    }
    let key = text(&world.json("key create --for admin --user ann first", &[])["id"]);
    assert_eq!(world.code(2, &format!("key rotate {key} --overlap 9999999"), &[]), "shape.out_of_range");
    // Further away than time goes: not a key that never ends.
    assert_eq!(world.code(2, "key create --for admin --user ann second --days 4294967295", &[]), "shape.out_of_range");
}

#[test]
fn a_key_keeps_the_flags_it_was_created_with() {
    let world = World::new();
    let line = "key create --for agent:triage --unattended --revoke memory.manage --pipeline ci --user ann triage";
    let created = world.json(line, &[]);
    let rotated = world.json("key rotate", &[&text(&created["id"])]);
    for key in [&created, &rotated] {
        assert_eq!(
            (&key["unattended"], text(&key["pipeline"]), text(&key["user"])),
            (&json!(true), "ci".into(), "ann".into())
        );
        assert_eq!(key["rules"], json!({ "read": true, "manage": false }), "{key}");
    }
    let blind = world.json("key create --for service:feed --revoke memory.read feed", &[]);
    assert_eq!(blind["rules"], json!({ "read": false, "manage": true }), "{blind}");
}

#[test]
fn a_key_of_somebody_who_decides_names_its_person() {
    let world = World::new();
    for holder in ["admin", "reviewer"] {
        let failed = world.fails(2, &format!("key create --for {holder} k"), &[]);
        assert_eq!(text(&failed["code"]), "key.person_missing");
        assert!(text(&failed["error"]).contains("--user NAME"), "{failed}");
        let named = world.json(&format!("key create --for {holder} --user ann k"), &[]);
        assert_eq!(text(&named["user"]), "ann");
    }
    assert_eq!(text(&world.json("key create --for reviewer:ben k", &[])["user"]), "ben");
    assert_eq!(world.code(2, "key create --for reviewer:ben --user ann k", &[]), "usage");
}

#[test]
fn events_with_a_limit_are_the_newest_in_order_of_time() {
    let world = World::new();
    for number in 0..5 {
        world.json("remember", &[&format!("crane {number} is green")]);
    }
    let seqs = |line: &str| {
        let events = world.json(line, &[]);
        let seqs: Vec<u64> = rows(&events["events"]).iter().filter_map(|event| event["seq"].as_u64()).collect();
        (seqs, events["read_to"].as_u64().expect("a number"))
    };
    let (all, last) = seqs("events --limit 1000");
    assert_eq!((all[0], all.last()), (1, Some(&last)));
    assert_eq!(seqs("events --limit 3"), (all[all.len() - 3..].to_vec(), last));
    // From the first on where a place is named to go on from.
    assert_eq!(seqs("events --after 0 --limit 3"), (vec![1, 2, 3], 3));
    let (writes, _) = seqs("events --name memory.write --limit 1000");
    assert_eq!(seqs("events --name memory.write --limit 2").0, writes[writes.len() - 2..].to_vec());
    let (stores, _) = seqs("events --name store.created --limit 1000");
    assert_eq!(seqs("events --name store.created --limit 1").0, stores[stores.len() - 1..].to_vec());
}

#[test]
fn a_search_in_tombstoned_memories_explains_the_empty_result() {
    let world = World::new();
    let id = text(&world.json("remember", &["the crane is green"])["id"]);
    world.json("forget", &[&id]);
    let found = world.json("search crane --state tombstoned", &[]);
    assert!(text(&found["warnings"][0]).ends_with("`list` shows them by their state, `tombstoned`"), "{found}");
    let ran = world.run("search crane --state tombstoned", &[]);
    assert!(ran.exit == 0 && ran.stderr.starts_with("note: forgotten memories have no words left"), "{ran:?}");
    let why = world.json("search crane --state tombstoned", &[&format!("--explain={id}")]);
    assert_eq!(text(&why["explain"]["reason"]), "it was forgotten and has no words left to be found by");
    assert_eq!(rows(&world.json("list --state tombstoned", &[])["memories"]).len(), 1);
    assert!(rows(&world.json("search lighthouse", &[])["warnings"]).is_empty());
}

#[test]
fn arguments_after_two_dashes_are_text() {
    let world = World::new();
    let ran = world.run("remember -- --json", &[]);
    assert!(ran.exit == 0 && ran.stdout.starts_with("saved"), "{ran:?}");
    let ran = world.run("search -- json --json", &[]);
    assert!(ran.exit == 0 && ran.stdout.starts_with("1. "), "{ran:?}");
}

#[test]
fn similarity_must_be_between_0_and_1() {
    let world = World::new();
    for odd in ["9", "-0.1", "NaN"] {
        let line = format!("recall crane --as agent:t --similarity={odd}");
        assert_eq!(world.code(2, &line, &[]), "shape.out_of_range", "{odd}");
    }
    world.json("recall crane --as agent:t --similarity 1", &[]);
}

#[test]
fn a_save_with_system_goes_to_the_notes_of_that_system() {
    let world = World::new();
    let grant = "--as agent:t --conversation c1 --system billing --grant system:billing=read";
    let saved =
        world.json(&format!("remember {grant}"), &["the health page answers 200 although the database is down"]);
    assert_eq!(
        (text(&saved["store"]), text(&saved["scope"])),
        ("system_notes".to_owned(), "system:billing".to_owned())
    );
}

#[test]
fn only_admins_run_upkeep() {
    let world = World::new();
    for who in ["agent:t", "user:ann", "reviewer"] {
        assert_eq!(world.code(3, &format!("upkeep --as {who}"), &[]), "policy.admins_only", "{who}");
    }
    world.json("upkeep", &[]);
}

#[test]
fn an_import_exits_with_3_for_refusals_but_not_for_skipped_memories() {
    let world = World::new();
    let save =
        |content: &str| text(&world.json("remember --as agent:t --conversation c1 --evidence seen", &[content])["id"]);
    save("the crane is green");
    world.json("forget", &[&save("the crane was blue")]);
    let file = world.home().join("all.json").display().to_string();
    world.json("export --as agent:t --conversation c1 --store conversation_memory --output", &[&file]);
    let other = World::new();
    let done = other.json("import --as agent:t --conversation c1", &[&file]);
    assert_eq!((done["imported"].as_u64(), done["left_behind"].as_u64()), (Some(1), Some(1)), "{done}");
    assert!(rows(&done["refused"]).is_empty(), "{done}");
    world.json("remember --store workspace_runbooks --kind runbook --path a", &["lower the crane"]);
    world.json("export --store workspace_runbooks --output", &[&file]);
    let refused = other.fails(3, "import --as agent:t", &[&file]);
    assert_eq!(text(&refused["refused"][0]["code"]), "policy.needs_promotion", "{refused}");
}

#[test]
fn scan_rejects_flags_without_effect() {
    let world = World::new();
    let file = world.home().join("a.txt");
    std::fs::write(&file, "plain").expect("written");
    let file = file.to_str().expect("utf-8");
    for line in ["scan --propose", "scan --all --allowed", "scan --all --scope conversation"] {
        assert_eq!(world.code(2, line, &[file]), "usage", "{line}");
    }
    // A line that does not fit still answers under its own id.
    let lines = "{\"id\": \"a\", \"text\": 7}\n{\"text\": \"fine\"}\n7\n";
    let ran = world.piped("scan --jsonl -", lines.as_bytes());
    let answers: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: Vec<&serde_json::Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!((ran.exit, serde_json::json!(ids)), (2, serde_json::json!(["a", 2, 3])), "{ran:?}");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let world = World::new();
    let odd = world.run("remember --conversation c1 --path", &["a/\u{202e}gpj.exe", "words"]);
    assert!(odd.exit == 2 && odd.stderr.contains("shape.path") && !odd.stderr.contains('\u{202e}'), "{odd:?}");
    let ran = world.run("remember --conversation c1 --path a/gpj", &["words \u{202e}\u{200f}here"]);
    assert!(ran.exit == 0 && !ran.stdout.contains('\u{202e}'), "{ran:?}");
    let outs = ["list", "search words", "read a/gpj", "history a/gpj", "inspect a/gpj", "events"];
    for line in outs {
        let ran = world.run(line, &[]);
        assert!(ran.exit == 0 && !ran.stdout.contains(['\u{202e}', '\u{200f}']), "{line}: {ran:?}");
    }
    // A program gets the bytes as they are.
    assert!(text(&world.json("read a/gpj", &[])["content"]).contains('\u{202e}'));
}

#[test]
fn characters_that_turn_the_direction_of_text_are_refused_in_names_and_titles() {
    let world = World::new();
    for (line, value, field) in [
        ("remember --conversation c1 words --title", "\u{202e}gpj.exe", "the title holds U+202E"),
        ("remember --conversation c1 words --hint", "when \u{2066}asked", "the recall hint holds U+2066"),
        ("remember --conversation c1 words --tag", "a\u{200f}b", "a tag holds U+200F"),
        ("remember --conversation c1 words --speaker", "ann\u{61c}", "the speaker holds U+061C"),
        ("remember words --conversation", "c\u{202d}1", "the conversation holds U+202D"),
        ("search words --as", "agent:a\u{2069}b", "the agent holds U+2069"),
        ("store create cranes --title", "\u{200e}cranes", "the title holds U+200E"),
        ("key create --for agent:a", "k\u{202a}", "the name of the key holds U+202A"),
        ("run open", "r\u{202b}", "the run holds U+202B"),
    ] {
        let ran = world.run(line, &[value]);
        assert!(ran.exit == 2 && ran.stderr.contains("shape.direction_mark"), "{line}: {ran:?}");
        assert!(ran.stderr.contains(field) && !ran.stderr.contains(value), "{line}: {ran:?}");
    }
    let keyed = world.run("remember --conversation c1 words --metadata", &["{\"a\": {\"k\u{202e}\": 1}}"]);
    assert!(keyed.exit == 2 && keyed.stderr.contains("a key of the metadata holds U+202E"), "{keyed:?}");
    // In content they stay, and a model sees them written out.
    world.json("remember --as user:ann --store user_memory", &["cranes \u{202e}desaerg are"]);
    let block = world.run("context --as user:ann cranes", &[]);
    assert!(block.stdout.contains("cranes \\u{202e}desaerg are"), "{block:?}");
}

#[test]
fn characters_that_turn_the_direction_of_text_are_written_out_for_models_and_in_files() {
    let world = World::new();
    let mark = '\u{202e}';
    let content = "cranes \u{202e}desaerg are";
    let mut client = crate::mcp::client::Client::legacy(&world, "--tools core,note,lesson,anthropic --agent a");
    let mut draft = crate::mcp::protocol::draft("crane", content);
    draft["metadata"] = json!({ "note": content });
    let id = text(&client.tool("memory_remember", draft)["document_id"]);
    client.says(json!({ "command": "create", "path": "/memories/crane", "file_text": content }));
    for (tool, arguments) in [
        ("memory_search", json!({ "query": "cranes" })),
        ("memory_read", json!({ "document_id": id })),
        ("memory_list", json!({ "store_slug": "conversation_memory" })),
        ("memory_history", json!({ "document_id": id })),
        ("memory", json!({ "command": "view", "path": "/memories/crane" })),
    ] {
        let answer = client.call(tool, arguments).to_string();
        assert!(!answer.contains(mark), "{tool}: {answer}");
    }
    let read = client.tool("memory_read", json!({ "document_id": id }));
    assert_eq!(text(&read["content"]), "cranes \\u{202e}desaerg are");
    let uri = json!({ "uri": "memory://stores/conversation_memory/docs/crane" });
    let resource = client.ask("resources/read", uri).to_string();
    assert!(resource.contains("desaerg") && !resource.contains(mark), "{resource}");
    // A file for people shows the words in their order.
    let folder = world.home().join("files");
    world.json("export --format markdown --output", &[folder.to_str().expect("a path")]);
    let list = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let files = list(&list(&folder.join("conversation_memory"))[0]);
    let file = std::fs::read_to_string(&files[0]).unwrap_or_else(|error| panic!("{error}: {files:?}"));
    assert!(file.contains("cranes \\u{202e}desaerg") && !file.contains(mark), "{file}");
    let part = world.home().join("CLAUDE.md");
    world.json("export --format claude-md --output", &[part.to_str().expect("a path")]);
    let part = std::fs::read_to_string(part).expect("a file");
    assert!(!part.contains(mark), "{part}");
}

#[test]
fn receipts_and_runs_of_others_do_not_shorten_a_listing() {
    let world = World::new();
    world.json("context crane --as agent:t --run r1", &[]);
    world.json("run open r1 --as agent:t", &[]);
    world.at("2026-03-02T12:00:00Z");
    for number in 0..5 {
        world.json(&format!("context crane --as agent:other --run o{number}"), &[]);
        world.json(&format!("run open o{number} --as agent:other"), &[]);
    }
    assert_eq!(rows(&world.json("receipt list --as agent:t --limit 2", &[])["receipts"]).len(), 1);
    assert_eq!(rows(&world.json("run list --as agent:t --limit 2", &[])["runs"]).len(), 1);
}

#[test]
fn a_command_without_its_subcommand_prints_its_help() {
    let world = World::new();
    let ran = world.run("owners", &[]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.starts_with("List and set which reviewers decide on which paths") && ran.stderr.contains("Usage:"),
        "{ran:?}"
    );
    assert_eq!(world.code(2, "owners", &[]), "usage");
    assert_eq!(world.run("key list", &[]).stdout, "nothing here\n");
    assert_eq!(world.run("history policies/verification --below 1", &[]).stdout, "nothing here\n");
    let empty = world.home().join("empty");
    std::fs::create_dir(&empty).expect("made");
    assert_eq!(world.code(2, "import", &[empty.to_str().expect("utf-8")]), "not_found");
    // The hint of a refused `forget` names `propose --forget`, not a promotion.
    let refused = world.fails(3, "forget policies/verification --as agent:t", &[]);
    assert!(text(&refused["hint"]).contains("propose --forget"), "{refused}");
    let hint = text(&world.fails(2, "review show nope", &[])["hint"]);
    assert!(hint.contains("ingrain review list") && hint.ends_with("lists the reviews"), "{hint}");
}
