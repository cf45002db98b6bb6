//! Each format by an example, and all of them by random input.

use std::collections::HashSet;

use clap::ValueEnum;
use engine::gate::normalize_path;
use engine::model::limits::Limits;
use proptest::prelude::*;

use super::*;

fn parse(format: SourceFormat, files: &[(&str, &str)]) -> FoundMemories {
    let files: Vec<InputFile> =
        files.iter().map(|(name, text)| InputFile { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
    let mut found = FoundMemories::default();
    parse_files(format, &files, &mut found).expect("parses");
    found
}

/// Path, kind and content of each memory.
fn rows(found: &FoundMemories) -> Vec<(&str, Kind, &str)> {
    found.memories.iter().map(|memory| (memory.path.as_str(), memory.kind, memory.content.as_str())).collect()
}

#[test]
fn instructions_become_one_memory_per_heading() {
    let text = "# Shop\nA web shop.\n\n## Commands\n- `make test`\n\n## Code style\nTabs.\n@docs/style.md\n";
    let found = parse(SourceFormat::ClaudeMd, &[("CLAUDE.md", text)]);
    let expected = [
        ("claude-md/shop", Kind::WorkspaceConvention, "A web shop."),
        ("claude-md/commands", Kind::Runbook, "- `make test`"),
        ("claude-md/code-style", Kind::WorkspaceConvention, "Tabs.\n@docs/style.md"),
    ];
    assert_eq!(rows(&found), expected);
    assert!(found.memories.iter().all(|memory| memory.writer == Writer::Person));
    assert!(found.notes[0].contains("`@docs/style.md` is not followed"), "{:?}", found.notes);
}

#[test]
fn cursor_rules_keep_description_and_globs() {
    let text = "---\ndescription: How we test\nglobs: src/**/*.ts, test/**\nalwaysApply: true\n---\nUse vitest.\n";
    let found = parse(SourceFormat::CursorRules, &[(".cursor/rules/testing.mdc", text)]);
    let memory = &found.memories[0];
    assert_eq!((memory.hint.as_deref(), memory.title.as_deref()), (Some("How we test"), Some("How we test")));
    assert_eq!(memory.metadata["globs"], serde_json::json!(["src/**/*.ts", "test/**"]));
    assert_eq!(memory.metadata["always_apply"], true);
    assert_eq!(rows(&found)[0], ("cursor/rules/testing-mdc/intro", Kind::WorkspaceConvention, "Use vitest."));
}

#[test]
fn a_memory_folder_gives_its_topics_and_what_the_index_says_itself() {
    let index = "# Memory\n- [Use pnpm](use-pnpm.md) — not npm\n- [Gone](gone.md)\n\n## Gotchas\nThe port is 8081.\n";
    let topic = "---\nname: Use pnpm\ndescription: which package manager\nmetadata:\n  type: feedback\n---\n\
                 npm breaks the lock.\n";
    let plain = "## Cache\nCleared nightly.\n";
    let files = [("memory/MEMORY.md", index), ("memory/debugging.md", plain), ("memory/use-pnpm.md", topic)];
    let found = parse(SourceFormat::ClaudeMemory, &files);
    let expected = [
        ("memory/memory-md/memory", Kind::Note, "- [Gone](gone.md)"),
        ("memory/memory-md/gotchas", Kind::ToolUsageLesson, "The port is 8081."),
        ("memory/debugging-md/cache", Kind::ToolUsageLesson, "Cleared nightly."),
        ("memory/use-pnpm-md", Kind::WorkspaceConvention, "npm breaks the lock."),
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(found.memories[3].hint.as_deref(), Some("which package manager"));
    assert!(found.memories.iter().all(|memory| memory.writer == Writer::Model), "a model's words stay drafts");
}

#[test]
fn a_memory_graph_gives_one_memory_per_entity() {
    let text = "{\"type\":\"entity\",\"name\":\"Billing API\",\"entityType\":\"service\",\
                \"observations\":[\"Runs on 8080\",\"In Go\"]}\n\
                {\"type\":\"relation\",\"from\":\"Billing API\",\"to\":\"Ledger\",\"relationType\":\"writes_to\"}\n\
                {\"type\":\"relation\",\"from\":\"Ann\",\"to\":\"Billing API\",\"relationType\":\"owns\"}\n\
                {\"type\":\"something_new\",\"x\":1}\n";
    let found = parse(SourceFormat::McpMemory, &[("memory.jsonl", text)]);
    let expected = [
        ("graph/ann", Kind::Note, "- owns Billing API"),
        ("graph/billing-api", Kind::ServiceContext, "- Runs on 8080\n- In Go\n- writes_to Ledger"),
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(found.memories[1].tags, ["service"]);
}

#[test]
fn mem0_exports_are_read_as_list_object_and_lines() {
    let item = "{\"id\":\"m-1\",\"memory\":\"Prefers dark mode\",\"metadata\":{\"source\":\"chat\"},\
                \"categories\":[\"ui\"],\"created_at\":\"2026-01-01T00:00:00Z\",\"user_id\":\"ann\"}";
    for text in [format!("[{item}]"), format!("{{\"results\":[{item}]}}"), format!("{item}\n{item}\n")] {
        let found = parse(SourceFormat::Mem0, &[("mem0.json", &text)]);
        assert_eq!(rows(&found)[0], ("mem0/m-1", Kind::UserPreference, "Prefers dark mode"), "{text}");
        let memory = &found.memories[0];
        assert_eq!(memory.metadata["recorded_at"], "2026-01-01T00:00:00Z");
        assert_eq!((&memory.metadata["source"], &memory.tags), (&serde_json::json!("chat"), &vec!["ui".to_owned()]));
    }
}

#[test]
fn basic_memory_notes_keep_text_tags_and_relations() {
    let text = "---\ntitle: Auth design\ntype: note\ntags: [auth]\npermalink: design/auth\n---\n# Auth design\n\n\
                - [decision] Tokens live 15 minutes #security\n- [x] done\n\n## Links\n- implements [[API rules]]\n";
    assert_eq!(recognise_markdown("auth.md", text), SourceFormat::BasicMemory);
    let found = parse(SourceFormat::BasicMemory, &[("notes/auth.md", text)]);
    let memory = &found.memories[0];
    assert_eq!((memory.path.as_str(), memory.kind), ("design/auth", Kind::Decision));
    assert_eq!(memory.tags, ["auth", "security"]);
    assert_eq!(memory.metadata["relations"], serde_json::json!(["implements API rules"]));
    assert!(memory.content.contains("- [decision] Tokens live 15 minutes #security"));
}

#[test]
fn json_lines_take_content_or_text() {
    let text = "{\"content\":\"Ship on Tuesdays\",\"path\":\"Team/Ship day\",\"kind\":\"decision\",\
                \"tags\":[\"team\"]}\n\n\
                {\"text\":\"The API is slow\"}\n{\"other\":1}\n";
    let found = parse(SourceFormat::Jsonl, &[("facts.jsonl", text)]);
    assert_eq!(rows(&found)[0], ("team/ship-day", Kind::Decision, "Ship on Tuesdays"));
    assert!(rows(&found)[1].0.starts_with("facts/"));
    assert!(found.notes[0].contains("line 3 has no") || found.notes[0].contains("line 4 has no"), "{:?}", found.notes);
}

#[test]
fn formats_are_recognised_by_name_and_content() {
    let markdown = |name: &str, text: &str, format| assert_eq!(recognise_markdown(name, text), format, "{name}");
    markdown("CLAUDE.md", "", SourceFormat::ClaudeMd);
    markdown("AGENTS.md", "", SourceFormat::AgentsMd);
    markdown("GEMINI.md", "", SourceFormat::GeminiMd);
    markdown("a.mdc", "", SourceFormat::CursorRules);
    markdown("note.md", "---\nstore: user_notes\n---\nx", SourceFormat::Ingrain);
    markdown("note.md", "---\ntitle: x\n---\nx", SourceFormat::Markdown);
    let records = |text: &str, format| assert_eq!(recognise_records(text), format, "{text}");
    records("{\"ingrain_export\":1}", SourceFormat::Ingrain);
    records("[{\"memory\":\"x\"}]", SourceFormat::Mem0);
    records("{\"results\":[{\"memory\":\"x\"}]}", SourceFormat::Mem0);
    records("{\"type\":\"entity\",\"name\":\"x\"}\n", SourceFormat::McpMemory);
    records("{\"content\":\"x\"}\n{\"content\":\"y\"}\n", SourceFormat::Jsonl);
    records("broken", SourceFormat::Ingrain);
}

#[test]
fn an_error_names_the_line_and_never_quotes_it() {
    for format in [SourceFormat::McpMemory, SourceFormat::Jsonl, SourceFormat::Mem0] {
        let file = InputFile { name: "x.jsonl".to_owned(), text: "{\"text\":1}\nhunter2 {".to_owned() };
        if let Err(FormatError(why)) = parse_files(format, &[file], &mut FoundMemories::default()) {
            assert!(why.contains("line") && !why.contains("hunter2"), "{why}");
        } else {
            panic!("{format:?} accepts broken lines");
        }
    }
}

/// Every format on a text: no panic, and what it finds can be saved.
fn check_all_formats(text: &str) {
    recognise_markdown("x.md", text);
    recognise_records(text);
    for format in SourceFormat::value_variants() {
        let file = InputFile { name: "a/b.md".to_owned(), text: text.to_owned() };
        let index = InputFile { name: "a/MEMORY.md".to_owned(), text: text.to_owned() };
        let mut found = FoundMemories::default();
        if parse_files(*format, &[file, index], &mut found).is_err() {
            continue;
        }
        let mut paths = HashSet::new();
        for memory in &found.memories {
            let path = normalize_path(&memory.path, &Limits::default());
            // A path that an exported part states is kept as it stands, so that the gate can judge it.
            assert!(path.is_ok() || text.contains("ingrain:memory"), "{format:?}: {}", memory.path);
            assert!(paths.insert(&memory.path), "{format:?}: {} twice", memory.path);
            assert!(!memory.content.trim().is_empty(), "{format:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        check_all_formats(&text);
    }

    /// Pieces of the formats in any order reach further into the parsers than random characters.
    #[test]
    fn any_mix_of_pieces_is_parsed_or_refused(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        check_all_formats(&pieces.concat());
    }

    #[test]
    fn any_json_is_parsed_or_refused(lines in prop::collection::vec(json_line(), 0..10)) {
        check_all_formats(&lines.join("\n"));
    }
}

const PIECES: &[&str] = &[
    "---\n",
    "\n",
    "\r\n",
    "# ",
    "## ",
    "### ",
    "title: ",
    "tags: [",
    "]",
    "- ",
    "  - x\n",
    "description: >\n",
    "type: ",
    "```\n",
    "~~~~\n",
    "<!--",
    "-->",
    "<!-- ingrain:begin -->\n",
    "<!-- ingrain:end -->\n",
    "<!-- ingrain:memory draft runbook a/b -->\n",
    "<!-- ingrain:memory  -->\n",
    "- [cat] fact #t\n",
    "- rel [[Note]]\n",
    "[a](b.md)",
    "@x\n",
    "é",
    "\u{202e}",
    "💥",
    "\u{feff}",
    "permalink: a/../b\n",
    ":",
    "\"",
    "'",
    "word",
];

fn json_line() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(
        &[
            "type",
            "name",
            "memory",
            "content",
            "text",
            "results",
            "observations",
            "from",
            "to",
            "entityType",
            "relationType",
            "metadata",
            "id",
            "path",
            "tags",
            "categories",
        ][..],
    );
    let values = prop::sample::select(
        &[
            "\"entity\"",
            "\"relation\"",
            "\"x\"",
            "\"\"",
            "[]",
            "[\"a\"]",
            "{}",
            "null",
            "1e308",
            "[{\"memory\":\"m\"}]",
            "\"é/../\\u0000\"",
            "true",
        ][..],
    );
    prop::collection::vec((keys, values), 0..8).prop_map(|fields| {
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}
