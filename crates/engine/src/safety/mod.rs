//! Safety scanner: finds secrets, prompt injections ("planted orders") and raw logs in a text before it is stored.
//!
//! [`inspect`] builds views of the text (as written, escapes undone, encodings decoded, disguises removed), runs every
//! rule over each view and maps the hits back to byte spans of the original. [`decide_verdict`] turns the findings into
//! clean, flagged or blocked.
//!
//! # Where to add a rule
//!
//! | to catch or to pass | add a row to |
//! | --- | --- |
//! | a token with a published format, such as `ghp_…` | `tokens/`, in the file of the issuer's field |
//! | a secret that takes a regex: header, command line, file format | `pattern/carriers.rs` or `pattern/logins.rs` |
//! | a word that names a secret (`password`, `api key`) | `labels.rs` |
//! | a service whose bare name labels a key (`datadog: …`) | `vendors.rs` |
//! | a planted order, one wording in English | `injection/english/`, in the file of its intent |
//! | a planted order, one wording in another language | `injection/languages.rs` |
//! | a planted order by the meaning of its words, in all languages | `injection/grammar/rows.rs`, `near_wordings.rs` |
//! | a false alarm: placeholder or reference to a secret | `placeholder.rs` |
//! | a false alarm: hash, certificate, resource id | `public_values.rs` |
//! | a false alarm: harmless name such as `token_count` | `labels.rs` |
//! | a false alarm: key printed in a vendor's documentation | `documented_keys.rs` |
//! | a false alarm: order words in an ordinary sentence | `injection/excuse.rs` |
//!
//! Then raise [`RULES_VERSION`] and regenerate docs/reference/scanner.md:
//! `UPDATE_REFERENCE=1 cargo test -p engine --lib safety::tests::reference`.
//!
//! # Files, in reading order
//!
//! Entry point
//! - this file: [`inspect`], [`decide_verdict`], [`redact_secrets`]
//! - `scan`: one pass over one view; calls every rule
//! - `merge`: hits of all views to one list of findings
//! - `rule_list`: all rules with examples, for the documentation and the tests
//! - `scan_counters`: findings per rule since the process started
//! - `classifier`: optional model that judges planted orders beside the rules
//! - `stored_text`: names, ids and other strings beside memories
//!
//! Views and decoding
//! - `view`: a rewritten text with the original offset of each byte
//! - `unescape`: HTML entities, backslash and percent escapes, joined string literals
//! - `encodings`: base64, hex, base32, gzip and zlib
//! - `base85`: base85 in three alphabets
//! - `split_keys`: keys put together from several variables
//!
//! Looking for words
//! - `anchor_index`: the words at which rules start, and the rule for each
//! - `word_index`: finds these words in one pass
//! - `word_list`: comma-separated lists, looked up by first byte
//! - `byte_set`: sets of bytes as tables
//!
//! Secrets with a format
//! - `shape`: the language of token formats (`ghp_{w36}`)
//! - `shape_match`: matches a text against a shape in linear time
//! - `tokens`: table of token formats
//! - `pattern`: table of regexes
//! - `url_password`: `scheme://user:password@host`
//! - `secret_documents`: kubeconfigs, Kubernetes Secrets, PEM blocks
//!
//! Secrets by label
//! - `labels`, `vendors`: tables of the words that name a secret
//! - `labelled_value`: judges the value that a label announces
//! - `label_join`: the join between label and value
//! - `value_before_label`: "`X` is the api key"
//! - `harmless_labels`: labels that only contain such a word
//!
//! Secrets by their characters alone
//! - `random_runs`: finds long runs and tries to decode them
//! - `unlabelled_run`: judges the runs that do not decode
//! - `value_stats`: character counts, entropy, share of readable words
//!
//! Values that pass
//! - `placeholder`: stand-ins, masks, references
//! - `public_values`: hashes, certificates, public keys, resource ids
//! - `documented_keys`: example keys of vendors' documentation
//!
//! Planted orders
//! - `injection`: patterns, grammar, excuses, disguises (see its own map)
//!
//! Raw logs
//! - `raw_logs`: counts lines with a time stamp
//!
//! Bounds on work
//! - `scan_progress`: how far each rule has read, so that hostile texts stay linear
//! - `read_counter`: counts bytes read, in tests only

pub mod classifier;
pub mod scan_counters;

// Entry point.
mod merge;
mod rule_list;
mod scan;
mod stored_text;

// Views and decoding.
mod base85;
mod encodings;
mod split_keys;
mod unescape;
mod view;

// Looking for words.
mod anchor_index;
mod byte_set;
mod word_index;
mod word_list;

// Secrets with a format.
mod pattern;
mod secret_documents;
mod shape;
mod shape_match;
mod tokens;
mod url_password;

// Secrets by label.
mod harmless_labels;
mod label_join;
mod labelled_value;
mod labels;
mod value_before_label;
mod vendors;

// Secrets by their characters alone.
mod random_runs;
mod unlabelled_run;
mod value_stats;

// Values that pass.
mod documented_keys;
mod placeholder;
mod public_values;

// Planted orders and raw logs.
mod injection;
mod raw_logs;

// Bounds on work.
mod read_counter;
mod scan_progress;

