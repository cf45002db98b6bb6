//! Bad input gets a clear error with a code; nothing is lost, nothing panics.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::world::{World, column, finished, rows, text};

#[test]
fn invalid_flags_and_texts_have_error_codes() {
    let world = World::new();
    let check = |code: &str, line: &str, more: &[&str]| {
        assert_eq!(world.code(2, line, more), code, "{line} {more:?}");
    };
    check("shape.empty", "remember", &[""]);
    check("shape.empty", "remember", &["  \n\t "]);
    let deep = ["a"; 21].join("/");
    for path in ["../etc/passwd", "a/../b", "a//b", ".", "a/./b", "a\\b", "a\u{7}b", "", &deep, &"x".repeat(1_025)] {
        check("shape.path", "remember", &["--path", path, "x"]);
    }
    check("usage", "remember", &["--kind", "no-such-kind", "x"]);
    check("usage", "remember", &["--confidence", "high", "x"]);
    check("shape.out_of_range", "remember", &["--confidence", "1.5", "x"]);
    let odd = world.fails(2, "remember --derived-from", &["hunter", "x"]);
    assert!(text(&odd["error"]).contains("an id such as 01980000-0000-7000-8000-000000000001 is expected"), "{odd}");
    check("shape.out_of_range", "remember", &["--importance=-0.1", "x"]);
    check("shape.out_of_range", "remember", &["--confidence", "NaN", "x"]);
    check("shape.time", "remember", &["--expires", "soon", "x"]);
    check("shape.metadata", "remember", &["--metadata", "{broken", "x"]);
    check("shape.sha256", "remember", &["--path", "p", "--expect", "abc", "x"]);
    check("shape.name", "remember", &["--conversation", "a\u{1}b", "x"]);
    check("shape.name", "remember", &["--as", &format!("user:{}", "x".repeat(300)), "x"]);
    check("shape.too_long", "remember", &["--title", &"t".repeat(600), "x"]);
    check("not_found", "remember", &["--store", "no_such_store", "x"]);
    check("not_found", "search", &["--store", "no_such_store", "x"]);
    check("not_found", "read", &["no/such/path"]);
    check("shape.cursor", "list", &["--after", "nonsense"]);
    check("usage", "list", &["--limit", "99999999999999999999"]);
    check("usage", "list", &["--state", "asleep"]);
    check("usage", "search", &["--as", "nobody", "x"]);
    check("usage", "search", &["--grant", "erp", "x"]);
    check("usage", "no-such-command", &[]);
    check("shape.slug", "store create", &["Bad Slug"]);
    check("shape.slug", "tenant create", &["Bad Slug"]);
    check("input.unreadable", "remember --file", &["/no/such/file"]);
    world.at("yesterday");
    check("config.now", "list", &[]);
}

#[test]
fn errors_for_people_go_to_stderr_and_say_what_to_do() {
    let world = World::new();
    for line in ["read nothing/here", "remember", "list --as root", "list --tenant nobody"] {
        let ran = world.run(line, &[]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.contains("error: "), "{line}: {ran:?}");
    }
    assert!(world.run("read nothing/here", &[]).stderr.contains("ingrain list"));
}

#[test]
fn a_very_long_query_is_answered() {
    let world = World::new();
    let book = "word ".repeat(20_000);
    let cut = "only the first 8192 bytes of the query were looked for (`limits.query_bytes_max`)";
    for (verb, said) in [("search", "warnings"), ("context", "skipped"), ("context --for tool", "skipped")] {
        assert_eq!(world.json(verb, &[&book])[said], serde_json::json!([cut]), "{verb}");
        assert_eq!(world.json(verb, &["words"])[said], serde_json::json!([]), "{verb}");
    }
    world.json("events --after 18446744073709551615", &[]);
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let world = World::new();
    let odd = world.piped("remember --json -", b"half a \xff word");
    assert_eq!((odd.exit, text(&odd.json()["code"])), (2, "shape.utf8".to_owned()));
    let nul = world.piped("remember --json -", b"a\0b");
    assert_eq!((nul.exit, text(&nul.json()["code"])), (2, "shape.control_character".to_owned()));
    let mut command = world.command("remember --json", &[]);
    command.arg(OsStr::from_bytes(b"half a \xff word"));
    let argument = finished(command.spawn().expect("starts"));
    assert_eq!((argument.exit, text(&argument.json()["code"])), (2, "usage".to_owned()));
    let file = world.home().join("odd");
    std::fs::write(&file, b"\xc3\x28").expect("written");
    assert_eq!(world.code(2, "remember --file", &[file.to_str().expect("utf-8")]), "shape.utf8");
    assert_eq!(world.code(2, "scan", &[file.to_str().expect("utf-8")]), "shape.utf8");
}

