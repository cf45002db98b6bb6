//! Generates facts.md and settings.md in docs/reference. A stale page fails its test; `UPDATE_DOCS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::world::{World, rows, text};

/// Acceptance facts: number and required behaviour.
const FACTS: &[(u32, &str)] = &[
    (1, "Seeding twice leaves 3 stores, 4 documents, 4 versions; a deleted seed does not return"),
    (2, "An agent cannot write runbooks; the refusal names the promotion"),
    (3, "Agents save preferences of their own user only"),
    (4, "Drafts are visible in their own conversation only"),
    (5, "Secrets are blocked in every field and stored nowhere"),
    (6, "Limits for raw logs and for high-entropy strings"),
    (7, "Planted instructions are flagged in conversations and blocked elsewhere"),
    (8, "Saves to one path are versions of one memory"),
    (9, "A stale patch is a conflict; one of 64 concurrent patches wins"),
    (10, "A save without required evidence is refused"),
    (11, "Ranking by trust, recency with a half-life of 30 days, score as a weighted sum"),
    (12, "A context keeps its token budget and its two blocks"),
    (13, "Promotion: approval, rejection, owners, changed sources"),
    (14, "Redaction erases the text and keeps author, time and reason"),
    (15, "Memory turned off: reads work, saves are refused, no context"),
    (16, "Expiry by retention class"),
    (17, "Importance decays by week; a recall resets it"),
    (18, "The 10,001st memory archives the least important"),
    (19, "Recall merges four sources by a fixed formula"),
    (20, "Agents and tenants are isolated"),
    (21, "Parts that do not fit into the window are cut in a fixed order"),
    (22, "Without opt-in a pipeline has no memory"),
    (23, "The size limit of a lesson counts bytes"),
    (24, "The same lesson saved twice is one memory"),
    (25, "A recall returns at most the configured number of lessons"),
    (26, "Empty queries, special characters, exact tags and other word orders work"),
    (27, "The recall count of an answer includes this recall"),
    (28, "A deleted and recreated pipeline recalls nothing"),
    (29, "Profile proposals are confirmed or rejected once"),
    (30, "Compaction proposes once"),
    (31, "Deduplication of procedures keeps the most confident, then the oldest"),
    (32, "Rollback of an active memory, with restore on request"),
    (33, "An export contains every state and imports back equal"),
    (34, "Closing a run tombstones its working memory and saves one episode"),
    (35, "An unknown id is not found"),
    (36, "A save with a similar hint updates the note if the content agrees"),
    (37, "At most 25 always-inject memories are shown"),
    (38, "The fourth save of an unattended run is refused"),
    (39, "Other users delete nothing; systems need grants"),
    (40, "Calls without the required rule are refused"),
    (41, "A note is saved without the secret in it"),
    (42, "A system store needs a system"),
];

/// Folders of tests, with the interface and backend they use.
const PLACES: &[(&str, &str)] = &[
    ("crates/ingrain/tests/it", "CLI, SQLite and Postgres"),
    ("crates/server/tests/it", "REST and MCP, SQLite and Postgres"),
    ("crates/store/tests/it", "store, SQLite and Postgres"),
    ("crates/engine/src", "engine"),
];

#[test]
fn the_table_of_facts_is_current() {
    is_current("facts.md", &facts(&root()));
}

#[test]
fn the_table_of_settings_is_current() {
    is_current("settings.md", &settings(&World::on_file()));
}

#[test]
fn tests_of_facts_run_on_both_backends() {
    for file in sources(&root().join("crates/ingrain/tests/it")) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        for test in text.split("#[test]").filter(|test| test.trim_start().starts_with("fn fact_")) {
            assert!(
                !test.contains("World::on_file"),
                "{}: {}",
                file.display(),
                test.lines().nth(1).unwrap_or_default()
            );
        }
    }
    let script = std::fs::read_to_string(root().join("scripts/test")).expect("the script");
    assert!(script.contains("INGRAIN_TEST_BACKEND=postgres"), "scripts/test runs the command line on Postgres");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_current(page: &str, made: &str) {
    let file = root().join("docs/reference").join(page);
    if std::env::vars_os().any(|(name, value)| name == "UPDATE_DOCS" && value == "1") {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(&file, made).expect("the page is written");
    }
    let stands = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stands == made,
        "docs/reference/{page} is stale: `UPDATE_DOCS=1 cargo test -p ingrain reference` and commit"
    );
}

/// All settings from `config show`.
fn settings(world: &World) -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Each setting is a key of `config.toml` and an environment variable; those of the caller are flags too. Flags\n\
         override variables, variables override the file, the file overrides the defaults. `ingrain config show` \
         prints\n\
         the origin of each value. The file is `config.toml` in `INGRAIN_HOME` (or `--home`), else in the XDG\n\
         configuration directory; `INGRAIN_CONFIG` or `--config` names another. `MEMORY_ENABLED` and\n\
         `MEMORY_CONTEXT_TOKEN_BUDGET` are aliases of `memory.enabled` and `limits.context_budget_tokens`.\n\
         `INGRAIN_NOW` fixes the clock, for tests and replays only. Grants (`[grants.\"user:ann\"]`, \
         `erp = \"manage\"`)\n\
         and rulesets (`[rulesets.NAME]`) can be set in the file only. A number out of range and an unknown name are\n\
         errors (`config.invalid`), reported before anything is opened.\n\n\
         Generated by the test `the_table_of_settings_is_current`; `UPDATE_DOCS=1` writes it.\n\n\
         | setting | default | variable |\n| --- | --- | --- |\n",
    );
    for setting in rows(&world.json("config show", &[])["settings"]) {
        let (key, variable) = (text(&setting["key"]), text(&setting["variable"]));
        let value = match key.as_str() {
            "home" => "XDG data directory".to_owned(),
            "operator" => "login name".to_owned(),
            "now" => "the system's clock".to_owned(),
            _ => setting["value"].as_str().map_or_else(|| setting["value"].to_string(), str::to_owned),
        };
        let _ = writeln!(page, "| `{key}` | {value} | `{variable}` |");
    }
    page
}

fn facts(root: &Path) -> String {
    let mut tests: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (folder, door) in PLACES {
        for file in sources(&root.join(folder)) {
            let text = std::fs::read_to_string(&file).expect("a source file");
            for name in text.split("fn fact_").skip(1) {
                let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let Some(number) = name.get(..2).and_then(|digits| digits.parse().ok()) else { continue };
                tests.entry(number).or_default().push(format!("`fact_{name}` ({door})"));
            }
        }
    }
    let mut text = String::from(
        "# Acceptance facts and their tests\n\n\
         Generated by the test `the_table_of_facts_is_current`; `UPDATE_DOCS=1` writes it.\n\n\
         | fact | required behaviour | tests |\n| --- | --- | --- |\n",
    );
    for (number, what) in FACTS {
        let named = tests.remove(number).map_or_else(|| "none yet".to_owned(), |names| names.join("<br>"));
        let _ = writeln!(text, "| {number} | {what} | {named} |");
    }
    assert!(tests.is_empty(), "tests of facts that do not exist: {tests:?}");
    text
}

/// All Rust files under a folder, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files.sort();
    files
}
