//! Settings: layers, spellings, rulesets as data, the embedder.

use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::world::{World, column, finished, rows, text};

fn setting(shown: &Value, key: &str) -> (Value, String) {
    let setting = rows(&shown["settings"]).iter().find(|setting| setting["key"] == key).expect("a setting");
    (setting["value"].clone(), text(&setting["from"]))
}

#[test]
fn flags_override_the_environment_the_file_and_the_defaults() {
    let world = World::with_config("conversation = 'file'\n[limits]\nlist_default = 2\nresults_default = 3\n");
    let shown = |more: &[&str]| {
        let mut command = world.command("config show --json", more);
        command.env("INGRAIN_CONVERSATION", "env").env("INGRAIN_LIMITS_RESULTS_DEFAULT", "4");
        finished(command.spawn().expect("starts")).json()
    };
    let all = shown(&["--conversation", "flag"]);
    assert_eq!(setting(&all, "conversation"), ("flag".into(), "flag --conversation".to_owned()));
    assert_eq!(setting(&all, "limits.results_default"), (4.into(), "env INGRAIN_LIMITS_RESULTS_DEFAULT".to_owned()));
    assert!(setting(&all, "limits.list_default").1.starts_with("file "));
    assert_eq!(setting(&all, "limits.list_max").1, "default");
    assert_eq!(setting(&shown(&[]), "conversation").0, "env");
    for number in 0..4 {
        world.json(&format!("remember --path p/{number} --conversation"), &["c1", "words"]);
    }
    assert_eq!(rows(&world.json("list", &[])["memories"]).len(), 2);
}

#[test]
fn alias_variables_work_and_memory_can_be_turned_off() {
    for name in ["MEMORY_ENABLED", "INGRAIN_MEMORY_ENABLED"] {
        let world = World::new();
        world.json("remember --path a", &["kept before"]);
        let run = |line: &str, more: &[&str]| {
            let mut command = world.command(line, more);
            finished(command.env(name, "false").spawn().expect("starts"))
        };
        let refused = run("remember --json", &["kept after"]);
        assert_eq!((refused.exit, text(&refused.json()["code"])), (3, "policy.memory_disabled".to_owned()), "{name}");
        assert_eq!(run("read a", &[]).exit, 0);
        let shown = finished(
            world.command("config show --json", &[]).env("MEMORY_CONTEXT_TOKEN_BUDGET", "900").spawn().expect("starts"),
        );
        assert_eq!(setting(&shown.json(), "limits.context_budget_tokens").0, 900);
    }
}

#[test]
fn secrets_of_the_configuration_are_not_shown() {
    let world = World::with_config("[embeddings]\nkey = 'do-not-show-me'\n");
    for line in ["config show", "config show --json", "doctor"] {
        let ran = world.run(line, &[]);
        assert!(!ran.stdout.contains("do-not-show-me"), "{line}: {ran:?}");
    }
}

/// The example of the guide.
fn documented_ruleset() -> &'static str {
    let guide = include_str!("../../../../docs/guide/operate.md");
    let (_, example) = guide.split_once("```toml\n").expect("an example");
    example.split_once("```").expect("its end").0
}

#[test]
fn the_guide_lists_the_required_keys_of_a_ruleset() {
    let required: Vec<&str> = documented_ruleset().lines().filter(|line| line.contains("# required")).collect();
    assert_eq!(required.len(), 6);
    for missing in required {
        let rest = documented_ruleset().replace(missing, "");
        assert_eq!(World::on_file().configured(&rest).code(2, "list", &[]), "config.invalid", "{missing}");
    }
}

#[test]
fn doctor_reports_a_store_whose_ruleset_is_missing() {
    let world = World::with_config(documented_ruleset());
    world.json("store create tickets --scope workspace --ruleset ticket", &[]);
    assert_eq!(text(&world.json("doctor", &[])["status"]), "good");
    std::fs::write(world.home().join("config.toml"), "").expect("written");
    assert_eq!(world.code(2, "remember --store tickets", &["x"]), "config.ruleset_missing");
    let told = world.fails(1, "doctor", &[]).to_string();
    assert!(told.contains("store `tickets` needs ruleset `ticket`") && told.contains("[rulesets.ticket]"), "{told}");
}