#[test]
fn ten_megabytes_are_refused_with_the_limit_in_the_message() {
    let world = World::new();
    let megabytes = "a few words ".repeat(10 * 1024 * 1024 / 12);
    let ran = world.piped("remember --json --store user_memory --as user:ann -", megabytes.as_bytes());
    assert_eq!((ran.exit, text(&ran.json()["code"])), (3, "shape.too_large".to_owned()), "{}", ran.stdout);
    assert!(text(&ran.json()["error"]).contains("100000 bytes"));
    let exact = world.piped("remember --json --store user_memory --as user:ann -", &megabytes.as_bytes()[..100_000]);
    assert_eq!(exact.exit, 0, "{exact:?}");
    assert!(!rows(&exact.json()["warnings"]).is_empty(), "over 25,000 bytes there is a warning");
}

#[test]
fn a_damaged_or_foreign_database_is_reported_and_not_changed() {
    let check = |bytes: &[u8]| {
        let world = World::on_file();
        std::fs::write(world.database(), bytes).expect("written");
        for line in ["list --json", "remember --json x"] {
            let ran = world.run(line, &[]);
            assert_eq!(ran.exit, 1, "{ran:?}");
            assert_eq!(text(&ran.json()["code"]), "store.corrupt", "{ran:?}");
            assert!(ran.json()["hint"].is_string());
        }
        assert_eq!(std::fs::read(world.database()).expect("still there"), bytes);
        let report = world.fails(1, "doctor", &[]);
        assert_eq!(text(&report["status"]), "failed");
    };
    check(&b"this was never a database, only a text that somebody put here ".repeat(80));
    check(&[0xde, 0xad, 0xbe, 0xef].repeat(2_000));
}

#[test]
fn a_database_that_cannot_be_created_is_reported() {
    let world = World::on_file();
    let file = world.home().join("file");
    std::fs::write(&file, "in the way").expect("written");
    let below = file.join("home");
    let ran = world.run("list --json", &["--home", below.to_str().expect("utf-8")]);
    assert_eq!((ran.exit, text(&ran.json()["code"])), (1, "store.unwritable".to_owned()), "{ran:?}");
    let folder = world.run("list --json", &["--db", world.home().to_str().expect("utf-8")]);
    assert_eq!(folder.exit, 1, "{folder:?}");
}

