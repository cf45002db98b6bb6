//! Recall and false alarms on the shared corpora, which are not part of this repository.
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::super::{Concern, ScanVerdict, Strictness, decide_verdict, inspect};

struct Tally {
    right: usize,
    total: usize,
}

/// Folder of the corpora. They have licences of their own and are no part of this repository.
fn corpora_folder() -> PathBuf {
    std::env::var_os("INGRAIN_CORPORA").expect("INGRAIN_CORPORA names the folder of the corpora").into()
}

/// Counts right verdicts per tier of a file: a row is right if the concern blocks it exactly when it is labelled 1.
fn judge(file: &str, concern: Concern) -> BTreeMap<String, Tally> {
    let text = std::fs::read_to_string(corpora_folder().join(file)).expect("a corpus");
    let mut tallies = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let content = row["text"].as_str().unwrap();
        let findings: Vec<_> =
            inspect(content).into_iter().filter(|finding| finding.concern == concern || file.contains("neg")).collect();
        let caught = decide_verdict(&findings, Strictness::Strict) == ScanVerdict::Blocked;
        let right = caught == (row["label"] == 1);
        if !right {
            eprintln!("{} {} {}: {findings:?}", row["id"], row["kind"], row["tier"]);
        }
        let tally: &mut Tally =
            tallies.entry(row["tier"].as_str().unwrap().to_owned()).or_insert(Tally { right: 0, total: 0 });
        tally.right += usize::from(right);
        tally.total += 1;
    }
    for (tier, tally) in &tallies {
        eprintln!(
            "{file:24} {tier:14} {:4}/{:4} {:.3}",
            tally.right,
            tally.total,
            tally.right as f64 / tally.total as f64
        );
    }
    tallies
}

fn check(file: &str, concern: Concern, floors: &[(&str, f64)]) {
    let tallies = judge(file, concern);
    for (tier, floor) in floors {
        let tally = &tallies[*tier];
        assert!(tally.right as f64 >= floor * tally.total as f64, "{file} {tier}: {} of {}", tally.right, tally.total);
    }
}

#[test]
#[ignore = "needs the corpora: set INGRAIN_CORPORA"]
fn secrets_are_caught() {
    check("secrets_pos.jsonl", Concern::Secret, &[("core", 0.97), ("contextual", 0.80), ("evasion", 0.85)]);
}

#[test]
#[ignore = "needs the corpora: set INGRAIN_CORPORA"]
fn ordinary_notes_pass() {
    check("secrets_neg.jsonl", Concern::Secret, &[("core", 0.995), ("spec_conflict", 1.0), ("decision", 1.0)]);
}

#[test]
#[ignore = "needs the corpora: set INGRAIN_CORPORA"]
fn raw_logs_are_counted() {
    check("raw_logs.jsonl", Concern::RawLog, &[("core", 1.0)]);
}

#[test]
#[ignore = "needs the corpora: set INGRAIN_CORPORA"]
fn planted_orders_are_caught() {
    check(
        "injection_pos.jsonl",
        Concern::Injection,
        &[("explicit", 0.60), ("memory_poison", 0.75), ("multilingual", 0.70), ("obfuscated", 0.70)],
    );
}

#[test]
#[ignore = "needs the corpora: set INGRAIN_CORPORA"]
fn operational_notes_pass() {
    check("injection_benign.jsonl", Concern::Injection, &[("core", 0.99), ("decision", 1.0)]);
}