#[test]
fn a_sixth_ruleset_needs_configuration_only() {
    let world = World::with_config(documented_ruleset());
    world.json("store create tickets --scope workspace --ruleset ticket", &[]);
    let line = "remember --store tickets";
    let first = world.json(line, &["printer jams on floor three"]);
    let again = world.json(line, &["printer jams on floor three"]);
    assert_eq!((text(&again["status"]), text(&again["deduped_by"])), ("unchanged".to_owned(), "exact".to_owned()));
    let kept = world.json("read", &[&text(&first["id"])]);
    assert_eq!((text(&kept["kind"]), text(&kept["layer"])), ("error".to_owned(), "episodic".to_owned()));
    assert_eq!(world.code(3, line, &["--kind", "runbook", "x"]), "policy.kind_not_writable");
    assert_eq!(world.code(3, line, &[&"x".repeat(41)]), "shape.too_large");
    let found = world.json("search printer --store tickets", &[]);
    assert_eq!((text(&found["ranker"]), rows(&found["hits"]).len()), ("lesson".to_owned(), 1));
    let without = World::new();
    assert_eq!(without.code(2, "store create tickets --ruleset ticket", &[]), "shape.unknown_word");
    let taken = World::with_config(
        "[rulesets.note]\nlayers=['semantic']\ndedup='none'\nsecrets='block'\nevidence='none'\ncontent_bytes_max=1\n\
         ranker='hint'\n",
    );
    assert_eq!(taken.code(2, "list", &[]), "config.ruleset_taken");
}

#[test]
fn a_ruleset_with_unusable_limits_is_an_error() {
    for (field, value) in [
        ("layers", "[]"),
        ("content_bytes_max", "0"),
        ("live_max", "0"),
        ("conversation_draft_days", "4000000000"),
        ("ttl_days", "{ routine = 4000000000 }"),
    ] {
        let kept = documented_ruleset().lines().filter(|line| !line.starts_with(field)).collect::<Vec<_>>();
        let world = World::with_config(&format!("{}\n{field} = {value}\n", kept.join("\n")));
        let told = world.fails(2, "list", &[]).to_string();
        assert!(told.contains("config.ruleset") && told.contains(&format!("rulesets.ticket.{field}")), "{told}");
    }
}

#[test]
fn search_works_by_words_without_vectors() {
    let world = World::with_config("[embeddings]\nmodel = 'none'\n");
    world.json("remember --path a", &["the llama grazes behind the shed"]);
    let answer = world.json("search where does the llama graze", &[]);
    assert_eq!(column(&answer["hits"], "path"), ["a"]);
}

#[test]
fn saves_succeed_while_the_embedding_endpoint_is_down() {
    // Nothing listens on the discard port of this machine.
    let down = "[embeddings]\nmodel = 'endpoint'\nurl = 'http://127.0.0.1:9/v1'\nname = 'any'\ntimeout_ms = 500\n";
    let world = World::with_config(down);
    world.json("remember --path a", &["the heron waits by the pond"]);
    let answer = world.json("search heron pond", &[]);
    assert_eq!(column(&answer["hits"], "path"), ["a"]);
    assert!(text(&answer["warnings"][0]).contains("words only"), "{answer}");
    let left = world.json("upkeep", &[]);
    assert_eq!((left["embedded"].as_u64(), left["unembedded"].as_u64() >= Some(1)), (Some(0), true), "{left}");
    let told = world.run("upkeep", &[]).stdout;
    assert!(told.contains("still without a vector: the embedding endpoint did not answer"), "{told}");
    std::fs::write(world.home().join("config.toml"), "").expect("written");
    let done = world.json("upkeep", &[]);
    assert!(done["embedded"].as_u64() >= Some(1), "{done}");
}

#[test]
fn invalid_configuration_is_an_error_before_anything_starts() {
    let check = |text: &str, code: &str| {
        let world = World::on_file().configured(text);
        assert_eq!(world.code(2, "list", &[]), code, "{text}");
        assert!(!world.database().exists(), "{text}");
    };
    check("no_such_setting = 1", "config.invalid");
    check("this is not toml", "config.invalid");
    check("[limits]\nlist_max = -1", "config.invalid");
    check("[limits]\nlist_max = 'many'", "config.invalid");
    check("[rulesets.x]\ndedup = 'sometimes'", "config.invalid");
    check("[embeddings]\nmodel = 'oracle'", "config.embeddings");
    check("[embeddings]\nmodel = 'endpoint'", "config.embeddings");
    check("db = 'mysql://somewhere'", "config.db");
    check("as = 'root'", "config.as");
    check("[roles.agent]\nrules = ['memory.write']\n", "config.rule");
}

#[test]
fn the_transformer_without_weights_says_how_to_install_them() {
    let world = World::with_config("[embeddings]\nmodel = \"minilm\"\n");
    let said = world.run("search anything", &[]);
    assert_eq!(said.exit, 1, "{said:?}");
    assert!(said.stderr.contains("models/minilm.bin") && said.stderr.contains("install-minilm"), "{said:?}");
}