#[test]
fn a_closed_stdout_is_no_error() {
    let world = World::new();
    for number in 0..30 {
        world.json("remember", &["--path", &format!("p/{number}"), &"many words ".repeat(300)]);
    }
    let mut child = world.command("list --json --limit 100", &[]).spawn().expect("starts");
    drop(child.stdout.take());
    let ran = finished(child);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn control_characters_in_a_memory_are_escaped() {
    let world = World::new();
    world.json("remember --path a", &["red \u{1b}[31malert\u{1b}[0m \u{202e}"]);
    for line in ["read a", "list", "search alert", "history a"] {
        let ran = world.run(line, &[]);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{202e}'), "{line}: {ran:?}");
    }
    assert!(world.run("read a --json", &[]).stdout.contains("\\u001b[31m"));
}

#[test]
fn an_unknown_store_is_not_found_by_any_command() {
    let world = World::new();
    for line in ["list --store nope", "search x --store nope", "export --store nope", "context x --store nope"] {
        let told = world.fails(2, line, &[]);
        assert_eq!(
            (text(&told["code"]), text(&told["error"])),
            ("not_found".to_owned(), "store `nope` not found".to_owned())
        );
        assert!(text(&told["hint"]).contains("ingrain store list"), "{told}");
    }
    assert!(
        !world.home().join("exports").exists()
            || std::fs::read_dir(world.home().join("exports")).expect("readable").next().is_none()
    );
}

#[test]
fn a_refused_save_creates_no_store() {
    let world = World::new();
    let before = (world.json("store list", &[]), world.events().len());
    assert_eq!(world.code(2, "remember", &["  "]), "shape.empty");
    assert_eq!((world.json("store list", &[]), world.events().len()), before);
    world.json("remember", &["words"]);
    assert!(world.json("store list", &[]).to_string().contains("user_notes"));
}

#[test]
fn no_refused_command_creates_a_store() {
    let world = World::new();
    let key = ["AKIA", "Q3EGRYKZWT5PJ7XN"].concat();
    let file = |name: &str, body: &str| {
        let path = world.home().join(name);
        std::fs::write(&path, body).expect("written");
        path.to_str().expect("utf-8").to_owned()
    };
    // A story of another database, with a key in a store that is not used here yet.
    let other = World::new();
    other.json("remember --store layers --layer semantic", &["the crane is green"]);
    let export = std::fs::read_to_string(text(&other.json("export --store layers", &[])["path"])).expect("readable");
    let mut export: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    export.as_object_mut().expect("an object").remove("stores");
    let story = file("story.json", &export.to_string().replace("the crane is green", &format!("use {key} for S3")));
    let note = file("note.md", &format!("use {key} for S3"));
    let turns = file("turns.jsonl", &format!("{{\"content\": \"use {key} for S3\"}}"));
    let draft = text(&world.json("remember --conversation c1 --store conversation_memory --path a", &["green"])["id"]);
    let before = world.json("store list", &[]);
    let secret = format!("{key} is why");
    for (off, line, more) in [
        (false, "episodes add --as agent:t --session s --turns", vec![turns.as_str()]),
        (false, "import --store lessons", vec![&note]),
        (false, "import", vec![&story]),
        (false, "propose --to layers --conversation c1 --reason", vec![&secret, &draft]),
        (false, "profile propose --key editor --reason r --value", vec![&key]),
        (true, "remember --as user:ann", vec!["words"]),
        (true, "episodes add --as agent:t --session s", vec!["words"]),
        (true, "profile propose --key editor --reason r --value", vec!["vi"]),
        (true, "propose --to layers --conversation c1 --reason r", vec![&draft]),
        (true, "import", vec![&story]),
    ] {
        let mut command = world.command(&format!("--json {line}"), &more);
        command.env("MEMORY_ENABLED", if off { "false" } else { "true" });
        let ran = finished(command.spawn().expect("starts"));
        assert!(ran.stdout.contains("refused") || ran.stdout.contains("error"), "{line}: {ran:?}");
        assert_eq!(world.json("store list", &[]), before, "{line}");
    }
}

#[test]
fn search_reads_the_query_from_stdin() {
    let world = World::new();
    world.json("remember --path a --conversation c1", &["the zebra and the walrus share a pond"]);
    world.json("remember --path b --conversation c1", &["invoices are sent on mondays"]);
    let found = world.piped("search --json --words-only -", b"zebra walrus\n").json();
    assert_eq!(column(&found["hits"], "path"), ["a"], "{found}");
}

#[test]
fn error_messages_do_not_repeat_a_secret() {
    let world = World::new();
    let token = format!("ghp_{}", "Kx7vQ2mL9rT4wZ8bNc3dJf6gHs1aPe5uYi0o");
    for (line, more) in [
        ("read", vec![token.as_str()]),
        ("search x --store", vec![token.as_str()]),
        ("list --since", vec![token.as_str()]),
        ("history", vec![token.as_str()]),
        ("list --no-such-flag", vec![token.as_str()]),
    ] {
        for json in ["", "--json"] {
            let ran = world.run(&format!("{json} {line}"), &more);
            assert_eq!(ran.exit, 2, "{line}: {ran:?}");
            assert!(!ran.stdout.contains(&token) && !ran.stderr.contains(&token), "{line}: {ran:?}");
        }
    }
}

#[test]
fn paths_with_invisible_or_look_alike_characters_are_refused() {
    let world = World::new();
    for path in
        ["a/..\u{200b}/b", "a\u{200b}b", "\u{202e}abc", "．．/x", "a/．/b", "a\u{ad}b", "a\u{200d}b", "x\u{2066}y"]
    {
        assert_eq!(world.code(2, "remember --conversation c1 --path", &[path, "words"]), "shape.path", "{path:?}");
    }
    for path in ["می\u{200c}خواهم/a", "notes/ü", "ノート/一", "a..b/...c"] {
        world.json("remember --conversation c1 --path", &[path, &format!("words of {path}")]);
    }
}
