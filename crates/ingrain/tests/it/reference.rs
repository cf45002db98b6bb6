//! docs/reference is made from the product itself; a stale page fails a test, and `UPDATE_DOCS=1` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::world::{World, rows, text};

/// Every fact of the contract, in a few words.
const FACTS: &[(u32, &str)] = &[
    (1, "Seeding twice leaves 3 stores, 4 documents, 4 versions; a deleted seed does not return"),
    (2, "An agent does not write runbooks, and is told of promotion"),
    (3, "Agents save preferences of their own user only"),
    (4, "Conversations do not see each other's drafts"),
    (5, "Secrets are blocked in every field and appear nowhere"),
    (6, "Bounds of raw logs and of entropy"),
    (7, "Planted orders are flagged in conversations, blocked elsewhere"),
    (8, "The same path is one memory with linked versions"),
    (9, "A stale patch is a conflict; of 64 patchers one wins"),
    (10, "Missing evidence is refused where required"),
    (11, "Order follows trust; recency halves in 30 days; a score is its weighted sum"),
    (12, "The context keeps its budget and its blocks"),
    (13, "Promotion and its decisions"),
    (14, "Redaction leaves who, when and why"),
    (15, "Memory turned off"),
    (16, "Times to live by class"),
    (17, "Importance decays weekly"),
    (18, "The 10,001st memory archives the least important"),
    (19, "Four-source recall merges by its formula"),
    (20, "Agents and tenants are walls"),
    (21, "Over the window turns are summarised"),
    (22, "Without opt-in a pipeline has no memory"),
    (23, "The cap of a lesson counts bytes"),
    (24, "The same lesson twice is one"),
    (25, "A recall is capped"),
    (26, "Empty queries, odd characters, exact tags, other word orders"),
    (27, "The answer counts this recall"),
    (28, "A pipeline made again recalls nothing"),
    (29, "Confirming and rejecting"),
    (30, "Compaction proposes once"),
    (31, "Procedural dedup"),
    (32, "Rollback"),
    (33, "Export and import"),
    (34, "Closing a run"),
    (35, "An unknown id is not found"),
    (36, "Near hints update, other facts do not"),
    (37, "At most 25 are always injected"),
    (38, "The fourth save of an unattended run is refused"),
    (39, "Strangers delete nothing; systems need grants"),
    (40, "Revoked rules fail the calls"),
    (41, "A redacted note keeps its sentence"),
    (42, "A system store needs a system"),
];

/// A folder of tests, and the door and backend they go through.
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
fn every_fact_of_the_command_line_runs_on_both_backends() {
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

/// Every setting as `config show` knows it.
fn settings(world: &World) -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Each setting is a key of `config.toml`, an environment variable, and for the caller's a flag. Flags go before\n\
         variables, variables before the file, the file before the defaults; `ingrain config show` says which one won.\n\
         The file is `config.toml` in `INGRAIN_HOME` (or `--home`), else in the XDG configuration directory;\n\
         `INGRAIN_CONFIG` or `--config` names another. `MEMORY_ENABLED` and `MEMORY_CONTEXT_TOKEN_BUDGET` are other\n\
         spellings of `memory.enabled` and `limits.context_budget_tokens`. `INGRAIN_NOW` fixes the time: for tests and\n\
         replays, never for a database in use. Grants (`[grants.\"user:ann\"]`, `erp = \"manage\"`) and rulesets\n\
         (`[rulesets.NAME]`) are set in the file only. A number outside of its bounds and a name that sets\n\
         nothing are errors (`config.invalid`), told before anything is opened.\n\n\
         Made by the test `the_table_of_settings_is_current`; `UPDATE_DOCS=1` writes it anew.\n\n\
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
        "# Acceptance facts and the tests that hold them\n\n\
         Made by the test `the_table_of_facts_is_current`; `UPDATE_DOCS=1` writes it anew.\n\n\
         | fact | what must happen | tests |\n| --- | --- | --- |\n",
    );
    for (number, what) in FACTS {
        let named = tests.remove(number).map_or_else(|| "none yet".to_owned(), |names| names.join("<br>"));
        let _ = writeln!(text, "| {number} | {what} | {named} |");
    }
    assert!(tests.is_empty(), "tests of facts that do not exist: {tests:?}");
    text
}

/// All Rust files below, in one order everywhere.
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