#[cfg(test)]
mod tests;

pub use crate::model::refusal::{Concern, Severity};
use serde::{Deserialize, Serialize};

pub use rule_list::{Rule, rules};
pub use stored_text::{TextClass, find_token_format};
pub(crate) use stored_text::{find_secrets, may_hold_token_format};

use view::View;

/// Version of the rules: raised whenever a rule is added, removed or judges differently. Stored text that was scanned
/// by an older version is scanned again.
pub const RULES_VERSION: u32 = 5;

/// Match of one rule, as a byte span of the original text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    pub start: usize,
    pub end: usize,
    /// Injections only: what the planted order wants, such as `send data away`.
    pub intent: Option<&'static str>,
}

/// How planted orders are judged: in a conversation they only flag the text, because people may talk about them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    Strict,
    Conversation,
}

/// Decision about a text, from its findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanVerdict {
    Clean,
    Flagged,
    Blocked,
}

/// Nested decodings that are followed: base64 in base64 in base64.
const DEPTH_MAX: u8 = 3;
/// Nested escapes that are undone: `%252567` is `g` escaped three times.
const UNESCAPES_MAX: u8 = 3;
/// Bytes of decoded text scanned per call. Compressed runs grow when decoded; this bounds the work of one save.
const READINGS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// All findings of a text, ordered by start. Linear in the text.
pub fn inspect(text: &str) -> Vec<Finding> {
    merge::merge_hits(text, collect_hits(text))
}

/// The hits of all rules in all views, unordered, with spans of the original.
fn collect_hits(text: &str) -> Vec<scan::RuleHit> {
    let mut findings = Vec::new();
    // Counted in the original only: the rule is about the volume of pasted lines, not about what they hide.
    raw_logs::find_raw_log(text, &mut findings);
    let mut budget = READINGS_BYTES_MAX;
    let mut queue = vec![View::from_original(text)];
    while let Some(view) = queue.pop() {
        let mut undone = unescape::undo_escapes(&view.text).map(|rewrite| view.derive_view(rewrite));
        // Each turn undoes one layer of escapes (`%2567`, JSON in JSON). A layer is scanned as a view of its own, since
        // a secret may be readable in one layer only.
        for _ in 0..UNESCAPES_MAX {
            let Some(reading) = undone else { break };
            scan_and_queue(&reading, &mut findings, &mut queue, &mut budget);
            undone = unescape::undo_escapes(&reading.text).map(|rewrite| reading.derive_view(rewrite));
        }
        scan_and_queue(&view, &mut findings, &mut queue, &mut budget);
    }
    findings
}

/// Scans one view, adds its hits with original spans, and queues the texts decoded from it.
fn scan_and_queue<'a>(view: &View, findings: &mut Vec<scan::RuleHit>, queue: &mut Vec<View<'a>>, budget: &mut usize) {
    let report = scan::scan_view(view);
    for mut hit in report.hits {
        (hit.finding.start, hit.finding.end) = view.original_span(hit.finding.start, hit.finding.end);
        findings.push(hit);
    }
    for disguise in report.disguises.into_iter().chain(injection::detect_disguises(&view.text)) {
        let reading = view.derive_view(injection::undo_disguise(disguise, &view.text));
        // Scanned once and not queued: a removed disguise leads to no further views.
        injection::scan_undisguised(&reading, findings);
    }
    for found in report.decoded {
        // A text over the budget is left out; smaller ones after it may still fit.
        if view.depth < DEPTH_MAX && *budget >= found.text.len() {
            *budget -= found.text.len();
            queue.push(View::from_decoded(&found.text, view.original_span(found.start, found.end), view.depth + 1));
        }
    }
}

/// Verdict for the findings of one text: that of the worst finding.
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

/// Scans a text and redacts its secrets. For notes and reasons that are stored beside an action whatever they contain.
pub fn without_secrets(text: String) -> String {
    match find_secrets(&text, TextClass::Free).as_slice() {
        [] => text,
        findings => redact_secrets(&text, findings),
    }
}

/// The reason that a program or person gives for a step. Reasons are read by other agents, so one of a program that
/// holds a planted order is dropped.
pub(crate) fn clean_reason(reason: String, by_program: bool) -> Option<String> {
    let is_order = |finding: &Finding| finding.concern == Concern::Injection && finding.severity != Severity::Low;
    if by_program && inspect(&reason).iter().any(is_order) {
        return None;
    }
    Some(without_secrets(reason))
}

/// As [`without_secrets`], for a name or id of another system, or a message that names one: only known token formats
/// count.
pub fn redact_identifier(name: String) -> String {
    match find_secrets(&name, TextClass::Identifier).as_slice() {
        [] => name,
        findings => redact_secrets(&name, findings),
    }
}

/// The text with every secret replaced by `[REDACTED:rule]`; all other bytes stay. Expects findings ordered by start.
pub fn redact_secrets(text: &str, findings: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings.iter().filter(|finding| finding.concern == Concern::Secret) {
        // Overlapping findings: redact from where the one before ended.
        let (start, end) = (finding.start.max(at), finding.end.max(at));
        // Findings of another text may point past the end or into a character; these are skipped.
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
