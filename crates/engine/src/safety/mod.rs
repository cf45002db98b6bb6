//! Finds what must not be remembered: secrets, planted orders, raw logs.

pub mod classifier;
pub mod scan_counters;

mod anchor_index;
mod base85;
mod byte_set;
mod documented_keys;
mod encodings;
mod harmless_labels;
mod injection;
mod label_join;
mod labelled_value;
mod labels;
mod merge;
mod pattern;
mod placeholder;
mod public_values;
mod random_runs;
mod raw_logs;
mod read_counter;
mod rule_list;
mod scan;
mod scan_progress;
mod secret_documents;
mod shape;
mod shape_match;
mod split_keys;
mod tokens;
mod unescape;
mod unlabelled_run;
mod url_password;
mod value_before_label;
mod value_stats;
mod vendors;
mod view;
mod word_index;
mod word_list;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use rule_list::{Rule, rules};

use view::View;

/// Goes up whenever a rule is added, dropped or judged differently, so that stored text can be scanned anew.
pub const RULES_VERSION: u32 = 5;

/// How bad it would be to keep what was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// What sort of thing was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    Secret,
    Injection,
    RawLog,
}

/// One thing that a rule found, as a byte span of the original text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    pub start: usize,
    pub end: usize,
    /// For injections: what the planted order wants.
    pub intent: Option<&'static str>,
}

/// How strictly planted orders are judged: a conversation may talk about them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    Strict,
    Conversation,
}

/// What to do with the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanVerdict {
    Clean,
    Flagged,
    Blocked,
}

/// Decodings inside decodings are followed this deep.
const DEPTH_MAX: u8 = 3;
/// Escapes are undone this many times over.
const UNESCAPES_MAX: u8 = 3;
/// Other readings of one text are looked at up to this many bytes in all.
const READINGS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Everything in the text that must not be remembered, ordered by where it starts.
pub fn inspect(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut logs = Vec::new();
    raw_logs::find_raw_log(text, &mut logs);
    findings.extend(logs);
    let mut budget = READINGS_BYTES_MAX;
    let mut queue = vec![View::from_original(text)];
    while let Some(view) = queue.pop() {
        let mut undone = unescape::undo_escapes(&view.text).map(|rewrite| view.derive_view(rewrite));
        // Escapes inside escapes (`%2567`, JSON in JSON) take another turn, a bounded number of them.
        for _ in 0..UNESCAPES_MAX {
            let Some(reading) = undone else { break };
            scan_and_queue(&reading, &mut findings, &mut queue, &mut budget);
            undone = unescape::undo_escapes(&reading.text).map(|rewrite| reading.derive_view(rewrite));
        }
        scan_and_queue(&view, &mut findings, &mut queue, &mut budget);
    }
    merge::merge_hits(text, findings)
}

/// Scans one view, and queues what is hidden inside it.
fn scan_and_queue<'a>(view: &View, findings: &mut Vec<scan::RuleHit>, queue: &mut Vec<View<'a>>, budget: &mut usize) {
    let report = scan::scan_view(view);
    for mut hit in report.hits {
        (hit.finding.start, hit.finding.end) = view.original_span(hit.finding.start, hit.finding.end);
        findings.push(hit);
    }
    for disguise in report.disguises.into_iter().chain(injection::detect_disguises(&view.text)) {
        let reading = view.derive_view(injection::undo_disguise(disguise, &view.text));
        injection::scan_undisguised(&reading, findings);
    }
    for found in report.decoded {
        if view.depth < DEPTH_MAX && *budget >= found.text.len() {
            *budget -= found.text.len();
            queue.push(View::from_decoded(&found.text, view.original_span(found.start, found.end), view.depth + 1));
        }
    }
}

/// Whether the findings let the text be remembered.
pub fn decide_verdict(findings: &[Finding], strictness: Strictness) -> ScanVerdict {
    findings
        .iter()
        .map(|finding| match (finding.concern, finding.severity, strictness) {
            (_, Severity::Low, _) => ScanVerdict::Flagged,
            (Concern::Injection, _, Strictness::Conversation) => ScanVerdict::Flagged,
            (Concern::Secret | Concern::RawLog | Concern::Injection, _, _) => ScanVerdict::Blocked,
        })
        .max()
        .unwrap_or(ScanVerdict::Clean)
}

/// What a person says beside a deed: kept, with every secret in it replaced.
pub fn without_secrets(text: String) -> String {
    match inspect(&text).as_slice() {
        [] => text,
        findings => redact_secrets(&text, findings),
    }
}

/// The text with every secret replaced by its rule's name; all other bytes stay.
pub fn redact_secrets(text: &str, findings: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings.iter().filter(|finding| finding.concern == Concern::Secret) {
        let (start, end) = (finding.start.max(at), finding.end.max(at));
        // Findings of another text could point between characters; those are left alone.
        let (Some(kept), Some(_)) = (text.get(at..start), text.get(start..end)) else { continue };
        if end > start {
            out.push_str(kept);
            out.push_str("[REDACTED:");
            out.push_str(finding.rule);
            out.push(']');
            at = end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