#[test]
fn a_variable_that_is_not_utf8_is_an_error_and_never_ignored() {
    let odd = std::ffi::OsStr::from_bytes(b"agent:\xff");
    for name in ["INGRAIN_AS", "INGRAIN_REVOKE", "INGRAIN_USER", "MEMORY_ENABLED", "DATABASE_URL"] {
        let world = World::on_file();
        let line = "remember --json --store workspace_runbooks --path r --kind runbook";
        let refused = finished(world.command(line, &["hello text"]).env(name, odd).spawn().expect("starts"));
        let said = refused.json();
        assert_eq!((refused.exit, text(&said["code"])), (2, "config.invalid".to_owned()), "{name}");
        assert!(text(&said["error"]).contains(name), "{said}");
        assert!(!world.database().exists(), "{name}");
    }
}

#[test]
fn a_configuration_file_named_by_flag_or_variable_must_exist() {
    let world = World::on_file();
    let file = world.home().join("mine.toml");
    let run = |line: &str| finished(world.command(line, &[]).env("INGRAIN_CONFIG", &file).spawn().expect("starts"));
    let refused = run("search x --json");
    assert_eq!((refused.exit, text(&refused.json()["code"])), (2, "config.unreadable".to_owned()));
    assert_eq!(run("init").exit, 0, "init writes the file it is told about");
    assert_eq!(run("search x --json").exit, 0);
    let flag = world.home().join("other.toml");
    assert_eq!(world.code(2, "search x --config", &[&flag.to_string_lossy()]), "config.unreadable");
}

#[test]
fn a_syntax_error_shows_the_line_number_and_not_the_line() {
    for line in ["key = hunter2secret", "key = \"hunter2secret", "key = 12345678"] {
        let world = World::on_file();
        std::fs::write(world.home().join("config.toml"), format!("[embeddings]\n{line}\n")).expect("written");
        let ran = world.run("search x", &[]);
        assert!(ran.exit == 2 && ran.stderr.contains("config.invalid"), "{ran:?}");
        assert!(!ran.stderr.contains("hunter2") && !ran.stderr.contains("12345678"), "{ran:?}");
    }
    let world = World::on_file();
    let mut command = world.command("search x", &[]);
    let ran = finished(command.env("INGRAIN_ROLES_AGENT_RULES", "hunter2secret").spawn().expect("starts"));
    assert!(ran.exit == 2 && !ran.stderr.contains("hunter2"), "{ran:?}");
    let mut command = world.command("search x", &[]);
    let list = r#"["memory.read", "memory.manage"]"#;
    assert_eq!(finished(command.env("INGRAIN_ROLES_AGENT_RULES", list).spawn().expect("starts")).exit, 0);
}

#[test]
fn settings_out_of_range_are_reported_with_the_allowed_range() {
    for (name, value, said) in [
        ("INGRAIN_LIMITS_ALWAYS_INJECT_SHARE", "0", "`limits.always_inject_share`: a number from 1 to 1000000000"),
        ("INGRAIN_LIMITS_RESULTS_MAX", "0", "`limits.results_max`: a number from 1"),
        ("INGRAIN_LIMITS_OVERFETCH", "0", "`limits.overfetch`: a number from 1"),
        ("INGRAIN_LIMITS_NEAR_HINT", "7", "`limits.near_hint`: a number from 0 to 1"),
        ("INGRAIN_LIMITS_SIMILARITY_MIN", "nan", "`limits.similarity_min`: a number from 0 to 1"),
        ("INGRAIN_LIMITS_WEIGHTS_OPERATIONAL_TEXT", "NaN", "`limits.weights.operational_text`: a number from 0"),
        ("INGRAIN_LIMITS_WEIGHTS_HALF_LIFE_DAYS", "0", "`limits.weights.half_life_days`: a number from 0.001"),
        ("INGRAIN_LIMITS_CONTEXT_TAG_PREFIX", "a b><", "`limits.context_tag_prefix`: a letter"),
        ("INGRAIN_EMBEDDINGS_URL", "ftp://x", "`embeddings.url`: an address such as"),
        ("INGRAIN_SUMMARIES_URL", "notaurl", "`summaries.url`: an address such as"),
        ("INGRAIN_SCANNER_CLASSIFIER_URL", "file:///etc/passwd", "`scanner.classifier_url`: an address such as"),
    ] {
        let world = World::on_file();
        let ran = finished(world.command("search x --json", &[]).env(name, value).spawn().expect("starts"));
        let answer = ran.json();
        assert_eq!((ran.exit, text(&answer["code"])), (2, "config.invalid".to_owned()), "{name}");
        let message = text(&answer["error"]);
        assert!(message.contains(name) && message.contains(said), "{message}");
        assert!(!world.database().exists(), "{name}");
    }
}
