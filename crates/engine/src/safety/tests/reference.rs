//! Generates docs/reference/scanner.md from the rules. `UPDATE_REFERENCE=1` writes the page; without it the test
//! compares.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use super::super::{Concern, RULES_VERSION, Rule, rules};

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/scanner.md"))
}

fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    let _ = writeln!(
        page,
        "\nRules version {RULES_VERSION}: {} token formats in {} rules, {} wordings of planted orders.\n",
        formats(),
        count(Concern::Secret),
        count(Concern::Injection)
    );
    page.push_str("## Secrets\n\n| rule | severity | finds | formats |\n| --- | --- | --- | --- |\n");
    for rule in rules().iter().filter(|rule| rule.concern == Concern::Secret) {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", rule.name, severity(rule), rule.finds, shapes(rule));
    }
    page.push_str(
        "\n## Planted orders\n\n\
        A finding names the intent and the span. Negated, quoted or reported, the same words pass.\n\n\
        | rule | intent | severity | found | passes |\n| --- | --- | --- | --- | --- |\n",
    );
    for rule in rules().iter().filter(|rule| rule.concern == Concern::Injection) {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            rule.name,
            rule.finds,
            severity(rule),
            cell(&rule.positive),
            cell(&rule.negative)
        );
    }
    page.push_str("\n## Raw logs\n\n| rule | severity | finds |\n| --- | --- | --- |\n");
    for rule in rules().iter().filter(|rule| rule.concern == Concern::RawLog) {
        let _ = writeln!(page, "| `{}` | {} | {} |", rule.name, severity(rule), rule.finds);
    }
    page
}

const INTRODUCTION: &str = "# The safety scanner\n\n\
Every text passes this scanner before it is stored. The only exceptions are names that other systems issue (people,\n\
agents, conversations, sessions, runs). The scanner reads the text as written and with escapes, encodings and \
disguises\n\
undone, and returns findings: rule, concern, severity and span.\n\n\
Secrets and raw logs block a write, or are replaced by `[REDACTED:rule]` if the ruleset of the store says so. Planted\n\
orders (prompt injections) block a write too, except in a conversation, where they are flagged.\n\n\
Token formats are written in a small language: `{w36}` is 36 letters or digits, `{h64}` 64 hex digits, `{s20+}` at \
least\n\
20 characters of the URL-safe alphabet, `{b40+}` base64, `{d10}` digits, `{l…}` and `{u…}` lower or upper case with\n\
digits, `{uuid}` a UUID.\n\n\
An admin can allow one exact value (`ingrain scan allow`) and scan everything stored by the current rules\n\
(`ingrain scan --all`). Both, and their metrics, are described in the guide to operating.\n\n\
This page is generated from the rules by a test; do not edit it.\n";

fn severity(rule: &Rule) -> String {
    format!("{:?}", rule.severity).to_lowercase()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

fn shapes(rule: &Rule) -> String {
    let shapes: Vec<String> = rule.shapes.iter().map(|shape| format!("`{}`", shape.replace('|', "\\|"))).collect();
    shapes.join(" ")
}

fn formats() -> usize {
    rules().iter().map(|rule| rule.shapes.len()).sum()
}

fn count(concern: Concern) -> usize {
    rules().iter().filter(|rule| rule.concern == concern).count()
}

#[test]
fn the_reference_page_is_fresh() {
    let page = page();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(path().parent().unwrap()).unwrap();
        std::fs::write(path(), &page).unwrap();
    }
    let written = std::fs::read_to_string(path()).unwrap_or_default();
    assert!(written == page, "docs/reference/scanner.md is stale: run this test with UPDATE_REFERENCE=1");
}

#[test]
fn rule_names_are_unique_and_stable_words() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in rules() {
        assert!(
            rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{}",
            rule.name
        );
        *seen.entry(rule.name).or_default() += usize::from(rule.concern != Concern::Injection);
    }
    assert!(seen.values().all(|&count| count <= 1), "{seen:?}");
}
